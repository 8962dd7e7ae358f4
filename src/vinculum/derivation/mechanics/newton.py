"""Newton's method of least change: the nearest point, to first order, on which all residuals vanish."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_RANK = 1e-10  # relative size of singular values that count as zero


def newton(
    residual: Callable[[np.ndarray], np.ndarray],
    jacobian: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    steps: int = 100,
) -> tuple[np.ndarray, bool]:
    """Solve f(x) = 0 by x ← x - J⁺ f, halving a step that does not bring f closer to zero.

    Returns the point and whether it was reached: whether the last correction was negligible beside x.
    """
    x = np.array(x, dtype=float)
    f = residual(x)
    for _ in range(steps):
        step = correction(jacobian(x), f)
        size = np.abs(step).max(initial=0.0)
        if not np.isfinite(size):
            return x, False
        x, f = shortened(residual, x, f, step)
        if size <= 4e-15 * (1.0 + np.abs(x).max(initial=0.0)):
            break
    left = np.abs(correction(jacobian(x), f)).max(initial=0.0)
    reached = left <= 1e-12 * (1.0 + np.abs(x).max(initial=0.0)) and explained(jacobian(x), f)
    return x, bool(reached)


def correction(J: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The smallest step d with J d = f, rows scaled to unit length so that units do not decide the rank."""
    if not (np.all(np.isfinite(J)) and np.all(np.isfinite(f))):
        return np.full(J.shape[1], np.nan)
    length = np.linalg.norm(J, axis=1)
    scale = 1.0 / np.where(length > 0, length, 1.0)
    return np.linalg.lstsq(scale[:, None] * J, scale * f, rcond=_RANK)[0] if len(f) else np.zeros(J.shape[1])


def explained(J: np.ndarray, f: np.ndarray) -> bool:
    """Whether nothing of f is left that no step could remove."""
    length = np.linalg.norm(J, axis=1)
    scale = 1.0 / np.where(length > 0, length, 1.0)
    return bool(np.all(np.abs(scale * (f - J @ correction(J, f))) <= 1e-10)) if len(f) else True


def shortened(
    residual: Callable[[np.ndarray], np.ndarray], x: np.ndarray, f: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The full step, or the largest of its halves that lowers |f|."""
    factor = 1.0
    while factor > 1e-4:
        new = residual(x - factor * step)
        if np.all(np.isfinite(new)) and np.linalg.norm(new) <= (1 - 0.1 * factor) * np.linalg.norm(f) + 1e-300:
            break
        factor /= 2
    else:
        factor, new = 1.0, residual(x - step)
    return x - factor * step, new
