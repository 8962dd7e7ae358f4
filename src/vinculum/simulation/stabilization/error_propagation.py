"""How a method carries the residual of a constraint from step to step: η⁺ = S η + d.

For closed-loop residuals η̇ = K η (K the companion matrix of the gains) a Runge-Kutta method has S = R(τK), sampled
feedback S = Φ - b g whatever the method, and an Adams method a longer state with its memory in it. With |d| ≤ D the
residual stays below Σ_m |S^m| D, component by component: the theorem of Mukharlyamov and Kirgizbaev, corrected,
without norms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vinculum.simulation.integrators.methods import Adams, RungeKutta

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


def stability_matrix(method: RungeKutta, Z: np.ndarray) -> np.ndarray:
    """R(Z): the method applied to η̇ = K η, Z = τK."""
    stages: list[np.ndarray] = []
    for row in method.A:
        point = np.eye(len(Z)) + sum((a * k for a, k in zip(row, stages, strict=False)), np.zeros_like(Z))
        stages.append(Z @ point)
    return np.eye(len(Z)) + sum(b * k for b, k in zip(method.b, stages, strict=True))


def adams_matrix(method: Adams, Z: np.ndarray) -> np.ndarray:
    """The step of (η, τη̇ one step ago, two steps ago, ...)."""
    r, q = len(Z), method.order
    eye, size = np.eye(r), r * method.order
    predicted = np.hstack([eye + method.predictor[0] * Z, *(b * eye for b in method.predictor[1:])])
    first = predicted
    if len(method.corrector):
        known = np.hstack([eye + method.corrector[1] * Z, *(b * eye for b in method.corrector[2:])])
        known = np.hstack([known, np.zeros((r, size - known.shape[1]))])
        first = known + method.corrector[0] * Z @ predicted
    S = np.zeros((size, size))
    S[:r] = first
    if q > 1:
        S[r : 2 * r, :r] = Z
        S[2 * r :, r:-r] = np.eye(size - 2 * r)
    return S


def step_matrix(method: RungeKutta | Adams, gains: Sequence[float], step: float, sampled: bool) -> np.ndarray:
    """S for one chain of residuals."""
    if sampled:
        return held_step(gains, step, method.order)
    Z = step * closed_loop(gains)
    return stability_matrix(method, Z) if isinstance(method, RungeKutta) else adams_matrix(method, Z)


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
