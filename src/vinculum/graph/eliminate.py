"""Linear equations solved on the graph: Gaussian elimination unrolled, structural zeros skipped.

The order of the pivots is chosen once, on numbers, so the result is straight-line code. The numbers are those of
several sample states. A pivot counts for its value in the worst of them, because one that is large here and zero
a little further on would create a pole in smooth equations. A symmetric matrix keeps its symmetry (half the work) as
long as there are good pivots on its diagonal. The pivots are returned and must be watched: when one of them approaches
zero, the order is no longer good. (Inertia bordered by constraints needs no such choice: see `definite`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vinculum.graph.node import ONE, ZERO, Node, divide

_ACCEPTABLE = 0.1  # a pivot of this size, relative to its rivals, is good enough if it keeps the rest sparse
_NEGLIGIBLE = 1e-13  # relative size below which a pivot counts as zero


class Pivot(NamedTuple):
    """What a solution divides by, and its value at the state where it was chosen: it must stay away from zero."""

    node: Node
    value: float


@dataclass(frozen=True)
class Elimination:
    """The solution X of A X = B, and the pivots, with their values at the first sample state."""

    solution: np.ndarray  # (n, k) nodes
    pivots: tuple[Pivot, ...]
    places: tuple[tuple[int, int], ...]  # (row, column) of each pivot


class SingularMatrix(ArithmeticError):
    """No pivot is left at the first sample state; ``rank`` pivots were found."""

    def __init__(self, rank: int, rows: list[int], columns: list[int]) -> None:
        super().__init__(f"rank {rank}")
        self.rank, self.rows, self.columns = rank, rows, columns


def solve(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, symmetric: bool = False) -> Elimination:
    """Solve A X = B, with A (n, n) and B (n, k) arrays of nodes.

    ``numbers`` is A at one state (n, n) or at several (samples, n, n); at the first it must be regular.
    """
    return _Chosen(A, B, numbers if numbers.ndim == 3 else numbers[None], symmetric).run()


def solve_in_order(A: np.ndarray, B: np.ndarray, order: Sequence[int], pivots: Sequence[float]) -> Elimination:
    """Solve A X = B for a symmetric A with diagonal pivots in a given order; ``pivots`` are their numbers."""
    work = _Rows(A, B, symmetric=True)
    for p in order:
        work.eliminate(p, p)
    found = tuple(Pivot(work.A[p, p], float(number)) for p, number in zip(order, pivots, strict=True))
    return Elimination(work.back_substitute(), found, tuple(work.places))


def equilibrate(size: np.ndarray, sweeps: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Factors r, c that bring the largest entry of every row and column of r_i |a_ij| c_j near one (Ruiz).

    In scaled equations "small" has a meaning for a pivot. A symmetric matrix gets r = c.
    ``size`` is (samples, n, n), the factors are (samples, n).
    """
    r, c = np.ones(size.shape[:2]), np.ones(size.shape[:2])
    for _ in range(sweeps):
        scaled = r[:, :, None] * size * c[:, None, :]
        largest = scaled.max(axis=2, initial=0.0), scaled.max(axis=1, initial=0.0)
        r, c = (f / np.sqrt(np.where(top > 0, top, 1.0)) for f, top in zip((r, c), largest, strict=True))
    return r, c


