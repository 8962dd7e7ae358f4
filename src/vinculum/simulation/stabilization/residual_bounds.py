"""Bounds of the residuals of constraints: from step to step, for given gains, and along a run.

A method carries the residual of a constraint from step to step, η⁺ = S η + d. For closed-loop residuals η̇ = K η (K the
companion matrix of the gains), `step_matrix` of the method gives S: R(τK) for a Runge-Kutta method, Φ - b g for sampled
feedback with any method, and for an Adams method the matrix of a longer state that includes its memory. With |d| ≤ D
the residual stays below Σ_m |S^m| D, component by component: the theorem of Mukharlyamov and Kirgizbaev, corrected,
without norms.

`gain_interval`: with z = kτ, the residual of a first-order constraint obeys η⁺ = R(-z) η + d(z) and stays within ε when

    |d(z)| ≤ (1 - |R(-z)|) ε,     d(z) = γ τ² P(z) + D τ^{p+1},     P(z) = 1/2 - b·c - z bᵀ (1 + zA)⁻¹ (c²/2 - A c),

where γ = Xᵀ g_xx X is the curvature of the constraint along the motion and D the error of the method in it. Sampled
feedback has R = 1 - z and P = 0 for every Runge-Kutta method of order two or more; an Adams method has |d| ≤ z ε for z
below its limit.

`decay_bound`: a Lyapunov function for perturbations with variable coefficients, η̇ = A(x, t) η, checked along a run.
With V = ηᵀ G η, G constant, c₁|η|² ≤ V ≤ c₂|η|² and V̇ ≤ -a|η|² on the motion,

    |η(t)|² ≤ (c₂/c₁) |η(0)|² e^{-(a/c₂) t},

where a/c₂ is the rate for |η|² (half of what paper 004 prints) and a is the smallest eigenvalue of -(AᵀG + GA) over the
run.

Source: Mukharlyamov, Kirgizbaev, theorem of section 5, corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.integrable import levels
from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import ZERO, jacobian, substitute
from vinculum.notebook_repr import html
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.integrators.methods import Method, method_from, method_names
from vinculum.simulation.trajectory.live_run import Segment
from vinculum.simulation.trajectory.trajectory import Trajectory

_MOST_TERMS = 200_000
_FINE = 4000  # points of the search in z

# -- from step to step -------------------------------------------------------------------------------------------


def closed_loop(gains: Sequence[float]) -> np.ndarray:
    """K of η̇ = K η for y⁽ʳ⁾ = -Σ g_j y_j."""
    K = np.eye(len(gains), k=1)
    K[-1] = -np.asarray(gains)
    return K


def held_step(gains: Sequence[float], step: float, method_order: int) -> np.ndarray:
    """S of a step with c = g·η held: Φ - b g, Φ = Σ_{j ≤ p} (τN)ʲ/j!, b = Σ_{j < p} τʲ⁺¹ Nʲ/(j+1)! e_r."""
    r = len(gains)
    N = np.eye(r, k=1)
    S = np.zeros((r, r))
    for j in range(min(method_order, r) + 1):
        S += np.linalg.matrix_power(step * N, j) / math.factorial(j)
    for j in range(min(method_order, r)):
        b = step ** (j + 1) * np.linalg.matrix_power(N, j)[:, -1] / math.factorial(j + 1)
        S -= np.outer(b, gains)
    return S


def amplification(S: np.ndarray, r: int) -> np.ndarray:
    """Σ_m |S^m| restricted to the r residuals: the sum of the largest defects. Infinite if S does not decay."""
    radius = float(np.abs(np.linalg.eigvals(S)).max())
    if radius >= 1 - 1e-12:
        return np.full((r, r), np.inf)
    total, power = np.zeros((r, r)), np.eye(len(S))[:, :r]
    for _ in range(_MOST_TERMS):
        total += np.abs(power[:r])
        power = S @ power
        if np.abs(power).max() <= 1e-6 * total.max() * (1 - radius):
            break
    return total


def last_inside(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last number, by bisection, at which a condition holds that is true inside and false outside."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return float(inside)


# -- gains that keep a first-order constraint within a bound -----------------------------------------------------


@dataclass(frozen=True)
class GainInterval:
    """All gains k between ``low`` and ``high`` keep the bound; if ``low`` > ``high``, none does."""

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
    """The method, if bounds of residuals exist for it; otherwise raises."""
    if not isinstance(method, FixedStep):
        raise VinculumError(
            Finding(
                f"A bound is promised for methods with a fixed step; {method.name!r} chooses its own.",
                ["Use ", call("simulate", method="rk4"), f" or another of {', '.join(method_names(adaptive=False))}."],
            )
        )
    return method


# -- the decay of residuals along a run --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Decay:
    """|η(t)| ≤ factor · |η(0)| e^{-rate t}, with the measured residuals of the run."""

    rate: float  # a/(2 c₂)
    factor: float  # √(c₂/c₁)
    G: np.ndarray
    t: np.ndarray
    measured: np.ndarray  # |η(t)|
    bound: np.ndarray

    @property
    def kept(self) -> bool:
        """Whether the run stayed within the bound, except for rounding."""
        return bool(np.all(self.measured <= self.bound * (1 + 1e-9) + 1e-14))

    _repr_html_ = html


def decay_bound(motion: Trajectory, G: np.ndarray | None = None) -> Decay:
    """The exponential bound of the residuals of a run.

    ``G`` is symmetric and positive definite; by default it solves AᵀG + GA = -1 for the mean of A over the run.
    Raises if V does not decrease along the run.
    """
    if motion.problem is None or not motion.problem.integrable.constraints:
        raise VinculumError("A bound of the residuals needs a run with constraints, not one read from a file.")
    A = perturbation_matrices(motion)
    G = _mean_solution(A) if G is None else np.asarray(G, dtype=float)
    low, high = np.linalg.eigvalsh(G)[[0, -1]]
    if low <= 0 or not np.allclose(G, G.T):
        raise VinculumError(f"G must be symmetric and positive definite; its smallest eigenvalue is {low:.3g}.")
    a = float(np.linalg.eigvalsh(-(np.swapaxes(A, 1, 2) @ G + G @ A))[:, 0].min())
    if a <= 0:
        raise VinculumError(
            f"V = ηᵀ G η does not decrease everywhere on this run (a = {a:.3g}). Pass another G, or make the "
            "coefficients of the perturbation equations larger where they are small."
        )
    eta = np.array([np.linalg.norm(row) for row in _residuals(motion)])
    rate, factor = a / (2 * high), float(np.sqrt(high / low))
    elapsed = np.abs(motion.t - motion.t[0])
    return Decay(rate, factor, G, motion.t, eta, factor * eta[0] * np.exp(-rate * elapsed))


def perturbation_matrices(motion: Trajectory) -> np.ndarray:
    """A(x, t) of η̇ = A η at every sample: ones inside each chain, -∂c/∂y at their ends. (N, m, m)"""
    return np.concatenate([_matrices(segment) for segment in motion.segments])


def _matrices(segment: Segment) -> np.ndarray:
    """A(x, t) at the samples of a segment."""
    nodes, chains = segment.problem.nodes, segment.problem.integrable.chains
    names = list(levels(chains))
    slopes = [s for row in jacobian(list(nodes.feedback), names) for s in row]
    at_zero = nodes.lifted(substitute(slopes, dict.fromkeys(names, ZERO)))
    rows = segment.rows(at_zero).reshape(-1, len(chains), len(names))
    A = np.tile(np.eye(len(names), k=1), (len(segment.t), 1, 1))
    for i, end in enumerate(np.cumsum([len(chain) for chain in chains])):
        A[:, end - 1] = -rows[:, i]
    return A


def _residuals(motion: Trajectory) -> np.ndarray:
    """η at every sample."""
    return motion.rows(lambda problem: problem.nodes.lifted([y for chain in problem.integrable.chains for y in chain]))


def _mean_solution(A: np.ndarray) -> np.ndarray:
    """G of AᵀG + GA = -1 for the mean of A."""
    from scipy.linalg import solve_continuous_lyapunov

    mean = A.mean(axis=0)
    if np.linalg.eigvals(mean).real.max() >= 0:
        raise VinculumError("The mean of A over the run is not stable. Pass G.")
    return solve_continuous_lyapunov(mean.T, -np.eye(len(mean)))
