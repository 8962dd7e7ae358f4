"""Proportional, integral and derivative control of one output by one input.

    u = u₀ + k_p e + k_i ∫ e dt + k_d ė,   e = y₀ - y

With a filter time τ, ė is replaced by the output of s/(τs + 1): ẇ = (y - y₀ - w)/τ, ė ≈ -(y - y₀ - w)/τ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import controllability
from vinculum.control.feedback import Compensator, FeedbackLaw, controller_state, input_columns, output_rows
from vinculum.errors import ModelError
from vinculum.names import name_of
from vinculum.units.given import duration


def pid(
    linear: LinearModel,
    output: sp.Expr,
    input: sp.Expr,
    kp: float,
    ki: float = 0.0,
    kd: float = 0.0,
    *,
    filter: float | None = None,
) -> FeedbackLaw:
    """The law u = u₀ + kp e + ki ∫e dt + kd ė for the error e = y₀ - y of one output.

    ``filter`` is the time constant of the filter of ė. Without it, the rate of the output must be measurable.
    """
    filter = duration(filter, "filter")
    output_rows(linear, [output])
    (column,) = input_columns(linear, [input])
    _refuse_numbers({"kp": kp, "ki": ki, "kd": kd})
    own = compensator(linear, output, column, kp, ki, kd, filter)
    nothing = np.zeros((len(linear.inputs), len(linear.states)))
    return FeedbackLaw(linear, nothing, tuple(controllability(linear, [input])), own)


def compensator(
    linear: LinearModel, output: sp.Expr, column: int, kp: Any, ki: Any, kd: Any, filter: float | None
) -> Compensator:
    """The controller for one output and the input of one column. The gains may be symbols."""
    parts = [_proportional(output, kp)]
    parts += [_integral(linear, output, ki)] if ki else []
    parts += [_derivative(linear, output, kd, filter)] if kd or filter is not None else []
    return _joined(parts, column, len(linear.inputs))


def _proportional(y: sp.Expr, kp: Any) -> Compensator:
    return _part((y,), (), [[]], [[]], [[-kp]])


def _integral(linear: LinearModel, y: sp.Expr, ki: Any) -> Compensator:
    """ż = y - y₀."""
    return _part((y,), (controller_state("integral", y, linear),), [[0.0]], [[-ki]], [[0.0]], B=[[1.0]])


def _derivative(linear: LinearModel, y: sp.Expr, kd: Any, filter: float | None) -> Compensator:
    """-k_d ẏ, or -k_d (y - y₀ - w)/τ with ẇ = (y - y₀ - w)/τ."""
    if filter is None:
        return _part((_rate(linear, y),), (), [[]], [[]], [[-kd]])
    if not (np.isfinite(filter) and filter > 0):
        raise ModelError("Invalid controller", [f"filter is {filter}; it must be a positive time constant."])
    w = controller_state("filter", y, linear)
    return _part((y,), (w,), [[-1 / filter]], [[kd / filter]], [[-kd / filter]], B=[[1 / filter]])


def _rate(linear: LinearModel, y: sp.Expr) -> sp.Expr:
    """ẏ, which must be measurable."""
    time = None if linear.equations is None else linear.equations.time
    rate = None if time is None else y.diff(time)
    if rate is None or rate not in linear.measured:
        problem = f"The rate of {name_of(y)} cannot be measured. Pass filter=, a time constant in seconds, for kd."
        raise ModelError("Invalid controller", [problem])
    return rate


def _part(outputs: tuple, states: tuple, A: list, C: list, D: list, B: list | None = None) -> Compensator:
    n = len(states)
    shaped = (np.reshape(A, (n, n)), np.reshape(B or [], (n, 1)), np.reshape(C, (1, n)), np.array(D))
    return Compensator(outputs, states, *shaped)


def _joined(parts: list[Compensator], column: int, inputs: int) -> Compensator:
    """The parts side by side; all act on one input."""
    import scipy.linalg

    outputs = tuple(dict.fromkeys(part.outputs[0] for part in parts))
    pick = np.array([[float(part.outputs[0] == y) for y in outputs] for part in parts])
    to_input = np.eye(inputs)[:, [column]]
    B = scipy.linalg.block_diag(*(part.B for part in parts)) @ pick
    return Compensator(
        outputs,
        tuple(s for part in parts for s in part.states),
        scipy.linalg.block_diag(*(part.A for part in parts)),
        B,
        to_input @ np.hstack([part.C for part in parts]),
        to_input @ np.hstack([part.D for part in parts]) @ pick,
    )


def _refuse_numbers(gains: dict[str, float]) -> None:
    problems = [
        f"{name} is {value}; it must be a finite number." for name, value in gains.items() if not np.isfinite(value)
    ]
    if not any(gains.values()):
        problems.append("All gains are zero.")
    if problems:
        raise ModelError("Invalid controller", problems)
