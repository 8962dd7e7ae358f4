"""How a method carries the residual of a constraint from step to step: η⁺ = S η + d.

For closed-loop residuals η̇ = K η (K the companion matrix of the gains) a Runge-Kutta method has S = R(τK), sampled
feedback S = Φ - b g whatever the method, and an Adams method a longer state with its memory in it: `step_matrix` of the
method. With |d| ≤ D the residual stays below Σ_m |S^m| D, component by component: the theorem of Mukharlyamov and
Kirgizbaev, corrected, without norms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

_MOST_TERMS = 200_000


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
    """Σ_m |S^m| restricted to the r residuals: what the largest defects add up to. Infinite where S does not decay."""
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
    """The last place, by bisection, where something holds that holds inside and not outside."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return float(inside)
