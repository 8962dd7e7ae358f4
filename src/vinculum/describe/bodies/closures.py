"""Constraints that close a tree: loops (a second joint between two bodies) and contacts (bodies that roll or slide).

| kind  | what coincides                                       | conditions |
|-------|------------------------------------------------------|------------|
| point | a point of each body (ball joint)                    | 3          |
| line  | an axis of each body, free to slide (cylindrical)    | 4          |
| axis  | a point and an axis of each body (revolute)          | 5          |
| frame | a point and all axes (weld)                          | 6          |

Conditions that the structure of the tree already satisfies (the z components of a planar mechanism) are omitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.describe.bodies.joints import across
from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic
from vinculum.errors import About, Finding, ModelError
from vinculum.graph import Node, apply, as_sympy, evaluate, from_sympy, jacobian, lift, symbol, symbols
from vinculum.graph.traverse import order
from vinculum.graph.vectors import Vector, cross, dot, minus, plus, scaled, times, transposed
from vinculum.notebook_repr import html

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree

KINDS = ("point", "line", "axis", "frame")
_CLOSED, _STARTS, _STEPS = 1e-9, 12, 60
_WORK = 500_000  # operations, summed over all starts


@dataclass(frozen=True, eq=False)
class Loop:
    """``point`` of body ``first`` meets ``other_point`` of body ``second`` (None: the ground).

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
        """The loop's name, or the names of both bodies."""
        return self.name or f"{self.first or 'base'}-{self.second or 'base'}"

    def check(self, tree: BodyTree) -> None:
        """Check names and shapes; the tree checks whether the loop can be closed."""
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
        """The nodes that are zero when the loop is closed, by name."""
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


@dataclass(frozen=True, eq=False)
class Rolling:
    """A ball, or with ``axis`` (in the body's frame) a thin disk, that rolls on a plane without slipping.

    The lowest point stays on the plane (a holonomic constraint) and the point of contact does not slip along it (two
    nonholonomic constraints). The plane is {r: (normal, r) = height}, inertial axes.
    """

    body: str
    radius: Any
    center: Sequence[Any] = (0, 0, 0)
    axis: Sequence[float] | None = None
    normal: Sequence[float] = (0, 0, 1)
    height: Any = 0
    name: str = ""

    def check(self, tree: BodyTree) -> None:
        """The body must exist and the directions must be nonzero."""
        tree.body(self.body)
        if not any(self.normal) or (self.axis is not None and not any(self.axis)):
            raise ModelError(f"Invalid contact of {self.body!r}", ["an axis or the normal has no direction."])

    def arm(self, tree: BodyTree) -> tuple[Vector, Any]:
        """From the center to the point of contact, inertial axes, and the height of the center above the plane."""
        n, r = tuple(lift(x) for x in _unit(self.normal)), node_of(self.radius)
        if self.axis is None:
            return scaled(-r, n), r
        a = times(tree.motion_of(self.body).R, tuple(lift(x) for x in _unit(self.axis)))
        down = minus(n, scaled(dot(n, a), a))  # from the contact to the center, of length cos(lean)
        upright = apply("sqrt", lift(dot(down, down)))
        return scaled(-r / upright, down), r * upright

    def constraints(self, tree: BodyTree) -> list[Constraint]:
        """The height, then the velocity of the point of contact in two directions."""
        motion, label = tree.motion_of(self.body), self.name or f"{self.body} rolling"
        place, velocity = motion.at(nodes_of(self.center))
        arm, height = self.arm(tree)
        n = tuple(lift(x) for x in _unit(self.normal))
        level = lift(dot(n, place) - node_of(self.height) - height)
        slip = plus(velocity, cross(times(motion.R, motion.omega), arm))
        found: list[Constraint] = []
        if symbols([level]) & {symbol(q) for q in tree.coordinates}:
            found.append(Holonomic(as_sympy(level), name=f"{label} height"))
        for key, side in zip("uv", across(_unit(self.normal)), strict=True):
            along = lift(dot(tuple(lift(x) for x in side), slip))
            found.append(Nonholonomic(as_sympy(along), name=f"{label} {key}"))
        return found

    _repr_html_ = html


