"""Chaplygin's sleigh: a body on ice with a knife that cannot slip sideways. The center of mass is ahead of the knife.

    -ẋ sin θ + ẏ cos θ = 0

Pushed backwards, it turns around by itself and continues straight ahead, although its energy is conserved. With the
speed v along the knife, the angular velocity w, the distance a and b² = a² + I/m: v̇ = a w² and b² ẇ = -a v w. Hence
v² + b² w² = V² is constant and

    v = V tanh s,   w = (V/b) / cosh s,   s = s₀ + a V t / b².
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, theta = dynamicsymbols("x y theta")  # place of the knife [m], heading [rad]
m, I, a = symbols("m I a")
MASS, INERTIA, AHEAD = 2.0, 0.1, 0.25  # [kg], about the center of mass [kg m²], [m]
SPEED, TURNING = -1.0, 0.1  # v [m/s] and w [rad/s] at the start
forward = x.diff() * cos(theta) + y.diff() * sin(theta)  # v


def system():
    center = (x + a * cos(theta), y + a * sin(theta))
    return vn.System(
        coordinates=[x, y, theta],
        kinetic_energy=m * sum(p.diff(t) ** 2 for p in center) / 2 + I * theta.diff() ** 2 / 2,
        constraints=[vn.Nonholonomic(-x.diff() * sin(theta) + y.diff() * cos(theta), name="knife")],
        parameters={m: MASS, I: INERTIA, a: AHEAD},
        name="Chaplygin's sleigh",
    )


def run():
    """The motion, and {quantity: (found, exact)}."""
    start = {x: 0.0, y: 0.0, theta: 0.0, x.diff(): SPEED, theta.diff(): TURNING}
    motion = vn.simulate(vn.derive(system()), initial=start, times=(0, 5))
    b = np.sqrt(AHEAD**2 + INERTIA / MASS)
    V = np.hypot(SPEED, b * TURNING)
    s = np.arctanh(SPEED / V) + AHEAD * V * motion.t / b**2
    turned = 2 * b / AHEAD * (np.arctan(np.tanh(s[-1] / 2)) - np.arctan(np.tanh(s[0] / 2)))  # ∫ w dt
    return motion, {
        "heading at the end [rad]": (motion[theta][-1], turned),
        "greatest error of v [m/s]": (np.abs(motion[forward] - V * np.tanh(s)).max(), 0.0),
        "greatest error of w [rad/s]": (np.abs(motion[theta.diff()] - V / b / np.cosh(s)).max(), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    ice, speeds = figure.subplots(1, 2)
    ice.plot(motion[x], motion[y], color="tab:blue", lw=1.5, label="path of the knife")
    for i in range(0, 1001, 100):
        body = 0.5 * np.array([0.5, -0.4 + 0.25j, -0.4 - 0.25j, 0.5]) * np.exp(1j * motion[theta][i])
        place = motion[x][i] + 1j * motion[y][i] + AHEAD / 2 * np.exp(1j * motion[theta][i])
        ice.fill((place + body).real, (place + body).imag, color="tab:gray", alpha=0.15 + 0.0006 * i, lw=0)
    ice.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="The sleigh turns round")
    ice.legend(loc="best", frameon=False)
    speeds.plot(motion.t, motion[forward], label="forward speed v [m/s]")
    speeds.plot(motion.t, motion[theta.diff()], label="angular velocity w [rad/s]")
    speeds.set(xlabel="t [s]", xlim=(0, 5), title="Speeds")
    speeds.grid(alpha=0.3)
    speeds.legend(loc="best")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
