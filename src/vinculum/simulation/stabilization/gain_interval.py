"""Gains that keep a constraint within ε at a given step: the theorem as a function.

With z = kτ, the residual of a first-order constraint obeys η⁺ = R(-z) η + d(z) and stays within ε when

    |d(z)| ≤ (1 - |R(-z)|) ε,     d(z) = γ τ² P(z) + D τ^{p+1},     P(z) = 1/2 - b·c - z bᵀ (1 + zA)⁻¹ (c²/2 - A c),

γ = Xᵀ g_xx X being the curvature of the constraint along the motion and D the method's own error in it. Sampled
feedback has R = 1 - z and P = 0 for every Runge-Kutta method of order two or more; an Adams method has |d| ≤ z ε for z
below its limit.

Source: Mukharlyamov, Kirgizbaev, theorem of section 5, corrected; docs/program_constraints.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.errors import Finding, VinculumError, call
from vinculum.notebook_repr import html
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.integrators.methods import Method, method_from, method_names
from vinculum.simulation.stabilization.error_propagation import last_inside

_FINE = 4000  # points of the search in z


@dataclass(frozen=True)
class GainInterval:
    """All gains k between ``low`` and ``high`` are good; none is where ``low`` > ``high``."""

    low: float
    high: float

    def __bool__(self) -> bool:
        return bool(self.low <= self.high)

    def __contains__(self, k: float) -> bool:
        return self.low <= k <= self.high

    _repr_html_ = html


def gain_interval(
    method: FixedStep | str,
    step: float,
    epsilon: float,
    *,
    curvature: float = 0.0,
    error: float = 0.0,
    sampled: bool = False,
) -> GainInterval:
    """The interval of k for which |η| ≤ ε is guaranteed: ``curvature`` is γ, ``error`` the constant D of D τ^{p+1}.

    Euler's method: γτ/(2ε) ≤ k ≤ 2/τ - γτ/(2ε).

    >>> found = gain_interval("euler", 1e-3, 1e-3, curvature=16)
    >>> round(found.low, 6), round(found.high, 6)
    (8.0, 1992.0)
    """
    if not (step > 0 and epsilon > 0):
        raise VinculumError(f"step and epsilon must be positive; got {step} and {epsilon}.")
    chosen = fixed_step(method_from(method))
    z = np.linspace(0, chosen.stability_limit(sampled), _FINE + 1)
    margin = chosen.margin(z, step, epsilon, curvature, error, sampled)
    good = np.flatnonzero(margin >= 0)
    good = good[good > 0]
    if not len(good):
        return GainInterval(np.inf, 0.0)

    def kept(z: float) -> bool:
        return bool(chosen.margin(z, step, epsilon, curvature, error, sampled) >= 0)

    first, last = int(good[0]), int(good[-1])
    low = last_inside(kept, z[first], z[first - 1])
    high = last_inside(kept, z[last], z[last + 1]) if last < _FINE else float(z[-1])
    return GainInterval(low / step, high / step)


def fixed_step(method: Method) -> FixedStep:
    """A method for which bounds of residuals exist; others are refused."""
    if not isinstance(method, FixedStep):
        raise VinculumError(
            Finding(
                f"A bound is promised for methods with a fixed step; {method.name!r} chooses its own.",
                ["Use ", call("simulate", method="rk4"), f" or another of {', '.join(method_names(adaptive=False))}."],
            )
        )
    return method
