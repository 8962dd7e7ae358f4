"""Chaplygin's sleigh without a knife: a motor turns the body such that the contact point never slips.

    ξ̇ sin φ - η̇ cos φ = 0,   held by an ideal reaction (Chetaev) or by a steering torque τ (Beghin)

The condition and the start are the same, the motions differ: the ideal reaction does no work, the servo does. With
the center of mass (α, β) in the axes of the body, straight motion at speed U is held stably by the servo when α U >
0: root -U/α.
"""

import numpy as np
from sympy import cos, sin, sqrt, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

xi, eta, phi = dynamicsymbols("xi eta phi")  # contact point [m], heading [rad]
e1, e2, e3 = dynamicsymbols("e1 e2 e3")  # angular velocity, speed, slip
M, alpha, beta, k, tau = symbols("M alpha beta k tau")
slip = xi.diff() * sin(phi) - eta.diff() * cos(phi)
NUMBERS = {M: 1.3, alpha: 0.3, beta: -0.2, k: 0.4}  # [kg], [m], [m], radius of inertia [m]
TURNING, SPEED = 0.9, 1.6  # e1 [rad/s] and e2 [m/s] at the start


def system():
    across = xi.diff() - phi.diff() * (alpha * sin(phi) + beta * cos(phi))
    upwards = eta.diff() + phi.diff() * (alpha * cos(phi) - beta * sin(phi))
    return vn.System(
        coordinates=[xi, eta, phi],
        kinetic_energy=M * (across**2 + upwards**2 + k**2 * phi.diff() ** 2) / 2,
        forces={phi: tau},
        inputs=[tau],
        constraints=[vn.Servo(slip, through=[tau], name="knife")],
        parameters=NUMBERS,
        name="sleigh with a steering servo",
    )


def characteristics():
    """Angular velocity and speed: nonlinear in the velocities."""
    return {e1: phi.diff(), e2: sqrt(xi.diff() ** 2 + eta.diff() ** 2)}


def motions():
    """The servo's motion and the ideal one from the same start."""
    start = {e1: TURNING, e2: SPEED}
    forms = (vn.derive(s, "hamel", characteristics=characteristics()) for s in (system(), vn.servo.idealized(system())))
    return tuple(vn.simulate(form, initial=start, times=(0, 5)) for form in forms)


def run():
    """The servo's motion, and {quantity: (found, exact)}.

    A torque alone moves no center of mass: under the servo it goes straight on. The ideal reaction pushes it, but does
    no work.
    """
    servo, ideal = motions()
    center = xi + alpha * cos(phi) - beta * sin(phi), eta + alpha * sin(phi) + beta * cos(phi)
    drift = max(np.ptp(servo[c.diff("t")]) for c in center)
    steady = {xi: 0.0, eta: 0.0, phi: 0.0, e1: 0.0, e2: SPEED}
    inner = vn.servo.internal_dynamics(servo.problem.equations, at=steady, states=[e1, e2])
    return servo, {
        "change of the center's velocity under the servo [m/s]": (drift, 0.0),
        "work of the servo against change of energy [J]": (servo.work[-1], servo.energy[-1] - servo.energy[0]),
        "change of energy with the ideal reaction [J]": (np.ptp(ideal.energy), 0.0),
        "first torque of the servo [N m]": (servo[tau][0], -1.11072),
        "fastest root of straight motion [1/s]": (inner.rates[-1].real, -SPEED / NUMBERS[alpha]),
    }


def picture(path):
    from matplotlib.figure import Figure

    servo, ideal = motions()
    figure = Figure(figsize=(9, 4), layout="constrained")
    ice, energy = figure.subplots(1, 2)
    for motion, name in ((ideal, "ideal reaction (Chetaev)"), (servo, "steering servo (Beghin)")):
        ice.plot(motion[xi], motion[eta], label=name)
        energy.plot(motion.t, motion.energy, label=name)
    ice.set(xlabel="xi [m]", ylabel="eta [m]", title="One condition, two motions", aspect="equal")
    energy.set(xlabel="t [s]", ylabel="energy [J]", ylim=(0, 1.2 * np.max(ideal.energy)), title="The servo does work")
    ice.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
