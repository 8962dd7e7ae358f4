"""An electromechanical device: a ball held at a prescribed height by the voltage of a magnet, a program constraint.

Stated by energies, with the charge q as a coordinate and the inductance L(s) = L₀ + k/s of the gap s:

    T = m ṡ²/2 + L(s) q̇²/2,   V = -m g s,   dissipation R q̇²/2,   force u on q;     program: s = S(t) = s₀ + a sin ωt.

The voltage u affects the gap only through the current q̇ and its force: relative degree 3. On the program the current is
known: q̇² = 2 S² m (g - S̈)/k.
"""

import numpy as np
from sympy import sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

s, q = dynamicsymbols("s q")  # gap [m], charge [C]
u = symbols("u")  # voltage [V]
m, g, k, L, R, s0, a, w = symbols("m g k L R s0 a omega")
NUMBERS = {m: 0.1, g: 9.81, k: 1e-3, L: 0.05, R: 2.0, s0: 0.01, a: 0.002, w: 10.0}
i = q.diff()  # current [A]
NEAR = {s: 0.01, s.diff(): 0.02, i: 0.44}


def system():
    device = vn.System(
        coordinates=[s, q],
        kinetic_energy=m * s.diff() ** 2 / 2 + (L + k / s) * i**2 / 2,
        potential_energy=-m * g * s,
        dissipation=R * i**2 / 2,
        forces={q: u},
        inputs=[u],
        parameters={key: value for key, value in NUMBERS.items() if key not in (s0, a, w)},
        name="levitated ball",
    )
    program = s - NUMBERS[s0] - NUMBERS[a] * sin(NUMBERS[w] * t)
    return vn.program.to_affine(device, program={"gap": program})


def run():
    """The motion, and {quantity: (found, exact)}."""
    equations = vn.derive(system(), form="program", rates=20.0, at=NEAR)
    motion = vn.simulate(equations, {q: 0.0}, (0, 2), guess=NEAR)
    n = {key.name: value for key, value in NUMBERS.items()}
    gap = n["s0"] + n["a"] * np.sin(n["omega"] * motion.t)
    bend = -n["a"] * n["omega"] ** 2 * np.sin(n["omega"] * motion.t)
    current = np.sqrt(2 * gap**2 * n["m"] * (n["g"] - bend) / n["k"])
    return motion, {
        "relative degree": (equations.degrees["gap"], 3),
        "greatest error of the current [A]": (np.abs(motion[i] - current).max(), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(7, 5), layout="constrained")
    for axes, (key, label) in zip(
        figure.subplots(3, 1), ((s, "gap [m]"), (i, "current [A]"), (u, "voltage [V]")), strict=True
    ):
        axes.plot(motion.t, motion[key])
        axes.set(ylabel=label)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
