"""A four-bar linkage, driven by a constant torque at its crank.

    a e(α) + b e(β) = d + c e(γ),   e(φ) = (cos φ, sin φ)

Crank, coupler and rocker are uniform rods at the angles α, β, γ to the ground link. The shortest and the longest link
together are shorter than the other two, so the crank can make full turns (Grashof). Two exact results are checked:
the angle of the rocker for every angle of the crank, and the energy gained, which is torque times angle.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

alpha, beta, gamma = dynamicsymbols("alpha beta gamma")  # angles of crank, coupler and rocker [rad]
a, b, c, d, rho, g, tau = symbols("a b c d rho g tau")
CRANK, COUPLER, ROCKER, GROUND = 0.10, 0.35, 0.30, 0.40  # lengths [m]
TORQUE = 0.5  # [N m]


def system():
    def rod(length, angle, start):
        """Kinetic and potential energy of a uniform rod from the point ``start``."""
        center = (start[0] + length / 2 * cos(angle), start[1] + length / 2 * sin(angle))
        moving = sum(p.diff(t) ** 2 for p in center) + length**2 / 12 * angle.diff() ** 2
        return rho * length * moving / 2, rho * length * g * center[1]

    elbow = (a * cos(alpha), a * sin(alpha))
    rods = [rod(a, alpha, (0, 0)), rod(b, beta, elbow), rod(c, gamma, (d, 0))]
    return vn.System(
        coordinates=[alpha, beta, gamma],
        kinetic_energy=sum(kinetic for kinetic, _ in rods),
        potential_energy=sum(potential for _, potential in rods),
        forces={alpha: tau},
        constraints=[
            vn.Holonomic(a * cos(alpha) + b * cos(beta) - c * cos(gamma) - d, name="loop x"),
            vn.Holonomic(a * sin(alpha) + b * sin(beta) - c * sin(gamma), name="loop y"),
        ],
        parameters={a: CRANK, b: COUPLER, c: ROCKER, d: GROUND, rho: 1.0, g: 9.81, tau: TORQUE},  # [kg/m], [m/s²]
        name="four-bar linkage",
    )


def rocker_angle(crank):
    """γ(α) by the law of cosines in the triangle of coupler, rocker and diagonal."""
    diagonal = CRANK * np.exp(1j * crank) - GROUND
    opening = np.arccos((ROCKER**2 + abs(diagonal) ** 2 - COUPLER**2) / (2 * ROCKER * abs(diagonal)))
    return np.angle(diagonal) % (2 * np.pi) - opening


START = {alpha: 0.5, beta: 1.0, gamma: 1.5}  # the first guess of a linkage at rest; α stays, β and γ are solved


def run():
    """The motion, and {quantity: (found, exact)}."""
    motion = vn.simulate(vn.derive(system()), initial=START, fixed=[alpha], times=(0, 0.5))
    crank = motion[alpha]
    return motion, {
        "greatest error of the rocker's angle [rad]": (np.abs(motion[gamma] - rocker_angle(crank)).max(), 0.0),
        "energy gained [J]": (motion.energy[-1] - motion.energy[0], TORQUE * (crank[-1] - crank[0])),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    plane, speed = figure.subplots(1, 2)
    draw(plane, motion)
    speed.plot(motion.t, motion[alpha.diff()], label="crank")
    speed.plot(motion.t, motion[gamma.diff()], label="rocker")
    speed.set(xlabel="t [s]", ylabel="angular velocity [rad/s]", title=f"Driven by {TORQUE} N m", xlim=(0, 0.5))
    speed.legend()
    figure.savefig(path, dpi=150)


def draw(axes, motion):
    """The linkage in six positions of one revolution, with the path of a point of its coupler."""
    crank, coupler = motion[alpha], motion[beta]
    elbow = CRANK * np.exp(1j * crank)
    end, point = (elbow + COUPLER * np.exp(1j * coupler) * place for place in (1, 0.5 + 0.35j))
    turn = crank < crank[0] + 2.1 * np.pi
    axes.plot(point[turn].real, point[turn].imag, color="tab:red", lw=1.5)
    for angle in crank[0] + 2 * np.pi * np.arange(6) / 6:
        i = np.searchsorted(crank, angle)
        bars = np.array([0, elbow[i], end[i], GROUND])
        axes.plot(bars.real, bars.imag, "o-", color="tab:blue", alpha=0.2 if i else 1.0, lw=3, ms=6)
    plate = np.array([elbow[0], point[0], end[0]])
    axes.fill(plate.real, plate.imag, color="tab:orange", alpha=0.5, lw=0)
    axes.plot([0, GROUND], [0, 0], "k^", ms=10)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="Four-bar linkage and coupler curve")


if __name__ == "__main__":
    from _show import show

    show(run)
