"""Pieces of splines: between two knots a spline is smooth, and the coefficients of its piece are numbers.

The motion stays in a piece while low <= s <= high. The knots of a spline of the time are instants known in advance.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vinculum.graph import Node, select
from vinculum.graph.node import compare
from vinculum.graph.splines import Numbers, entry, piece_number

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem

_ON = 1e-12  # |s - knot| up to this times (1 + |ds/dt|) counts as on the knot


@dataclass(frozen=True, eq=False)
class Search:
    """The piece of one or more splines in which s is."""

    node: Node  # piece(s; knots)
    s: Node  # smooth
    low: Node  # symbols of the ends of the piece
    high: Node
    entries: dict[Node, Node]  # {entry of a table: symbol}

    @property
    def margins(self) -> tuple[Node, Node]:
        """Positive inside the piece."""
        return self.s - self.low, self.high - self.s

    @property
    def alternating(self) -> Node:
        """(-1)ᵏ times the distance to the nearer end of piece k: a function that passes zero at every knot."""
        s, knots = self.node.args[0], self.node.value.values
        ends = [self._ends(k, knots[0]) for k in range(len(knots))]
        low, high = (entry(Numbers(tuple(column)), self.node) for column in zip(*ends, strict=True))
        sign = entry(Numbers(tuple((-1.0) ** k for k in range(len(knots)))), self.node)
        return sign * select(compare("less", s - low, high - s), s - low, high - s)

    def _ends(self, k: int, s: float) -> tuple[float, float]:
        """The ends of piece k; the first and last have none, and one far from s keeps margins of a moderate size."""
        knots = self.node.value.values
        far = 2 * (knots[-1] - knots[0])
        low = knots[k] if k > 0 else min(s, knots[0]) - far
        return low, knots[k + 1] if k + 1 < len(knots) else max(s, knots[-1]) + far

    def numbers(self, s: float, rate: float, direction: float) -> list[float]:
        """The ends of the piece of s and its entries; at a knot, of the piece into which the motion goes."""
        knots = self.node.value.values
        k = piece_number(knots, s)
        while k + 1 < len(knots) and is_at(knots[k + 1], s, rate) and rate * direction >= 0:
            k += 1
        while k > 0 and is_at(knots[k], s, rate) and rate * direction < 0:
            k -= 1
        return [*self._ends(k, s), *(node.value.values[k] for node in self.entries)]


def is_at(knot: float, s: float, rate: float = 1.0) -> bool:
    """Whether s is at a knot, within rounding."""
    return abs(knot - s) <= _ON * (1.0 + abs(rate)) + 4 * sys.float_info.epsilon * abs(s)


def next_knot(problem: Problem, t: float, t1: float) -> float:
    """The next knot of a spline of the time before ``t1``, where other polynomials begin; ``t1`` if there is none."""
    if problem.sides is None:
        return t1
    forward, nodes = t1 > t, problem.nodes
    ends = dict(zip(nodes.corners.numbers, problem.sides.chosen, strict=True))
    knots = [ends[s.high if forward else s.low] for s in nodes.corners.searches if s.s is nodes.time]
    return min([t1, *knots]) if forward else max([t1, *knots])
