"""A model truck with a trailer hitched at its rear axle: straight ahead, backward (jackknife), and in a circle.

Speed v of the rear axle, steering angle δ held, hitch angle γ from the truck to the trailer. The three axles cannot
slip sideways, which leaves one free velocity, and

    L ψ̇ = v tan δ,    L₂ (γ̇ + ψ̇) = -v sin γ:    steady with sin γ = -(L₂/L) tan δ and the root -(v/L₂) cos γ.

Straight motion ahead is stable, backward the trailer folds up with the root |v|/L₂.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, psi, gamma = dynamicsymbols("x y psi gamma")  # rear axle [m], heading of the truck, hitch angle [rad]
L, L2, b, b2, m, m2, J, J2, steer = symbols("L L2 b b2 m m2 J J2 steer")
NUMBERS = {L: 0.4, L2: 0.6, b: 0.15, b2: 0.4, m: 7.0, m2: 9.0, J: 0.2, J2: 0.5, steer: 0.0}  # a model truck
SPEED, ANGLE = 0.3, 0.2  # [m/s], of the steering in the circle [rad]


def system():
    trailer, turning = psi + gamma, psi.diff() + gamma.diff()
    truck_x, truck_y = x.diff() - b * sin(psi) * psi.diff(), y.diff() + b * cos(psi) * psi.diff()
    trailer_x, trailer_y = x.diff() + b2 * sin(trailer) * turning, y.diff() - b2 * cos(trailer) * turning
    front = psi + steer
    return vn.System(
        coordinates=[x, y, psi, gamma],
        kinetic_energy=(m * (truck_x**2 + truck_y**2) + J * psi.diff() ** 2) / 2
        + (m2 * (trailer_x**2 + trailer_y**2) + J2 * turning**2) / 2,
        constraints=[
            vn.Nonholonomic(y.diff() * cos(psi) - x.diff() * sin(psi), name="rear axle"),
            vn.Nonholonomic(
                y.diff() * cos(front) - x.diff() * sin(front) + L * cos(steer) * psi.diff(), name="front axle"
            ),
            vn.Nonholonomic(y.diff() * cos(trailer) - x.diff() * sin(trailer) - L2 * turning, name="trailer axle"),
        ],
        parameters=NUMBERS,
        name="truck with trailer",
    )


def steady(steering, speed):
    """The steady motion with the trailer behind the truck, and its linear model."""
    equations = vn.derive(system())
    motion = vn.steady(equations, {x.diff(): speed, psi: 0.0}, near={gamma: -steering}, parameters={steer: steering})
    return motion, vn.linearize(equations, at=motion)


def run():
    """Backing up until the trailer folds up, and {quantity: (found, exact)}."""
    ahead, back = steady(0.0, SPEED)[1], steady(0.0, -SPEED)[1]
    circle, turning = steady(ANGLE, SPEED)
    hitch = -np.arcsin(NUMBERS[L2] / NUMBERS[L] * np.tan(ANGLE))
    start = {x: 0, y: 0, psi: 0, gamma: 0.02, x.diff(): -SPEED}
    motion = vn.simulate(vn.derive(system()), start, times=(0, 6))
    half = np.tan(0.01) * np.exp(SPEED / NUMBERS[L2] * -motion[x][-1] / SPEED)  # of tan(γ/2), by the distance
    return motion, {
        "root straight ahead [1/s]": (ahead.roots[0].real, -SPEED / NUMBERS[L2]),
        "root backward [1/s]": (back.roots[0].real, SPEED / NUMBERS[L2]),
        "root in the circle [1/s]": (turning.roots[0].real, -SPEED / NUMBERS[L2] * np.cos(hitch)),
        "hitch angle in the circle [rad]": (circle[gamma], hitch),
        "verdicts: ahead, in the circle, not backward": (
            sum(bool(vn.stability(model)) for model in (ahead, turning)) - bool(vn.stability(back)),
            2,
        ),
        "hitch angle in the end [rad]": (motion[gamma][-1], 2 * np.arctan(half)),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, angle = figure.subplots(1, 2)
    for i in range(0, len(motion.t), 150):
        place = np.array([motion[x][i], motion[y][i]])
        for length, heading, color in ((0.4, motion[psi][i], "tab:blue"), (-0.6, motion[psi + gamma][i], "tab:red")):
            end = place + length * np.array([np.cos(heading), np.sin(heading)])
            plane.plot(*np.array([place, end]).T, color=color, lw=2, marker="o", ms=3)
    plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(-0.6, 0.6), title="Backing up: truck and trailer")
    angle.plot(motion.t, np.degrees(motion[gamma]))
    angle.set(xlabel="t [s]", ylabel="hitch angle [°]", title="The trailer folds up")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
