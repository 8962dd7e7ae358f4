"""A particle under gravity with a prescribed speed |v| = V + a t, a constraint nonlinear in the velocities.

The ideal reaction (Chetaev) acts along the velocity. With the angle e of the path to the horizontal as kinematic
characteristic, ẋ = |v| cos e, ẏ = |v| sin e, the equation is |v| ė = -g cos e, and

    asinh(tan e) = asinh(tan e₀) - (g/a) ln(1 + a t / V).
"""

import numpy as np
from sympy import atan, cos, sin, sqrt, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")  # [m]
e, xi = dynamicsymbols("e xi")  # angle of the path [rad], deviation from the prescribed speed [m/s]
m, g, V, a = symbols("m g V a")
NUMBERS = {m: 0.5, g: 9.81, V: 4.0, a: 1.5}
speed = V + a * t
START = 1.2  # the angle at the start [rad]


def system(speed=speed):
    return vn.System(
        coordinates=[x, y],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential_energy=m * g * y,
        constraints=[vn.Nonholonomic(sqrt(x.diff() ** 2 + y.diff() ** 2) - speed, name="speed")],
        parameters=NUMBERS,
        name="particle with given speed",
    )


def characteristics():
    return {e: atan(y.diff() / x.diff())}


def inverse():
    """The velocities in terms of angle and speed; x grows."""
    return {x.diff(): (speed + xi) * cos(e), y.diff(): (speed + xi) * sin(e)}


def run():
    """The motion, and {quantity: (found, exact)}."""
    choices = {"characteristics": characteristics(), "inverse": inverse(), "release": {"speed": xi}}
    motion = vn.simulate(vn.derive(system(), "hamel", **choices), initial={e: START}, times=(0, 2))
    turned = np.arcsinh(np.tan(START)) - 9.81 / 1.5 * np.log(1 + 1.5 * motion.t / 4.0)
    exact = np.arctan(np.sinh(turned))
    force = NUMBERS[m] * (1.5 + 9.81 * np.sin(exact))  # m (d|v|/dt + g sin e), along the velocity
    return motion, {
        "angle at the end [rad]": (motion[e][-1], exact[-1]),
        "greatest error of the angle [rad]": (np.abs(motion[e] - exact).max(), 0.0),
        "greatest error of the reaction [N]": (np.abs(motion.reactions["speed"] - force).max(), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, force = figure.subplots(1, 2)
    plane.plot(motion[x], motion[y])
    plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Path")
    force.plot(motion.t, motion.reactions["speed"])
    force.set(xlabel="t [s]", ylabel="[N]", title="Force along the path that keeps the speed")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
