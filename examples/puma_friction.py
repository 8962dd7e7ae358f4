"""Friction of the ball bearings and gears of a PUMA 560's elbow, from its recorded angle and torque.

The forearm (link 3 of the PUMA, without the wrist) swings at an upper arm that is held, and a test torque, recorded at
41 instants, drives the elbow. Its friction is viscous and, of the loaded bearings, almost independent of the speed:

    J q̈ + m g r cos q = τ(t) - B q̇ - C tanh(q̇/ω),     J = I + m r² + G² J_m

From exact angles `vn.fit` must find the published B and C to rounding, and from angles with the noise of an encoder
within its own intervals. Mass and lever cannot be identified separately: apart from J, only m r appears.
"""

import numpy as np
from sympy import sin, symbols, tanh
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

q = dynamicsymbols("q")
u = symbols("u")  # torque of the motor at the elbow [N m]
B, C, w, J, m, r, g = symbols("B C omega J m r g")  # [N m s], [N m], [rad/s], [kg m²], [kg], [m], [m/s²]
MASS, LEVER, GEAR = 4.8, 0.07, 53.7063  # Corke and Armstrong-Hélouvry 1994
INERTIA = 0.086 + MASS * LEVER**2 + 2e-4 * GEAR**2
TRUTH = {B: 0.00138 * GEAR**2, C: GEAR * (0.132 + 0.105) / 2}  # published at the motor; C is the mean of both senses
START = {q: -np.pi / 2, q.diff(): 0.0}  # hangs
NOISE = 2e-4  # of the encoder [rad]


def system():
    rate = q.diff()
    return vn.System(
        coordinates=[q],
        kinetic_energy=J * rate**2 / 2,
        potential_energy=m * g * r * sin(q),
        forces={q: u - B * rate - C * tanh(rate / w)},
        inputs=[u],
        parameters={**TRUTH, w: 0.2, J: INERTIA, m: MASS, r: LEVER, g: 9.81},
        name="elbow of a PUMA 560",
    )


def torque():
    """The recorded test torque: a spline through 41 points in two seconds."""
    points = np.linspace(0, 2, 41)
    return vn.signal(points, 12 * np.sin(4 * points) + 8 * np.sin(11 * points + 1), between="spline")


def identify(angles, times):
    """The fit of B and C to recorded angles."""
    return vn.fit(system(), {"time": times, "q": angles}, {B: 1.0, C: 1.0}, START, inputs={u: torque()})


def run():
    """The test, and {quantity: (found, exact)}."""
    times = np.linspace(0, 2, 201)
    motion = vn.simulate(system(), START, times, inputs={u: torque()})
    exact = identify(motion[q], times)
    noisy = identify(motion[q] + np.random.default_rng(1).normal(0, NOISE, len(times)), times)
    inside = [low < TRUTH[key] < high for key in TRUTH for low, high in [noisy.interval(key, 0.99)]]
    return motion, {
        "viscous friction [N m s]": (exact.values[B], TRUTH[B]),
        "friction of the bearings [N m]": (exact.values[C], TRUTH[C]),
        "intervals of noisy data that contain the truth": (sum(inside), 2),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(7, 4), layout="constrained")
    angle, driving = figure.subplots(2, 1)
    angle.plot(motion.t, motion[q])
    angle.set(ylabel="angle [rad]", title="The elbow of a PUMA 560, driven by a test torque")
    driving.plot(motion.t, motion[u])
    driving.set(xlabel="t [s]", ylabel="torque [N m]")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
