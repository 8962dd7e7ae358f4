"""A planar five-bar robot in a vertical plane: two motors on the ground, two loops of bars that meet at the tool.

    a e(θ₁) + b e(φ₁) = (d, 0) + a e(θ₂) + b e(φ₂),   e(φ) = (cos φ, sin φ)

Two constraints tie the angles φ of the passive bars to those of the motors. At the desired position of the
tool everything can be computed by hand: the angles from two triangles, the torques from virtual work. Two voltages hold
the robot there. Its only sensors are encoders on the passive bars, which are dependent coordinates.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

theta = dynamicsymbols("theta1 theta2")  # motors [rad]
phi = dynamicsymbols("phi1 phi2")  # passive bars [rad]
u = symbols("u1 u2")  # torques of the motors [N m]
a, b, d, rho, m, g = symbols("a b d rho m g")
ARM, BAR, GROUND, DENSITY, TOOL, GRAVITY = 0.25, 0.35, 0.2, 0.8, 0.5, 9.81  # [m], [kg/m], [kg], [m/s²]
MOTOR = vn.motors.DCMotor(torque_constant=0.05, resistance=1.2, inductance=1e-3, gear=20)
PLACE = 0.15 + 0.45j  # of the tool, as a complex number [m]


def system(turning=0, corner=(0, 0)):
    """The robot; on a table that turns about the origin at the rate ``turning``, with its first motor at ``corner``."""
    T = V = 0
    ends = []
    for side, (inner, outer) in enumerate(zip(theta, phi, strict=True)):
        start = (corner[0] + d * side, corner[1])
        for length, angle in ((a, inner), (b, outer)):
            center = (start[0] + length / 2 * cos(angle), start[1] + length / 2 * sin(angle))
            T += rho * length * (square(center, turning) + length**2 / 12 * (angle.diff() + turning) ** 2) / 2
            V += rho * length * g * center[1]
            start = (start[0] + length * cos(angle), start[1] + length * sin(angle))
        ends.append(start)
    (x1, y1), (x2, y2) = ends
    return vn.System(
        coordinates=[*theta, *phi],
        kinetic_energy=T + m * square(ends[0], turning) / 2,
        potential_energy=V + m * g * y1,
        forces=dict(zip(theta, u, strict=True)),
        constraints=[vn.Holonomic(x1 - x2, name="tool x"), vn.Holonomic(y1 - y2, name="tool y")],
        parameters={a: ARM, b: BAR, d: GROUND, rho: DENSITY, m: TOOL, g: GRAVITY},
        inputs=u,
        name="five-bar robot",
    )


def square(point, turning):
    """|v|² of a point given in the axes of the table."""
    x, y = point
    return (x.diff(t) - turning * y) ** 2 + (y.diff(t) + turning * x) ** 2


def angles(place):
    """The angles of motors and passive bars for a place of the tool, elbows out."""
    found = []
    for ground, side in ((0, 1), (GROUND, -1)):
        reach = place - ground
        opening = np.arccos((ARM**2 + abs(reach) ** 2 - BAR**2) / (2 * ARM * abs(reach)))
        inner = np.angle(reach) + side * opening
        found.append((inner, np.angle(reach - ARM * np.exp(1j * inner))))
    return [inner for inner, _ in found] + [outer for _, outer in found]


def torques(place):
    """u = ∂V/∂θ + Bᵀ ∂V/∂φ with dφ/dt = B dθ/dt: virtual work along the constraints."""
    inner, outer = np.reshape(angles(place), (2, 2))
    arms, bars = ARM * np.exp(1j * inner), BAR * np.exp(1j * outer)
    closing = [np.array([[x[0].real, -x[1].real], [x[0].imag, -x[1].imag]]) for x in (1j * arms, 1j * bars)]
    B = -np.linalg.solve(closing[1], closing[0])
    tool = np.array([TOOL, 0])  # its weight is carried along the first two bars
    lifted = [DENSITY * (ARM / 2 + BAR) + tool, DENSITY * BAR / 2 + tool]
    return GRAVITY * (lifted[0] * arms.real + B.T @ (lifted[1] * bars.real))


def stabilized():
    """Equations with motors, the equilibrium at the place, the law from all states and an observer of φ₁, φ₂."""
    equations = vn.derive(vn.motors.motorize(system(), dict.fromkeys(u, MOTOR)), form="shulgin", dependent=phi)
    start = dict(zip((*theta, *phi), angles(PLACE), strict=True))
    rest = vn.equilibrium(equations, {theta[0]: start[theta[0]], theta[1]: start[theta[1]]}, near=near(start), starts=0)
    linear = vn.linearize(equations, at=rest)
    law = vn.stabilize(linear, [2000, 2000, 1, 1, 0.1, 0.1], 0.1)
    return equations, rest, law, vn.observe(linear, phi, state_noise=[1, 1, 1e3, 1e3, 1e3, 1e3], output_noise=1e-4)


def near(start):
    return {q: start[q] for q in phi}


def run():
    """The motion to the place from 0.1 rad away, measured at the passive bars, and {quantity: (found, exact)}."""
    equations, rest, law, observer = stabilized()
    start = {theta[0]: rest[theta[0]] + 0.1, theta[1]: rest[theta[1]] - 0.05} | {q.diff(): 0 for q in theta}
    motion = vn.simulate(vn.close_loop(equations, law, observer), start, times=(0, 8), guess=near(rest))
    tool = ARM * np.exp(1j * motion[theta[0]][-1]) + BAR * np.exp(1j * motion[phi[0]][-1])
    return motion, {
        "angle of the first passive bar [rad]": (rest[phi[0]], angles(PLACE)[2]),
        "angle of the second passive bar [rad]": (rest[phi[1]], angles(PLACE)[3]),
        "distance of the tool from its place in the end [m]": (abs(tool - PLACE), 0.0),
        "holding voltage of the first motor [V]": (
            rest[vn.motors.voltage_of(u[0])],
            torques(PLACE)[0] * 1.2 / (20 * 0.05),
        ),
        "holding voltage of the second motor [V]": (
            rest[vn.motors.voltage_of(u[1])],
            torques(PLACE)[1] * 1.2 / (20 * 0.05),
        ),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, time = figure.subplots(1, 2)
    for i, shade in ((0, 0.3), (len(motion.t) - 1, 1.0)):
        for ground, inner, outer in zip((0, GROUND), theta, phi, strict=True):
            elbow = ground + ARM * np.exp(1j * motion[inner][i])
            bars = np.array([ground, elbow, elbow + BAR * np.exp(1j * motion[outer][i])])
            plane.plot(bars.real, bars.imag, "o-", color="tab:blue", lw=3, alpha=shade)
    plane.plot(PLACE.real, PLACE.imag, "x", color="tab:red", ms=12)
    plane.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="Five-bar robot: start and end")
    for q in (*theta, *phi):
        time.plot(motion.t, motion[q] - motion[q][-1], label=q.name)
    time.set(xlabel="t [s]", ylabel="angle from its place [rad]", xlim=(0, 0.6), title="Measured at the passive bars")
    time.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
