"""A disc rolls without slipping on a plane, leaning and turning: three constraints, two of them nonholonomic.

Heading ψ, lean θ (the angle between disc and floor), rotation φ; angular velocity about the axis s = φ̇ - ψ̇ cos θ.

    z = r sin θ,   ẋ cos ψ + ẏ sin ψ = r s,   ẋ sin ψ - ẏ cos ψ = r θ̇ sin θ

With the moments of inertia A about a diameter and C about the axis, steady motion in a circle needs

    A ψ̇² sin θ cos θ + (C + m r²) s ψ̇ sin θ = m g r cos θ,

and the center goes round at the radius r s / ψ̇. Rolling straight ahead, the disc wobbles at the frequency
√((C (C + m r²) s²/A - m g r) / (A + m r²)), and falls when that is not real.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, z, psi, theta, phi = dynamicsymbols("x y z psi theta phi")  # place of the center [m], angles [rad]
m, g, r, A, C = symbols("m g r A C")
MASS, GRAVITY, RADIUS = 0.5, 9.81, 0.2  # [kg], [m/s²], [m]
DIAMETRAL, AXIAL = MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2  # of a homogeneous disc [kg m²]
WEIGHT, CONTACT = MASS * GRAVITY * RADIUS, AXIAL + MASS * RADIUS**2  # m g r and C + m r²


def system():
    spin = phi.diff() - psi.diff() * cos(theta)
    falling = r * sin(theta) * theta.diff()
    turning = A * (theta.diff() ** 2 + (psi.diff() * sin(theta)) ** 2) + C * spin**2
    return vn.System(
        coordinates=[x, y, z, psi, theta, phi],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2) / 2 + turning / 2,
        potential_energy=m * g * z,
        constraints=[
            vn.Holonomic(z - r * sin(theta), name="floor"),
            vn.Nonholonomic(x.diff() * cos(psi) + y.diff() * sin(psi) - r * spin, name="rolling ahead"),
            vn.Nonholonomic(x.diff() * sin(psi) - y.diff() * cos(psi) - falling, name="rolling aside"),
        ],
        parameters={m: MASS, g: GRAVITY, r: RADIUS, A: DIAMETRAL, C: AXIAL},
        name="rolling disc",
    )


def start(lean, turning, spin, falling=0.0):
    """Initial values for a heading along x; the center's place and velocity follow from the constraints."""
    angles = {psi: 0.0, theta: lean, phi: 0.0}
    rates = {psi.diff(): turning, theta.diff(): falling, phi.diff(): spin + turning * np.cos(lean)}
    return {x: 0.0, y: 0.0} | angles | rates


LEAN, TURNING = 1.2, 2.0  # of the steady motion [rad], [rad/s]
SPIN = (WEIGHT / np.tan(LEAN) / TURNING - DIAMETRAL * TURNING * np.cos(LEAN)) / CONTACT


def run():
    """The steady motion through two circles, and {quantity: (found, exact)}."""
    equations = vn.derive(system())
    motion = vn.simulate(equations, initial=start(LEAN, TURNING, SPIN), times=(0, 4 * np.pi / TURNING))
    radius = RADIUS * SPIN / TURNING
    distance = np.hypot(motion[x], motion[y] - radius)  # the middle is at (0, radius)

    upright = vn.Event(theta - np.pi / 2, name="upright", direction="rising")
    wobble = vn.simulate(equations, start(np.pi / 2, 0.0, 10.0, falling=1e-5), (0, 5), events=[upright])
    passages = [event.time for event in wobble.events]
    frequency = np.sqrt((AXIAL * CONTACT * 10.0**2 / DIAMETRAL - WEIGHT) / (DIAMETRAL + MASS * RADIUS**2))
    return motion, {
        "greatest distance from the circle [m]": (np.abs(distance - radius).max(), 0.0),
        "lean after two circles [rad]": (motion[theta][-1], LEAN),
        "period of the wobble [s]": ((passages[-1] - passages[0]) / (len(passages) - 1), 2 * np.pi / frequency),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion = vn.simulate(vn.derive(system()), start(LEAN, TURNING, SPIN, falling=1.5), (0, 3.2))
    figure = Figure(figsize=(8, 5))
    axes = figure.add_axes((0, -0.1, 1, 1.15), projection="3d")
    floor = motion[x] + motion[RADIUS * sin(psi) * cos(theta)], motion[y] - motion[RADIUS * cos(psi) * cos(theta)]
    axes.plot(*floor, 0, color="tab:red", lw=2, label="track of the contact point")
    axes.plot(motion[x], motion[y], motion[z], color="tab:blue", lw=1.5, label="path of the center")
    for i in range(0, 1001, 100):
        draw_disc(axes, *(motion[q][i] for q in (x, y, z, psi, theta)))
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", zlim=(0, 0.4), zticks=[0, 0.2, 0.4], aspect="equal")
    axes.xaxis.labelpad = axes.yaxis.labelpad = 10
    figure.suptitle("A disc rolling in a circle, wobbling")
    figure.legend(loc="lower left")
    figure.savefig(path, dpi=150)


def draw_disc(axes, x, y, z, heading, lean):
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    along = np.array([np.cos(heading), np.sin(heading), 0])
    up = np.array([-np.sin(heading) * np.cos(lean), np.cos(heading) * np.cos(lean), np.sin(lean)])
    turn = np.linspace(0, 2 * np.pi, 60)[:, None]
    rim = np.array([x, y, z]) + RADIUS * (np.cos(turn) * along + np.sin(turn) * up)
    axes.add_collection3d(Poly3DCollection([rim], facecolor="tab:gray", edgecolor="black", alpha=0.3))


if __name__ == "__main__":
    from _show import show

    show(run)
