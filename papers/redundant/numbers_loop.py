"""The ball and beam beyond its first approximation: the exact lever, sensors, the full nonlinear loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

import vinculum as vn
from papers.record import Number, Table
from papers.redundant import ball_and_beam as bb
from papers.redundant.anywhere import motion_anywhere
from papers.redundant.ball_and_beam import PLACE, alpha, r, theta
from papers.redundant.numbers import CURRENT


def lever() -> list[Number]:
    """The exact angle of the beam, where it is extremal, and a shaft in the wrong place."""
    found = []
    for degrees, text in ((30.0, "4, 5"), (60, "16, 26"), (90, "36, 87")):
        found.append(
            Number(f"error of (d/L)θ in percent at ±{degrees:g}°", text, proportional_error(degrees), units=1.0)
        )
    for degrees, text in ((76.1, "0.08840"), (-117.5, "-0.12296")):
        found.append(Number(f"extremal α, at θ = {degrees}°", text, beam(np.radians(degrees), 0.08 * np.sign(degrees))))
    for shift, text in ((-0.01, "4.742"), (0.01, "1.845")):
        model = vn.derive(bb.with_constraint(bb.lever(shift)), "shulgin", dependent=[alpha])
        root = vn.linearize(model, at=vn.equilibrium(model, {r: PLACE}, starts=0)).roots[0].real
        found.append(Number(f"E1: real root, shaft misplaced by {100 * shift:+g} cm", text, root))
    return found


def beam(angle: float, near: float) -> float:
    known = {r: 0.0, theta: angle, r.diff(): 0.0, theta.diff(): 0.0}
    return vn.consistent_state(bb.with_torque(), known, guess={alpha: near})[alpha]


def proportional_error(degrees: float) -> list[float]:
    angles = np.radians([degrees, -degrees])
    ratio = float(bb.DATA[bb.d] / bb.DATA[bb.L])
    return sorted(100 * abs(ratio * angle / beam(angle, 0.8 * ratio * angle) - 1) for angle in angles)


def sensors() -> list[Number]:
    """How many sensors are enough in theory, and the loss of rank that any one of them leaves."""
    model = bb.linear(0, motor=True)
    single: Sequence[sp.Expr] = (r, theta, alpha, CURRENT)
    lost = sum(mode.lost for sensor in single for mode in vn.linear.observability(model, [sensor]))
    return [
        Number("minimum number of sensors", "1", vn.linear.minimum_actuators(model)),
        Number("modes that are not observable from one of r, θ, α, i", "0", lost),
    ]


def settled(number: int, offset: float) -> tuple[float, float]:
    """Time to 2 % within 24 V from a ball moved by ``offset``, and the distance left after 12 seconds."""
    held = bb.rests(True)[number]
    closed = vn.close_loop(bb.with_motor(), bb.law(number), limits={bb.VOLTAGE: 24.0})
    start = {r: PLACE + offset, theta: held[theta], r.diff(): 0.0, theta.diff(): 0.0}
    run = vn.simulate(closed, start, np.linspace(0, 12, 1201), method="bdf", guess={alpha: 0.0})
    away = np.abs(run[r] - PLACE)
    return float(run.t[np.flatnonzero(away > 0.02 * abs(offset))[-1]]), float(away[-1])


def laws_apart(number: int) -> float:
    """The same linear law by θ and by α in the full model: their difference in percent of a step of 0.1 m."""
    plant, other, held, law = bb.with_motor(), bb.with_motor(theta), bb.rests(True)[number], bb.law(number)
    second = bb.linear(number, theta, motor=True)
    T = np.array([bb.linear(number, motor=True).measured[key] for key in second.states])
    by_alpha = vn.feedback.FeedbackLaw(second, law.gain @ np.linalg.inv(T), law.modes)
    begin = {r: PLACE + 0.1, theta: held[theta], r.diff(): 0.0, theta.diff(): 0.0}
    start = vn.consistent_state(plant, begin, guess={alpha: 0.0})
    loops = vn.close_loop(plant, law), vn.close_loop(other, by_alpha)
    runs = [vn.simulate(loop, start, np.linspace(0, 4, 401), method="bdf") for loop in loops]
    return 1000 * float(np.abs(runs[0][r] - runs[1][r]).max())


def loops() -> list[Number]:
    """The full model with saturated voltage, and a start off the constraint."""
    first, second = ([settled(k, offset) for offset in (-0.15, 0.15)] for k in (0, 1))
    closed, held = vn.close_loop(bb.with_motor(), bb.law(0)), bb.rests(True)[0]
    start = {key: held[key] for key in (*closed.system.coordinates, *closed.system.velocities)} | {alpha: 0.01}
    end, change = motion_anywhere(closed, start, 15.0, "Radau")
    return [
        Number(
            "E1: settling time (2 %) from -15 cm and +15 cm [s]",
            "3.0, 3.0",
            [time for time, _ in first],
            "The reference gives one time for all starts.",
        ),
        Number(
            "E2: shortest and longest settling time (2 %) from ±15 cm [s]",
            "1.8, 2.7",
            sorted(time for time, _ in second),
            units=1.0,
        ),
        Number("distance left after 12 s [m]", "< 1e-6", max(left for _, left in (*first, *second))),
        Number(
            "E1, start 0.01 rad off the constraint: final shift of r and θ",
            "-0.0265, -0.1002",
            (end[r] - PLACE, end[theta]),
        ),
        Number("the same: change of F", "< 1e-12", change),
        Number("E1: laws by θ and by α differ, in percent of 0.1 m", "0.2", laws_apart(0)),
        Number(
            "E2: laws by θ and by α differ, in percent of 0.1 m",
            "0.6",
            laws_apart(1),
            "0.67, truncated in the reference.",
        ),
    ]


def misprints() -> list[Number]:
    """The ball and beam at E1 by the determinant (33) and by the motor (38) as printed."""
    block = bb.linear(0).system_matrix[2:, :2]
    literal = np.linalg.eigvals(-block)  # det[[λE, λE], [-(a + hB), λE]] = λⁿ det(λE + a + hB)
    motor, k = bb.linear(0, motor=True).system_matrix.copy(), bb.MOTOR.torque_constant * bb.MOTOR.gear
    motor[4] = -k / bb.MOTOR.inductance * motor[3]
    motor[4, 4] -= bb.MOTOR.resistance / bb.MOTOR.inductance
    return [
        Number("determinant (33) as printed: real roots instead of ±2.81", "±7.88", float(literal.real.max())),
        Number(
            "motor (38) as printed: fastest pole, right -1821", "-1.3e5", float(np.linalg.eigvals(motor).real.min())
        ),
    ]


TABLES = [
    Table("Ball and beam: the exact lever", lever),
    Table("Ball and beam: sensors", sensors),
    Table("Ball and beam: the effect of two misprints", misprints),
    Table("Ball and beam: the full nonlinear loop", loops, "Voltage within ±24 V."),
]
