"""A pendulum in Cartesian coordinates, held by its rod.

    m ẍ = λ x,   m ÿ = -m g + λ y,   (x² + y² - l²) / 2 = 0

The multiplier of the rod is its force per unit of length: the tension is -λ l. Two things are known exactly for a
release from rest at the angle θ₀: the period 4 √(l/g) K(sin² θ₀/2), and the tension m g (3 cos θ - 2 cos θ₀).
"""

import numpy as np
from scipy.special import ellipk
from sympy import symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")  # position of the bob, y upwards [m]
m, g, l = symbols("m g l")
MASS, GRAVITY, LENGTH = 0.5, 9.81, 1.2  # [kg], [m/s²], [m]
RELEASE = 2.5  # angle from the downward vertical [rad]


def system():
    return vn.System(
        coordinates=[x, y],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential_energy=m * g * y,
        constraints=[vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
        parameters={m: MASS, g: GRAVITY, l: LENGTH},
        name="pendulum in Cartesian coordinates",
    )


def run():
    """The motion, and {quantity: (found, exact)}."""
    motion = vn.simulate(
        vn.derive(system()),
        initial={x: LENGTH * np.sin(RELEASE), y: -LENGTH * np.cos(RELEASE)},
        fixed=[x],
        times=(0, 12),
        events=[vn.Event(x, name="bottom", direction="rising")],
    )
    passages = [event.time for event in motion.events]
    period = 4 * np.sqrt(LENGTH / GRAVITY) * ellipk(np.sin(RELEASE / 2) ** 2)
    tension = MASS * GRAVITY * (-3 * motion[y] / LENGTH - 2 * np.cos(RELEASE))
    return motion, {
        "period [s]": (passages[-1] - passages[-2], period),
        "greatest error of the tension [N]": (np.abs(tension + LENGTH * motion.reactions["rod"]).max(), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, force = figure.subplots(1, 2)
    plane.plot(motion[x], motion[y], color="tab:blue", lw=1)
    for i in range(0, 151, 10):
        plane.plot([0, motion[x][i]], [0, motion[y][i]], "o-", color="black", alpha=0.1 + i / 170, ms=6, lw=1)
    plane.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="From release to the first turning point")
    force.plot(motion.t, -LENGTH * motion.reactions["rod"], color="tab:red")
    force.axhline(0, color="gray", lw=0.8)
    force.set(xlabel="t [s]", ylabel="tension [N]", xlim=(0, 12), title="Force in the rod; below zero it pushes")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
