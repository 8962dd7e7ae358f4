"""Loops on a tree: two bodies joined a second time, as constraints.

| kind  | what coincides                                       | conditions |
|-------|------------------------------------------------------|------------|
| point | a point of each body (ball joint)                    | 3          |
| line  | an axis of each body, free to slide (cylindrical)    | 4          |
| axis  | a point and an axis of each body (revolute)          | 5          |
| frame | a point and all axes (weld)                          | 6          |

Conditions that hold by the structure of the tree (the z components of a planar mechanism) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vinculum.describe.bodies.joints import across
from vinculum.describe.bodies.kinematics import nodes_of
from vinculum.describe.constraints import Holonomic
from vinculum.errors import About, Finding, ModelError
from vinculum.graph import Node, as_sympy, lift, symbol, symbols
from vinculum.graph.vectors import Vector, dot, minus, times, transposed
from vinculum.notebook_repr import html

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree

KINDS = ("point", "line", "axis", "frame")


@dataclass(frozen=True, eq=False)
class Loop:
    """``point`` of body ``first`` meets ``other_point`` of body ``second`` (None: the external body).

    For "line" and "axis" the directions ``axis`` and ``other_axis``, each in its body's frame, become parallel.
    """

    first: str | None
    second: str | None
    kind: str = "point"
    point: Sequence[Any] = (0, 0, 0)
    other_point: Sequence[Any] = (0, 0, 0)
    axis: Sequence[float] = (0, 0, 1)
    other_axis: Sequence[float] | None = None
    name: str = ""

    @property
    def label(self) -> str:
        """The name, or both bodies."""
        return self.name or f"{self.first or 'base'}-{self.second or 'base'}"

    def check(self, tree: BodyTree) -> None:
        """Names and shapes; the closing itself is looked at by the tree."""
        if self.kind not in KINDS:
            raise self._invalid(f"its kind is {self.kind!r}; use {', '.join(KINDS)}.")
        for name in (self.first, self.second):
            if name is not None:
                tree.body(name)
        if not any(self.axis) or (self.other_axis is not None and not any(self.other_axis)):
            raise self._invalid("its axis has no direction.")

    def _invalid(self, found: str) -> ModelError:
        return ModelError(f"Invalid loop {self.label!r}", [Finding(found, about=About("loop", self.label))])

    def conditions(self, tree: BodyTree) -> dict[str, Node]:
        """The nodes that vanish when the loop is closed, by name."""
        one, two = tree.motion_of(self.first), tree.motion_of(self.second)
        gap = minus(one.at(nodes_of(self.point))[0], two.at(nodes_of(self.other_point))[0])
        inward = transposed(one.R)
        other = tuple(self.axis) if self.other_axis is None else tuple(self.other_axis)
        sides = [tuple(lift(x) for x in side) for side in across(_unit(self.axis))]
        second_axis = times(inward, times(two.R, tuple(lift(float(x)) for x in _unit(other))))
        turned = [dot(side, second_axis) for side in sides]
        names: dict[str, Any] = dict(zip("xyz", gap, strict=True))
        if self.kind == "line":
            local = times(inward, gap)
            names = {"u": dot(sides[0], local), "v": dot(sides[1], local)}
        if self.kind in ("line", "axis"):
            names |= {"tilt u": turned[0], "tilt v": turned[1]}
        if self.kind == "frame":
            columns = transposed(one.R), transposed(two.R)
            names |= {
                f"turn {k}": dot(columns[0][i], columns[1][j]) for k, i, j in (("x", 0, 1), ("y", 1, 2), ("z", 2, 0))
            }
        return {f"{self.label} {key}": lift(node) for key, node in names.items()}

    def constraints(self, tree: BodyTree) -> list[Holonomic]:
        """The conditions that depend on the coordinates."""
        moving = {symbol(q) for q in tree.coordinates}
        found = self.conditions(tree)
        return [Holonomic(as_sympy(f), name=name) for name, f in found.items() if symbols([f]) & moving]

    _repr_html_ = html


def _unit(axis: Sequence[Any]) -> Vector:
    length = math.hypot(*map(float, axis))
    return tuple(float(x) / length for x in axis)
