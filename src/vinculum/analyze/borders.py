"""Borders of stability: where a motion becomes or ceases to be stable as a speed or a parameter changes.

The steady motion is followed from value to value, and its roots λ are judged with the bounds of their errors. Between
two values with different judgments the border is the zero of max Re λ. Zero roots of the family of steady motions are
counted once, at the first value, and left out everywhere: of A Z = 0, Uᵀ A U with U orthogonal to Z remains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
import sympy as sp

from vinculum.analyze.descriptor import Analyzed, descriptor
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linearize import linearize
from vinculum.analyze.root_bounds import BoundedRoots, balance, bounded_roots
from vinculum.analyze.scaled_newton import Solution
from vinculum.analyze.steady_search import Search
from vinculum.analyze.tangent import tangent
from vinculum.errors import ModelError, VinculumError
from vinculum.graph import symbol
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import number

_SMALL = 1e-8  # relative singular value that may belong to the mode at a border
_WIDTH = 8 * np.finfo(float).eps  # of the last interval, relative to the value


@dataclass(frozen=True, eq=False)
class Border:
    """A value at which the stability changes, and the mode that changes it."""

    over: sp.Expr
    value: float
    gained: bool  # whether the motion is stable above the value
    root: complex  # iω of the mode, ω >= 0
    shape: Mapping[sp.Expr, complex]  # of the mode: each state, the largest 1
    at: Equilibrium

    def __str__(self) -> str:
        change = "becomes stable" if self.gained else "ceases to be stable"
        kind = f"oscillates at {number(self.root.imag)} rad/s" if self.root.imag else "does not oscillate"
        return f"{change} at {name_of(self.over)} = {self.value:.15g}: a mode in {listed(self.shape)} that {kind}"

    _repr_html_ = html


def stability_borders(
    equations: Analyzed,
    given: Mapping[sp.Expr, float],
    over: sp.Expr,
    between: tuple[float, float],
    *,
    near: Mapping[sp.Expr, float] | None = None,
    moving: Sequence[sp.Expr] | None = None,
    points: int = 25,
) -> tuple[Border, ...]:
    """The values of a parameter or given quantity ``over`` between two numbers at which the stability changes.

    The other ``given`` values determine the steady motion as in `steady` (an equilibrium with ``moving=()``). Borders
    that lie closer together than the distance of the ``points`` may be missed in pairs.
    """
    scan = _Scan(equations, dict(given), over, between[0], moving, dict(near or {}))
    values = np.linspace(*between, points)
    stable = [scan.stable(value) for value in values]
    pairs = zip(values[:-1], values[1:], stable[:-1], stable[1:], strict=True)
    return tuple(scan.border(a, b, gained) for a, b, lost, gained in pairs if lost != gained)


class _Scan:
    """The roots of a steady motion as functions of one value."""

    def __init__(
        self,
        equations: Analyzed,
        given: dict[sp.Expr, float],
        over: sp.Expr,
        first: float,
        moving: Sequence[sp.Expr] | None,
        near: Mapping[sp.Expr, float],
    ) -> None:
        varied = over in {p.value for p in descriptor(equations).parameters}
        parameters = {over: first} if varied else {}
        given = given if varied else {**given, over: first}
        self.over, self.search = over, Search(equations, given, parameters, moving, near)
        if symbol(over) not in self.search.newton.values:
            raise ModelError(
                "Invalid over",
                [f"{name_of(over)} is not a parameter, coordinate, velocity or input that can be given."],
            )
        self.start = self.search.start(near)
        self.linear = linearize(equations, self.search.record(self.solution(first)))
        self.zeros = self._zeros()
        self.family: np.ndarray | None = None  # directions of the structural zeros at the last value

    def _zeros(self) -> int:
        found = self.linear.structure
        if found.symmetry.shape[1] or found.unexplained:
            raise VinculumError(
                "Borders of stability need a motion without free positions. Leave out ignorable coordinates with "
                "a steady motion, or add what holds them."
            )
        return found.family.shape[1]

    def solution(self, value: float) -> Solution:
        """The motion at a value, found from the last one."""
        search, key = self.search, symbol(self.over)
        values = search.numbers if key in search.numbers else search.known
        values[key] = search.newton.values[key] = float(value)
        if self.over in search.parameters:
            search.parameters = {**search.parameters, self.over: float(value)}
        found = search.newton.solve(self.start)
        if not found.reached:
            raise VinculumError(f"No steady motion was found at {name_of(self.over)} = {value:.6g}.")
        self.start = found.x
        return found

    def reduced(self, value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Uᵀ A U, the bounds of its errors, and U."""
        model, where = self.linear, self.linear.point
        found = tangent(where.form, self.search.values(self.solution(value)), chart=where.tangent.chart)
        kept = [found.chart.index(where.form.states.index(symbol(x))) for x in model.states]
        A, errors = found.A[np.ix_(kept, kept)], found.errors[np.ix_(kept, kept)]
        U, V = self._complement(np.where(np.abs(A) <= errors, 0.0, A))
        return V @ A @ U, np.abs(V) @ errors @ np.abs(U), U

    def _complement(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U orthogonal to the kernel of known dimension, and its left inverse."""
        balanced, d = balance(A)
        _, singular, rows = scipy.linalg.svd(balanced)
        Z = rows[len(A) - self.zeros :].T
        if self.family is not None and self.zeros:  # a mode at the border is small too: keep the last direction
            small = rows[singular <= max(_SMALL * singular[0], singular[-self.zeros])]
            Z = scipy.linalg.orth(small.T @ small @ (self.family / d[:, None]))
        self.family = d[:, None] * Z
        Q = scipy.linalg.null_space(Z.T)
        return d[:, None] * Q, Q.T / d

    def roots(self, value: float) -> BoundedRoots:
        """The roots that are not structural zeros."""
        return bounded_roots(*self.reduced(value)[:2])

    def stable(self, value: float) -> bool:
        """Whether no root lies to the right of the axis by more than its error."""
        return not self.roots(value).right.any()

    def border(self, a: float, b: float, gained: bool) -> Border:
        """The value between two others at which the rightmost root crosses the axis."""
        value = scipy.optimize.brentq(
            lambda x: self.roots(x).roots.real.max(), a, b, xtol=_WIDTH * max(abs(a), abs(b)), rtol=_WIDTH
        )
        A, _, U = self.reduced(value)
        roots, vectors = np.linalg.eig(A)
        k = int(np.argmax(roots.real))
        root = complex(0.0, abs(roots[k].imag))
        return Border(
            self.over, value, gained, root, self._shape(U @ vectors[:, k]), self.search.record(self.solution(value))
        )

    def _shape(self, vector: np.ndarray) -> dict[sp.Expr, complex]:
        """The states that take part in a mode, the largest 1."""
        vector = vector / vector[np.argmax(np.abs(vector))]
        return {x: complex(c) for x, c in zip(self.linear.states, vector, strict=True) if abs(c) > 1e-9}
