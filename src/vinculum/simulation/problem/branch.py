"""A smooth branch of equations with corners: σ numbers on one side of all surfaces, expressions along some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from vinculum.graph import Node, substitute
from vinculum.simulation.problem.motion_expressions import MotionNodes
from vinculum.simulation.problem.switches import SPARE, Sides, held, linear_in, mixed


@dataclass(frozen=True, eq=False)
class Branch:
    """The equations along the same surfaces, or along none; on which sides of the others is a matter of numbers."""

    nodes: MotionNodes
    sides: Sides | None  # the first on which the motion came here; None: corners stay as they are, sign is sign
    known: dict[tuple[Node, ...], tuple[Node, ...]] = field(default_factory=dict)  # what was prepared before

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """p: settings, what is computed once from them, held corrections, sides of corners."""
        sides = () if self.sides is None else self.nodes.corners.sigma
        return (*self.nodes.settings, *self.nodes.hoisted.values(), *self.nodes.equations.corrections, *sides)

    def prepared(self, outputs: Sequence[Node]) -> tuple[Node, ...]:
        """Outputs on this branch, with all that is computed once taken out."""
        key = tuple(outputs)
        if key not in self.known:
            self.known[key] = tuple(substitute(self._smooth(key), self.nodes.hoisted))
        return self.known[key]

    def _smooth(self, outputs: Sequence[Node]) -> list[Node]:
        """Outputs on the present sides of all corners, or along them."""
        if self.sides is None:
            return list(outputs)
        smooth = self.nodes.corners.smooth(outputs)
        return substitute(smooth, self._held) if self._is_linear else mixed(smooth, self._held)

    @cached_property
    def _is_linear(self) -> bool:
        """Whether f is of the first degree in the σ of the surfaces along which the motion goes."""
        return not self._held or linear_in(self.nodes.corners.smooth(self.nodes.rates), list(self._held))

    @cached_property
    def _held(self) -> dict[Node, Node]:
        """{σ: expression} of the surfaces along which the motion goes."""
        if self.sides is None or self.sides.matrix is None:
            return {}
        chosen = self.sides.along
        sigma = [self.nodes.corners.sigma[k] for k in chosen]
        return held([self.nodes.corner_slopes[k] for k in chosen], sigma, self.sides.matrix)

    @cached_property
    def margins(self) -> tuple[Node, ...]:
        """Positive while the motion stays on the present sides: σ g, and 1 - σ² along a surface."""
        if self.sides is None:
            return ()
        pairs = zip(self.nodes.corners.sigma, self.nodes.corners.surfaces, strict=True)
        along = {sigma: 1 + SPARE - node * node for sigma, node in self._held.items()}
        return tuple(substitute([along.get(sigma, sigma * g) for sigma, g in pairs], self._held))
