"""The dynamics and kinematics of a tree as nodes of its coordinates, velocities, forces and accelerations.

Derivatives are in the velocities ν of the joints, ball joints with three: τ(q, ν, ν̇) = M ν̇ + h is differentiated by q,
for the quaternion of a ball joint along δq = ½ Eᵀ(q) δθ, and by ν, both at constant ν̇.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property

import numpy as np

from vinculum.derivation.bodies import composite
from vinculum.derivation.bodies.newton_euler import inverse
from vinculum.derivation.bodies.recursion import Recursion, recursion
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.energies import joint_forces, spring_potential
from vinculum.graph import ZERO, Node, gradient, jacobian, lift, substitute, symbol, vector
from vinculum.graph.vectors import times

Nodes = Sequence[Node]


class TreeEquations:
    """The equations of one tree, each built on first use."""

    def __init__(self, tree: BodyTree, regroup: bool = True) -> None:
        self.tree, self.regroup = tree, regroup
        n = len(tree.coordinates)
        self.q, self.v = (tuple(map(symbol, keys)) for keys in (tree.coordinates, tree.velocities))
        self.u = tuple(symbol(("tau", i)) for i in range(n))
        self.a = tuple(symbol(("acceleration", i)) for i in range(n))
        self.time = symbol(tree.time)
        self._written: dict[Hashable, Nodes] = {}

    def _once(self, key: Hashable, write: Callable[[], Nodes]) -> Nodes:
        if key not in self._written:
            self._written[key] = write()
        return self._written[key]

    # -- dynamics --------------------------------------------------------------------------------------------

    @cached_property
    def recursion(self) -> Recursion:
        """The recursions."""
        return recursion(self.tree, self.regroup)

    @cached_property
    def passive(self) -> Nodes:
        """Forces of springs, dampers and friction."""
        slope = gradient(spring_potential(self.tree), self.q)
        off = {symbol(u): ZERO for u in self.tree.inputs}
        given = joint_forces(self.tree)
        forces = substitute([given.get(q, ZERO) for q in self.tree.coordinates], off)
        return [force - k for force, k in zip(forces, slope, strict=True)]

    def forward(self, method: str) -> Nodes:
        """q̈ of (q, q̇, τ), "composite" or with articulated bodies."""
        method = "articulated" if method == "looped" else method
        return self._once(("forward", method), lambda: self._forward(method))

    def _forward(self, method: str) -> Nodes:
        applied = [u + force for u, force in zip(self.u, self.passive, strict=True)]
        return self.recursion.accelerations(applied, {}, method)[0]

    @cached_property
    def inverse(self) -> Nodes:
        """τ of (q, q̇, q̈)."""
        return list(self.recursion.inverse_dynamics(self.a) - vector(self.passive))

    @cached_property
    def bias(self) -> Nodes:
        """h of (q, q̇)."""
        return list(self.recursion.bias())

    @cached_property
    def mass_matrix(self) -> Nodes:
        """M of q, row after row."""
        return list(self.recursion.mass_matrix().ravel())

    @cached_property
    def tangents(self) -> Tangents:
        """The derivatives of τ."""
        return Tangents(self.recursion, self.v, self.a, self.passive)

    @cached_property
    def derivatives(self) -> Nodes:
        """Row after row ∂τ/∂q, ∂τ/∂ν, M of (q, q̇, q̈)."""
        return self.tangents.outputs

    # -- kinematics, in inertial axes ------------------------------------------------------------------------

    def position(self, body: str, point: tuple[Node, ...]) -> Nodes:
        """Where a point of a body is."""
        return self._once(("position", body, point), lambda: self._at(body, point, 0))

    def velocity(self, body: str, point: tuple[Node, ...]) -> Nodes:
        """The velocity of a point of a body."""
        return self._once(("velocity", body, point), lambda: self._at(body, point, 1))

    def jacobian(self, body: str, point: tuple[Node, ...]) -> Nodes:
        """∂v/∂q̇ of a point, row after row."""
        key = "jacobian", body, point
        return self._once(key, lambda: list(jacobian(self._at(body, point, 1), self.v).ravel()))

    def rotation(self, body: str) -> Nodes:
        """The axes of a body as columns, row after row."""
        return self._once(("rotation", body), lambda: [lift(x) for row in self.tree.motion_of(body).R for x in row])

    def angular_velocity(self, body: str) -> Nodes:
        """ω of a body."""
        return self._once(("angular velocity", body), lambda: self._spin(body))

    def angular_jacobian(self, body: str) -> Nodes:
        """∂ω/∂q̇ of a body, row after row."""
        return self._once(("angular jacobian", body), lambda: list(jacobian(self._spin(body), self.v).ravel()))

    def _spin(self, body: str) -> list[Node]:
        motion = self.tree.motion_of(body)
        return [lift(x) for x in times(motion.R, motion.omega)]

    def _at(self, body: str, point: Nodes, what: int) -> list[Node]:
        if what == 0:
            _ = self.tree.base.position  # known, or refused
        return [lift(x) for x in self.tree.motion_of(body).at(point)[what]]


class Tangents:
    """∂τ/∂q, ∂τ/∂ν and M of a tree as nodes of q, q̇ and q̈, rows and columns in the user's order of joints."""

    def __init__(self, steps: Recursion, v: Sequence[Node], a: Sequence[Node], passive: Sequence[Node]) -> None:
        self.steps, self.v, self.a, self.passive = steps, v, a, passive
        widths = [hinge.joint.width for hinge in steps.hinges]
        self.nu, self.rates = ([tuple(symbol((name, i, k)) for k in range(w)) for i, w in enumerate(widths)]
                               for name in ("hinge velocity", "hinge acceleration"))  # fmt: skip

    @cached_property
    def order(self) -> list[int]:
        """Places of the hinge velocities when joints stand in the user's order."""
        first = composite.starts(self.steps.hinges)
        by_user = sorted(range(len(first)), key=lambda i: self.steps.places[i][0])
        return [first[i] + k for i in by_user for k in range(len(self.nu[i]))]

    @property
    def places(self) -> list[int]:
        """For every velocity in the user's order the coordinate in whose place it stands; a ball joint has one more."""
        by_user = sorted(zip(self.steps.places, self.nu, strict=True), key=lambda pair: pair[0][0])
        return [i for rows, own in by_user for i in rows[: len(own)]]

    @property
    def outputs(self) -> list[Node]:
        """Row after row ∂τ/∂q, ∂τ/∂ν, M."""
        hinges = self.steps.hinges
        tau = [lift(x) for row in inverse(hinges, self.nu, self.rates, self.steps.base) for x in row]
        by_q = np.array([self._turn(row) for row in jacobian(tau, self.steps.coordinates)], dtype=object)
        by_nu = jacobian(tau, [x for own in self.nu for x in own])
        self._resist(by_q, by_nu)
        order = np.ix_(self.order, self.order)
        M = composite.mass_matrix(hinges)
        rows = np.concatenate([by_q[order], by_nu[order], M[order]], axis=1)
        return substitute(list(rows.ravel()), self._in_coordinates())

    def _turn(self, row: np.ndarray) -> list[Node]:
        """A row of derivatives by q as one by δθ for ball joints."""
        found: list[Node] = []
        for hinge, places in zip(self.steps.hinges, self.steps.places, strict=True):
            own = [row[i] for i in places]
            found += [lift(x) for x in hinge.joint.forces(hinge.q, own)]
        return found

    def _resist(self, by_q: np.ndarray, by_nu: np.ndarray) -> None:
        """Springs, dampers and friction, which act on single coordinates."""
        first = composite.starts(self.steps.hinges)
        for hinge, (place, *_), i in zip(self.steps.hinges, self.steps.places, first, strict=True):
            if hinge.joint.axial and self.passive[place] is not ZERO:
                slope = jacobian([self.passive[place]], (hinge.q[0], hinge.v[0]))[0]
                by_q[i, i], by_nu[i, i] = by_q[i, i] - slope[0], by_nu[i, i] - slope[1]

    def _in_coordinates(self) -> dict[Node, Node]:
        """ν and ν̇ from q, q̇ and q̈."""
        found: dict[Node, Node] = {}
        for i, (hinge, places) in enumerate(zip(self.steps.hinges, self.steps.places, strict=True)):
            for given, names in ((self.v, self.nu[i]), (self.a, self.rates[i])):
                own = hinge.joint.velocities(hinge.q, [given[k] for k in places])
                found |= dict(zip(names, map(lift, own), strict=True))
        return found
