"""A cart with a swinging arm on a base that turns: Ω_0 = (0, 0, ω), given.

The cart slides along a radius of the turntable against a spring, the arm hangs from it and swings in the vertical plane
of the radius. In the turning frame the centrifugal force adds ½ ω² Σ m x² to the (negative) potential, so

    h = T_rel + V - ½ ω² Σ m x²   (Jacobi's integral)

is constant, while the energy is not. Cart and bob are point masses here, so Σ m x² is a sum over two points.
"""

import numpy as np
from sympy import symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

s, phi = dynamicsymbols("s phi")  # along the radius [m], angle of the arm [rad]
M, m, l, k, omega, g = symbols("M m l k omega g", positive=True)
VALUES = {M: 2.0, m: 0.5, l: 0.4, k: 60.0, omega: 3.0, g: 9.81}


def tree():
    cart = vn.Body("cart", None, joint="prismatic", axis=(1, 0, 0), origin=(0.3, 0, 0), mass=M, angle=s, stiffness=k)
    arm = vn.Body("arm", "cart", axis=(0, 1, 0), mass=m, center_of_mass=(0, 0, -l), angle=phi)
    return vn.BodyTree([cart, arm], gravity=(0, 0, -g), base_angular_velocity=(0, 0, omega), parameters=VALUES,
                       name="arm on a turntable")  # fmt: skip


def system():
    return tree().system()


def jacobi(x, angle, dx, da):
    """T_rel + V - ½ ω² Σ m x², by hand."""
    M_, m_, l_, k_, w, g_ = VALUES.values()
    bob = 0.3 + x - l_ * np.sin(angle), dx - l_ * np.cos(angle) * da, l_ * np.sin(angle) * da
    kinetic = M_ * dx**2 / 2 + m_ * (bob[1] ** 2 + bob[2] ** 2) / 2
    potential = k_ * x**2 / 2 - m_ * g_ * l_ * np.cos(angle)
    return kinetic + potential - w**2 / 2 * (M_ * (0.3 + x) ** 2 + m_ * bob[0] ** 2)


def run():
    """The motion, and {quantity: (found, exact)}."""
    motion = vn.simulate(vn.derive(system()), initial={s: 0.1, phi: 0.5}, times=(0, 5))
    integral = jacobi(motion[s], motion[phi], motion[s.diff()], motion[phi.diff()])
    return motion, {
        "change of Jacobi's integral": (float(np.ptp(integral)), 0.0),
        "energy balance": (motion.energy_error, 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    axes = (figure := Figure(figsize=(7, 4), layout="constrained")).subplots()
    axes.plot(motion.t, motion[s], label="cart [m]")
    axes.plot(motion.t, motion[phi], label="arm [rad]")
    axes.set(xlabel="t [s]", title="Cart and arm on a turntable")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
