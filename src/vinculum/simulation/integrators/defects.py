"""Steps whose series left the motion.

A Taylor series knows the rates only near the start of its step. At v = 0.2, tanh(v/0.01) is 1 to the last digit, with
all its derivatives zero, so the series stays 1 behind v = 0 too, and no coefficient tells. The end of the step does:
with the polynomial p of a step of length h and the tolerance ε, the motion was lost if

    h |ṗ - f(t, p)| > δ max(1, |x|),    δ = min(10⁶ ε, √ε).

Only equations with functions that have a margin (`problem.ranges`) hide something from their series.

Enright, Analysis of error control strategies for continuous Runge-Kutta methods, SIAM J. Numer. Anal. 26 (1989).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vinculum.simulation.integrators.edges import at_edge
from vinculum.simulation.integrators.taylor_steps import (
    ENOUGH,
    NOT_FINITE,
    TIPPED,
    WATCHED,
    Advance,
    Polynomials,
    Steps,
)
from vinculum.simulation.problem.problem import Problem

_DEFECT = 1e6  # tolerances
SHORTER = 0.25  # of a step that left the motion: the longest one from its start
_UNSEEN = (TIPPED, WATCHED)  # endings of steps where the rates jump or are undetermined


def allowed_defect(tolerance: float | None) -> float:
    """δ, for a tolerance or, without one, for rounding."""
    resolved = max(tolerance or 0.0, float(np.finfo(float).eps))
    return min(_DEFECT * resolved, math.sqrt(resolved))


def lost_step(problem: Problem, steps: Steps, made: Advance, allowed: float, near: float) -> int | None:
    """The number of the first step that left the motion; None if all followed it.

    Where the rates have no value, a step may end at, or so ``near``, the end of a range.
    """
    coefficients = _coefficients(made.dense)
    if coefficients is None or not len(coefficients):
        return None
    h, k = np.diff(made.knots), np.arange(1, coefficients.shape[2])
    with np.errstate(all="ignore"):
        ends = np.einsum("snk,sk->sn", coefficients[:, :, 1:], k * h[:, None] ** (k - 1))
        after = np.vstack([coefficients[1:, :, 1], ends[-1] if made.why in _UNSEEN else steps.slope(problem)])
        errors = np.abs(h) * np.abs(ends - after).max(axis=1)
        lost = errors > allowed * np.maximum(1.0, np.abs(coefficients[:, :, 0]).max(axis=1))
    lost |= ~np.isfinite(after).all(axis=1)
    first = int(np.argmax(lost))
    if not lost[first] or (
        made.why == NOT_FINITE and at_edge(problem, float(made.knots[first + 1]), made.states[first + 1], near)
    ):
        return None
    return first


def before(made: Advance, step: int) -> Advance:
    """The steps before one of them."""
    knots, states = made.knots[: step + 1], made.states[: step + 1]
    dense = Polynomials(knots, _coefficients(made.dense)[:step])
    return made._replace(why=ENOUGH, steps=step, knots=knots, states=states, dense=dense, event=-1)


def shorter(made: Advance, step: int) -> float:
    """The longest step from where the motion was lost."""
    return SHORTER * abs(float(made.knots[step + 1] - made.knots[step]))


def within(longest: float, reached: float, target: float) -> float:
    """A target no farther than the longest step."""
    return target if abs(target - reached) <= longest else reached + math.copysign(longest, target - reached)


def longer(longest: float, made: Advance) -> float:
    """The longest step after some that followed the motion; without a bound once the series ends its steps itself."""
    return math.inf if made.steps > 1 else 2 * longest


def _coefficients(dense: Any) -> Any:
    """(steps, n, order + 1) of our polynomials or of heyoka's; None without any."""
    return dense.coefficients if isinstance(dense, Polynomials) else getattr(dense, "tcs", None)
