"""The ball and beam of the paper with its exact lever (6): the mechanism of examples/ball_and_beam.py, and variants."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import sympy as sp

import vinculum as vn
from examples.ball_and_beam import MOTOR, PLACE, VOLTAGE, WEIGHTS, L, M, R, alpha, d, g, l, m, r, system, theta, u

DATA = system().parameters
PINS = (  # of the lever: A, B
    (L * sp.cos(alpha), L * sp.sin(alpha)),
    (L - d + d * sp.cos(theta), -l + d * sp.sin(theta)),
)


def lever(shift: float = 0.0) -> vn.Holonomic:
    """|AB| = l, with the shaft of the wheel misplaced along the beam by ``shift``."""
    (x_A, y_A), (x_B, y_B) = PINS
    return vn.Holonomic((x_A - x_B - shift) ** 2 + (y_A - y_B) ** 2 - l**2, name="lever")


def proportional(level: float) -> vn.Holonomic:
    """α = (d/L)(θ - θ₀), which the paper calls completely unjustified."""
    return vn.Holonomic(alpha - d / L * (theta - level), name="lever")


def with_constraint(constraint: vn.Holonomic) -> vn.System:
    """The same mechanism with another constraint; the length of the lever is a parameter where it is used."""
    used = {p: value for p, value in DATA.items() if p != l or constraint.expression.has(l)}
    return replace(system(), constraints=[constraint], parameters=used)


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
    """The linear model with motor that follows from the proportional constraint."""
    level = rests(True)[number][theta]
    simple = vn.motors.motorize(with_constraint(proportional(level)), {u: MOTOR})
    equations = vn.derive(simple, "shulgin", dependent=[alpha])
    return vn.linearize(equations, at=vn.equilibrium(equations, {r: PLACE}, near={theta: level}, starts=0))
