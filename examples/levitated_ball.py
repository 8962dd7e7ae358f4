"""An electromechanical device: a ball held at a prescribed height by the voltage of a magnet, a program constraint.

    m s̈ = m g - k i²/(2 s²),   d(L i)/dt = u - R i   (L constant here),   program: s = S(t) = s₀ + a sin ωt.

The voltage u reaches the gap s only through the current and the force: relative degree 3. On the program the current is
known: i² = 2 S² m (g - S̈)/k.
"""

import numpy as np
from sympy import sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

s, v, i = dynamicsymbols("s v i")  # gap [m], velocity [m/s], current [A]
u = symbols("u")  # voltage [V]
m, g, k, L, R, s0, a, w = symbols("m g k L R s0 a omega")
NUMBERS = {m: 0.1, g: 9.81, k: 1e-3, L: 0.05, R: 2.0, s0: 0.01, a: 0.002, w: 10.0}
program = s0 + a * sin(w * t)


def system():
    return vn.AffineSystem(
        states=[s, v, i],
        drift=[v, g - k * i**2 / (2 * m * s**2), -R * i / L],
        inputs=[u],
        input_matrix=[[0], [0], [1 / L]],
        constraints={"gap": s - program},
        parameters=NUMBERS,
        energy=m * v**2 / 2 - m * g * s,
        power=-k * i**2 * v / (2 * s**2),
        name="levitated ball",
    )


def run():
    """The motion, and {quantity: (found, exact)}."""
    equations = vn.derive(system(), form="program", rates=20.0, at={s: 0.01, v: 0.0, i: 0.44})
    motion = vn.simulate(equations, {}, (0, 2), guess={s: 0.01, v: 0.02, i: 0.44})
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
    print(run())
