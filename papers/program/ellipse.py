"""Example (26): a point driven along an ellipse, and Euler's method with the step 10⁻³."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import sympy as sp

import vinculum as vn
from examples.program_on_an_ellipse import START, program, q1, q2, system, u, y

STEP, COUNT = 1e-3, 20_000


def rates(printed_b: bool) -> tuple[sp.Expr, ...]:
    """q̇1, q̇2 of (26) as functions of q and u."""
    affine = system(printed_b)
    return tuple(f + b * u for f, (b,) in zip(affine.drift, affine.input_matrix, strict=True))


@cache
def run(k: float, method: str = "euler", step: float = STEP, sampled: bool = False) -> vn.Trajectory:
    """Twenty seconds from (2, 0), with continuous or with sampled feedback."""
    stabilization = vn.Sampled(k) if sampled else vn.Baumgarte()
    equations = vn.derive(program(k).system, form="program") if sampled else program(k)
    return vn.simulate(
        equations, START, (0, STEP * COUNT), method, step=step, progress=False, stabilization=stabilization
    )


def largest(k: float, printed: bool = False) -> float:
    """The largest |y| of 20000 Euler steps, with b and u as printed or corrected; infinite where it grows."""
    rate, (a, b), worst = _rates(printed), (2.0, 0.0), 0.0
    for _ in range(COUNT):
        da, db = rate(a, b, k)
        a, b = a + STEP * da, b + STEP * db
        worst = max(worst, abs(a * a / 2 + 2 * b * b - 2))
        if not worst < 1e3:
            return float("inf")
    return worst


@cache
def _rates(printed: bool) -> Callable[..., tuple[float, float]]:
    k = sp.Symbol("k")
    control = {u: k * (q1**2 + 4 * q2**2 - 4) * (1 if printed else sp.Rational(1, 2))}
    return sp.lambdify((q1, q2, k), [rate.subs(control) for rate in rates(printed)], "math")


def last_gain(epsilon: float, inside: float, outside: float, printed: bool = False) -> float:
    """The gain between two where |y| ≤ ε begins or ends to hold, by bisection."""
    for _ in range(12):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if largest(middle, printed) <= epsilon else (inside, middle)
    return inside


def exact_map(a: np.ndarray, b: np.ndarray, k: float) -> np.ndarray:
    """y⁺ = (1 - kτ) y + (τ²/2)[16 + 8y - 24 k y q1 q2/D + k² y² (q1² + 64 q2²)/D²], D = q1² + 16 q2²."""
    residual, D = a**2 / 2 + 2 * b**2 - 2, a**2 + 16 * b**2
    inner = 16 + 8 * residual - 24 * k * residual * a * b / D + (k * residual / D) ** 2 * (a**2 + 64 * b**2)
    return (1 - k * STEP) * residual + STEP**2 / 2 * inner
