"""Mass matrix, bias and accelerations of a tree in the user's coordinates.

Inside, a ball joint has the three velocities ν = ω; outside, four of a unit quaternion with ν = 2 E(q) q̇:

    M_q = Gᵀ M G + μ q qᵀ,   h_q = Gᵀ h + μ |q̇|² q,   G = 2 E(q),      q̈ = ½ Eᵀ ν̇ - (|q̇|² + c) q
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vinculum.derivation.bodies import articulated, composite
from vinculum.derivation.bodies.hinges import Hinge, hinges
from vinculum.derivation.bodies.newton_euler import Support, inverse, support, wrenches, zeros
from vinculum.describe import System
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.energies import spring_potential
from vinculum.describe.bodies.transforms import flat, of_stage
from vinculum.errors import ModelError
from vinculum.graph import ZERO, Node, gradient, lift, symbol, symbols, vector
from vinculum.graph.vectors import Vector, dot

ARTICULATED_FROM = 8  # velocities; above, articulated bodies take fewer operations than factorizing M
LOOPED_FROM = 32  # velocities; above, loops over the hinges compile in a fraction of the time and run as fast


@dataclass(frozen=True, eq=False)
class Recursion:
    """The recursions of one tree."""

    tree: BodyTree
    hinges: Sequence[Hinge]
    base: Support

    @cached_property
    def coordinates(self) -> list[Node]:
        """q in the user's order."""
        return [symbol(q) for q in self.tree.coordinates]

    @cached_property
    def places(self) -> list[list[int]]:
        """For every hinge the places of its coordinates among the user's."""
        where = {q: i for i, q in enumerate(self.coordinates)}
        return [[where[q] for q in hinge.q] for hinge in self.hinges]

    # -- in the user's coordinates ---------------------------------------------------------------------------

    def mass_matrix(self) -> np.ndarray:
        """M_q (n, n)."""
        M, first = composite.mass_matrix(self.hinges), composite.starts(self.hinges)
        n = len(self.coordinates)
        result = np.full((n, n), ZERO, dtype=object)
        maps = [hinge.joint.velocity_map(hinge.q) for hinge in self.hinges]
        for j, columns in enumerate(self.places):
            i = j
            while i >= 0:  # inwards; between branches M is zero
                block = M[first[i] : first[i] + len(maps[i]), first[j] : first[j] + len(maps[j])]
                found = _between(maps[i], block, maps[j])
                result[np.ix_(self.places[i], columns)] = found
                result[np.ix_(columns, self.places[i])] = found.T
                i = self.hinges[i].parent
        for hinge, rows in zip(self.hinges, self.places, strict=True):
            if hinge.joint.normalized:
                extra = [[self.tree.norm_inertia * a * b for b in hinge.q] for a in hinge.q]
                result[np.ix_(rows, rows)] = result[np.ix_(rows, rows)] + np.array(extra, dtype=object)
        return _mirror(result)

    def bias(self) -> np.ndarray:
        """h_q with gravity: what M_q q̈ + h_q = (all other forces) needs."""
        return self.forces(zeros(self.hinges))

    def inverse_dynamics(self, accelerations: Sequence[Any]) -> np.ndarray:
        """The generalized forces for given q̈ (n)."""
        nu = []
        for hinge, rows in zip(self.hinges, self.places, strict=True):
            own = [accelerations[i] for i in rows]
            nu.append(tuple(dot(row, own) for row in hinge.joint.velocity_map(hinge.q)))  # ν̇ = G q̈
        return self.forces(nu)

    def forces(self, accelerations: Sequence[Sequence[Any]]) -> np.ndarray:
        """Generalized forces in the user's coordinates for given ν̇."""
        tau = inverse(self.hinges, self.rates, accelerations, self.base)
        result = vector([ZERO] * len(self.coordinates))
        for hinge, rows, own in zip(self.hinges, self.places, tau, strict=True):
            for k, i in enumerate(rows):
                column = [row[k] for row in hinge.joint.velocity_map(hinge.q)]
                result[i] = lift(dot(column, own))
                if hinge.joint.normalized:
                    result[i] = result[i] + self.tree.norm_inertia * dot(hinge.v, hinge.v) * hinge.q[k]
        return result

    def accelerations(
        self, applied: Sequence[Any], corrections: dict[Node, Node], method: str = "auto"
    ) -> tuple[list[Node], list[Node]]:
        """q̈ from generalized forces, and the pivots; ``corrections``: c of a norm by its quaternion's first symbol."""
        nu, pivots = self.solve(applied, method)
        result: list[Node] = [ZERO] * len(self.coordinates)
        for hinge, rows, own in zip(self.hinges, self.places, nu, strict=True):
            for i, value in zip(rows, _accelerations(hinge, own, corrections), strict=True):
                result[i] = lift(value)
        return result, pivots

    # -- in the velocities of the hinges ---------------------------------------------------------------------

    @cached_property
    def rates(self) -> list[Vector]:
        """ν of every hinge."""
        maps = [(hinge, hinge.joint.velocity_map(hinge.q)) for hinge in self.hinges]
        return [tuple(lift(dot(row, hinge.v)) for row in G) for hinge, G in maps]

    def solve(self, applied: Sequence[Any], method: str = "auto") -> tuple[list[Vector], list[Node]]:
        """ν̇ of every hinge: M ν̇ = τ - h."""
        try:
            return self._solve(applied, method)
        except ZeroDivisionError:
            self._refuse_weightless()
            raise

    def _refuse_weightless(self) -> None:
        """Raise an error that names the joints whose motion meets no inertia."""
        M, first = composite.mass_matrix(self.hinges), composite.starts(self.hinges)
        idle = [str(h.q[0]) for h, i in zip(self.hinges, first, strict=True) if M[i, i] is ZERO]
        why = f"nothing that {', '.join(idle)} moves has inertia about or along its axis" if idle else (
            "in every configuration some joint only moves what other joints move in the same way")  # fmt: skip
        raise ModelError(
            f"the accelerations of {self.tree.name!r} are not determined",
            [f"{why}. Give inertia, a center of mass off the axis or rotor_inertia, or leave the joint out."],
        )

    def _solve(self, applied: Sequence[Any], method: str) -> tuple[list[Vector], list[Node]]:
        tau = self.hinge_forces(applied)
        if method == "articulated" or (method == "auto" and self.size > ARTICULATED_FROM):
            return articulated.solve(self.hinges, tau, wrenches(self.hinges, self.rates, zeros(self.hinges), self.base))
        bias = inverse(self.hinges, self.rates, zeros(self.hinges), self.base)
        right = [a - b for own, row in zip(tau, bias, strict=True) for a, b in zip(own, row, strict=True)]
        x, pivots = composite.solve(composite.mass_matrix(self.hinges), right, composite.ancestors(self.hinges))
        first = composite.starts(self.hinges)
        return [tuple(x[i : i + len(row)]) for i, row in zip(first, tau, strict=True)], pivots

    @cached_property
    def size(self) -> int:
        """The number of velocities."""
        return sum(hinge.joint.width for hinge in self.hinges)

    @property
    def numeric(self) -> bool:
        """Whether lengths and inertias are numbers, without parameters."""
        own = {*self.coordinates, *(v for hinge in self.hinges for v in hinge.v)}
        data = [x for hinge in self.hinges for x in (hinge.rotor, *flat(hinge.inertia))]
        data += [x for hinge in self.hinges for stage in hinge.stages for x in of_stage(stage)]
        return symbols(data) <= own

    def hinge_forces(self, applied: Sequence[Any]) -> list[Vector]:
        """τ of every hinge from generalized forces in the user's coordinates."""
        own = ([applied[i] for i in rows] for rows in self.places)
        forces = (hinge.joint.forces(hinge.q, given) for hinge, given in zip(self.hinges, own, strict=True))
        return [tuple(lift(x) for x in force) for force in forces]