class _Rows:
    """The working arrays of an elimination."""

    def __init__(self, A: np.ndarray, B: np.ndarray, symmetric: bool) -> None:
        self.A, self.B, self.symmetric = A.copy(), B.copy(), symmetric
        self.rows, self.columns = list(range(len(A))), list(range(len(A)))
        self.places: list[tuple[int, int]] = []
        self.reciprocals: list[Node] = []

    def eliminate(self, p: int, q: int) -> None:
        """Subtract multiples of row p so that column q becomes zero in the rows that remain."""
        self.rows.remove(p)
        self.columns.remove(q)
        self.places.append((p, q))
        reciprocal = divide(ONE, self.A[p, q])
        self.reciprocals.append(reciprocal)
        live = [j for j in self.columns if self.A[p, j] is not ZERO]
        for i in self.rows:
            if self.A[i, q] is not ZERO:
                self.reduce(i, p, q, self.A[i, q] * reciprocal, live)

    def reduce(self, i: int, p: int, q: int, factor: Node, live: list[int]) -> None:
        """Subtract a multiple of row p from row i."""
        for j in live:
            if self.symmetric and j < i:
                self.A[i, j] = self.A[j, i]  # row j came first, and the rest of the matrix is symmetric
            else:
                self.A[i, j] = self.A[i, j] - factor * self.A[p, j]
        for k in range(self.B.shape[1]):
            self.B[i, k] = self.B[i, k] - factor * self.B[p, k]

    def back_substitute(self) -> np.ndarray:
        """X, from the last pivot to the first."""
        X = np.full(self.B.shape, ZERO, dtype=object)
        for step in reversed(range(len(self.places))):
            p, q = self.places[step]
            later = [column for _, column in self.places[step + 1 :] if self.A[p, column] is not ZERO]
            for k in range(self.B.shape[1]):
                total = self.B[p, k]
                for j in later:
                    total = total - self.A[p, j] * X[j, k]
                X[q, k] = total * self.reciprocals[step]
        return X


class _Chosen(_Rows):
    """Elimination that chooses its pivots on numbers, which it reduces in step with the nodes."""

    def __init__(self, A: np.ndarray, B: np.ndarray, numbers: np.ndarray, symmetric: bool) -> None:
        super().__init__(A, B, symmetric)
        self.row_scale, self.column_scale = equilibrate(np.abs(numbers))
        self.a = self.row_scale[:, :, None] * numbers * self.column_scale[:, None, :]

    def run(self) -> Elimination:
        """Pivot after pivot, then back."""
        pivots = []
        while self.rows:
            p, q = self.pivot()
            value = self.a[0, p, q] / (self.row_scale[0, p] * self.column_scale[0, q])
            pivots.append(Pivot(self.A[p, q], float(value)))
            self.eliminate(p, q)
        return Elimination(self.back_substitute(), tuple(pivots), tuple(self.places))

    def pivot(self) -> tuple[int, int]:
        """The sparsest acceptable pivot (Markowitz count), on the diagonal while the matrix is symmetric."""
        sizes = np.abs(self.a[np.ix_(range(len(self.a)), self.rows, self.columns)])
        if sizes[0].max() <= _NEGLIGIBLE:
            raise SingularMatrix(len(self.places), list(self.rows), list(self.columns))
        size = sizes.min(axis=0) if sizes.min(axis=0).max() > _NEGLIGIBLE else sizes[0]
        best = size.max()
        if self.symmetric:
            diagonal = [(i, i) for k, i in enumerate(self.rows) if size[k, k] >= _ACCEPTABLE * best]
            if diagonal:
                return min(diagonal, key=self.fill)
            self.symmetric = False
        acceptable = np.argwhere(size >= _ACCEPTABLE * best)
        return min(((self.rows[i], self.columns[j]) for i, j in acceptable), key=self.fill)

    def fill(self, place: tuple[int, int]) -> tuple[int, float]:
        """How many entries eliminating with this pivot touches; among equals, the largest pivot first."""
        p, q = place
        in_row = sum(self.A[p, j] is not ZERO for j in self.columns) - 1
        in_column = sum(self.A[i, q] is not ZERO for i in self.rows) - 1
        return in_row * in_column, -float(np.abs(self.a[:, p, q]).min())

    def reduce(self, i: int, p: int, q: int, factor: Node, live: list[int]) -> None:
        """Subtract a multiple of row p from row i, in numbers too."""
        ratio = self.a[:, i, q] / np.where(self.a[:, p, q] == 0, np.inf, self.a[:, p, q])
        self.a[:, i, self.columns] -= ratio[:, None] * self.a[:, p, self.columns]
        super().reduce(i, p, q, factor, live)
