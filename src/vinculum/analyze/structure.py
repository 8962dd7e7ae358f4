"""Zero roots that belong to the structure: families of steady motions, symmetries, conserved quantities, constraints.

A zero root is never found by a tolerance. The kernel of A suggests directions; a family of steady motions through the
point is then computed at a finite distance, where the equations must hold to rounding. With its tangent space Z,

    A Z = 0,    A ~ [[0, *], [0, V A U]],    V Z = 0,  V U = 1,

and the other roots are those of V A U. If the family comes from a symmetry, a shift along constant directions X under
which no rate changes, the quotient is again a system and may have families: motions with a
constant velocity along X. Such a velocity makes the position along X drift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import algebraic
from vinculum.analyze.reduction import chart_at, position_rows, reduced_rates
from vinculum.analyze.root_bounds import BoundedRoots, balance, bounded_roots
from vinculum.analyze.scaled_newton import Combination, ScaledNewton
from vinculum.analyze.shifts import echelon, shifts
from vinculum.analyze.tangent import column_sizes, rate_terms, tangent
from vinculum.describe import Holonomic
from vinculum.errors import DomainError, VinculumError
from vinculum.graph import Node, evaluate, symbol
from vinculum.names import listed

_KERNEL = 1e4 * np.finfo(float).eps  # relative singular value below which a direction is tried as a family
_NOISE = 1e-13  # a component of a unit vector that is a rounding error
_TINY = 1e-300
_DECADES = 24  # powers of ten of the distance that are tried, to both sides


@dataclass(frozen=True, eq=False)
class Structure:
    """Structural zeros, and what they mean.

    ``basis`` maps the remaining coordinates to η; ``free`` are the directions of the family; ``symmetry`` are those of
    a symmetry; ``drift`` those in which the position drifts.
    """

    zeros: Mapping[str, int]
    roots: BoundedRoots
    basis: np.ndarray  # (n, n - k) U, in the units of η
    rows: np.ndarray  # (n - k, n) the inverse of U on the complement: the reduced matrix is rows A basis
    family: np.ndarray  # (n, k) Z
    symmetry: np.ndarray  # (n, s) among the family
    drift: np.ndarray  # (n, d) directions of the symmetry along which the position drifts
    unexplained: int  # directions of the kernel that are not a family


def structure(linear: LinearModel) -> Structure:
    """The structure of the zero roots of a linear model."""
    A = linear.system_matrix
    n = len(A)
    if linear.equations is None or linear.closed or not n:
        held = _constraints(linear.equations)
        none = np.zeros((n, 0))
        return Structure(held, bounded_roots(A, linear.errors), np.eye(n), np.eye(n), none, none, none, 0)
    return _Finder(linear).run()


def _constraints(equations: Analyzed | None) -> dict[str, int]:
    system = getattr(equations, "system", None)
    constraints = getattr(system, "constraints", ())
    count = sum(isinstance(c, Holonomic) for c in constraints)
    return {"holonomic constraints": count} if count else {}


class _Finder:
    """Finds families at the point of a linear model."""

    def __init__(self, linear: LinearModel) -> None:
        assert linear.equations is not None
        self.linear, self.where = linear, linear.point
        self.n = len(linear.states)
        self.places = [self.where.form.states.index(symbol(x)) for x in linear.states]
        errors = linear.errors if linear.errors is not None else np.zeros_like(linear.system_matrix)
        inside = np.abs(linear.system_matrix) <= errors
        self.A, self.E = np.where(inside, 0.0, linear.system_matrix), errors
        self.scale = balance(self.A)[1]

    def run(self) -> Structure:
        """The symmetries, then the families of the quotient by these."""
        zeros = _constraints(self.linear.equations)
        X, drift = self.symmetry(), np.zeros((self.n, 0))
        Z, missing = self.family(*self.complement(X))
        if X.shape[1]:
            zeros[f"free position of {self.names(X)}"] = X.shape[1]
            drift = self._drift(X, Z)
        if Z.shape[1]:
            zeros[f"{'conserved momenta' if drift.shape[1] else 'family'} in {self.names(Z)}"] = Z.shape[1]
        whole = np.hstack([X, Z])
        U, V = self.complement(whole)
        roots = bounded_roots(V @ self.A @ U, np.abs(V) @ self.E @ np.abs(U))
        return Structure(zeros, roots, U, V, whole, X, drift, missing)

    # -- directions ---------------------------------------------------------------------------------------------

    def complement(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U and its left inverse V with V Z = 0: states that are not pivots of Z, with exact zeros and ones."""
        if not Z.shape[1]:
            return np.eye(self.n), np.eye(self.n)
        E, pivots = echelon(Z, self.scale)
        others = [i for i in range(self.n) if i not in pivots]
        V = np.eye(self.n)[others]
        V[:, pivots] = -E[others]
        return np.eye(self.n)[:, others], V

    def kernel(self, B: np.ndarray) -> np.ndarray:
        """The directions that the entries of a matrix do not tell from zero."""
        B, d = balance(B)
        _, singular, vectors = scipy.linalg.svd(B)
        size = singular[0] if len(singular) and singular[0] > 0 else 1.0
        N = vectors[singular <= _KERNEL * len(B) * size].T
        return d[:, None] * np.where(np.abs(N) > _NOISE, N, 0.0)

    def family(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, int]:
        """Tangent directions of a family of steady motions of V f = 0, and how many directions of the kernel fail."""
        N = U @ self.kernel(V @ self.A @ U)
        k = N.shape[1]
        if not k:
            return N, 0
        if all(self.reached(direction, V, N) for direction in _combinations(N)):
            return N, 0
        single = np.column_stack([N[:, i] for i in range(k) if self.reached(N[:, i], V, N)] or [np.zeros((self.n, 0))])
        if single.shape[1] > 1 and not all(self.reached(c, V, single) for c in _combinations(single)):
            return single[:, :0], k
        return single, k - single.shape[1]

    def reached(self, direction: np.ndarray, V: np.ndarray, kernel: np.ndarray) -> dict[Node, float] | None:
        """A steady motion in this direction, at a distance at which the equations are curved, if there is one.

        Along the kernel the distance is kept; Newton's method corrects the other directions.
        """
        form, values = self.where.form, self.where.values
        step = self.distance(direction)
        newton = self.equations(V, kernel, step * direction)
        shift = dict(zip(form.states, self.where.tangent.N[:, self.columns] @ direction * step, strict=True))
        moved_there = {**values, **{x: values[x] + d for x, d in shift.items()}}
        try:
            moved_there |= algebraic(form, moved_there)
        except DomainError:
            return None
        start = np.array([moved_there[x] for x in newton.unknowns])
        found = newton.solve(start)
        if not found.reached:
            return None
        place = {x: i for i, x in enumerate(newton.unknowns)}
        moved = np.array([found.x[place[x]] - values[x] if x in place else shift[x] for x in self.state_nodes])
        off = np.abs(moved - step * direction) / self.scale
        if off.max() > 0.3 * np.abs(step * direction / self.scale).max():
            return None
        point = {**moved_there, **dict(zip(newton.unknowns, map(float, found.x), strict=True))}
        return point if self._steady(point, V, step * direction) else None

    def _steady(self, point: dict[Node, float], V: np.ndarray, shift: np.ndarray) -> bool:
        """Whether V f vanishes beside A times the shift, in balanced units."""
        form = self.where.form
        rates = np.array(evaluate([form.rates[i] for i in self.places], point | algebraic(form, point)))
        size = np.abs(self.A / self.scale[:, None] * self.scale).max() * np.abs(shift / self.scale).max()
        terms = np.abs(V) @ rate_terms(form, point)[self.places]
        small = np.minimum(1e-6 * size * (np.abs(V) * self.scale).max(axis=1), 1e-6 * terms)
        return bool(np.all(np.abs(V @ rates) <= small + _TINY))

    @property
    def state_nodes(self) -> list[Node]:
        """The states as nodes."""
        return [self.where.form.states[i] for i in self.places]

    @property
    def columns(self) -> list[int]:
        """The columns of N that belong to the states."""
        return [self.where.tangent.chart.index(i) for i in self.places]

    def equations(self, V: np.ndarray, kernel: np.ndarray, shift: np.ndarray) -> ScaledNewton:
        """V f = 0, g = 0, z = 0 for all states but the ignorable ones that are left out, at a given shift.

        The shift is that of the states within the kernel N, in balanced units: N'(η - shift) = 0.
        """
        form, values = self.where.form, self.where.values
        target = np.array([values[x] for x in self.state_nodes]) + shift
        pins, others = kernel.T / self.scale / self.scale, [*form.balance, *form.residuals]
        rows = [*(form.rates[i] for i in self.places), *self.state_nodes, *others]
        L = scipy.linalg.block_diag(V, pins, np.eye(len(others)))
        c = np.concatenate([np.zeros(len(V)), pins @ target, np.zeros(len(others))])
        chart = [form.states[i] for i in self.where.tangent.chart]
        fixed = {x for x in chart if x.value not in self.linear.states}
        unknowns = [x for x in (*form.states, *form.algebraic) if x not in fixed]
        return ScaledNewton(rows, unknowns, values, form.memory, Combination(L, c))

    def distance(self, direction: np.ndarray) -> float:
        """The step along a direction at which A changes by about a hundredth, in any units."""
        size = np.abs(self.A / self.scale[:, None] * self.scale).max()
        reference = max(np.abs([self.where.values[x] for x in self.state_nodes] / self.scale).max(initial=0.0), 1e-3)
        unit = float(reference / np.abs(direction / self.scale).max())
        low, high = -_DECADES, _DECADES
        for k in range(0, _DECADES, 2):  # a bracket of the power of ten, from the middle outward
            if self._changed(unit * 10.0**k, direction) > 0.01 * size:
                high = k
                break
            low = k
        if low == -_DECADES:
            low = next(
                (k for k in range(0, -_DECADES, -2) if self._changed(unit * 10.0**k, direction) <= 0.01 * size), low
            )
            high = low + 2
        if high == _DECADES:
            return unit  # A does not change along the direction
        middle = unit * 10.0 ** (low + 1)
        return middle if self._changed(middle, direction) <= 0.05 * size else unit * 10.0**low

    def _changed(self, step: float, direction: np.ndarray) -> float:
        """The largest change of A in balanced units; infinite outside the domain, and where the step overflows."""
        form, values, found = self.where.form, self.where.values, self.where.tangent
        with np.errstate(over="ignore", invalid="ignore"):
            whole = found.N[:, self.columns] @ (step * direction)
        if not np.all(np.isfinite(whole)):
            return np.inf
        moved = {**values, **{x: values[x] + d for x, d in zip(form.states, whole, strict=True)}}
        try:
            A = tangent(form, moved, chart=found.chart).A
        except (DomainError, VinculumError, np.linalg.LinAlgError, OverflowError):
            return np.inf
        change = (A - found.A)[np.ix_(self.columns, self.columns)] / self.scale[:, None] * self.scale
        return float(np.abs(change).max()) if np.all(np.isfinite(change)) else np.inf

    # -- meaning ------------------------------------------------------------------------------------------------

    def symmetry(self) -> np.ndarray:
        """Directions of constant shifts of the coordinates that change no rate and no constraint."""
        form, rates = self.where.form, self._reduced()
        if rates is None:
            return np.zeros((self.n, 0))
        coordinates = form.states[: form.coordinates] or form.states
        rows, parameters = (*rates.values(), *position_rows(form)), tuple(self.where.values[p] for p in form.parameters)
        found = form.remembered(
            ("shifts", rows, parameters), lambda: shifts(rows, coordinates, self.where.values, form.parameters)
        )
        place = {q: i for i, q in enumerate(coordinates)}
        X = np.array([found[place[x]] if x in place else np.zeros(found.shape[1]) for x in self.state_nodes])
        X = (
            X.reshape(self.n, -1)[:, np.abs(X).max(axis=0, initial=0.0) > 0]
            if found.shape[1]
            else np.zeros((self.n, 0))
        )
        independent = _independent(X / self.scale[:, None])
        return echelon(X[:, independent], self.scale)[0] if independent else np.zeros((self.n, 0))

    def _reduced(self) -> Mapping[Node, Node] | None:
        where = self.where
        if where.closed is not None:
            return where.closed.rates
        return reduced_rates(where.form, where.values, chart_at(where.form, where.values))

    def _drift(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """The symmetries along which the motions of the families run."""
        _, V = self.complement(X)
        _, pivots = echelon(X, self.scale)
        found = [point for direction in _combinations(Z) if (point := self.reached(direction, V, Z)) is not None]
        moving = [any(self._runs(point, i) for point in found) for i in pivots]
        return X[:, moving]

    def _runs(self, point: Mapping[Node, float], i: int) -> bool:
        """Whether a state has a rate at a point that is not a rounding error.

        Compared are the changes of velocities, and of coordinates times the fastest rate, in the metric of T.
        """
        form = self.where.form
        size = 1.0 / column_sizes(form, self.where.values)[self.places] if form.coordinates else self.scale
        moved = np.array([abs(point[x] - self.where.values[x]) for x in self.state_nodes]) / size
        rate = abs(evaluate([form.rates[self.places[i]]], point)[0]) / size[i]
        fastest = np.abs(self.A / self.scale[:, None] * self.scale).max()
        velocity = np.array([x in form.velocities for x in self.state_nodes])
        return bool(rate > 1e-9 * max(moved[velocity].max(initial=0.0), fastest * moved[~velocity].max(initial=0.0)))

    def names(self, Z: np.ndarray) -> str:
        """The states that take part in directions."""
        return listed(involved(self.linear.states, Z))


def involved(states: Sequence[sp.Expr], directions: np.ndarray) -> tuple[sp.Expr, ...]:
    """The states that take part in directions."""
    size = np.abs(directions).max(axis=1, initial=0.0)
    return tuple(x for x, s in zip(states, size, strict=True) if s > 1e-9 * size.max(initial=0.0))


def _combinations(Z: np.ndarray) -> list[np.ndarray]:
    """The columns and their sums with various signs: families that cross at the point contain some of them, not all."""
    k = Z.shape[1]
    signs = [np.where(np.arange(k) == i, -1.0, 1.0) for i in range(1, k)] if k > 1 else []
    return [Z @ c for c in (*np.eye(k), *([np.ones(k)] if k > 1 else []), *signs)]


def _independent(Z: np.ndarray) -> list[int]:
    """Columns that span all of them."""
    if not Z.size:
        return []
    R, order = scipy.linalg.qr(Z, mode="r", pivoting=True)
    rank = int(np.sum(np.abs(np.diagonal(R)) > 1e-10 * max(np.abs(Z).max(), 1e-300)))
    return sorted(int(i) for i in order[:rank])
