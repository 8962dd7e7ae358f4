"""Zero roots that belong to the structure: families of steady motions, symmetries, conserved quantities, constraints.

A zero root is never found by a tolerance. The kernel of A suggests directions; a family of steady motions through the
point is then computed at a finite distance, where the equations must hold to rounding. With its tangent space Z,

    A Z = 0,    A ~ [[0, *], [0, UᵀAU]],    U orthogonal to Z,

and the other roots are those of UᵀAU. If the family comes from a symmetry, a shift along constant directions X under
which no rate changes, the motion on the quotient is a system of its own and may have families again: motions with a
constant velocity along X. Such a velocity makes the position along X drift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg
import sympy as sp

from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import algebraic, point
from vinculum.analyze.reduction import chart_at, reduced_rates
from vinculum.analyze.root_bounds import BoundedRoots, balance, bounded_roots
from vinculum.analyze.scaled_newton import ScaledNewton
from vinculum.analyze.tangent import tangent
from vinculum.describe import Holonomic
from vinculum.errors import DomainError, VinculumError
from vinculum.graph import Node, constant, substitute, symbol, symbols
from vinculum.graph.exact import vanishing
from vinculum.graph.node import ZERO
from vinculum.names import listed

_KERNEL = 1e4 * np.finfo(float).eps  # relative singular value below which a direction is tried as a family


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
        self.linear, self.where = linear, point(linear.equations, linear.at)
        self.n = len(linear.states)
        self.places = [self.where.form.states.index(symbol(x)) for x in linear.states]
        errors = linear.errors if linear.errors is not None else np.zeros_like(linear.system_matrix)
        inside = np.abs(linear.system_matrix) <= errors
        self.A, self.E = np.where(inside, 0.0, linear.system_matrix), errors
        self.scale = balance(self.A)[1]

    def run(self) -> Structure:
        """The symmetries among the families of the system, then the families of the quotient by these."""
        zeros = _constraints(self.linear.equations)
        Z, missing = self.family(np.eye(self.n), np.eye(self.n))
        X = self.symmetry(Z)
        drift = np.zeros((self.n, 0))
        if X.shape[1]:
            zeros[f"free position of {self.names(X)}"] = X.shape[1]
            Z, missing = self.family(*self.complement(X))
            drift = self._drift(Z)
        if Z.shape[1]:
            zeros[f"{'conserved momenta' if drift.shape[1] else 'family'} in {self.names(Z)}"] = Z.shape[1]
        whole = np.hstack([X, Z])
        U, V = self.complement(whole)
        roots = bounded_roots(V @ self.A @ U, np.abs(V) @ self.E @ np.abs(U))
        return Structure(zeros, roots, U, V, whole, X, drift, missing)

    # -- directions ---------------------------------------------------------------------------------------------

    def complement(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U and its left inverse V with V Z = 0, orthonormal in balanced units."""
        d = self.scale
        if not Z.shape[1]:
            return np.eye(self.n), np.eye(self.n)
        Q = scipy.linalg.null_space((Z / d[:, None]).T)
        return d[:, None] * Q, Q.T / d

    def kernel(self, B: np.ndarray) -> np.ndarray:
        """The directions that the entries of a matrix do not tell from zero."""
        B, d = balance(B)
        _, singular, vectors = scipy.linalg.svd(B)
        size = singular[0] if len(singular) and singular[0] > 0 else 1.0
        return d[:, None] * vectors[singular <= _KERNEL * len(B) * size].T

    def family(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, int]:
        """Tangent directions of a family of steady motions of V f = 0, and how many directions of the kernel fail."""
        N = U @ self.kernel(V @ self.A @ U)
        k = N.shape[1]
        if not k:
            return N, 0
        random = np.random.default_rng(0)
        trials = [N @ c for c in (*np.eye(k), *(random.normal(size=k) for _ in range(2 if k > 1 else 0)))]
        if all(self.reaches(direction, V) for direction in trials):
            return N, 0
        single = np.column_stack([N @ c for c in np.eye(k) if self.reaches(N @ c, V)] or [np.zeros((self.n, 0))])
        return single, k - single.shape[1]

    def reaches(self, direction: np.ndarray, V: np.ndarray) -> bool:
        """Whether there are steady motions in this direction, at a distance at which the equations are curved."""
        form, values = self.where.form, self.where.values
        step = self.distance(direction)
        newton = self.equations(V)
        shift = dict(zip(form.states, self.where.tangent.N[:, self.columns] @ direction * step, strict=True))
        moved_there = {**values, **{x: values[x] + d for x, d in shift.items()}}
        try:
            moved_there |= algebraic(form, moved_there)
        except DomainError:
            return False
        start = np.array([moved_there[x] for x in newton.unknowns])
        found = newton.solve(start)
        if not found.reached:
            return False
        place = {x: i for i, x in enumerate(newton.unknowns)}
        moved = np.array([found.x[place[x]] - values[x] if x in place else shift[x] for x in self.state_nodes])
        off = np.abs(moved - step * direction) / self.scale
        return bool(off.max() <= 0.3 * np.abs(step * direction / self.scale).max())

    @property
    def state_nodes(self) -> list[Node]:
        """The states as nodes."""
        return [self.where.form.states[i] for i in self.places]

    @property
    def columns(self) -> list[int]:
        """The columns of N that belong to the states."""
        return [self.where.tangent.chart.index(i) for i in self.places]

    def equations(self, V: np.ndarray) -> ScaledNewton:
        """V f = 0, g = 0, z = 0 for all states but the ignorable ones that are left out."""
        form, values = self.where.form, self.where.values
        rates = [form.rates[i] for i in self.places]
        rows = [_combined(row, rates) for row in V]
        chart = [form.states[i] for i in self.where.tangent.chart]
        fixed = {x for x in chart if x.value not in self.linear.states}
        unknowns = [x for x in (*form.states, *form.algebraic) if x not in fixed]
        return ScaledNewton([*rows, *form.balance, *form.residuals], unknowns, values)

    def distance(self, direction: np.ndarray) -> float:
        """The step along a direction at which A changes by about a hundredth."""
        form, values, found = self.where.form, self.where.values, self.where.tangent
        shift = found.N[:, self.columns] @ direction
        size, last = np.abs(self.A / self.scale[:, None] * self.scale).max(), 0.0
        reference = max(np.abs([values[x] for x in self.state_nodes] / self.scale).max(initial=0.0), 1e-3)
        for step in reference / np.abs(direction / self.scale).max() * 10.0 ** np.arange(-6, 4):
            moved = {**values, **{x: values[x] + step * d for x, d in zip(form.states, shift, strict=True)}}
            try:
                A = tangent(form, moved, chart=found.chart).A
            except (DomainError, VinculumError, np.linalg.LinAlgError):
                break
            change = np.abs((A - found.A)[np.ix_(self.columns, self.columns)] / self.scale[:, None] * self.scale).max()
            if change > 0.1 * size:
                break
            last = float(step)
            if change > 0.01 * size:
                break
        return last or float(reference / np.abs(direction / self.scale).max() * 1e-6)

    # -- meaning ------------------------------------------------------------------------------------------------

    def symmetry(self, Z: np.ndarray) -> np.ndarray:
        """The directions among Z, scaled to small fractions, along which a shift of the coordinates changes no rate."""
        rational = [x for x in _simple(Z) if self.invariant(x)] if Z.shape[1] else []
        return np.array(rational).T if rational else np.zeros((self.n, 0))

    def invariant(self, direction: np.ndarray) -> bool:
        """Whether f(x + ε X) = f(x) identically, for a constant X of coordinates alone."""
        form, values = self.where.form, self.where.values
        moved = {x: c for x, c in zip(self.state_nodes, direction, strict=True) if c}
        if not set(moved) <= set(form.states[: form.coordinates] or form.states):
            return False
        rates = self._reduced()
        if rates is None:
            return False
        epsilon = symbol(("shift", 0))
        shifted = {x: x + constant(Fraction(float(c)).limit_denominator(10**6)) * epsilon for x, c in moved.items()}
        shifted |= {
            q: q + constant(Fraction(float(c)).limit_denominator(10**6)) * epsilon
            for q, c in zip(form.states, self.where.tangent.N[:, self.columns] @ direction, strict=True)
            if c and q not in moved and q in form.states[: form.coordinates]
        }
        nodes = [rate for rate in rates.values() if symbols([rate]) & set(shifted)]
        changed = substitute(nodes, shifted)
        return all(vanishing([a - b for a, b in zip(nodes, changed, strict=True)], {**values, epsilon: 0.0}))

    def _reduced(self) -> Mapping[Node, Node] | None:
        where = self.where
        if where.closed is not None:
            return where.closed.rates
        return reduced_rates(where.form, where.values, chart_at(where.form, where.values))

    def _drift(self, Z: np.ndarray) -> np.ndarray:
        """A Z, which lies along the symmetry: what is not a rounding error drifts."""
        moved = self.A @ Z
        return moved[:, np.abs(moved).max(axis=0) > (self.E @ np.abs(Z)).max(axis=0)] if Z.shape[1] else moved

    def names(self, Z: np.ndarray) -> str:
        """The states that take part in directions."""
        return listed(involved(self.linear.states, Z))


