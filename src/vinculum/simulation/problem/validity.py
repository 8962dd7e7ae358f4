"""The conditions under which a form of the equations holds, along a run."""

from __future__ import annotations

import numpy as np

from vinculum.errors import DomainError
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.outcome import Outcome

CHART_LIMIT = 2e-3  # a condition of the form that has shrunk to this share of its first value counts as broken


def limits(problem: Problem, t: float, x: np.ndarray) -> tuple[float, ...]:
    """The conditions of the equations at a state; zero outside their domain."""
    conditions = problem.equations.conditions
    try:
        known = problem.everything(t, x) if conditions else {}
        return tuple(limit.value(known) for limit in conditions)
    except DomainError:
        return (0.0,) * len(conditions)


def broken(problem: Problem, t: float, x: np.ndarray, beyond: tuple[float, np.ndarray] | None) -> Outcome | None:
    """The outcome where a condition of the form has gone to zero since the start, or would, at a state beyond."""
    for instant, state in ((t, x), beyond or (t, x)):
        now = limits(problem, instant, state)
        for limit, value, first in zip(problem.equations.conditions, now, problem.at_start, strict=True):
            if abs(value) < CHART_LIMIT * abs(first) or value * first < 0:
                reason = limit.reason(problem.everything(t, x))
                numbers = f"it was {first:.4g} at the start and is {value:.4g} here"
                return Outcome(limit.kind, t, f"{reason}; {numbers}. {limit.advice}")
    return None
