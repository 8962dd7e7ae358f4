"""The Delta robot: three arms, three forearms as exact parallelograms, a platform that stays level.

    |X + r₃ a_i - E_i|² = l₂²,   a_i = (cos f_i, sin f_i, 0),   E_i = (r₀ + l₁ cos θ_i) a_i - (0, 0, l₁ sin θ_i)

Data of an Autonox RL5-1450 without payload; the motors are assumed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp
from sympy import cos, sin
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

theta = dynamicsymbols("theta1:4")  # arms, positive below the horizontal
X, Y, Z = platform = dynamicsymbols("X Y Z")
u = sp.symbols("u1:4")
names = r0, r3, l1, l2, I_A, S_A, I_g, m_f, J_f, m_p, g = sp.symbols("r0 r3 l1 l2 I_A S_A I_g m_f J_f m_p g")
DATA = (0.33, 0.125, 0.42, 1.055, 0.208218, 0.6925928, 55**2 * 2.07e-4, 1.05, 2 * 0.043009, 2.916, 9.81)
MOTOR = vn.motors.DCMotor(torque_constant=0.7, resistance=0.8, inductance=5e-3, gear=55)
HEIGHT = -0.9
TORQUE_WEIGHTS: dict[str, Any] = {"state_weights": [100] * 3 + [1] * 3, "input_weights": 0.01}
VOLTAGE_WEIGHTS: dict[str, Any] = {"state_weights": [1500] * 3 + [1] * 3 + [0.1] * 3, "input_weights": 0.01}


def elbow(i: int) -> tuple[sp.Matrix, sp.Matrix]:
    """The end of arm i, and the direction of its leg."""
    a = sp.Matrix([cos(2 * sp.pi * i / 3), sin(2 * sp.pi * i / 3), 0])
    return (r0 + l1 * cos(theta[i])) * a - sp.Matrix([0, 0, l1 * sin(theta[i])]), a


def system(lumped: float | None = None) -> vn.System:
    """``lumped``: the share of a forearm's mass put at its elbow, the rest at the platform, in place of a rod."""
    place, legs, T, V = sp.Matrix(platform), [], 0, m_p * g * Z
    for i, angle in enumerate(theta):
        end, a = elbow(i)
        leg = place + r3 * a - end
        legs.append(vn.Holonomic(leg.dot(leg) - l2**2, name=f"forearm {i + 1}"))
        kinetic, height = _forearm(end.diff(t), place.diff(t), angle, lumped)
        T += (I_A + I_g) * angle.diff() ** 2 / 2 + kinetic
        V += -S_A * g * sin(angle) + m_f * g * height
    data = dict(zip(names, DATA, strict=True))
    if lumped is not None:
        data.pop(J_f)
    return vn.System(
        [*theta, *platform],
        T + m_p * place.diff(t).dot(place.diff(t)) / 2,
        V,
        forces=dict(zip(theta, u, strict=True)),
        constraints=legs,
        parameters=data,
        inputs=u,
        name="Delta robot",
    )


def _forearm(end: sp.Matrix, place: sp.Matrix, angle: sp.Expr, lumped: float | None) -> tuple[sp.Expr, sp.Expr]:
    """Kinetic energy and height of the center of a forearm, from the velocities of its ends."""
    if lumped is not None:
        moving = lumped * l1**2 * angle.diff() ** 2 + (1 - lumped) * place.dot(place)
        return m_f * moving / 2, (1 - lumped) * Z - lumped * l1 * sin(angle)
    middle, along = (end + place) / 2, place - end
    return m_f * middle.dot(middle) / 2 + J_f * along.dot(along) / l2**2 / 2, (Z - l1 * sin(angle)) / 2


def at_height(equations: vn.EquationsOfMotion) -> vn.linear.Equilibrium:
    """Below the center, elbows out."""
    return vn.equilibrium(equations, {X: 0, Y: 0, Z: HEIGHT}, near=dict.fromkeys(theta, 0.1), starts=0)


@cache
def equations(motors: bool = False) -> vn.EquationsOfMotion:
    robot = vn.motors.motorize(system(), dict.fromkeys(u, MOTOR)) if motors else system()
    return vn.derive(robot, "shulgin", dependent=platform)


@cache
def rest(motors: bool = False) -> vn.linear.Equilibrium:
    return at_height(equations(motors))


@cache
def linear(motors: bool = False) -> vn.linear.LinearModel:
    return vn.linearize(equations(motors), at=rest(motors))


@cache
def law(motors: bool = False) -> vn.feedback.FeedbackLaw:
    return vn.stabilize(linear(motors), **(VOLTAGE_WEIGHTS if motors else TORQUE_WEIGHTS))
