"""A truck with a trailer hitched at its rear axle: straight ahead, backward (jackknife), and in a circle.

Speed v of the rear axle, steering angle δ held, hitch angle γ from the truck to the trailer. The three axles that cannot
slip sideways leave one free velocity, and

    L ψ̇ = v tan δ,    L₂ (γ̇ + ψ̇) = -v sin γ:    steady with sin γ = -(L₂/L) tan δ and the root -(v/L₂) cos γ.

Straight motion ahead is stable, backward the trailer folds up with the root |v|/L₂.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, psi, gamma = dynamicsymbols("x y psi gamma")  # rear axle [m], heading of the truck, hitch angle [rad]
L, L2, b, b2, m, m2, J, J2, steer = symbols("L L2 b b2 m m2 J J2 steer")
NUMBERS = {L: 4.0, L2: 6.0, b: 1.5, b2: 4.0, m: 7000.0, m2: 9000.0, J: 2e4, J2: 5e4, steer: 0.0}
SPEED, ANGLE = 3.0, 0.2  # [m/s], of the steering in the circle [rad]


def system(steering=0.0):
    trailer, turning = psi + gamma, psi.diff() + gamma.diff()
    truck_x, truck_y = x.diff() - b * sin(psi) * psi.diff(), y.diff() + b * cos(psi) * psi.diff()
    trailer_x, trailer_y = x.diff() + b2 * sin(trailer) * turning, y.diff() - b2 * cos(trailer) * turning
    front = psi + steer
    return vn.System(
        coordinates=[x, y, psi, gamma],
        kinetic_energy=(m * (truck_x**2 + truck_y**2) + J * psi.diff() ** 2) / 2
        + (m2 * (trailer_x**2 + trailer_y**2) + J2 * turning**2) / 2,
        constraints=[
            vn.Nonholonomic(y.diff() * cos(psi) - x.diff() * sin(psi), name="rear axle"),
            vn.Nonholonomic(y.diff() * cos(front) - x.diff() * sin(front) + L * cos(steer) * psi.diff(), name="front axle"),
            vn.Nonholonomic(y.diff() * cos(trailer) - x.diff() * sin(trailer) - L2 * turning, name="trailer axle"),
        ],
        parameters=NUMBERS | {steer: steering},
        name="truck with trailer",
    )
