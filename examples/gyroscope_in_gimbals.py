"""A gyroscope in gimbals whose rotor must not turn about its own axis in space (Khusanov 2020, (14)).

    ω_z = γ̇ + α̇ sin β = 0

A motor on the rotor can hold this constraint. Motors on the axes of the outer and the inner ring cannot, no matter how
strong: without a torque on the rotor, C ω_z is an integral of the motion. For the same reason the ideal reaction of the
constraint is zero.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

alpha, beta, gamma = dynamicsymbols("alpha beta gamma")  # outer ring, inner ring, rotor [rad]
e1, e2, e3 = dynamicsymbols("e1 e2 e3")
A, A1, A2, B1, C, C1 = symbols("A A1 A2 B1 C C1")  # rotor A, C; inner ring A1, B1, C1; outer ring A2 [kg m²]
u_outer, u_inner, u_rotor = symbols("u_outer u_inner u_rotor")
spin = gamma.diff() + alpha.diff() * sin(beta)
NUMBERS = {A: 1.0, A1: 0.5, A2: 0.7, B1: 0.4, C: 2.0, C1: 0.8}
MOTORS = {"outer ring": (u_outer, alpha), "inner ring": (u_inner, beta), "rotor": (u_rotor, gamma)}


def system(motor="rotor"):
    u, axis = MOTORS[motor]
    rings = (A2 + (A1 + A) * cos(beta) ** 2 + C1 * sin(beta) ** 2) * alpha.diff() ** 2 + (A + B1) * beta.diff() ** 2
    return vn.System(
        coordinates=[alpha, beta, gamma],
        kinetic_energy=(rings + C * spin**2) / 2,
        forces={axis: u},
        inputs=[u],
        constraints=[vn.Servo(spin, through=[u], name="spin")],
        parameters=NUMBERS,
        name=f"gyroscope with a motor on the {motor}",
    )


def characteristics():
    return {e1: alpha.diff(), e2: beta.diff()}


def holds(motor):
    """Whether a motor can hold the constraint."""
    try:
        return vn.servo.realizability(system(motor)).determinant
    except vn.errors.ConstraintError:
        return 0.0


def motions():
    """On the constraint, and with a spin at the start that the servo takes away at the rate 2."""
    choices = {"characteristics": characteristics(), "release": {"spin": e3}}
    start = {beta: 0.3, e1: 1.0, e2: -0.4}
    held = vn.simulate(vn.derive(system(), "hamel", **choices), initial=start, times=(0, 4))
    braked = vn.derive(system(), "hamel", rates={"spin": 2.0}, **choices)
    return held, vn.simulate(braked, initial=start | {e3: 1.5}, times=(0, 4))


def run():
    """The motion on the constraint, and {quantity: (found, exact)}."""
    held, braked = motions()
    return held, {
        "determinant with a motor on the rotor": (holds("rotor"), 1 / NUMBERS[C]),
        "determinant with a motor on the outer ring": (holds("outer ring"), 0.0),
        "determinant with a motor on the inner ring": (holds("inner ring"), 0.0),
        "greatest torque that holds the constraint [N m]": (np.abs(held[u_rotor]).max(), 0.0),
        "spin at the end, braked [rad/s]": (braked[e3][-1], 1.5 * np.exp(-8)),
        "torque at the start, braked [N m]": (braked[u_rotor][0], -2.0 * 1.5 * NUMBERS[C]),
    }


def picture(path):
    from matplotlib.figure import Figure

    _, motion = motions()
    figure = Figure(figsize=(9, 4), layout="constrained")
    angles, motor = figure.subplots(1, 2)
    for q, name in ((alpha, "outer ring"), (beta, "inner ring"), (gamma, "rotor")):
        angles.plot(motion.t, motion[q], label=name)
    angles.set(xlabel="t [s]", ylabel="[rad]", title="Angles")
    angles.legend(frameon=False)
    motor.plot(motion.t, motion[e3], label="spin [rad/s]")
    motor.plot(motion.t, motion[u_rotor], label="torque of the rotor's motor [N m]")
    motor.set(xlabel="t [s]", title="The servo takes the spin away")
    motor.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
