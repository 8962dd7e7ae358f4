"""Loops: a second joint between two bodies closes the tree.

| kind  | what coincides                                       | conditions |
|-------|------------------------------------------------------|------------|
| point | a point of each body (ball joint)                    | 3          |
| line  | an axis of each body, free to slide (cylindrical)    | 4          |
| axis  | a point and an axis of each body (revolute)          | 5          |
| frame | a point and all axes (weld)                          | 6          |

Conditions that the structure of the tree already satisfies (the z components of a planar mechanism) are omitted.

The angle θ between two directions, or between two frames, enters as √2 sin(θ/2) and 2 sin(θ/2): it vanishes only where
they coincide. Products of axes alone, sin θ, would also vanish where an axis points the opposite way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.describe.bodies.check import is_real
from vinculum.describe.bodies.joints import across
from vinculum.describe.bodies.kinematics import nodes_of
from vinculum.describe.constraints import Holonomic
from vinculum.errors import About, DomainError, Finding, ModelError
from vinculum.graph import (
    ONE,
    ZERO,
    Node,
    apply,
    as_sympy,
    evaluate,
    from_sympy,
    jacobian,
    lift,
    substitute,
    symbol,
    symbols,
)
from vinculum.graph.traverse import order
from vinculum.graph.vectors import Vector, dot, matrix_times, minus, plus, times, transposed
from vinculum.notebook_repr import html
from vinculum.units.dimensions import LENGTH
from vinculum.units.given import fields_in_si

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree

KINDS = ("point", "line", "axis", "frame")
_AROUND = (("x", 1, 2), ("y", 2, 0), ("z", 0, 1))
_CLOSED, _STARTS, _STEPS = 1e-9, 12, 60
_WORK = 500_000  # operations, summed over all starts


@dataclass(frozen=True, eq=False)
class Loop:
    """``point`` of body ``first`` meets ``other_point`` of body ``second`` (None: the ground).

    For "line" and "axis" the directions ``axis`` and ``other_axis``, each in its body's frame, become parallel and
    point the same way.
    """

    first: str | None
    second: str | None
    kind: str = "point"
    point: Sequence[Any] = (0, 0, 0)
    other_point: Sequence[Any] = (0, 0, 0)
    axis: Sequence[float] = (0, 0, 1)
    other_axis: Sequence[float] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        fields_in_si(self, dict.fromkeys(("point", "other_point"), LENGTH), "Invalid loop")

    @property
    def label(self) -> str:
        """The loop's name, or the names of both bodies."""
        return self.name or f"{self.first or 'base'}-{self.second or 'base'}"

    def check(self, tree: BodyTree) -> None:
        """Check names and shapes; the tree checks whether the loop can be closed."""
        if self.kind not in KINDS:
            raise self._invalid(f"its kind is {self.kind!r}; use {', '.join(KINDS)}.")
        for name in (self.first, self.second):
            if name is not None:
                tree.body(name)
        if self.first == self.second:
            raise self._invalid(f"both ends are on {self.first or 'the ground'!r}. Name two bodies.")
        for point in (self.point, self.other_point):
            if len(point) != 3 or not all(map(is_real, point)):
                raise self._invalid(f"its point is {tuple(point)}. Give three numbers.")
        if not any(self.axis) or (self.other_axis is not None and not any(self.other_axis)):
            raise self._invalid("its axis has no direction.")

    def _invalid(self, found: str) -> ModelError:
        return ModelError(f"Invalid loop {self.label!r}", [Finding(found, about=About("loop", self.label))])

    def conditions(self, tree: BodyTree) -> dict[str, Node]:
        """The nodes that are zero when the loop is closed, by name."""
        one, two = tree.motion_of(self.first), tree.motion_of(self.second)
        gap = minus(one.at(nodes_of(self.point))[0], two.at(nodes_of(self.other_point))[0])
        inward = transposed(one.R)
        other = tuple(self.axis) if self.other_axis is None else tuple(self.other_axis)
        sides = [tuple(lift(x) for x in side) for side in across(unit(self.axis))]
        second_axis = times(inward, times(two.R, tuple(lift(float(x)) for x in unit(other))))
        both = plus(unit(self.axis), second_axis)
        turned = [_half_angle(dot(side, second_axis), dot(both, both) / 2) for side in sides]
        names: dict[str, Any] = dict(zip("xyz", gap, strict=True))
        if self.kind == "line":
            local = times(inward, gap)
            names = {"u": dot(sides[0], local), "v": dot(sides[1], local)}
        if self.kind in ("line", "axis"):
            names |= {"tilt u": turned[0], "tilt v": turned[1]}
        if self.kind == "frame":
            W = matrix_times(inward, two.R)
            square = 1 + W[0][0] + W[1][1] + W[2][2]  # 4 cos²(θ/2)
            names |= {f"turn {k}": _half_angle(W[j][i] - W[i][j], square) for k, i, j in _AROUND}
        turns = [key for key in names if key.startswith("t")]
        names |= dict(zip(turns, substitute([lift(names[key]) for key in turns], _unit_quaternions(tree)), strict=True))
        return {f"{self.label} {key}": lift(node) for key, node in names.items()}

    def constraints(self, tree: BodyTree) -> list[Holonomic]:
        """The conditions that depend on the coordinates."""
        moving = {symbol(q) for q in tree.coordinates}
        found = self.conditions(tree)
        return [Holonomic(as_sympy(f), name=name) for name, f in found.items() if symbols([f]) & moving]

    _repr_html_ = html


