"""A feedback law from a gain of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import controllability
from vinculum.control.feedback import FeedbackLaw
from vinculum.errors import ModelError
from vinculum.names import listed, name_of, suggestion

Gains = Mapping[sp.Expr, Mapping[sp.Expr, float]]


def law(linear: LinearModel, gain: np.ndarray | Sequence | Gains) -> FeedbackLaw:
    """The law u = u₀ + gain·η for a gain of one's own: a matrix (inputs, states), or {input: {state: gain}}.

    The sign is that of the formula: negative feedback has negative gains.
    """
    K = _by_symbol(linear, gain) if isinstance(gain, Mapping) else np.atleast_2d(np.asarray(gain, dtype=float))
    shape = (len(linear.inputs), len(linear.states))
    if K.shape != shape:
        problem = f"Its shape is {K.shape}; {shape} is needed: inputs {listed(linear.inputs)}, states "
        raise ModelError("Invalid gain", [f"{problem}{listed(linear.states)}."])
    if not np.all(np.isfinite(K)):
        raise ModelError("Invalid gain", ["It contains a number that is not finite."])
    return FeedbackLaw(linear, K, tuple(controllability(linear)))


def _by_symbol(linear: LinearModel, given: Gains) -> np.ndarray:
    problems = _unknown(given, linear.inputs, "input")
    for row in given.values():
        problems += _unknown(row, linear.states, "state")
    if problems:
        raise ModelError("Invalid gain", problems)
    return np.array([[float(given.get(u, {}).get(s, 0.0)) for s in linear.states] for u in linear.inputs])


def _unknown(keys: Mapping[sp.Expr, Any], known: Sequence[sp.Expr], what: str) -> list[str]:
    return [
        f"{name_of(key)} is not {'an' if what == 'input' else 'a'} {what} of the linear model."
        f"{suggestion(name_of(key), map(name_of, known))}"
        for key in keys
        if key not in known
    ]