def involved(states: Sequence[sp.Expr], directions: np.ndarray) -> tuple[sp.Expr, ...]:
    """The states that take part in directions."""
    size = np.abs(directions).max(axis=1, initial=0.0)
    return tuple(x for x, s in zip(states, size, strict=True) if s > 1e-9 * size.max(initial=0.0))


def _combined(row: np.ndarray, nodes: Sequence[Node]) -> Node:
    """Σ c_i f_i."""
    total = ZERO
    for c, node in zip(row, nodes, strict=True):
        if c:
            total = total + constant(float(c)) * node if c != 1 else total + node
    return total


def _simple(Z: np.ndarray) -> list[np.ndarray]:
    """A basis of the columns in reduced echelon form: (1, 0, 1, ...) instead of rounded multiples."""
    rows, found = Z.T.copy(), list[np.ndarray]()
    for _ in range(len(rows)):
        best = max(range(len(rows)), key=lambda i: np.abs(rows[i]).max())
        j = int(np.argmax(np.abs(rows[best])))
        row = rows[best] / rows[best, j]
        rows = np.array([r - r[j] * row for k, r in enumerate(rows) if k != best]).reshape(-1, Z.shape[0])
        found = [r - r[j] * row for r in found] + [row]
    return [np.where(np.abs(r) < 1e-10, 0.0, np.round(r, 10)) for r in found]
