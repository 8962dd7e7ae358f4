"""Derivatives of the hinge forces in the velocities of the joints, ball joints with three.

With ν the velocities of the hinges, τ(q, ν, ν̇) = M ν̇ + h is differentiated by q, for the quaternion of a ball joint
along δq = ½ Eᵀ(q) δθ, and by ν, both at constant ν̇.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from vinculum.derivation.bodies import composite
from vinculum.derivation.bodies.newton_euler import inverse
from vinculum.derivation.bodies.recursion import Recursion
from vinculum.graph import ZERO, Node, jacobian, lift, substitute, symbol


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
        by_q = np.array([self._turned(row) for row in jacobian(tau, self.steps.coordinates)], dtype=object)
        by_nu = jacobian(tau, [x for own in self.nu for x in own])
        self._resist(by_q, by_nu)
        order = np.ix_(self.order, self.order)
        M = composite.mass_matrix(hinges)
        rows = np.concatenate([by_q[order], by_nu[order], M[order]], axis=1)
        return substitute(list(rows.ravel()), self._in_coordinates())

    def _turned(self, row: np.ndarray) -> list[Node]:
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
