"""A snakeboard: two wheel trucks that cannot slip sideways, and a rotor. The rider only turns rotor and trucks.

    -ẋ sin(θ ± φ) + ẏ cos(θ ± φ) ± l θ̇ cos φ = 0,    servos hold ψ = a_ψ sin ωt and φ = a_φ sin ωt

Turning the rotor against the trucks in the same rhythm drives the board forward. The velocity v along the board
follows from the wheels alone, θ̇ = v tan φ / l, and its equation is that of the nonholonomic momentum.
"""

import numpy as np
from sympy import cos, sin, symbols, tan
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, theta, psi, phi = dynamicsymbols("x y theta psi phi")  # board [m], [rad]; rotor and trucks against it [rad]
v = dynamicsymbols("v")  # speed along the board [m/s]
m, l, J, J_r, J_w, omega, a_r, a_w = symbols("m l J J_r J_w omega a_r a_w")
torque_r, torque_w = symbols("torque_r torque_w")
NUMBERS = {m: 6.0, l: 0.2, J: 0.016, J_r: 0.072, J_w: 0.0013, omega: 4.0, a_r: 0.7, a_w: 0.5}


def system():
    turning = theta.diff() + psi.diff()
    wheels = [
        vn.Nonholonomic(
            -x.diff() * sin(theta + side * phi)
            + y.diff() * cos(theta + side * phi)
            + side * l * theta.diff() * cos(phi),
            name=name,
        )
        for side, name in ((1, "front wheels"), (-1, "rear wheels"))
    ]
    return vn.System(
        coordinates=[x, y, theta, psi, phi],
        kinetic_energy=(m * (x.diff() ** 2 + y.diff() ** 2) + J * theta.diff() ** 2 + J_r * turning**2) / 2
        + J_w * (theta.diff() ** 2 + phi.diff() ** 2),
        forces={psi: torque_r, phi: torque_w},
        inputs=[torque_r, torque_w],
        constraints=[
            *wheels,
            vn.Servo(psi - a_r * sin(omega * t), through=[torque_r], name="rotor"),
            vn.Servo(phi - a_w * sin(omega * t), through=[torque_w], name="trucks"),
        ],
        parameters=NUMBERS,
        name="snakeboard",
    )


def characteristics():
    return {v: x.diff() * cos(theta) + y.diff() * sin(theta)}


def run():
    """The motion, and {quantity: (found, exact)}."""
    equations = vn.derive(system(), "hamel", characteristics=characteristics())
    motion = vn.simulate(equations, initial={v: 0.0}, times=(0, 6))
    turning = motion[theta.diff()] - motion[v * tan(phi) / l]
    # m v̇ + (J + J_r + 2 J_w) θ̈ tan φ / l + J_r ψ̈ tan φ / l = 0, the momentum that the wheels leave free
    inertia = (J + J_r + 2 * J_w) * theta.diff(t, 2) + J_r * psi.diff(t, 2)
    along = x.diff(t, 2) * cos(theta) + y.diff(t, 2) * sin(theta)
    balance = motion[m * along + inertia * tan(phi) / l]
    return motion, {
        "greatest error of the turning rate [rad/s]": (np.abs(turning).max(), 0.0),
        "greatest error of the momentum equation [N]": (np.abs(balance).max(), 0.0),
        "energy not explained by the servos' work [J]": (motion.energy_error, 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, speeds = figure.subplots(1, 2)
    plane.plot(motion[x], motion[y])
    plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Path of the board")
    speeds.plot(motion.t, motion[v], label="speed along the board [m/s]")
    speeds.plot(motion.t, motion[torque_r], label="torque on the rotor [N m]", lw=0.8)
    speeds.set(xlabel="t [s]")
    speeds.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
