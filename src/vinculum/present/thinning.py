"""Curves with no more points than a screen shows, without losing an extreme."""

from __future__ import annotations

import numpy as np

MOST = 4000  # points of a curve: two on every pixel of a wide screen


def thinned(t: np.ndarray, y: np.ndarray, most: int = MOST) -> tuple[np.ndarray, np.ndarray]:
    """A curve of at most ``most`` points: the smallest and the largest value of every part, the first and the last.

    The line through them looks the same on any screen with fewer pixels than parts; every spike is kept. Where a value
    is missing (not a number), the gap is kept too.
    """
    if len(t) <= most:
        return t, y
    parts = (most - 2) // 3
    size = -(-len(t) // parts)
    padded = np.concatenate([y, np.full(size * parts - len(y), y[-1])]).reshape(parts, size)
    low, high = np.where(np.isnan(padded), np.inf, padded), np.where(np.isnan(padded), -np.inf, padded)
    starts = size * np.arange(parts)
    missing = np.isnan(padded).any(axis=1)
    chosen = [
        starts + low.argmin(axis=1),
        starts + high.argmax(axis=1),
        (starts + np.isnan(padded).argmax(axis=1))[missing],
    ]
    kept = np.unique(np.minimum(np.concatenate([[0], *chosen, [len(t) - 1]]), len(t) - 1))
    return t[kept], y[kept]
