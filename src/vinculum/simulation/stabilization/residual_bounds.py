"""Bounds of the residuals of constraints: from step to step, for given gains.

A method carries the residual of a constraint from step to step, η⁺ = S η + d. For closed-loop residuals η̇ = K η (K the
companion matrix of the gains), `step_matrix` of the method gives S: R(τK) for a Runge-Kutta method, Φ - b g for sampled
feedback with any method, and for an Adams method the matrix of a longer state that includes its memory. With |d| ≤ D
the residual stays below Σ_m |S^m| D, component by component: the theorem of Mukharlyamov and Kirgizbaev, corrected,
without norms.

Source: Mukharlyamov, Kirgizbaev, theorem of section 5, corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from vinculum.errors import Finding, VinculumError, call
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.integrators.methods import Method, method_names

_MOST_TERMS, _BLOCK = 200_000, 64

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
    total = np.zeros((r, r))
    for block in islice(powers(S, np.eye(len(S))[:, :r]), _MOST_TERMS // _BLOCK):
        total += np.abs(block[:, :r]).sum(axis=0)
        if np.abs(block[-1]).max() <= 1e-6 * total.max() * (1 - radius):
            break
    return total


def powers(S: np.ndarray, start: np.ndarray) -> Iterator[np.ndarray]:
    """S^m start for m = 0, 1, 2, ..., many at a time: (block, *start.shape)."""
    block = [start]
    for _ in range(_BLOCK - 1):
        block.append(S @ block[-1])
    leap, stacked = np.linalg.matrix_power(S, _BLOCK), np.array(block)
    while True:
        yield stacked
        stacked = leap @ stacked


def last_inside(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last number, by bisection, at which a condition holds that is true inside and false outside."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return float(inside)


# -- methods that have a bound -----------------------------------------------------------------------------------


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
