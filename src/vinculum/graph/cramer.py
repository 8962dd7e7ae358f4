"""Cramer's rule for small matrices: A⁻¹ = adj A / det A.

The only divisor is the determinant, which vanishes only where A is singular. A pivot of Gaussian elimination may
also vanish where A is regular.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from vinculum.graph.node import ONE, ZERO, Node


def determinant(A: np.ndarray) -> Node:
    """det A by expansion along rows, every minor once."""

    @cache
    def minor(row: int, columns: tuple[int, ...]) -> Node:
        if row == len(A):
            return ONE
        found = ZERO
        for place, j in enumerate(columns):
            if A[row, j] is not ZERO:
                term = A[row, j] * minor(row + 1, columns[:place] + columns[place + 1 :])
                found = found + (term if place % 2 == 0 else -term)
        return found

    return minor(0, tuple(range(len(A))))


def adjugate(A: np.ndarray) -> np.ndarray:
    """adj A with A adj A = det A: entry (j, i) is (-1)^(i+j) times the minor of A without row i and column j."""
    found = np.empty(A.shape, dtype=object)
    for i, j in np.ndindex(*A.shape):
        minor = determinant(np.delete(np.delete(A, i, axis=0), j, axis=1))
        found[j, i] = minor if (i + j) % 2 == 0 else -minor
    return found
