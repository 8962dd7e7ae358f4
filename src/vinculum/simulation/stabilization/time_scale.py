"""The time scale of a motion."""

from __future__ import annotations

import numpy as np

from vinculum.simulation.problem.problem import Problem


def motion_rate(problem: Problem, t: float, x: np.ndarray, iterations: int = 30) -> float:
    """About the largest |eigenvalue| of ∂f/∂x at a state, by power iteration with finite differences of f.

    The geometric mean of the growth over the last iterations, which smooths the turning of complex pairs. A motion
    without any rate of its own counts as 1.
    """
    f = problem.compiled(problem.nodes.rates)
    here = f(t, x, problem.values)
    small = 1e-7 * (1.0 + float(np.abs(x).max()))
    direction = np.random.default_rng(1).normal(size=len(x))
    growth = []
    for _ in range(iterations):
        length = float(np.linalg.norm(direction))
        if not np.isfinite(length) or length == 0:
            return 1.0
        growth.append(length)
        direction = (f(t, x + small * direction / length, problem.values) - here) / small
    return float(np.exp(np.mean(np.log(growth[iterations // 2 :]))))
