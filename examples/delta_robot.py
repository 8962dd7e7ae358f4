"""A Delta robot: three motors, three forearms, a platform that stays level. Torques, then voltages.

    |X + r₃ a_i - E_i|² = l₂²,   a_i = (cos f_i, sin f_i, 0),   E_i = (r₀ + l₁ cos θ_i) a_i - (0, 0, l₁ sin θ_i)

The position of the platform is a redundant coordinate next to the three angles, so no inverse kinematics are needed.
With constant torques the robot is unstable, which a controller designed with linearized constraints would miss. The
example checks the angle and the holding torque below the center, by hand from the triangle of one leg and virtual
work, and the final state of the closed loop. (Data of an Autonox RL5-1450 without payload; motors assumed.)
"""

import numpy as np
from sympy import Matrix, cos, pi, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

theta = dynamicsymbols("theta1:4")  # arms, positive below the horizontal [rad]
X, Y, Z = platform = dynamicsymbols("X Y Z")  # [m]
u = symbols("u1:4")  # torques on the arms [N m]
names = r0, r3, l1, l2, I_A, S_A, I_g, m_f, J_f, m_p, g = symbols("r0 r3 l1 l2 I_A S_A I_g m_f J_f m_p g")
DATA = (0.33, 0.125, 0.42, 1.055, 0.208218, 0.6925928, 0.626175, 1.05, 2 * 0.043009, 2.916, 9.81)
MOTOR = vn.motors.DCMotor(torque_constant=0.7, resistance=0.8, inductance=5e-3, gear=55)
HEIGHT = -0.9  # of the platform [m]
TORQUE_WEIGHTS = {"state_weights": [100] * 3 + [1] * 3, "input_weights": 0.01}
VOLTAGE_WEIGHTS = {"state_weights": [1500] * 3 + [1] * 3 + [0.1] * 3, "input_weights": 0.01}


def rod(angle, elbow, place):
    """Kinetic energy and height of a forearm from the velocities of its ends: a uniform rod."""
    middle, ends = (elbow + place) / 2, place - elbow
    return m_f * middle.dot(middle) / 2 + J_f * ends.dot(ends) / l2**2 / 2, (Z - l1 * sin(angle)) / 2


def system(forearm=rod):
    place, T, V, legs = Matrix(platform), 0, m_p * g * Z, []
    for i, angle in enumerate(theta):
        a = Matrix([cos(2 * pi * i / 3), sin(2 * pi * i / 3), 0])
        elbow = (r0 + l1 * cos(angle)) * a - Matrix([0, 0, l1 * sin(angle)])
        leg = place + r3 * a - elbow
        legs.append(vn.Holonomic(leg.dot(leg) - l2**2, name=f"forearm {i + 1}"))
        moving, height = forearm(angle, elbow.diff(t), place.diff(t))
        T += (I_A + I_g) * angle.diff() ** 2 / 2 + moving
        V += -S_A * g * sin(angle) + m_f * g * height
    return vn.System(
        coordinates=[*theta, *platform],
        kinetic_energy=T + m_p * place.diff(t).dot(place.diff(t)) / 2,
        potential_energy=V,
        forces=dict(zip(theta, u, strict=True)),
        constraints=legs,
        parameters=dict(zip(names, DATA, strict=True)),
        inputs=u,
        name="Delta robot",
    )


def at_height(equations):
    """The equilibrium below the center, elbows out."""
    return vn.equilibrium(equations, {X: 0, Y: 0, Z: HEIGHT}, near=dict.fromkeys(theta, 0.1), starts=0)


def stabilized(motors=False):
    """Equations, equilibrium, linear model and law, for torques or for voltages."""
    robot = vn.motors.motorize(system(), dict.fromkeys(u, MOTOR)) if motors else system()
    equations = vn.derive(robot, form="shulgin", dependent=platform)
    rest = at_height(equations)
    linear = vn.linearize(equations, at=rest)
    return equations, rest, linear, vn.stabilize(linear, **(VOLTAGE_WEIGHTS if motors else TORQUE_WEIGHTS))


def exact():
    """The angle from (r₀ - r₃ + l₁ cos θ)² + (Z + l₁ sin θ)² = l₂², the torque from virtual work with dZ/dθ."""
    reach, arm, leg = DATA[0] - DATA[1], DATA[2], DATA[3]
    share = (leg**2 - arm**2 - reach**2 - HEIGHT**2) / (2 * arm)  # reach cos θ + Z sin θ
    angle = np.arctan2(HEIGHT, reach) + np.arccos(share / np.hypot(reach, HEIGHT))
    out, down = reach + arm * np.cos(angle), HEIGHT + arm * np.sin(angle)
    slope = (out * arm * np.sin(angle) - down * arm * np.cos(angle)) / down
    lifted = (DATA[9] / 3 + DATA[7] / 2) * slope - (DATA[5] + DATA[7] * arm / 2) * np.cos(angle)
    return angle, DATA[10] * lifted


def run():
    """The motion under voltages from arms 0.1 rad too low, and {quantity: (found, exact)}."""
    angle, torque = exact()
    held = at_height(vn.derive(system(), form="shulgin", dependent=platform))
    equations, rest, linear, law = stabilized(motors=True)
    start = {q: rest[q] + 0.1 for q in theta} | {q.diff(): 0 for q in theta}
    motion = vn.simulate(vn.close_loop(equations, law), start, times=(0, 3), guess={Z: HEIGHT})
    return motion, {
        "angle of the arms [rad]": (held[theta[0]], angle),
        "holding torque [N m]": (held[u[2]], torque),
        "structural zero roots": (linear.critical, 3),
        "height of the platform in the end [m]": (motion[Z][-1], HEIGHT),
    }


def picture(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for plot, motors, inputs in zip(axes, (False, True), (u, map(vn.motors.voltage_of, u)), strict=True):
        equations, rest, _, law = stabilized(motors)
        offset = zip(theta, (0.15, -0.1, 0.05), strict=True)
        start = {q: rest[q] + d for q, d in offset} | {q.diff(): 0 for q in theta}
        motion = vn.simulate(vn.close_loop(equations, law), start, times=(0, 1.2), guess={Z: HEIGHT})
        for q in platform:
            plot.plot(motion.t, 100 * (motion[q] - rest[q]), label=q.name)
        peak = max(abs(motion[e]).max() for e in inputs)
        plot.set(xlabel="t [s]", ylabel="platform from its place [cm]", xlim=(0, 1.2))
        plot.set_title(f"{'Voltages' if motors else 'Torques'}, at most {peak:.0f} {'V' if motors else 'N m'}")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
