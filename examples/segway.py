"""A two-wheeled balancing vehicle on a plane: upright at rest and at a speed, by two motors.

Speed v of the axle, heading ψ, tilt θ of the body. The wheels roll without slipping,

    ẋ cos ψ + ẏ sin ψ ∓ d ψ̇ = R φ̇,    ẏ cos ψ - ẋ sin ψ = 0,

and the torques act between body and wheels. Without control the body falls with the root

    λ² = M m l g / (M (I + m l²) - m² l²),    M = m + 2 m_w + 2 J/R².
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, psi, theta, left, right = dynamicsymbols("x y psi theta left right")  # axle [m], heading, tilt, wheels [rad]
u_l, u_r = symbols("u_l u_r")  # torques of the motors [N m]
m, l, I, I_z, m_w, J, R, d, g = symbols("m l I I_z m_w J R d g")
NUMBERS = {m: 60.0, l: 0.8, I: 8.0, I_z: 2.0, m_w: 3.0, J: 0.06, R: 0.2, d: 0.3, g: 9.81}
SPEED = 2.0  # [m/s]


def system():
    ahead, aside = x.diff() * cos(psi) + y.diff() * sin(psi), y.diff() * cos(psi) - x.diff() * sin(psi)
    body = (ahead + l * theta.diff() * cos(theta)) ** 2 + (aside + l * sin(theta) * psi.diff()) ** 2
    body += (l * theta.diff() * sin(theta)) ** 2
    turning = I * (theta.diff() ** 2 + (psi.diff() * sin(theta)) ** 2) + I_z * (psi.diff() * cos(theta)) ** 2
    wheels = 2 * m_w * (ahead**2 + aside**2 + (d * psi.diff()) ** 2) + J * (left.diff() ** 2 + right.diff() ** 2)
    return vn.System(
        coordinates=[x, y, psi, theta, left, right],
        kinetic_energy=(m * body + turning + wheels) / 2,
        potential_energy=m * g * l * cos(theta),
        forces={left: u_l, right: u_r, theta: -u_l - u_r},
        constraints=[
            vn.Nonholonomic(ahead - d * psi.diff() - R * left.diff(), name="left wheel"),
            vn.Nonholonomic(ahead + d * psi.diff() - R * right.diff(), name="right wheel"),
            vn.Nonholonomic(aside, name="no side slip"),
        ],
        parameters=NUMBERS,
        inputs=[u_l, u_r],
        name="balancing vehicle",
    )


def balanced(equations, at, drop=()):
    """The equations with a stabilizing law at a motion, and the linear model there."""
    linear = vn.linearize(equations, at=at, drop=drop)
    law = vn.stabilize(linear, state_weights=np.eye(len(linear.states)), input_weights=0.01 * np.eye(2))
    return vn.close_loop(equations, law), linear


def falling_root():
    mass, arm = NUMBERS[m], NUMBERS[m] * NUMBERS[l]
    whole, inertia = mass + 2 * NUMBERS[m_w] + 2 * NUMBERS[J] / NUMBERS[R] ** 2, NUMBERS[I] + arm * NUMBERS[l]
    return np.sqrt(whole * arm * NUMBERS[g] / (whole * inertia - arm**2))


def run():
    """The motion from a tilt back to the place x = 0, and {quantity: (found, exact)}."""
    equations = vn.derive(system())
    rest = vn.equilibrium(equations, dict.fromkeys(system().coordinates, 0.0))
    ride = vn.steady(equations, {x.diff(): SPEED, psi.diff(): 0.0, theta: 0.0})
    (parked, at_rest), (riding, at_speed) = balanced(equations, rest, [y, left, right]), balanced(equations, ride)
    start = {x: 0.5, y: 0.0, psi: 0.3, theta: 0.2, left: 0.0, right: 0.0}
    still = dict.fromkeys((psi.diff(), theta.diff(), left.diff()), 0.0)
    motion = vn.simulate(parked, start | still, times=(0, 40))
    turned = vn.simulate(riding, start | still | {left.diff(): SPEED / NUMBERS[R]}, times=(0, 15))
    return motion, {
        "root at rest without control [1/s]": (at_rest.roots[0].real, falling_root()),
        "root at a speed without control [1/s]": (at_speed.roots[0].real, falling_root()),
        "tilt in the end [rad]": (motion[theta][-1], 0.0),
        "place in the end [m]": (motion[x][-1], 0.0),
        "speed in the end of the ride [m/s]": (turned[left.diff()][-1] * NUMBERS[R], SPEED),
        "tilt in the end of the ride [rad]": (turned[theta][-1], 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    tilt, place = figure.subplots(1, 2)
    tilt.plot(motion.t, np.degrees(motion[theta]), label="tilt [°]")
    tilt.plot(motion.t, np.degrees(motion[psi]), label="heading [°]")
    tilt.set(xlabel="t [s]", xlim=(0, 10), title="Upright again")
    tilt.legend(frameon=False)
    place.plot(motion.t, motion[x], label="x [m]")
    place.plot(motion.t, motion[u_l] / 100, label="left torque [100 N m]")
    place.set(xlabel="t [s]", xlim=(0, 10), title="Back at its place")
    place.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
