"""The full nonlinear system with its feedback law, and with an observer in the loop if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.control.feedback import FeedbackLaw
from vinculum.control.observer import Estimator
from vinculum.derivation import EquationsOfMotion
from vinculum.errors import ModelError
from vinculum.names import name_of, variable_name


def close_loop(
    equations: EquationsOfMotion,
    law: FeedbackLaw,
    estimator: Estimator | None = None,
    limits: Mapping[sp.Expr, float] | None = None,
) -> EquationsOfMotion:
    """The equations of motion with the inputs given by the law, which acts on the estimate if there is an estimator.

    ``limits`` {u: largest |u|} saturate the inputs. The plant is the full nonlinear system; only the law is linear.
    """
    _refuse_limits(law, limits or {})
    laws = {u: _limited(expression, (limits or {}).get(u)) for u, expression in _laws(law, estimator).items()}
    extra = {} if estimator is None else _estimator_rates(estimator, laws)
    return replace(equations, laws=laws, extra=extra)


def estimated(linear: LinearModel) -> tuple[sp.Expr, ...]:
    """The symbols of the estimated perturbations, estimate_theta for theta."""
    time = linear.equations.system.time
    return tuple(sp.Function(f"estimate_{variable_name(s)}")(time) for s in linear.states)


def closed_model(law: FeedbackLaw, estimator: Estimator | None = None) -> LinearModel:
    """The linear model of the closed loop, for `stability`: F + HK, or with an observer the composite matrix."""
    linear = law.linear
    F, H, K = linear.system_matrix, linear.input_matrix, law.gain
    if estimator is None:
        return replace(linear, system_matrix=F + H @ K, inputs=(), input_matrix=np.zeros((len(F), 0)), closed=True)
    L, C = estimator.gain, estimator.C
    whole = np.block([[F, H @ K], [L @ C, F + H @ K - L @ C]])
    states = (*linear.states, *estimated(linear))
    return replace(
        linear, system_matrix=whole, states=states, inputs=(), input_matrix=np.zeros((len(whole), 0)), closed=True
    )


def _laws(law: FeedbackLaw, estimator: Estimator | None) -> dict[sp.Expr, sp.Expr]:
    """u₀ + K η, or u₀ + K η̂."""
    if estimator is None:
        return law.laws
    guess = estimated(law.linear)
    return {
        u: sp.Float(law.linear.at[u]) + sum(sp.Float(k) * x for k, x in zip(row, guess, strict=True))
        for u, row in zip(law.linear.inputs, law.gain, strict=True)
    }


def _estimator_rates(estimator: Estimator, laws: Mapping[sp.Expr, sp.Expr]) -> dict[sp.Expr, sp.Expr]:
    """η̂' = F η̂ + H (u - u₀) + L (y - y₀ - C η̂), with the saturated inputs of the plant."""
    linear = estimator.linear
    guess = sp.Matrix(estimated(linear))
    u = sp.Matrix([laws[key] - sp.Float(linear.at[key]) for key in linear.inputs])
    y = sp.Matrix([key - sp.Float(linear.at[key]) for key in estimator.outputs])
    F, H, L, C = (sp.Matrix(m) for m in (linear.system_matrix, linear.input_matrix, estimator.gain, estimator.C))
    return dict(zip(guess, F * guess + H * u + L * (y - C * guess), strict=True))


def _limited(expression: sp.Expr, limit: float | None) -> sp.Expr:
    return expression if limit is None else sp.Max(-sp.Float(limit), sp.Min(sp.Float(limit), expression))


def _refuse_limits(law: FeedbackLaw, limits: Mapping[sp.Expr, float]) -> None:
    problems = [f"{name_of(u)} is not an input of the law." for u in limits if u not in law.linear.inputs]
    for u, limit in limits.items():
        if u in law.linear.inputs and not limit > abs(law.linear.at[u]):
            holding = f"its holding value {law.linear.at[u]:.6g}"
            problems.append(f"The limit {limit} of {name_of(u)} must be larger than the magnitude of {holding}.")
    if problems:
        raise ModelError("Invalid limits", problems)
