"""A slider-crank: crank with flywheel, connecting rod and piston, closed into a loop by two constraints.

    a cos θ + b cos φ - x = 0,   a sin θ + b sin φ = 0

The reaction of the second one is the side thrust of the cylinder wall on the piston. The engine turns freely. Hence
J(θ) θ̇² / 2 is constant and the time of a revolution is an integral, ∫ dθ / θ̇, with θ̇ = θ̇₀ √(J(0) / J(θ)).
"""

import numpy as np
from scipy.integrate import quad
from sympy import cos, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

theta, phi, x = dynamicsymbols("theta phi x")  # angle of the crank, of the rod, place of the piston
a, b, I, m_r, I_r, m_p = symbols("a b I m_r I_r m_p")
CRANK, ROD = 0.05, 0.15  # lengths [m]
FLYWHEEL = 0.002  # moment of inertia of crank and flywheel about the shaft [kg m²]
ROD_MASS, ROD_INERTIA, PISTON = 0.3, 0.3 * ROD**2 / 12, 0.5  # [kg], about its center [kg m²], [kg]
SPEED = 100.0  # of the crank at θ = 0 [rad/s]


def system():
    center = (a * cos(theta) + b / 2 * cos(phi), a * sin(theta) + b / 2 * sin(phi))
    rod = m_r * sum(p.diff(t) ** 2 for p in center) / 2 + I_r * phi.diff() ** 2 / 2
    return vn.System(
        coordinates=[theta, phi, x],
        kinetic_energy=I * theta.diff() ** 2 / 2 + rod + m_p * x.diff() ** 2 / 2,
        constraints=[
            vn.Holonomic(a * cos(theta) + b * cos(phi) - x, name="pin"),
            vn.Holonomic(a * sin(theta) + b * sin(phi), name="cylinder"),
        ],
        parameters={a: CRANK, b: ROD, I: FLYWHEEL, m_r: ROD_MASS, I_r: ROD_INERTIA, m_p: PISTON},
        name="slider-crank",
    )


def inertia(angle):
    """J(θ): twice the kinetic energy at θ̇ = 1, from the geometry of the triangle."""
    reach = np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)  # b cos φ
    rod_rate = -CRANK * np.cos(angle) / reach
    piston_rate = -CRANK * np.sin(angle) * (1 + CRANK * np.cos(angle) / reach)
    center = ((piston_rate - CRANK * np.sin(angle)) / 2) ** 2 + (CRANK * np.cos(angle) / 2) ** 2
    return FLYWHEEL + ROD_MASS * center + ROD_INERTIA * rod_rate**2 + PISTON * piston_rate**2


def run():
    """The motion, and {quantity: (found, exact)}."""
    motion = vn.simulate(
        vn.derive(system()),
        initial={theta: 0.0, phi: 0.0, x: CRANK + ROD, theta.diff(): SPEED},
        times=(0, 0.2),
        events=[vn.Event(theta - 2 * np.pi, name="revolution")],
    )
    time = quad(lambda angle: np.sqrt(inertia(angle) / inertia(0)) / SPEED, 0, 2 * np.pi, epsrel=1e-13)[0]
    crank = motion[theta]
    piston = CRANK * np.cos(crank) + np.sqrt(ROD**2 - (CRANK * np.sin(crank)) ** 2)
    return motion, {
        "time of the first revolution [s]": (motion.events[0].time, time),
        "greatest error of the piston's place [m]": (np.abs(motion[x] - piston).max(), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(8, 6), layout="constrained")
    panels = figure.subplot_mosaic([["engine", "engine"], ["speed", "thrust"]])
    engine, degrees = panels["engine"], np.degrees(motion[theta])
    engine.plot(CRANK * np.cos(motion[theta]), CRANK * np.sin(motion[theta]), color="lightgray", lw=1)
    engine.axhline(0, color="lightgray", lw=1)
    for angle, shade in [(20, 1.0), (75, 0.55), (130, 0.3), (185, 0.15)]:
        shot = np.searchsorted(degrees, angle)
        joints = [0, motion[CRANK * cos(theta)][shot], motion[x][shot]], [0, motion[CRANK * sin(theta)][shot], 0]
        engine.plot(*joints, "o-", color="tab:blue", alpha=shade, lw=4, ms=7)
        engine.plot(motion[x][shot], 0, "s", color="black", alpha=shade, ms=22)
    engine.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="Slider-crank", xlim=(-0.08, 0.23))
    panels["speed"].plot(degrees, motion[theta.diff()], color="tab:blue")
    panels["thrust"].plot(degrees, motion.reactions["cylinder"], color="tab:red")
    panels["speed"].set(ylabel="crank speed [rad/s]")
    panels["thrust"].set(ylabel="side thrust of the cylinder [N]")
    for name in ("speed", "thrust"):
        panels[name].set(xlabel="crank angle [degrees]", xlim=(0, 720), xticks=range(0, 721, 180))
        panels[name].grid(alpha=0.3)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
