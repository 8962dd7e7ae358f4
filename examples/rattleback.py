"""A rattleback: an ellipsoid rolls on a plane, with axes of inertia that are not those of its surface.

Axes x, y along the ellipsoid's axes a and b, z down; the mass center lies h below the ellipsoid's center. With the
downward normal μ in the body's axes and ε = √(a²μ₁² + b²μ₂² + c²μ₃²), the contact and the height of the mass center are

    P = (a²μ₁, b²μ₂, c²μ₃)/ε - (0, 0, h),    P·μ = ε - h μ₃,    v + ω × P = 0.

Spinning is unstable in both directions; one direction rattles at once and reverses (Kane and Levinson 1982).
"""

import numpy as np
from sympy import Matrix, cos, diff, rot_ccw_axis1, rot_ccw_axis2, sin, sqrt, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, psi, alpha, beta = dynamicsymbols("x y psi alpha beta")  # mass center [m]; heading, roll and pitch [rad]
a, b, c, h, m, g, I_xx, I_yy, I_zz, I_xy = symbols("a b c h m g I_xx I_yy I_zz I_xy")
NUMBERS = {a: 0.2, b: 0.03, c: 0.02, h: 0.01, m: 1.0, g: 9.81, I_xx: 2e-4, I_yy: 1.6e-3, I_zz: 1.7e-3, I_xy: -2e-5}
SPIN = 5.0  # about the downward normal [rad/s]
ROOTS = {  # by an independent calculation in body axes
    0.0: [33.82899128j, 107.20765832j],
    SPIN: [0.20252128 + 34.14369167j, -2.1206924 + 109.39232284j],
}


def system():
    down, tilt = Matrix([0, 0, 1]), rot_ccw_axis1(alpha) * rot_ccw_axis2(beta)
    normal = tilt.T * down
    size = sqrt(a**2 * normal[0] ** 2 + b**2 * normal[1] ** 2 + c**2 * normal[2] ** 2)
    contact = Matrix([a**2 * normal[0], b**2 * normal[1], c**2 * normal[2]]) / size - h * down
    height = size - h * normal[2]
    skew = tilt.T * tilt.diff(t)
    omega = Matrix([skew[2, 1], skew[0, 2], skew[1, 0]]) + psi.diff() * normal
    ahead, aside = x.diff() * cos(psi) + y.diff() * sin(psi), -x.diff() * sin(psi) + y.diff() * cos(psi)
    rim = tilt * omega.cross(contact)
    inertia = Matrix([[I_xx, I_xy, 0], [I_xy, I_yy, 0], [0, 0, I_zz]])
    return vn.System(
        coordinates=[x, y, psi, alpha, beta],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2 + diff(height, t) ** 2) / 2 + omega.dot(inertia * omega) / 2,
        potential_energy=m * g * height,
        constraints=[
            vn.Nonholonomic(ahead + rim[0], name="rolling ahead"),
            vn.Nonholonomic(aside + rim[1], name="rolling aside"),
        ],
        parameters=NUMBERS,
        name="rattleback",
    )


def roots(equations, spin):
    """The roots of spinning upright, those with Im λ > 0, slow ones first."""
    still, upright = dict.fromkeys((x, y, psi), 0.0), {alpha: 0.0, beta: 0.0}
    at = vn.steady(equations, {**upright, psi.diff(): spin}) if spin else vn.equilibrium(equations, still | upright)
    found = vn.linearize(equations, at=at).roots
    return sorted(found[found.imag > 0], key=lambda root: root.imag)


def run():
    """The spin reversal, and {quantity: (found, exact)}."""
    equations = vn.derive(system())
    numbers = {}
    for spin, exact in ROOTS.items():
        for kind, root, known in zip(("slow", "fast"), roots(equations, spin), exact, strict=True):
            numbers[f"damping of the {kind} mode at {spin:g} rad/s"] = (round(root.real, 8), known.real)
            numbers[f"frequency of the {kind} mode at {spin:g} rad/s"] = (round(root.imag, 8), known.imag)
    start = {x: 0, y: 0, psi: 0, alpha: 0.01, beta: 0.01, psi.diff(): -SPIN, alpha.diff(): 0, beta.diff(): 0}
    motion = vn.simulate(equations, start, times=(0, 6))
    numbers["direction of the spin in the end"] = (np.sign(motion[psi.diff()][-1]), 1.0)
    return motion, numbers


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4), layout="constrained")
    spin, tilts = figure.subplots(1, 2)
    spin.plot(motion.t, motion[psi.diff()])
    spin.axhline(0, color="black", lw=0.8)
    spin.set(xlabel="t [s]", ylabel="spin [rad/s]", title="The rattleback reverses its spin")
    tilts.plot(motion.t, np.degrees(motion[alpha]), lw=0.7, label="roll [°]")
    tilts.plot(motion.t, np.degrees(motion[beta]), lw=0.7, label="pitch [°]")
    tilts.set(xlabel="t [s]", title="It rattles while it reverses")
    tilts.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
