"""A ball on a beam, tilted by a motor through a lever: the exact constraint, both equilibria, a stabilizing voltage.

    (L cos α - (L - d + d cos θ))² + (L sin α - (d sin θ - l))² = l²

The beam (length L, angle α) hangs at its end on a lever of length l, whose lower end is pinned to the motor's wheel
at the radius d and the angle θ. The beam is level for θ = 0 and again for θ = 2 arctan(l/d); neither is stable. The
example checks the second angle, both holding torques u = B (m g r + M g L/2) with B = dα/dθ, and the roots there,
which depend on the curvature d²α/dθ². (Krasinskiy 2025; data of a public model of such a stand, l, J_θ and the
inductance assumed.)
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

r, theta, alpha = dynamicsymbols("r theta alpha")  # ball from the pivot [m], wheel and beam [rad]
u = symbols("u")  # torque on the wheel [N m]
m, M, R, L, d, l, J, J_b, J_theta, g = symbols("m M R L d l J J_b J_theta g")
BALL, BEAM, BEAM_LENGTH, RADIUS, LEVER, GRAVITY = 0.0282, 0.334, 0.4, 0.04, 0.12, 9.81  # [kg], [m], [m/s²]
PLACE = 0.2  # where the ball is to rest [m]
MOTOR = vn.motors.DCMotor(torque_constant=0.1491, resistance=18.91, inductance=0.01, gear=4.2)
VOLTAGE = vn.motors.voltage_of(u)
WEIGHTS = {"state_weights": [100, 4, 100 / 9, 0.04, 4], "input_weights": 0.01}  # of r, θ, dr/dt, dθ/dt, current


def system():
    return vn.System(
        coordinates=[r, theta, alpha],
        kinetic_energy=((m + J / R**2) * r.diff() ** 2 + (J_b + m * r**2) * alpha.diff() ** 2) / 2
        + J_theta * theta.diff() ** 2 / 2,
        potential_energy=(m * g * r + M * g * L / 2) * sin(alpha),
        forces={theta: u},
        constraints=[
            vn.Holonomic(
                (L * cos(alpha) - (L - d + d * cos(theta))) ** 2 + (L * sin(alpha) - (d * sin(theta) - l)) ** 2 - l**2,
                name="lever",
            )
        ],
        parameters={m: BALL, M: BEAM, R: 0.0095, L: BEAM_LENGTH, d: RADIUS, l: LEVER}
        | {J: 1.0469e-6, J_b: 0.017813, J_theta: 1.2e-4, g: GRAVITY},
        inputs=[u],
        name="ball and beam",
    )


def stabilized(rest_number):
    """Equations with motor, the equilibrium (0 or 1), its linear model and its voltage law."""
    equations = vn.derive(vn.motors.motorize(system(), {u: MOTOR}), form="shulgin", dependent=[alpha])
    rest = vn.equilibrium(equations, {r: PLACE})
    rest = [rest, *rest.others][rest_number]
    linear = vn.linearize(equations, at=rest)
    return equations, rest, linear, vn.stabilize(linear, **WEIGHTS)


def exact():
    """θ, B = dα/dθ and the open-loop roots of the second equilibrium, from the triangle of wheel and lever."""
    B = -(RADIUS / BEAM_LENGTH) * (LEVER**2 + RADIUS**2) / (LEVER**2 - RADIUS**2)
    bend, weight = -0.01171875, (BALL * PLACE + BEAM * BEAM_LENGTH / 2) * GRAVITY  # d²α/dθ², and ∂V/∂α
    ball, wheel = BALL + 1.0469e-6 / 0.0095**2, 1.2e-4 + B**2 * (0.017813 + BALL * PLACE**2)
    squares = np.roots([ball * wheel, ball * weight * bend, -((BALL * GRAVITY * B) ** 2)])  # of the roots
    return 2 * np.arctan(LEVER / RADIUS), B * weight, np.sqrt(squares.max())


def run():
    """The motion to the second equilibrium from 0.1 m away, and {quantity: (found, exact)}."""
    equations, rest, _, law = stabilized(1)
    start = {r: PLACE + 0.1, theta: rest[theta], r.diff(): 0, theta.diff(): 0}
    motion = vn.simulate(vn.close_loop(equations, law), start, times=(0, 20), guess={alpha: 0})
    torque = vn.derive(system(), form="shulgin", dependent=[alpha])
    level = vn.equilibrium(torque, {r: PLACE})
    angle, holding, root = exact()
    return motion, {
        "angle of the second equilibrium [rad]": (level.others[0][theta], angle),
        "holding torque there [N m]": (level.others[0][u], holding),
        "holding torque at angle zero [N m]": (level[u], 0.1 * (BALL * PLACE + BEAM * BEAM_LENGTH / 2) * GRAVITY),
        "unstable root without control [1/s]": (vn.linearize(torque, at=level.others[0]).roots[0].real, root),
        "place of the ball in the end [m]": (motion[r][-1], PLACE),
        "voltage in the end [V]": (motion[VOLTAGE][-1], rest[VOLTAGE]),
    }


def picture(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    place, voltage = figure.subplots(1, 2)
    for number, color in enumerate(("tab:blue", "tab:red")):
        equations, rest, _, law = stabilized(number)
        start = {r: PLACE + 0.1, theta: rest[theta], r.diff(): 0, theta.diff(): 0}
        motion = vn.simulate(vn.close_loop(equations, law), start, times=(0, 5), guess={alpha: 0})
        label = f"wheel at {np.degrees(rest[theta]):.0f}°"
        place.plot(motion.t, motion[r], color=color, label=label)
        voltage.plot(motion.t, motion[VOLTAGE], color=color, label=label)
    place.set(xlabel="t [s]", ylabel="r [m]", title="Ball and beam: both equilibria stabilized", xlim=(0, 5))
    voltage.set(xlabel="t [s]", ylabel="voltage [V]", title="By the voltage of the motor", xlim=(0, 5))
    place.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
