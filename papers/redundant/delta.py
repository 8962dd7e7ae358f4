"""The Delta robot of examples/delta_robot.py, and the same with the mass of its forearms put at their ends."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import sympy as sp

import vinculum as vn
from examples.delta_robot import (
    DATA,
    HEIGHT,
    MOTOR,
    TORQUE_WEIGHTS,
    VOLTAGE_WEIGHTS,
    J_f,
    X,
    Y,
    Z,
    at_height,
    l1,
    m_f,
    m_p,
    names,
    platform,
    system,
    theta,
    u,
)


def lumped(share: float) -> vn.System:
    """``share`` of the mass of a forearm at its elbow, the rest at the platform, in place of a rod."""

    def forearm(angle: sp.Expr, _elbow: sp.Matrix, place: sp.Matrix) -> tuple[sp.Expr, sp.Expr]:
        moving = share * l1**2 * angle.diff() ** 2 + (1 - share) * place.dot(place)
        return m_f * moving / 2, (1 - share) * Z - share * l1 * sp.sin(angle)

    data = dict(zip(names, DATA, strict=True))
    data.pop(J_f)
    return replace(system(forearm), parameters=data)


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
