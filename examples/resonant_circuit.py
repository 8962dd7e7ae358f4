"""A circuit stated by its energies: two loops with a common capacitor, and Kirchhoff's law as a constraint.

The charges are the coordinates: T = Σ L q̇²/2, V = Σ q²/(2C), dissipation Σ R q̇²/2. The currents meet at a node,

    q̇₁ - q̇₂ - q̇₃ = 0,

and the reaction is the voltage of that node. Without resistance and with q₃ eliminated the frequencies are known.
"""

import numpy as np
from sympy import symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

q1, q2, q3 = dynamicsymbols("q1 q2 q3")  # charges that passed [C]
L1, L2, C = symbols("L1 L2 C")
NUMBERS = {L1: 2e-3, L2: 1e-3, C: 1e-6}  # [H], [H], [F]


def system():
    return vn.System(
        coordinates=[q1, q2, q3],
        kinetic_energy=L1 * q1.diff() ** 2 / 2 + L2 * q2.diff() ** 2 / 2,
        potential_energy=q3**2 / (2 * C),
        constraints=[vn.Nonholonomic(q1.diff() - q2.diff() - q3.diff(), name="node")],
        parameters=NUMBERS,
        name="two coils and a capacitor",
    )


def run():
    """The motion, and {quantity: (found, exact)}: q₃ swings with ω² = (1/L1 + 1/L2)/C."""
    equations = vn.derive(system())
    omega = np.sqrt((1 / NUMBERS[L1] + 1 / NUMBERS[L2]) / NUMBERS[C])
    motion = vn.simulate(equations, {q1: 0, q2: 0, q3: 1e-5, q1.diff(): 0, q2.diff(): 0}, (0, 20 / omega))
    return motion, {
        "greatest error of the charge [1e-5 C]": (
            np.abs(motion[q3] / 1e-5 - np.cos(omega * motion.t)).max(),
            0.0,
        ),
        "node voltage at the start [V]": (abs(motion.reactions["node"][0]), 1e-5 / NUMBERS[C]),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for charge, name in ((q1, "first coil"), (q2, "second coil"), (q3, "capacitor")):
        axes.plot(1e3 * motion.t, 1e3 * motion[charge.diff()], label=name)
    axes.set(xlabel="t [ms]", ylabel="current [mA]")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