@dataclass(frozen=True, eq=False)
class Sliding:
    """A blade or wheel at a point of a body: no velocity along ``across`` (in the body's frame), free otherwise."""

    body: str
    across: Sequence[float]
    point: Sequence[Any] = (0, 0, 0)
    name: str = ""

    def check(self, tree: BodyTree) -> None:
        """The body must exist and the direction must be nonzero."""
        tree.body(self.body)
        if not any(self.across):
            raise ModelError(f"Invalid contact of {self.body!r}", ["its direction is zero."])

    def constraints(self, tree: BodyTree) -> list[Constraint]:
        """(e, v) = 0."""
        motion = tree.motion_of(self.body)
        v = plus(motion.v, cross(motion.omega, nodes_of(self.point)))
        sideways = lift(dot(tuple(lift(x) for x in _unit(self.across)), v))
        return [Nonholonomic(as_sympy(sideways), name=self.name or f"{self.body} blade")]

    _repr_html_ = html


def _unit(axis: Sequence[Any]) -> Vector:
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
    random = np.random.default_rng(7)
    best = (np.inf, np.zeros(len(f)))
    for attempt in range(_starts(f, slopes)):
        x = home(tree) + (random.normal(0, 0.3 * attempt, len(q)) if attempt else 0.0)
        left = _close(f, slopes, q, x, known)
        best = min(best, (float(np.abs(left).max()), left), key=lambda pair: pair[0])
        if best[0] < _CLOSED:
            return
    worst = {name: x for name, x in zip(conditions, best[1], strict=False) if abs(x) > _CLOSED}
    table = ", ".join(f"{name}: {x:.6g}" for name, x in worst.items())
    raise ModelError(
        f"the loops of {tree.name!r} cannot be closed",
        [Finding(f"residuals at the closest pose found: {table} (distance {np.linalg.norm(list(worst.values())):.6g}).",
                 ["Check lengths, points and axes of the bodies on the loop."], _loop_of(tree, next(iter(worst), "")))],
    )  # fmt: skip


def _loop_of(tree: BodyTree, condition: str) -> About:
    """The loop that a condition belongs to."""
    return About("loop", next((loop.label for loop in tree.loops if condition.startswith(loop.label)), ""))


def _starts(f: list[Node], slopes: np.ndarray) -> int:
    """The number of starts: fewer for a large tree, to report one that cannot be closed within a second."""
    operations = _STEPS * (len(order(f)) + len(order(list(slopes.ravel()))))
    return int(np.clip(_WORK // operations, 2, _STARTS))


def home(tree: BodyTree) -> np.ndarray:
    """Zero coordinates; quaternions of the identity rotation."""
    return np.array([x for body in tree.bodies for part in body.parts for x in part.joint.home])


def _close(f: list[Node], slopes: np.ndarray, q: list[Node], x: np.ndarray, known: dict[Node, float]) -> np.ndarray:
    """The residual after damped Gauss-Newton steps."""
    entries = list(slopes.ravel())
    below = {id(nodes): order(nodes) for nodes in (f, entries)}

    def at(nodes: list[Node], x: np.ndarray) -> np.ndarray:
        values = known | dict(zip(q, map(float, x), strict=True))
        return np.array(evaluate(nodes, values, below[id(nodes)]))

    left, damping = at(f, x), 1e-3
    for _ in range(_STEPS):
        J = at(entries, x).reshape(slopes.shape)
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(x)), J.T @ left)
        new = at(f, x - step)
        if np.linalg.norm(new) < np.linalg.norm(left):
            x, left, damping = x - step, new, max(damping / 10, 1e-15)
        else:
            damping *= 10
        if np.abs(left).max() < _CLOSED / 10 or damping > 1e6:
            break
    return left
