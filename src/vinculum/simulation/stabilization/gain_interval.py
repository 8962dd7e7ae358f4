"""Gains that keep a constraint within ε at a given step: the theorem as a function.

With z = kτ, the residual of a first-order constraint obeys η⁺ = R(-z) η + d(z) and stays within ε when

    |d(z)| ≤ (1 - |R(-z)|) ε,     d(z) = γ τ² P(z) + D τ^{p+1},     P(z) = 1/2 - b·c - z bᵀ (1 + zA)⁻¹ (c²/2 - A c),

γ = Xᵀ g_xx X being the curvature of the constraint along the motion and D the method's own error in it. Sampled
feedback has R = 1 - z and P = 0 for every Runge-Kutta method of order two or more; an Adams method has |d| ≤ z ε for z
below its limit.

Source: Mukharlyamov, Kirgizbaev, theorem of section 5, corrected; docs/program_constraints.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.errors import VinculumError
from vinculum.names import suggestion
from vinculum.notebook_repr import html
from vinculum.simulation.integrators.methods import METHODS, Adams, RungeKutta

_FINE = 4000  # points of the search in z

Numbers = Any  # one number, or an array of them


@dataclass(frozen=True)
class GainInterval:
    """All k between ``low`` and ``high`` do; none does where ``low`` > ``high``."""

    low: float
    high: float

    def __bool__(self) -> bool:
        return bool(self.low <= self.high)

    def __contains__(self, k: float) -> bool:
        return self.low <= k <= self.high

    _repr_html_ = html


def gain_interval(
    method: str, step: float, epsilon: float, *, curvature: float = 0.0, error: float = 0.0, sampled: bool = False
) -> GainInterval:
    """The interval of k for which |η| ≤ ε is guaranteed: ``curvature`` is γ, ``error`` the constant D of D τ^{p+1}.

    Euler's method: γτ/(2ε) ≤ k ≤ 2/τ - γτ/(2ε).

    >>> found = gain_interval("euler", 1e-3, 1e-3, curvature=16)
    >>> round(found.low, 6), round(found.high, 6)
    (8.0, 1992.0)
    """
    if method not in METHODS:
        raise VinculumError(f"There is no fixed-step method {method!r}.{suggestion(method, METHODS)}")
    if not (step > 0 and epsilon > 0):
        raise VinculumError(f"step and epsilon must be positive; got {step} and {epsilon}.")
    chosen = METHODS[method]
    z = np.linspace(0, stability_limit(chosen, sampled), _FINE + 1)
    margin = _margin(chosen, z, step, epsilon, curvature, error, sampled)
    good = np.flatnonzero(margin >= 0)
    good = good[good > 0]
    if not len(good):
        return GainInterval(np.inf, 0.0)

    def kept(z: float) -> bool:
        return bool(_margin(chosen, z, step, epsilon, curvature, error, sampled) >= 0)

    first, last = int(good[0]), int(good[-1])
    low = _edge(kept, z[first], z[first - 1])
    high = _edge(kept, z[last], z[last + 1]) if last < _FINE else float(z[-1])
    return GainInterval(low / step, high / step)


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last place, by bisection, where something holds that holds inside and not outside."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return float(inside)


def stability_limit(method: RungeKutta | Adams, sampled: bool = False) -> float:
    """The largest z = kτ for which η̇ = -kη does not grow."""
    if isinstance(method, Adams):
        return method.largest
    if sampled:
        return 2.0
    z = np.linspace(0, 6, 6001)[1:]
    beyond = float(z[np.abs(growth(method, z)) > 1 + 1e-12][0])
    return _edge(lambda z: bool(abs(growth(method, z)) <= 1), beyond - 1e-3, beyond)


def growth(method: RungeKutta, z: Numbers) -> Numbers:
    """R(-z) = 1 - z bᵀ (1 + zA)⁻¹ 1."""
    return 1 - z * _through_stages(method, z, np.ones(len(method.b)))


def stage_defect(method: RungeKutta, z: Numbers) -> Numbers:
    """P(z): what the stages, which leave the manifold by O(τ²), cost under continuous feedback."""
    A, b, c = method.A, method.b, method.c
    return 0.5 - b @ c - z * _through_stages(method, z, c**2 / 2 - A @ c)


def _through_stages(method: RungeKutta, z: Numbers, right: np.ndarray) -> np.ndarray:
    """bᵀ (1 + zA)⁻¹ right, for one z or for many."""
    matrices = np.eye(len(method.b)) + np.multiply.outer(z, method.A)
    return np.linalg.solve(matrices, right[:, None])[..., 0] @ method.b


def _margin(
    method: RungeKutta | Adams, z: Numbers, step: float, epsilon: float, curvature: float, error: float, sampled: bool
) -> Numbers:
    """(1 - |R(-z)|) ε - |d(z)|, for one z or for many."""
    own = abs(error) * step ** (method.order + 1)
    if isinstance(method, Adams):
        return z * epsilon - own
    R = 1 - z if sampled else growth(method, z)
    stages = stage_defect(method, 0.0 if sampled else z)
    return (1 - abs(R)) * epsilon - abs(curvature * step**2 * stages) - own