def _half_angle(sine: Any, square: Any) -> Node:
    """s / √c, where s ~ sin θ = 2 sin(θ/2) cos(θ/2) and c ~ cos²(θ/2).

    Directions that stay parallel give zero; those that stay opposite give one, a condition that no pose meets.
    """
    s, c = lift(sine), lift(square)
    if c.op == "constant" and abs(float(c.value)) < 1e-12:
        return ONE
    return s if s is ZERO else s / apply("sqrt", c)


def _unit_quaternions(tree: BodyTree) -> dict[Node, Node]:
    """q/|q| for every quaternion: far from |q| = 1 its matrix is no rotation, and angles would have no meaning."""
    found: dict[Node, Node] = {}
    for body in tree.bodies:
        if body.kind.quaternion:
            q = [symbol(x) for x in body.coordinates[-4:]]
            length = apply("sqrt", lift(dot(q, q)))
            found |= {x: x / length for x in q}
    return found


def unit(axis: Sequence[Any]) -> Vector:
    """The direction of an axis, of length one."""
    length = math.hypot(*map(float, axis))
    return tuple(float(x) / length for x in axis)


# -- whether the loops can be closed: Gauss-Newton from the zero pose and from random ones --------------------


def refuse_open(tree: BodyTree) -> None:
    """Raise a `ModelError` with the smallest gap found if no pose closes all loops."""
    conditions = {name: f for loop in tree.loops for name, f in loop.conditions(tree).items()}
    if not conditions:
        return
    f = [*conditions.values(), *(from_sympy(norm.expression) for norm in tree.normalizations)]
    q = [symbol(x) for x in tree.coordinates]
    known = {symbol(p): float(x) for p, x in tree.parameters.items()} | {symbol(tree.time): 0.0}
    slopes = jacobian(f, q)
    random, home = np.random.default_rng(7), np.array([tree.home[x] for x in tree.coordinates])
    best = (np.inf, np.zeros(len(f)))
    for attempt in range(_starts(f, slopes)):
        x = home + (random.normal(0, 0.3 * attempt, len(q)) if attempt else 0.0)
        _, left = closed_pose(f, slopes, q, x, known)
        best = min(best, (float(np.abs(left).max()), left), key=lambda pair: pair[0])
        if best[0] < _CLOSED:
            return
    worst = {name: x for name, x in zip(conditions, best[1], strict=False) if abs(x) > _CLOSED}
    table = ", ".join(f"{name}: {x:.6g}" for name, x in worst.items())
    raise ModelError(
        f"the loops of {tree.name!r} cannot be closed",
        [Finding(f"residuals at the closest pose found: {table} (distance {np.linalg.norm(list(worst.values())):.6g}).",
                 ["Check lengths, points and axes of the bodies on the loop. To let an axis point the opposite way, "
                  "reverse other_axis."], _loop_of(tree, next(iter(worst), "")))],
    )  # fmt: skip


def _loop_of(tree: BodyTree, condition: str) -> About:
    """The loop that a condition belongs to."""
    return About("loop", next((loop.label for loop in tree.loops if condition.startswith(loop.label)), ""))


def _starts(f: list[Node], slopes: np.ndarray) -> int:
    """The number of starts: fewer for a large tree, to report one that cannot be closed within a second."""
    operations = _STEPS * (len(order(f)) + len(order(list(slopes.ravel()))))
    return int(np.clip(_WORK // operations, 2, _STARTS))


def closed_pose(
    f: list[Node], slopes: np.ndarray, q: list[Node], x: np.ndarray, known: dict[Node, float]
) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates and the residual after damped Gauss-Newton steps."""
    entries = list(slopes.ravel())
    below = {id(nodes): order(nodes) for nodes in (f, entries)}

    def at(nodes: list[Node], x: np.ndarray) -> np.ndarray:
        values = known | dict(zip(q, map(float, x), strict=True))
        try:
            return np.array(evaluate(nodes, values, below[id(nodes)]))
        except DomainError:  # a direction that points exactly the opposite way
            return np.full(len(nodes), np.inf)

    left, damping = at(f, x), 1e-3
    for _ in range(_STEPS if np.all(np.isfinite(left)) else 0):
        J = at(entries, x).reshape(slopes.shape)
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(x)), J.T @ left)
        new = at(f, x - step)
        if np.linalg.norm(new) < np.linalg.norm(left):
            x, left, damping = x - step, new, max(damping / 10, 1e-15)
        else:
            damping *= 10
        if np.abs(left).max(initial=0.0) < _CLOSED / 10 or damping > 1e6:
            break
    return x, left
