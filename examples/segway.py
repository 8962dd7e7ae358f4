"""A two-wheeled balancing vehicle on a plane: upright at rest and at a speed, by two motors.

Speed v of the axle, heading ψ, tilt θ of the body. The wheels roll without slipping,

    ẋ cos ψ + ẏ sin ψ ∓ d ψ̇ = R φ̇,    ẏ cos ψ - ẋ sin ψ = 0,

and the torques act between body and wheels. Without control the body falls with the root

    λ² = M m l g / (M (I + m l²) - m² l²),    M = m + 2 m_w + 2 J/R².
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, psi, theta, left, right = dynamicsymbols("x y psi theta left right")  # axle [m], heading, tilt, wheels [rad]
u_l, u_r = symbols("u_l u_r")  # torques of the motors [N m]
m, l, I, I_z, m_w, J, R, d, g = symbols("m l I I_z m_w J R d g")
NUMBERS = {m: 60.0, l: 0.8, I: 8.0, I_z: 2.0, m_w: 3.0, J: 0.06, R: 0.2, d: 0.3, g: 9.81}
SPEED = 2.0  # [m/s]


def system():
    ahead, aside = x.diff() * cos(psi) + y.diff() * sin(psi), y.diff() * cos(psi) - x.diff() * sin(psi)
    body = (ahead + l * theta.diff() * cos(theta)) ** 2 + (aside + l * sin(theta) * psi.diff()) ** 2
    body += (l * theta.diff() * sin(theta)) ** 2
    turning = I * (theta.diff() ** 2 + (psi.diff() * sin(theta)) ** 2) + I_z * (psi.diff() * cos(theta)) ** 2
    wheels = 2 * m_w * (ahead**2 + aside**2 + (d * psi.diff()) ** 2) + J * (left.diff() ** 2 + right.diff() ** 2)
    return vn.System(
        coordinates=[x, y, psi, theta, left, right],
        kinetic_energy=(m * body + turning + wheels) / 2,
        potential_energy=m * g * l * cos(theta),
        forces={left: u_l, right: u_r, theta: -u_l - u_r},
        constraints=[
            vn.Nonholonomic(ahead - d * psi.diff() - R * left.diff(), name="left wheel"),
            vn.Nonholonomic(ahead + d * psi.diff() - R * right.diff(), name="right wheel"),
            vn.Nonholonomic(aside, name="no side slip"),
        ],
        parameters=NUMBERS,
        inputs=[u_l, u_r],
        name="balancing vehicle",
    )
