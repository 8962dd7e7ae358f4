"""A steady motion and its roots as functions of one value: a parameter, a speed, an input.

Each motion is found from that at the nearest value known. Zero roots of the family of steady motions are counted once,
at the first value, and left out everywhere: with A Z = 0, U orthogonal to Z and V its left inverse, the other roots are
those of V A U.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.descriptor import Analyzed, descriptor
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linearize import linearize
from vinculum.analyze.mode_shapes import Eigenvectors, eigenvectors
from vinculum.analyze.root_bounds import BoundedRoots, balance, bounded_roots
from vinculum.analyze.scaled_newton import Solution
from vinculum.analyze.steady_search import Search
from vinculum.analyze.tangent import tangent
from vinculum.errors import ModelError, VinculumError
from vinculum.graph import symbol
from vinculum.names import name_of

_SMALL = 1e-8  # relative singular value that may belong to the mode at a border


@dataclass(frozen=True, eq=False)
class SweepPoint:
    """The motion at one value."""

    solution: Solution
    A: np.ndarray
    U: np.ndarray
    V: np.ndarray
    family: np.ndarray  # Z
    roots: BoundedRoots

    @property
    def vectors(self) -> Eigenvectors:
        """Roots with their left and right vectors in the states."""
        return eigenvectors(self.A, self.U, self.V)


class Sweep:
    """Steady motions over one value."""

    def __init__(
        self,
        equations: Analyzed,
        given: Mapping[sp.Expr, float],
        over: sp.Expr,
        first: float,
        moving: Sequence[sp.Expr] | None,
        near: Mapping[sp.Expr, float],
    ) -> None:
        varied = over in {p.value for p in descriptor(equations).parameters}
        parameters = {over: first} if varied else {}
        given = dict(given) if varied else {**given, over: first}
        self.over, self.search = over, Search(equations, given, parameters, moving, near)
        if symbol(over) not in self.search.newton.values:
            raise ModelError(
                "Invalid over",
                [f"{name_of(over)} is not a parameter, coordinate, velocity or input that can be given."],
            )
        self.known: dict[float, SweepPoint] = {}
        begin = self._solved(first, self.search.start(near))
        self.linear = linearize(equations, self.search.record(begin))
        self.zeros = self._zeros()
        self.known[float(first)] = self._reduced(begin, None)

    def at(self, value: float) -> SweepPoint:
        """The motion at a value, found from the nearest one that is known."""
        value = float(value)
        if value not in self.known:
            last = self.known[min(self.known, key=lambda known: abs(known - value))]
            self.known[value] = self._reduced(self._solved(value, last.solution.x), last.family)
        return self.known[value]

    def record(self, value: float) -> Equilibrium:
        """The motion at a value as the user sees it."""
        point = self.at(value)
        self._set(value)
        return self.search.record(point.solution)

    def _zeros(self) -> int:
        found = self.linear.structure
        if found.symmetry.shape[1] or found.unexplained:
            raise VinculumError(
                "Borders of stability need a motion without free positions. Leave out ignorable coordinates with "
                "a steady motion, or add what holds them."
            )
        return found.family.shape[1]

    def _set(self, value: float) -> None:
        search, key = self.search, symbol(self.over)
        values = search.numbers if key in search.numbers else search.known
        values[key] = search.newton.values[key] = float(value)
        if self.over in search.parameters:
            search.parameters = {**search.parameters, self.over: float(value)}

    def _solved(self, value: float, start: np.ndarray) -> Solution:
        self._set(value)
        found = self.search.newton.solve(start)
        if not found.reached:
            raise VinculumError(f"No steady motion was found at {name_of(self.over)} = {value:.6g}.")
        return found

    def _reduced(self, solution: Solution, family: np.ndarray | None) -> SweepPoint:
        model, where = self.linear, self.linear.point
        found = tangent(where.form, self.search.values(solution), chart=where.tangent.chart)
        kept = [found.chart.index(where.form.states.index(symbol(x))) for x in model.states]
        A, errors = found.A[np.ix_(kept, kept)], found.errors[np.ix_(kept, kept)]
        U, V, Z = self._complement(np.where(np.abs(A) <= errors, 0.0, A), family)
        return SweepPoint(solution, A, U, V, Z, bounded_roots(V @ A @ U, np.abs(V) @ errors @ np.abs(U)))

    def _complement(self, A: np.ndarray, family: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """U orthogonal to the kernel Z of known dimension, its left inverse, and Z."""
        balanced, d = balance(A)
        _, singular, rows = scipy.linalg.svd(balanced)
        Z = rows[len(A) - self.zeros :].T
        if family is not None and self.zeros:  # a mode at the border is small too: keep the last direction
            small = rows[singular <= max(_SMALL * singular[0], singular[-self.zeros])]
            Z = scipy.linalg.orth(small.T @ small @ (family / d[:, None]))
        Q = scipy.linalg.null_space(Z.T)
        return d[:, None] * Q, Q.T / d, d[:, None] * Z
