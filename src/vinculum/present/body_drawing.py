"""What to draw of a tree of bodies, from the tree alone: every body as lines from its joint to all that hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from vinculum.describe.bodies import Body, BodyTree
from vinculum.model.model import Drawing, Led, Segment

Point = Sequence[Any]

TOOL = "the tool point"


def drawing_of(tree: BodyTree, led: Led | None = None) -> Drawing:
    """Lines from each joint to the next joints, loop points and the point that is ``led``; where there are none of
    these, to the center of mass. The tool point, or else the far ends of the last bodies, leave their paths.
    """
    points: dict[str, Point] = {}
    segments = []
    for name in (None, *tree.order):
        label = name or "base"
        points[label] = tree.position(name)
        ends = _ends(tree, name, led)
        for number, end in enumerate(ends, start=1):
            far = f"end of {label}" if len(ends) == 1 else f"end {number} of {label}"
            points[far] = tree.position(name, end)
            segments.append(Segment([label, far], name=label))
    for body in tree.bodies:
        if body.kind.slides:
            points[f"joint of {body.name}"] = tree.position(body.parent, body.origin)
            segments.append(Segment([f"joint of {body.name}", body.name], name=body.name))
    leaves = [name for name in tree.order if not any(body.parent == name for body in tree.bodies)]
    if led is not None and led.body in tree.order:
        points[TOOL] = tree.position(led.body, led.point)
        return Drawing(points, segments, traces=[TOOL])
    return Drawing(points, segments, traces=[_tip(segments, name) for name in leaves])


def _ends(tree: BodyTree, name: str | None, led: Led | None = None) -> list[Point]:
    """The places on a body to which lines are drawn, in its frame."""
    ends: list[Point] = [b.origin for b in tree.bodies if b.parent == name and not b.kind.loose]
    for loop in tree.loops:
        ends += [loop.point] if loop.first == name else []
        ends += [loop.other_point] if loop.second == name else []
    if led is not None and led.body == name:
        ends.append(led.point)
    if ends or name is None:
        return [end for end in ends if not _zero(end)]
    return _own_ends(tree.body(name))


def _own_ends(body: Body) -> list[Point]:
    """The center of mass of a body on which nothing hangs, or its three axes as long as its radius of gyration."""
    if not _zero(body.center_of_mass):
        return [body.center_of_mass]
    moments = sum(body.inertia_matrix[i][i] for i in range(3))
    if body.mass == 0 or moments == 0:
        return []
    radius = sp.sqrt(moments / (2 * sp.sympify(body.mass)))
    return [(radius, 0, 0), (0, radius, 0), (0, 0, radius)]


def _zero(point: Point) -> bool:
    return all(sp.sympify(x).is_zero for x in point)


def _tip(segments: Sequence[Segment], name: str) -> str:
    """The far end of a body."""
    own = [s for s in segments if s.name == name and s.points[0] == name]
    return own[0].points[-1] if len(own) == 1 else name
