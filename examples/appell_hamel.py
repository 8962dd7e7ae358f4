"""Appell's and Hamel's example of a constraint nonlinear in the velocities: a weight rises as fast as a wheel rolls.

    ż = a √(ẋ² + ẏ²)

(the thread of the weight winds on a drum that turns with the wheel; the mass of the frame goes to zero). With
Chetaev's reaction the path in the plane is straight and the speed s = √(ẋ² + ẏ²) falls uniformly, ṡ = -g a / (1 + a²),
until the wheel stops.
"""

import numpy as np
from sympy import sqrt, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, z = dynamicsymbols("x y z")  # wheel [m], height of the weight [m]
e1, e2 = dynamicsymbols("e1 e2")
m, g, a = symbols("m g a")
NUMBERS = {m: 1.2, g: 9.81, a: 0.4}
ALONG, ACROSS = 3.0, 1.0  # ẋ and ẏ at the start [m/s]


def system():
    return vn.System(
        coordinates=[x, y, z],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2) / 2,
        potential_energy=m * g * z,
        constraints=[vn.Nonholonomic(z.diff() - a * sqrt(x.diff() ** 2 + y.diff() ** 2), name="drum")],
        parameters=NUMBERS,
        name="Appell's and Hamel's weight",
    )


def characteristics():
    return {e1: x.diff(), e2: y.diff()}


def run():
    """The motion, and {quantity: (found, exact)}."""
    equations = vn.derive(system(), "hamel", characteristics=characteristics())
    motion = vn.simulate(equations, initial={e1: ALONG, e2: ACROSS}, times=(0, 0.8))
    slowing = 9.81 * 0.4 / (1 + 0.4**2)
    speed = np.hypot(ALONG, ACROSS)
    path = speed * motion.t - slowing * motion.t**2 / 2
    return motion, {
        "x at the end [m]": (motion[x][-1], path[-1] * ALONG / speed),
        "z at the end [m]": (motion[z][-1], 0.4 * path[-1]),
        "direction at the end": (motion[e2][-1] / motion[e1][-1], ACROSS / ALONG),
        "reaction at the end [N]": (motion.reactions["drum"][-1], 1.2 * slowing / 0.4),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    places, speeds = figure.subplots(1, 2)
    for q, name in ((x, "x"), (y, "y"), (z, "z, the weight")):
        places.plot(motion.t, motion[q], label=f"{name} [m]")
        speeds.plot(motion.t, motion[q.diff()], label=f"rate of {name} [m/s]")
    for axes in (places, speeds):
        axes.set(xlabel="t [s]")
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
