"""Planar arms of two and three links, with their equations printed.

The textbook double pendulum has the kinetic energy T = ½ (α_11 φ̇_1² + 2 α_12 φ̇_1 φ̇_2 + α_22 φ̇_2²) with

    α_11 = J_1 + m_1 ρ_1² + J_2 + m_2 (l_1² + ρ_2² + 2 l_1 ρ_2 cos φ_2),  α_12 = J_2 + m_2 (ρ_2² + l_1 ρ_2 cos φ_2)

The corrected Theorem 1 of Dolgii, Sesekin and Chupin gives this result; the printed theorem does not.
"""

import sympy as sp
from sympy import cos
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

phi = dynamicsymbols("phi1:4")
m, l, rho, J = (sp.symbols(f"{name}1:4", positive=True) for name in ("m", "l", "rho", "J"))
g = sp.Symbol("g", positive=True)


def tree(links=2):
    """Links in the vertical plane xy, each turning about z at the end of the one before."""
    bodies = []
    for k in range(links):
        bodies.append(
            vn.Body(
                f"link{k + 1}", f"link{k}" if k else None, origin=(l[k - 1], 0, 0) if k else (0, 0, 0), angle=phi[k],
                mass=m[k], center_of_mass=(rho[k], 0, 0), inertia=J[k],
            )
        )  # fmt: skip
    values = {m: 1.0, l: 1.0, rho: 0.5, J: 1 / 12}
    numbers = {symbols[k]: value for symbols, value in values.items() for k in range(links)} | {g: 9.81}
    numbers.pop(l[links - 1])  # the length of the last link does not appear
    return vn.BodyTree(bodies, gravity=(0, -g, 0), parameters=numbers, name=f"planar {links}R")


def system(links=2):
    return tree(links).system()


def run():
    """The motion of the double pendulum, and {quantity: (found, exact)}."""
    alpha = vn.bodies.closed_form_kinetic_energy(tree()).alpha_bc
    reach = l[0] * rho[1] * cos(phi[1])
    first = J[0] + m[0] * rho[0] ** 2 + J[1] + m[1] * (l[0] ** 2 + rho[1] ** 2 + 2 * reach)
    second = J[1] + m[1] * (rho[1] ** 2 + reach)
    motion = vn.simulate(vn.derive(system()), initial={phi[0]: 1.0, phi[1]: 0.5}, times=(0, 3))
    return motion, {
        "α_11 less the textbook's": (float(sp.simplify(alpha[0, 0] - first)), 0.0),
        "α_12 less the textbook's": (float(sp.simplify(alpha[0, 1] - second)), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    axes = (figure := Figure(figsize=(7, 4), layout="constrained")).subplots()
    for angle in phi[:2]:
        axes.plot(motion.t, motion[angle], label=str(angle.func))
    axes.set(xlabel="t [s]", ylabel="angle [rad]", title="Planar 2R arm swinging")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    print(vn.bodies.closed_form_kinetic_energy(tree()).latex())
    for links in (2, 3):
        print(vn.derive(system(links)).latex())
    show(run)
