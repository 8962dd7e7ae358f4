"""Linear equations solved on the graph: Gaussian elimination unrolled, structural zeros skipped.

The order of the pivots is chosen once, on numbers, so the result is straight-line code. The numbers are those of
several sample states. A pivot counts for its value in the worst of them, because one that is large here and zero
a little further on would create a pole in smooth equations. A symmetric matrix keeps its symmetry (half the work) as
long as there are good pivots on its diagonal. Up to three last rows of any other matrix are solved by Cramer's rule, if
all pivots before them are certain: a small matrix, or each small block of a block triangular one, then has no pivot but
its determinant. The pivots are returned and must be watched: when one of
them approaches zero, the matrix is singular, or the order is no longer good. (Inertia bordered by constraints needs no
choice: see `definite`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vinculum.graph.blocks import Block, block_triangular
from vinculum.graph.cramer import adjugate, determinant
from vinculum.graph.node import ONE, ZERO, Node, divide

_ACCEPTABLE = 0.1  # a pivot of this size, relative to its rivals, is good enough if it keeps the rest sparse
_NEGLIGIBLE = 1e-13  # relative size below which a pivot counts as zero
_TINY = 1e-200  # smaller entries are not scaled up, because their factors would leave the range of doubles
_SMALL = 3  # rows that Cramer's rule solves


class Pivot(NamedTuple):
    """What a solution divides by, and its value at the state where it was chosen: it must stay away from zero."""

    node: Node
    value: float


@dataclass(frozen=True)
class Elimination:
    """The solution X of A X = B, and the pivots, with their values at the first sample state."""

    solution: np.ndarray  # (n, k) nodes
    pivots: tuple[Pivot, ...]
    places: tuple[tuple[int, int], ...]  # (row, column) of each pivot that is an entry


class SingularMatrix(ArithmeticError):
    """No pivot is left at the first sample state; ``rank`` pivots were found."""

    def __init__(self, rank: int, rows: list[int], columns: list[int]) -> None:
        super().__init__(f"rank {rank}")
        self.rank, self.rows, self.columns = rank, rows, columns


def solve(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, symmetric: bool = False, definite: int = 0) -> Elimination:
    """Solve A X = B, with A (n, n) and B (n, k) arrays of nodes.

    ``numbers`` is A at one state (n, n) or at several (samples, n, n); at the first it must be regular. The first
    ``definite`` rows and columns are a symmetric positive definite matrix, whose pivots are certain: they come first.
    """
    numbers = numbers if numbers.ndim == 3 else numbers[None]
    blocks = [] if symmetric or definite or len(A) <= _SMALL else block_triangular(A != ZERO)
    if 1 < max(map(len, (rows for rows, _ in blocks)), default=0) <= _SMALL:
        return _solve_blocks(A, B, numbers, blocks)
    return _Chosen(A, B, numbers, symmetric, definite).run()


def _solve_blocks(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, blocks: Sequence[Block]) -> Elimination:
    """Solve block after block, with the unknowns of earlier ones on the right."""
    X = np.full(B.shape, ZERO, dtype=object)
    pivots: list[Pivot] = []
    places: list[tuple[int, int]] = []
    for rows, columns in blocks:
        others = [j for j in range(len(A)) if j not in columns]
        right = B[rows] - np.array([[_inner(A[i, others], x) for x in X[others].T] for i in rows], dtype=object)
        try:
            found = solve(A[np.ix_(rows, columns)], right, numbers[:, rows][:, :, columns])
        except SingularMatrix:
            return _Chosen(A, B, numbers, False, 0).run()  # tells the rank of all rows
        X[columns] = found.solution
        pivots += found.pivots
        places += [(rows[p], columns[q]) for p, q in found.places]
    return Elimination(X, tuple(pivots), tuple(places))


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
        roots = [np.sqrt(np.where(top > 0, np.maximum(top, _TINY), 1.0)) for top in largest]
        r, c = (np.clip(f / root, _TINY, 1 / _TINY) for f, root in zip((r, c), roots, strict=True))
    return r, c


class _Rows:
    """The working arrays of an elimination."""

    def __init__(self, A: np.ndarray, B: np.ndarray, symmetric: bool, definite: int = 0) -> None:
        self.A, self.B, self.symmetric, self.definite = A.copy(), B.copy(), symmetric, definite
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
            if j < i and (self.symmetric or i < self.definite):
                self.A[i, j] = self.A[j, i]  # row j came first, and the rest of the matrix is symmetric
            else:
                self.A[i, j] = self.A[i, j] - factor * self.A[p, j]
        for k in range(self.B.shape[1]):
            self.B[i, k] = self.B[i, k] - factor * self.B[p, k]

    def back_substitute(self) -> np.ndarray:
        """X: the rows that are left by Cramer's rule, then from the last pivot to the first."""
        X = np.full(self.B.shape, ZERO, dtype=object)
        if self.rows:
            X[self.columns] = self.by_cramer()
        for step in reversed(range(len(self.places))):
            p, q = self.places[step]
            found = [*(column for _, column in self.places[step + 1 :]), *self.columns]
            later = [column for column in found if self.A[p, column] is not ZERO]
            for k in range(self.B.shape[1]):
                total = self.B[p, k]
                for j in later:
                    total = total - self.A[p, j] * X[j, k]
                X[q, k] = total * self.reciprocals[step]
        return X

    @property
    def rest(self) -> np.ndarray:
        """The rows and columns that are left."""
        return self.A[np.ix_(self.rows, self.columns)]

    def by_cramer(self) -> np.ndarray:
        """The unknowns of the rows that are left, adj A B / det A."""
        inverse, reciprocal = adjugate(self.rest), divide(ONE, determinant(self.rest))
        columns = self.B[self.rows].T
        return np.array([[_inner(row, b) * reciprocal for b in columns] for row in inverse], dtype=object)


