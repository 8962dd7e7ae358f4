"""Newton's method that does not know the units: rows and unknowns are scaled until the Jacobian is in equilibrium.

    S = R J C,  largest entries of its rows and columns 1,    S y = R f,    x ← x - C y

y is the shortest solution in the sense of least squares, so the unknowns that the equations leave free change least. A
change of units changes R and C and neither S nor the steps. Steps and residuals are compared with the terms that are
summed in f: in each group of connected equations, R times the largest size of a term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.errors import DomainError
from vinculum.graph import Node, jacobian
from vinculum.graph.levels import Levels

_RANK = 1e-10  # relative singular value of the scaled Jacobian below which a direction counts as free
_CONVERGED = 1e-15  # last step relative to the terms of the equations
_REACHED = 1e-11
_MET = 1e-10  # what no step can remove of a residual, relative to the terms of the equations
_CANCELS = 1e-15  # a slope this small relative to its terms is a rounding error of zero
_TINY = 1e-250  # terms below this are zero: Newton's method would only shrink them further


@dataclass(frozen=True, eq=False)
class Solution:
    """The point, whether the equations hold there, the natural sizes of the unknowns, and the free directions."""

    x: np.ndarray
    reached: bool
    sizes: np.ndarray
    free: np.ndarray  # (k, n) directions in which the equations do not change to first order
    residual: float  # largest |R f| relative to the terms


@dataclass(frozen=True, eq=False)
class _State:
    """f, the sizes of its terms and ∂f/∂x at a point, with their scales."""

    f: np.ndarray
    J: np.ndarray
    R: np.ndarray
    C: np.ndarray
    rows: np.ndarray  # the number of the group of every row
    columns: np.ndarray  # and of every unknown
    largest: np.ndarray  # scaled term of every group

    @property
    def S(self) -> np.ndarray:
        return self.R[:, None] * self.J * self.C

    @property
    def terms(self) -> np.ndarray:
        """The largest scaled term in the group of every row."""
        return self.largest[self.rows]

    @property
    def effect(self) -> np.ndarray:
        """The largest scaled term in the group of every unknown."""
        return self.largest[self.columns]

    def step(self) -> np.ndarray:
        """The shortest y with S y = R f, group by group: rounding errors of one do not reach another."""
        S, f, y = self.S, self.R * self.f, np.zeros(len(self.C))
        for group in np.unique(self.columns):
            rows, columns = np.flatnonzero(self.rows == group), np.flatnonzero(self.columns == group)
            if len(rows) and np.any(f[rows]):
                y[columns] = np.linalg.lstsq(S[np.ix_(rows, columns)], f[rows], rcond=_RANK)[0]
        return y


@dataclass(frozen=True, eq=False)
class Combination:
    """Equations L f = c made of the given rows f."""

    L: np.ndarray  # (equations, rows)
    c: np.ndarray  # (equations)


class ScaledNewton:
    """f(x) = 0, or L f(x) = c, for nodes f of the unknowns x; all other symbols have the given values.

    ``memory`` keeps the derivatives for the same rows and unknowns.
    """

    def __init__(
        self,
        rows: Sequence[Node],
        unknowns: Sequence[Node],
        values: Mapping[Node, float],
        memory: dict[Any, Any] | None = None,
        combined: Combination | None = None,
    ) -> None:
        self.rows, self.unknowns, self.values, self.combined = list(rows), list(unknowns), dict(values), combined
        known, key = {} if memory is None else memory, ("newton", tuple(rows), tuple(unknowns))
        if key not in known:
            slopes = jacobian(self.rows, self.unknowns).ravel()
            known[key] = Levels(self.rows), Levels([*self.rows, *slopes])
        self.alone: Levels = known[key][0]  # without the derivatives, which are most of the work
        self.levels: Levels = known[key][1]

    def _values(self, x: np.ndarray) -> dict[Node, float]:
        return self.values | dict(zip(self.unknowns, map(float, x), strict=True))

    def _terms(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f with the sizes of its terms (rows, 2), and ∂f/∂x with those of its terms (rows, unknowns, 2)."""
        found, m = self.levels.magnitudes(self._values(x)), len(self.rows)
        f, J = found[:m], found[m:].reshape(m, len(self.unknowns), 2)
        if self.combined is None:
            return f, J
        L, c = self.combined.L, self.combined.c
        f = np.column_stack([L @ f[:, 0] - c, np.abs(L) @ f[:, 1] + np.abs(c)])
        return f, np.stack([L @ J[..., 0], np.abs(L) @ J[..., 1]], axis=-1)

    def residual(self, x: np.ndarray) -> np.ndarray | None:
        """f alone; None outside its domain."""
        try:
            f = self.alone.numbers(self._values(x))
        except DomainError:
            return None
        return f if self.combined is None else self.combined.L @ f - self.combined.c

    def numbers(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """f, the sizes of its terms, and ∂f/∂x; None outside the domain."""
        try:
            f, J = self._terms(x)
        except DomainError:
            return None
        largest = max(np.abs(f).max(initial=0.0), np.abs(J).max(initial=0.0))
        if not largest <= 1e100:
            return None
        f = np.where(f[:, 1:] > _TINY, f, 0.0)
        slopes = np.where(np.abs(J[..., 0]) > np.maximum(_TINY, _CANCELS * J[..., 1]), J[..., 0], 0.0)
        return f[:, 0], f[:, 1], slopes

    def at(self, x: np.ndarray) -> _State | None:
        """Everything at a point; None outside the domain."""
        found = self.numbers(x)
        if found is None:
            return None
        f, size, J = found
        R, C = equilibrate(J)
        rows, columns = _groups(J)
        largest = np.zeros(max([*rows, *columns], default=-1) + 1)
        np.maximum.at(largest, rows, R * size)
        return _State(f, J, R, C, rows, columns, largest)

    def natural_sizes(self, x: np.ndarray) -> np.ndarray:
        """The size of each unknown that matters in the equations; zero for unknowns without effect."""
        state = self.at(x)
        return np.zeros(len(x)) if state is None else state.C * state.effect

    def solve(self, x: np.ndarray, steps: int = 100) -> Solution:
        """The solution reached from a start."""
        x, state = np.array(x, dtype=float), self.at(np.array(x, dtype=float))
        largest = begin = np.abs(x)
        for _ in range(steps):
            if state is None:
                break
            y = state.step()
            if np.all(np.abs(y) <= _CONVERGED * state.effect):
                break
            x, state = self._shortened(x, state, y)
            largest = np.maximum(largest, np.abs(x))
        return self._judged(x, state, np.where(begin > 0, largest, np.inf), largest)

    def _shortened(self, x: np.ndarray, state: _State, y: np.ndarray) -> tuple[np.ndarray, _State | None]:
        """The full step, or the largest of its halves that lowers |R f|."""
        factor, step, size = 1.0, state.C * y, np.linalg.norm(state.R * state.f)
        while factor > 1e-4:
            f = self.residual(x - factor * step)
            if f is not None and np.linalg.norm(state.R * f) <= (1 - 0.1 * factor) * size:
                found = self.at(x - factor * step)
                if found is not None:
                    return x - factor * step, found
            factor /= 2
        return x - step, self.at(x - step)

    def _judged(self, x: np.ndarray, state: _State | None, *scales: np.ndarray) -> Solution:
        if state is None:
            return Solution(x, False, np.zeros(len(x)), np.zeros((0, len(x))), np.inf)
        y, S = state.step(), state.S
        small = np.all(np.abs(y) <= _REACHED * state.effect)
        explained = np.all(np.abs(state.R * state.f - S @ y) <= _MET * state.terms)
        largest = np.divide(np.abs(state.R * state.f), state.terms, out=np.zeros(len(S)), where=state.terms > 0)
        sizes = state.C * state.effect
        rounded = self._rounded(x, *(np.minimum(sizes, scale) for scale in scales))
        rounded = np.where(np.abs(x) < _TINY**0.5, 0.0, rounded)
        return Solution(rounded, bool(small and explained), sizes, _null(S) * state.C, largest.max(initial=0.0))

    def _rounded(self, x: np.ndarray, natural: np.ndarray, passed: np.ndarray) -> np.ndarray:
        """Rounding errors set to zero: far below their size on the way.

        If the start was zero: far below their natural size, which may be too large, and no residual grows.
        """
        zeroed = np.where(np.abs(x) <= 4 * _CONVERGED * natural, 0.0, x)
        if np.any(zeroed != x) and self._as_good(zeroed, x):
            return zeroed
        return np.where(np.abs(x) <= 4 * _CONVERGED * passed, 0.0, x)

    def _as_good(self, new: np.ndarray, old: np.ndarray) -> bool:
        """Whether no residual grows beyond the rounding error of the terms in it."""
        before, after = self._terms(old)[0], self._terms(new)[0]
        pairs = zip(before, after, strict=True)
        return all(abs(f) <= max(abs(was), 4 * _CONVERGED * size) for (was, _), (f, size) in pairs)


def equilibrate(J: np.ndarray, rounds: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """R and C for which the largest entries of all rows and columns of R J C are one (Ruiz 2001)."""
    A, R, C = np.abs(J), np.ones(len(J)), np.ones(J.shape[1])
    for _ in range(rounds if A.size else 0):
        row, column = A.max(axis=1), A.max(axis=0)
        r, c = (1.0 / np.sqrt(np.where(part > 0, part, 1.0)) for part in (row, column))
        A, R, C = r[:, None] * A * c, R * r, C * c
    return R, C


def _groups(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the connected groups of rows and of columns."""
    return _connected((J != 0).tobytes(), *J.shape)


@lru_cache(maxsize=256)
def _connected(pattern: bytes, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The groups of a pattern of nonzero entries: the smallest number spreads along rows and columns."""
    linked, none = np.frombuffer(pattern, dtype=bool).reshape(m, n), m + n
    rows, columns, last = np.arange(m), np.arange(m, m + n), None
    while last is None or not np.array_equal(last, rows):
        last = rows
        columns = np.minimum(columns, np.where(linked, rows[:, None], none).min(axis=0, initial=none))
        rows = np.minimum(rows, np.where(linked, columns, none).min(axis=1, initial=none))
    label = np.unique([*rows, *columns], return_inverse=True)[1]
    return label[:m], label[m:]


def _null(S: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the kernel, as rows; unknowns without any effect are left out."""
    felt = np.flatnonzero(np.any(S != 0, axis=0))
    if not len(felt):
        return np.zeros((0, S.shape[1]))
    _, singular, vectors = np.linalg.svd(S[:, felt])
    found = vectors[int(np.sum(singular > _RANK * singular[0])) :]
    result = np.zeros((len(found), S.shape[1]))
    result[:, felt] = found
    return result
