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
WEIGHTS = {"state_weights": 1.0, "input_weights": 0.01}


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


def riding(equations):
    """Riding straight ahead, and a law that keeps the vehicle upright at this speed."""
    ride = vn.steady(equations, {x.diff(): SPEED, psi.diff(): 0.0, theta: 0.0})
    return ride, vn.stabilize(vn.linearize(equations, at=ride), **WEIGHTS)


def parking(equations):
    """Standing, and a law that brings the vehicle back to x = 0; sideways it cannot be controlled at rest."""
    rest = vn.equilibrium(equations, dict.fromkeys(equations.system.coordinates, 0.0))
    linear = vn.linearize(equations, at=rest, drop=[y, left, right])
    return rest, vn.stabilize(linear, **WEIGHTS)


def falling_root():
    mass, arm = NUMBERS[m], NUMBERS[m] * NUMBERS[l]
    whole, inertia = mass + 2 * NUMBERS[m_w] + 2 * NUMBERS[J] / NUMBERS[R] ** 2, NUMBERS[I] + arm * NUMBERS[l]
    return np.sqrt(whole * arm * NUMBERS[g] / (whole * inertia - arm**2))


def run():
    """The ride after a push, and {quantity: (found, exact)}."""
    equations = vn.derive(system())
    (_, ride), (_, park) = riding(equations), parking(equations)
    start = {x: 0.5, y: 0.0, psi: 0.3, theta: 0.2, left: 0.0, right: 0.0, psi.diff(): 0.0, theta.diff(): 0.0}
    motion = vn.simulate(vn.close_loop(equations, ride), start | {left.diff(): 5.0}, times=(0, 15))
    parked = vn.simulate(vn.close_loop(equations, park), start | {left.diff(): 0.0}, times=(0, 40))
    return motion, {
        "root at rest without control [1/s]": (park.linear.roots[0].real, falling_root()),
        "root at a speed without control [1/s]": (ride.linear.roots[0].real, falling_root()),
        "speed in the end of the ride [m/s]": (motion[left.diff()][-1] * NUMBERS[R], SPEED),
        "tilt in the end of the ride [rad]": (motion[theta][-1], 0.0),
        "tilt in the end of the parking [rad]": (parked[theta][-1], 0.0),
        "place in the end of the parking [m]": (parked[x][-1], 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    tilt, speed = figure.subplots(1, 2)
    tilt.plot(motion.t, np.degrees(motion[theta]), label="tilt [°]")
    tilt.plot(motion.t, np.degrees(motion[psi]), label="heading [°]")
    tilt.set(xlabel="t [s]", xlim=(0, 5), title="Upright again")
    speed.plot(motion.t, motion[R * left.diff()], label="left wheel [m/s]")
    speed.plot(motion.t, motion[u_l] / 100, label="left torque [100 N m]")
    speed.set(xlabel="t [s]", xlim=(0, 5), title="Riding at the given speed")
    for axes in (tilt, speed):
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