def _inner(a: np.ndarray, b: np.ndarray) -> Node:
    """Σ a_i b_i, structural zeros skipped."""
    terms = [x * y for x, y in zip(a, b, strict=True) if x is not ZERO and y is not ZERO]
    return sum(terms[1:], terms[0]) if terms else ZERO


class _Chosen(_Rows):
    """Elimination that chooses its pivots on numbers, which it reduces in step with the nodes."""

    def __init__(self, A: np.ndarray, B: np.ndarray, numbers: np.ndarray, symmetric: bool, definite: int) -> None:
        super().__init__(A, B, symmetric, definite)
        self.row_scale, self.column_scale = equilibrate(np.abs(numbers))
        self.a = self.row_scale[:, :, None] * numbers * self.column_scale[:, None, :]
        self.small = 0 if symmetric else _SMALL

    def run(self) -> Elimination:
        """Pivot after pivot, then back."""
        pivots = []
        while self.rows:
            p, q = self.pivot()
            if not self.is_certain(p, q):
                if len(self.rows) <= self.small:
                    pivots.append(self.last())
                    break
                self.small = 0  # what a determinant would save is lost already
            pivots.append(Pivot(self.A[p, q], self.number([p], [q])))
            self.eliminate(p, q)
        return Elimination(self.back_substitute(), tuple(pivots), tuple(self.places))

    def pivot(self) -> tuple[int, int]:
        """The sparsest acceptable pivot (Markowitz count), on the diagonal while the matrix is symmetric."""
        if self.rows[0] < self.definite:
            return min(((i, i) for i in self.rows if i < self.definite), key=self.fill)
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

    def is_certain(self, p: int, q: int) -> bool:
        """Whether a pivot vanishes only where the matrix is singular.

        It is a constant, in a definite block, or alone in its row or column.
        """
        return p < self.definite or self.A[p, q].op == "constant" or self.fill((p, q))[0] == 0

    def last(self) -> Pivot:
        """The determinant of the rows that are left, in place of their pivots."""
        self.refuse_singular()
        return Pivot(determinant(self.rest), self.number(self.rows, self.columns))

    def number(self, rows: list[int], columns: list[int]) -> float:
        """The determinant of some rows and columns at the first sample state, in the user's units."""
        scale = np.prod(self.row_scale[0, rows]) * np.prod(self.column_scale[0, columns])
        return float(np.linalg.det(self.a[0][np.ix_(rows, columns)]) / scale)

    def refuse_singular(self) -> None:
        """Raise if the rows that are left are dependent at the first sample state."""
        rows, columns, a = list(self.rows), list(self.columns), self.a[0].copy()
        while rows:
            size = np.abs(a[np.ix_(rows, columns)])
            if size.max() <= _NEGLIGIBLE:
                raise SingularMatrix(len(a) - len(rows), rows, columns)
            i, j = np.unravel_index(size.argmax(), size.shape)
            p, q = rows.pop(i), columns.pop(j)
            a[np.ix_(rows, columns)] -= np.outer(a[rows, q], a[p, columns]) / a[p, q]

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
