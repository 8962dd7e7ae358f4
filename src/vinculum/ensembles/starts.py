"""Consistent starts of many runs at once: Newton's method on the constraints with compiled residuals.

Every run takes the same steps as `consistent_state` takes for one: from the given values and the guess, level by level,
each step the smallest that solves the linear equations, halved until the residual falls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.derivation.integrable import Equations, StartLevel
from vinculum.errors import VinculumError
from vinculum.graph import Node, jacobian, symbol
from vinculum.graph.routine import expand_calls
from vinculum.graph.sizes import term_sizes
from vinculum.simulation.problem.start import consistent_state

_STEPS, _HALVINGS = 60, 12
_RANK = 1e-10  # relative size of singular values that count as zero, as in `sample_states`
_DONE = 4e-15  # a step this small relative to the state is the last one
_ROUNDING = 5e-16  # a residual this small relative to its terms cannot become smaller
_MET = 1e-13  # a residual this small relative to its terms is met
_INDEPENDENT = 1e-7  # a smaller singular value of the scaled slopes: `consistent_state` decides


class Starts:
    """Starts for the columns of a study, on the constraints of some equations."""

    def __init__(
        self,
        equations: Equations,
        initial: Mapping[sp.Expr, float],
        guess: Mapping[sp.Expr, float] | None,
        fixed: Sequence[sp.Expr] | None,
        parameters: Mapping[sp.Symbol, float],
        time: float,
        approached: Collection[str] = (),
    ) -> None:
        self.approached = approached
        self.equations, self.initial, self.guess, self.fixed = equations, dict(initial), guess, fixed
        self.parameters, self.time = dict(parameters), time
        self.keys = (*equations.user_symbols, *self.parameters)
        self.batched = not any(key in equations.definitions for key in self.initial)
        self._levels_of: dict[tuple[Any, ...], tuple[StartLevel, ...]] = {}

    def __repr__(self) -> str:
        return f"Starts({self.equations.name!r}, {self.initial}, {self.guess}, {self.fixed}, {self.parameters})"

    def solve(
        self, columns: Mapping[Any, np.ndarray], count: int, doubts: bool = True
    ) -> tuple[np.ndarray, dict[int, str]]:
        """(runs, user's symbols and parameters) on the constraints, and {run: refusal} where that is impossible.

        Doubtful starts are decided one by one, or, without ``doubts``, refused.
        """
        values = np.empty((count, len(self.keys)))
        first = {**(self.guess or {}), **self.initial, **self.parameters}
        for k, key in enumerate(self.keys):
            values[:, k] = columns[key] if key in columns else float(first.get(key, 0.0))
        doubtful = np.full(count, not self.batched)
        if self.batched:
            for level in self._levels(columns, values[0]):
                doubtful |= ~self._settle(level, columns, values)
            doubtful |= self._has_doubtful_inertia(columns, values)
        if not doubts:
            return values, dict.fromkeys(map(int, np.flatnonzero(doubtful)), "not decided")
        refusals = {}
        for run in np.flatnonzero(doubtful):
            try:
                values[run] = self._alone({key: float(column[run]) for key, column in columns.items()})
            except VinculumError as error:
                refusals[int(run)] = str(error)
        return values, refusals

    def _levels(self, columns: Mapping[Any, np.ndarray], values: np.ndarray) -> tuple[StartLevel, ...]:
        """The levels of all runs that vary these columns; no level depends on the values of a batched start."""
        varied = tuple(columns)
        if varied not in self._levels_of:
            given = {key: 0.0 for key in (*self.initial, *columns) if key in self.equations.user_symbols}
            known = {symbol(key): float(value) for key, value in zip(self.keys, values, strict=True)}
            known[symbol(self.equations.time)] = self.time
            self._levels_of[varied] = self.equations.start_levels(given, known)
        return self._levels_of[varied]

    def _alone(self, varied: Mapping[Any, float]) -> np.ndarray:
        """One run, solved or refused as `simulate` would."""
        own = {key: value for key, value in varied.items() if key in self.equations.user_symbols}
        numbers = self.parameters | {key: value for key, value in varied.items() if key in self.parameters}
        fixed = None if self.fixed is None else [*self.fixed, *own]
        found: Mapping[Any, float] = consistent_state(
            self.equations,
            {**self.initial, **own},
            guess=self.guess,
            fixed=fixed,
            parameters=numbers,
            time=self.time,
            approached=self.approached,
        )
        return np.array([{**found, **numbers}[key] for key in self.keys])

    def _settle(self, level: StartLevel, columns: Mapping[Any, np.ndarray], values: np.ndarray) -> np.ndarray:
        """Move the free states of a level in place; returns which runs have arrived."""
        if not level.residuals:
            return np.ones(len(values), dtype=bool)
        free, residuals = self._free(level, columns), [node for _, node in level.residuals]
        f, sizes = self._rows(residuals), self._rows(term_sizes(expand_calls(residuals)))
        _newton(values, [self.keys.index(key) for key in free], f, self._slopes(residuals, free), sizes)
        J = self._slopes(residuals, level.movable)(values)
        return _arrived(f(values), J, sizes(values)) & _moves(J, [level.movable.index(key) for key in free])

    def _free(self, level: StartLevel, columns: Collection[Any]) -> list[sp.Expr]:
        """The states of a level that the constraints determine."""
        held = set(self.initial if self.fixed is None else self.fixed) | {k for k in columns if k in level.movable}
        return [key for key in level.movable if key not in held]

    def slopes(self, columns: Mapping[Any, np.ndarray], values: np.ndarray) -> np.ndarray | None:
        """D = d(values)/d(columns) of one start, (keys, columns), from f_free dfree = -f_values D, level by level.

        None where the constraints do not determine the free states alone.
        """
        D = np.array([[float(key == column) for column in columns] for key in self.keys])
        for level in self._levels(columns, values) if self.batched else ():
            if not level.residuals:
                continue
            f = self._slopes([node for _, node in level.residuals], self.keys)(values[None])[0]
            places = [self.keys.index(key) for key in self._free(level, columns)]
            if len(places) != len(f) or not _is_regular(f[:, places]):
                return None
            D[places] = -np.linalg.solve(f[:, places], f @ D)
        return D if self.batched else None

    def _rows(self, nodes: Sequence[Node]) -> Callable[[np.ndarray], np.ndarray]:
        """Nodes at every row of values."""
        compiled = self._function(nodes)
        return lambda rows: compiled.rows(np.full(len(rows), self.time), rows, np.empty(0))

    def _slopes(self, residuals: Sequence[Node], by: Sequence[sp.Expr]) -> Callable[[np.ndarray], np.ndarray]:
        """∂(residuals)/∂(by) at every row of values, (rows, residuals, by)."""
        compiled = self._rows(list(jacobian(residuals, list(map(symbol, by))).ravel()))
        return lambda rows: compiled(rows).reshape(len(rows), len(residuals), len(by))

    def _function(self, nodes: Sequence[Node]) -> Function:
        return function(symbol(self.equations.time), tuple(map(symbol, self.keys)), (), tuple(nodes))

    def _has_doubtful_inertia(self, columns: Mapping[Any, np.ndarray], values: np.ndarray) -> np.ndarray:
        """Which runs may have a mass matrix that is not positive definite; `simulate` decides them one by one."""
        mechanics = getattr(self.equations, "mechanics", None)
        if mechanics is None or not any(key in self.parameters for key in columns):
            return np.zeros(len(values), dtype=bool)
        M = np.asarray(mechanics.M, dtype=object)
        entries = self._function(list(M.ravel())).rows(np.full(len(values), self.time), values, np.empty(0))
        matrices = entries.reshape(len(values), *M.shape)
        scale = np.sqrt(np.maximum(np.abs(np.diagonal(matrices, axis1=1, axis2=2)), 1e-300))
        even = matrices / (scale[:, :, None] * scale[:, None, :])
        safe = np.where(np.isfinite(even), even, 0.0)
        return np.linalg.eigvalsh(safe)[:, 0] <= 1e-10


def _newton(
    values: np.ndarray,
    places: Sequence[int],
    residual: Callable[[np.ndarray], np.ndarray],
    slopes: Callable[[np.ndarray], np.ndarray],
    sizes: Callable[[np.ndarray], np.ndarray],
) -> None:
    """x ← x - J⁺ f in place for all rows, until the steps or the residuals are rounding."""
    moving = np.arange(len(values))
    for _ in range(_STEPS):
        rows = values[moving]
        f = residual(rows)
        open_ = (np.abs(f) > _ROUNDING * sizes(rows)).any(axis=1) | ~np.isfinite(f).all(axis=1)
        moving, rows, f = moving[open_], rows[open_], f[open_]
        if not len(moving):
            break
        step = _smallest_step(slopes(rows), f) if places else np.zeros((len(rows), 0))
        values[moving] = _shortened(rows, places, step, f, residual)
        size = np.abs(step).max(axis=1, initial=0.0)
        scale = np.abs(values[moving][:, list(places)]).max(axis=1, initial=0.0)
        moving = moving[np.isfinite(size) & (size > _DONE * scale)]
        if not len(moving):
            break


def _arrived(f: np.ndarray, J: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Which rows meet the constraints to rounding of their terms, with independent constraints."""
    finite = np.isfinite(f).all(axis=1) & np.isfinite(J).all(axis=(1, 2))
    length = np.linalg.norm(J, axis=2, keepdims=True)
    even = np.where(finite[:, None, None], J / np.where(length > 0, length, 1.0), 0.0)
    singular = np.linalg.svd(even, compute_uv=False)
    independent = singular[:, -1] > _INDEPENDENT if J.shape[1] <= J.shape[2] else np.zeros(len(f), dtype=bool)
    return finite & independent & (np.abs(f) <= _MET * size).all(axis=1)


def _is_regular(J: np.ndarray) -> bool:
    """Whether a square matrix is safely regular, in any units of its rows and columns."""
    if not np.isfinite(J).all():
        return False
    for axis in (1, 0):
        length = np.linalg.norm(J, axis=axis, keepdims=True)
        J = J / np.where(length > 0, length, 1.0)
    return bool(np.linalg.svd(J, compute_uv=False)[-1] > _INDEPENDENT)


def _moves(J: np.ndarray, free: Sequence[int]) -> np.ndarray:
    """Which rows have no constraint that the free states move by rounding only, as v cos θ at θ = π/2."""
    length, moved = np.linalg.norm(J, axis=2), np.linalg.norm(J[:, :, list(free)], axis=2)
    return np.asarray(((moved == 0) | (moved > _INDEPENDENT * length)).all(axis=1))


def _smallest_step(J: np.ndarray, f: np.ndarray) -> np.ndarray:
    """J⁺ f for every run, rows scaled to unit length."""
    length = np.linalg.norm(J, axis=2)
    scale = 1.0 / np.where(length > 0, length, 1.0)
    usable = np.isfinite(J).all(axis=(1, 2)) & np.isfinite(f).all(axis=1)
    even = np.where(usable[:, None, None], J * scale[:, :, None], 0.0)
    step = np.einsum("rij,rj->ri", np.linalg.pinv(even, rcond=_RANK), scale * f)
    return np.where(usable[:, None], step, np.nan)


def _shortened(
    rows: np.ndarray,
    places: Sequence[int],
    step: np.ndarray,
    f: np.ndarray,
    residual: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The full step, or the largest of its halves that lowers |f|, for every row."""
    best, todo = rows.copy(), np.ones(len(rows), dtype=bool)
    for halving in range(_HALVINGS + 1):
        factor = 0.5**halving
        trial = rows[todo]
        trial[:, list(places)] -= factor * step[todo]
        size, before = np.linalg.norm(residual(trial), axis=1), np.linalg.norm(f[todo], axis=1)
        good = np.isfinite(size) & (size <= (1 - 0.1 * factor) * before + 1e-300)
        chosen = np.flatnonzero(todo)
        best[chosen[good]] = trial[good]
        if halving == 0:
            full = trial
            first = chosen
        todo[chosen[good]] = False
        if not todo.any():
            return best
    best[todo] = full[np.searchsorted(first, np.flatnonzero(todo))]
    return best
