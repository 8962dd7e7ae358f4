"""An overhead crane that carries its load along a path and leaves it at rest: two servo constraints on an
underactuated system.

    x + l sin θ = X(t),   -l cos θ = Y(t)      through the force F on the trolley and the torque N of the winch

The rope pulls only along itself, so F and N together accelerate the load in one direction only: the height has relative
degree 2, the horizontal position 4. The hidden constraint is the angle of the rope, tan θ = -Ẍ/(g + Ÿ). There are no
internal dynamics: the path determines the whole state, and the force
F = m_t ẍ - T sin θ with the rope's pull T = m_l √(Ẍ² + (g + Ÿ)²).
"""

import numpy as np
from sympy import atan, cos, sin, sqrt, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, l, theta = dynamicsymbols("x l theta")  # trolley [m], rope [m], its angle [rad]
swing = dynamicsymbols("swing")  # rate of the angle [rad/s], a quasi-velocity
m_t, m_l, J, r, g = symbols("m_t m_l J r g")
force, torque = symbols("force torque")
NUMBERS = {m_t: 0.4, m_l: 1.0, J: 1e-4, r: 0.02, g: 9.81}  # a model: trolley and load [kg], winch [kg m²], [m]
DURATION, ACROSS, UP, DEEP = 3.0, 0.8, 0.3, 0.9  # [s], [m]
load = (x + l * sin(theta), -l * cos(theta))


def path(time=t):
    """From rest to rest: three derivatives vanish at both ends, so that the rope hangs still there."""
    s = time / DURATION
    p = s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
    return ACROSS * p, UP * p - DEEP


def system():
    X, Y = path()
    speeds = [c.diff(t) for c in load]
    return vn.System(
        coordinates=[x, l, theta],
        kinetic_energy=(m_t * x.diff() ** 2 + J * l.diff() ** 2 / r**2 + m_l * sum(s**2 for s in speeds)) / 2,
        potential_energy=m_l * g * load[1],
        forces={x: force, l: torque / r},
        inputs=[force, torque],
        constraints=[
            vn.Servo(load[0] - X, through=[force], name="across"),
            vn.Servo(load[1] - Y, through=[torque], name="height"),
        ],
        parameters=NUMBERS,
        name="overhead crane",
    )


def characteristics():
    return {swing: theta.diff()}


def exact():
    """Angle and force from the path alone."""
    X, Y = path()
    pull = sqrt(X.diff(t, 2) ** 2 + (9.81 + Y.diff(t, 2)) ** 2)
    angle = atan(-X.diff(t, 2) / (9.81 + Y.diff(t, 2)))
    trolley = X + Y * sin(angle) / cos(angle)
    return angle, NUMBERS[m_t] * trolley.diff(t, 2) - NUMBERS[m_l] * pull * sin(angle)


def run():
    """The motion, and {quantity: (found, exact)}."""
    from sympy import lambdify

    at_rest = {x: 0.0, l: DEEP, theta: 0.0}
    motion = vn.simulate(vn.derive(system()), initial=at_rest, times=(0, DURATION))
    angle, push = (lambdify(t, expression)(motion.t) for expression in exact())
    hamel = vn.derive(system(), "hamel", characteristics=characteristics())
    in_quasi_velocities = vn.simulate(hamel, initial=at_rest, times=(0, DURATION))
    return motion, {
        "greatest difference of the motion in quasi-velocities [rad]": (
            np.abs(in_quasi_velocities[theta] - motion[theta]).max(),
            0.0,
        ),
        "relative degree across": (vn.servo.realizability(system()).relative_degrees["across"], 4),
        "greatest error of the angle [rad]": (np.abs(motion[theta] - angle).max(), 0.0),
        "greatest error of the force [N]": (np.abs(motion[force] - push).max(), 0.0),
        "swing left at the end [rad]": (motion[theta][-1], 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, inputs = figure.subplots(1, 2)
    plane.plot(motion[load[0]], motion[load[1]], color="tab:red", label="load")
    for i in range(0, len(motion.t), 50):
        plane.plot([motion[x][i], motion[load[0]][i]], [0, motion[load[1]][i]], color="0.7", lw=0.7)
    plane.set(xlabel="[m]", ylabel="[m]", aspect="equal", title="The rope along the path")
    inputs.plot(motion.t, motion[force], label="force on the trolley [N]")
    inputs.plot(motion.t, motion[torque], label="torque of the winch [N m]")
    inputs.set(xlabel="t [s]")
    inputs.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
