"""Which columns of a Jacobian to solve for: the dependent coordinates, or the dependent velocities."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

_ALL = 20_000  # choices up to this number are all compared


def best_columns(J: np.ndarray) -> tuple[int, ...]:
    """The m columns of J, (m, n), that are best conditioned: their smallest singular value is the largest there is.

    The rows of J count as of unit length. Every choice is compared where there are at most 20 000; above that a pivoted
    QR begins, and columns are exchanged until no exchange of one for another is an improvement.
    """
    rows = unit_rows(J)
    m, n = rows.shape
    if not m:
        return ()
    if comb(n, m) <= _ALL:
        choices = np.array(list(combinations(range(n), m)))
        return tuple(int(i) for i in choices[np.argmax(smallest_singular(rows, choices))])
    return _exchanged(rows, _pivoted(rows))


def unit_rows(J: np.ndarray) -> np.ndarray:
    """J with rows of unit length, so that the scale of a constraint does not matter."""
    return J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)


def smallest_singular(rows: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """The smallest singular value of each choice of columns, (k, m) -> (k)."""
    blocks = np.moveaxis(rows[:, choices], 0, 1)
    return np.linalg.svd(blocks, compute_uv=False)[:, -1]


def _pivoted(rows: np.ndarray) -> tuple[int, ...]:
    import scipy.linalg  # imported late: it takes a quarter of a second

    order = scipy.linalg.qr(rows, mode="r", pivoting=True)[-1]
    return tuple(sorted(int(i) for i in order[: len(rows)]))


def _exchanged(rows: np.ndarray, chosen: tuple[int, ...]) -> tuple[int, ...]:
    """The best of the choices that differ in one column, again and again while that is an improvement."""
    value = smallest_singular(rows, np.array([chosen]))[0]
    while True:
        others = [i for i in range(rows.shape[1]) if i not in chosen]
        choices = np.array([sorted({*chosen, new} - {old}) for old in chosen for new in others])
        values = smallest_singular(rows, choices)
        if values.max() <= value * (1 + 1e-12):
            return chosen
        value, chosen = values.max(), tuple(int(i) for i in choices[values.argmax()])