def _accelerations(hinge: Hinge, rates: Vector, corrections: dict[Node, Node]) -> Vector:
    """q̈ from ν̇; for a quaternion with the term that keeps its length."""
    if not hinge.joint.normalized:
        return rates
    stretch = dot(hinge.v, hinge.v) + corrections.get(hinge.q[0], ZERO)
    turned = hinge.joint.displacement(hinge.q, rates)
    return tuple(x - stretch * q for x, q in zip(turned, hinge.q, strict=True))


def recursion(tree: BodyTree, regroup: bool = True) -> Recursion:
    """The recursions of a tree, numbers folded in; symbols among its parameters stay symbols."""
    return Recursion(tree, hinges(tree, regroup), support(tree))


def _between(left: Sequence[Sequence[Any]], block: np.ndarray, right: Sequence[Sequence[Any]]) -> np.ndarray:
    """Gᵀ M G."""
    a, b = len(left[0]), len(right[0])
    found = np.full((a, b), ZERO, dtype=object)
    for k in range(a):
        for m in range(b):
            half = [dot([row[k] for row in left], list(block[:, j])) for j in range(block.shape[1])]
            found[k, m] = lift(dot(half, [row[m] for row in right]))
    return found


def _mirror(M: np.ndarray) -> np.ndarray:
    for i in range(len(M)):
        M[i, :i] = M[:i, i]
    return M


@dataclass(frozen=True, eq=False)
class TreeTerms:
    """M, h (with gravity) and V_q (of the springs only) of the tree behind a system, each built on first use."""

    system: System

    @cached_property
    def recursion(self) -> Recursion:
        """The recursions of the tree."""
        return recursion(self.system.bodies)

    @cached_property
    def M(self) -> np.ndarray:
        """(n, n) by composite bodies."""
        return self.recursion.mass_matrix()

    @cached_property
    def h(self) -> np.ndarray:
        """(n) by the recursion of Newton and Euler."""
        return self.recursion.bias()

    @cached_property
    def slope(self) -> np.ndarray:
        """(n) of the springs."""
        return vector(gradient(spring_potential(self.system.bodies), self.system.nodes.q))
