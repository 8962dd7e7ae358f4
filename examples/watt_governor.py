"""Watt's governor: two balls on arms, a sleeve, and the spin as a cyclic coordinate. Routh's equations.

    T = m l² (α̇² + φ̇² sin² α) + m_s ṡ²/2 + I φ̇²/2,   V = -2 m g l cos α + m_s g s,   s + 2 l cos α = 0

The height s of the sleeve is a redundant coordinate; the angle φ of the spindle does not appear, so its
momentum p takes the place of its velocity. In steady rotation cos α = (m + m_s) g / (m l φ̇²). Its small oscillations
at constant p follow from A λ² + D λ + W'' = 0 with W = V + p²/(2 I(α)), I(α) = I + 2 m l² sin² α.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

alpha, s, phi = dynamicsymbols("alpha s phi")  # arms from the downward vertical, sleeve [m], spindle [rad]
m, m_s, l, g, I, c = symbols("m m_s l g I c")
BALL, SLEEVE, ARM, GRAVITY, SPINDLE, FRICTION = 0.5, 1.0, 0.3, 9.81, 0.02, 0.4  # [kg], [m], [kg m²], [N s/m]
SPEED = 14.0  # of the steady rotation [rad/s]


def system():
    return vn.System(
        coordinates=[alpha, s, phi],
        kinetic_energy=m * l**2 * (alpha.diff() ** 2 + phi.diff() ** 2 * sin(alpha) ** 2)
        + m_s * s.diff() ** 2 / 2
        + I * phi.diff() ** 2 / 2,
        potential_energy=-2 * m * g * l * cos(alpha) + m_s * g * s,
        dissipation=c * s.diff() ** 2 / 2,
        constraints=[vn.Holonomic(s + 2 * l * cos(alpha), name="arms")],
        parameters={m: BALL, m_s: SLEEVE, l: ARM, g: GRAVITY, I: SPINDLE, c: FRICTION},
        name="Watt's governor",
    )


def exact():
    """The angle of the arms, the momentum of the spin and the root of the small oscillations."""
    angle = np.arccos((BALL + SLEEVE) * GRAVITY / (BALL * ARM * SPEED**2))
    sine, cosine, k = np.sin(angle), np.cos(angle), 2 * BALL * ARM**2
    inertia = SPINDLE + k * sine**2
    p = inertia * SPEED
    slope, bend = 2 * k * sine * cosine, 2 * k * np.cos(2 * angle)  # of I(α)
    gravity = 2 * (BALL + SLEEVE) * GRAVITY * ARM * cosine
    stiffness = gravity + p**2 * (slope**2 / inertia**3 - bend / (2 * inertia**2))
    moving, lost = k + 4 * SLEEVE * ARM**2 * sine**2, 4 * FRICTION * ARM**2 * sine**2
    return angle, p, np.roots([moving, lost, stiffness])[0]


def run():
    """The motion after the steady rotation was disturbed, and {quantity: (found, exact)}."""
    equations = vn.derive(system(), form="routh", dependent=[s])
    p = next(iter(equations.definitions))
    steady = vn.equilibrium(equations, {phi.diff(): SPEED}, near={alpha: 1.0})
    root = vn.linearize(equations, at=steady).roots[0]
    angle, momentum, exact_root = exact()
    start = {alpha: angle + 0.3, phi: 0, alpha.diff(): 0, phi.diff(): SPEED}
    motion = vn.simulate(equations, start, times=(0, 20), guess={s: -0.3})
    return motion, {
        "angle of the arms [rad]": (steady[alpha], angle),
        "momentum of the spin [kg m²/s]": (steady[p], momentum),
        "damping of the oscillations [1/s]": (root.real, exact_root.real),
        "frequency of the oscillations [rad/s]": (abs(root.imag), abs(exact_root.imag)),
        "change of the momentum in the motion [kg m²/s]": (np.ptp(motion[p]), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    machine, time = figure.subplots(1, 2)
    for sine, cosine, shade in zip(np.sin(motion[alpha])[:30:7], np.cos(motion[alpha])[:30:7], range(5), strict=True):
        for side in (-1, 1):
            x, z = side * ARM * sine, -ARM * cosine
            machine.plot([0, x, 0], [0, z, 2 * z], "-", color="gray", alpha=0.2 + 0.2 * shade)
            machine.plot(x, z, "o", color="tab:blue", ms=16, alpha=0.2 + 0.2 * shade)
        machine.plot(0, -2 * ARM * cosine, "s", color="tab:red", ms=14, alpha=0.2 + 0.2 * shade)
    machine.plot([0, 0], [0.05, -0.6], "k-", lw=1)
    machine.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="Governor after a disturbance")
    time.plot(motion.t, motion[s], color="tab:red", label="sleeve [m]")
    time.plot(motion.t, motion[phi.diff()] / 20, color="tab:blue", label="spin [20 rad/s]")
    time.set(xlabel="t [s]", xlim=(0, 20), title="Sleeve and spin")
    time.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
