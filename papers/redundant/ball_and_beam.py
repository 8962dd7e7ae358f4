"""The ball and beam of the paper with its exact lever (6), and the data of a public model of such a stand."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp
from sympy import cos, sin
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

r, theta, alpha = dynamicsymbols("r theta alpha")  # ball from the pivot, wheel, beam
u = sp.Symbol("u")  # torque on the wheel
m, M, R, L, d, l, J, J_b, J_theta, g = sp.symbols("m M R L d l J J_b J_theta g")
DATA = {m: 0.0282, M: 0.334, R: 0.0095, L: 0.4, d: 0.04, l: 0.12, J: 1.0469e-6, J_b: 0.017813, J_theta: 1.2e-4, g: 9.81}
MOTOR = vn.motors.DCMotor(torque_constant=0.1491, resistance=18.91, inductance=0.01, gear=4.2)
PLACE = 0.2  # of the ball
VOLTAGE = vn.motors.voltage_of(u)
WEIGHTS: dict[str, Any] = {"state_weights": [100, 4, 100 / 9, 0.04, 4], "input_weights": 0.01}
PINS = ((L * cos(alpha), L * sin(alpha)), (L - d + d * cos(theta), -l + d * sin(theta)))  # A, B


def lever(shift: float = 0.0) -> vn.Holonomic:
    """|AB| = l, with the shaft of the wheel misplaced along the beam by ``shift``."""
    (x_A, y_A), (x_B, y_B) = PINS
    return vn.Holonomic((x_A - x_B - shift) ** 2 + (y_A - y_B) ** 2 - l**2, name="lever")


def proportional(level: float) -> vn.Holonomic:
    """α = (d/L)(θ - θ₀), which the paper calls completely unjustified."""
    return vn.Holonomic(alpha - d / L * (theta - level), name="lever")


def system(constraint: vn.Holonomic | None = None) -> vn.System:
    rolling = (m + J / R**2) * r.diff() ** 2 + (J_b + m * r**2) * alpha.diff() ** 2
    return vn.System(
        [r, theta, alpha],
        (rolling + J_theta * theta.diff() ** 2) / 2,
        (m * g * r + M * g * L / 2) * sin(alpha),
        forces={theta: u},
        constraints=[constraint or lever()],
        parameters=_used(DATA, constraint),
        inputs=[u],
        name="ball and beam",
    )


def _used(data: dict[sp.Symbol, float], constraint: vn.Holonomic | None) -> dict[sp.Symbol, float]:
    """The proportional constraint knows no length of the lever."""
    return {p: x for p, x in data.items() if constraint is None or p != l or constraint.expression.has(l)}


@cache
def with_torque(dependent: sp.Expr = alpha) -> vn.EquationsOfMotion:
    return vn.derive(system(), "shulgin", dependent=[dependent])


@cache
def with_motor(dependent: sp.Expr = alpha) -> vn.EquationsOfMotion:
    return vn.derive(vn.motors.motorize(system(), {u: MOTOR}), "shulgin", dependent=[dependent])


@cache
def rests(motor: bool = False) -> tuple[vn.linear.Equilibrium, vn.linear.Equilibrium]:
    """The two equilibria with the ball at its place: θ = 0 and θ = 2 arctan(l/d)."""
    first = vn.equilibrium(with_motor() if motor else with_torque(), {r: PLACE})
    return first, first.others[0]


@cache
def linear(number: int, dependent: sp.Expr = alpha, motor: bool = False) -> vn.linear.LinearModel:
    equations = with_motor(dependent) if motor else with_torque(dependent)
    return vn.linearize(equations, at=rests(motor)[number])


@cache
def law(number: int) -> vn.feedback.FeedbackLaw:
    return vn.stabilize(linear(number, motor=True), **WEIGHTS)


@cache
def assumed(number: int) -> vn.linear.LinearModel:
    """With motor, as the proportional constraint sees it."""
    level = rests(True)[number][theta]
    simple = vn.derive(vn.motors.motorize(system(proportional(level)), {u: MOTOR}), "shulgin", dependent=[alpha])
    return vn.linearize(simple, at=vn.equilibrium(simple, {r: PLACE}, near={theta: level}, starts=0))
