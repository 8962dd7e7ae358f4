"""Curves with no more points than a screen shows, without losing an extreme."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST = 4000  # points of a curve: two on every pixel of a wide screen
_ROWS = 1500  # rows of a table
_SIGHT = 1e-3  # fraction of a column's range that nobody sees
_ROUNDING = 1e-13  # of a constant column
_CANDIDATES = 10_000  # samples among which the rows of a long run are chosen


def thinned(t: np.ndarray, y: np.ndarray, most: int = MOST) -> tuple[np.ndarray, np.ndarray]:
    """A curve of at most ``most`` points: the smallest and the largest value of every part, the first and the last.

    The line through them looks the same on any screen with fewer pixels than parts; every spike is kept. Where a value
    is missing (not a number), the gap is kept too.
    """
    kept = extremes(y, most)
    return t[kept], y[kept]


def extremes(y: np.ndarray, most: int = MOST) -> np.ndarray:
    """Indices of the points that `thinned` keeps."""
    if len(y) <= most:
        return np.arange(len(y))
    parts = (most - 2) // 3
    size = -(-len(y) // parts)
    padded = np.concatenate([y, np.full(size * parts - len(y), y[-1])]).reshape(parts, size)
    low, high = np.where(np.isnan(padded), np.inf, padded), np.where(np.isnan(padded), -np.inf, padded)
    starts = size * np.arange(parts)
    missing = np.isnan(padded).any(axis=1)
    chosen = [
        starts + low.argmin(axis=1),
        starts + high.argmax(axis=1),
        (starts + np.isnan(padded).argmax(axis=1))[missing],
    ]
    return np.unique(np.minimum(np.concatenate([[0], *chosen, [len(y) - 1]]), len(y) - 1))


def followed(t: np.ndarray, columns: Sequence[np.ndarray], sight: float = _SIGHT, most: int = _ROWS) -> np.ndarray:
    """Samples at which to keep all columns: lines through them miss no value by more than ``sight`` of its range.

    Every interval gets its worst sample until none is missed, or ``most`` are kept.
    """
    among = _candidates(len(t), columns)
    t = np.abs(t[among] - t[0])  # runs may go backward
    levels = [level for y in columns if (level := _level(y[among])) is not None]
    rows = np.unique(np.linspace(0, len(t) - 1, min(len(t), 61)).astype(int))
    while len(rows) < min(most, len(t)):
        worst = _worst(t, levels, rows)
        missed = [at for at, error in worst if error > sight]
        if not missed:
            break
        rows = np.unique(np.concatenate([rows, missed]))
    return among[rows]


def _candidates(count: int, columns: Sequence[np.ndarray]) -> np.ndarray:
    """All samples, or of very many some that are equally spaced and the extremes of every column."""
    if count <= 2 * _CANDIDATES:
        return np.arange(count)
    even = np.linspace(0, count - 1, _CANDIDATES).astype(int)
    return np.unique(np.concatenate([even, *(extremes(y, 1000) for y in columns)]))


def _level(y: np.ndarray) -> np.ndarray | None:
    """A column as fractions of its range, missing values as zeros; None for a constant with its rounding errors."""
    known = np.isfinite(y)
    span = np.ptp(y[known]) if known.any() else 0.0
    rounding = _ROUNDING * max(1.0, float(np.max(np.abs(y[known]), initial=0.0)))
    return np.where(known, y, 0.0) / span if span > rounding else None


def _worst(t: np.ndarray, levels: Sequence[np.ndarray], rows: np.ndarray) -> list[tuple[int, float]]:
    """The sample of every interval that lines through the rows miss most, and by how much."""
    error = np.zeros(len(t))
    for y in levels:
        np.maximum(error, np.abs(y - np.interp(t, t[rows], y[rows])), out=error)
    parts = np.split(error, rows[1:-1]) if len(rows) > 2 else [error]
    starts = rows[:-1] if len(rows) > 2 else [0]
    return [(int(start + part.argmax()), float(part.max())) for start, part in zip(starts, parts, strict=True)]
