"""Contacts: bodies that roll on a plane or slide like a blade.

Two wheels on one axle cannot slip sideways independently, and the fourth wheel of a cart touches the ground where the
other three do. Conditions that other contacts imply are omitted: a row of the Jacobian that is a combination of earlier
rows at every one of several states in general position on the constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.describe.bodies.closures import closed_pose, unit
from vinculum.describe.bodies.joints import across
from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic
from vinculum.errors import DomainError, ModelError
from vinculum.graph import Node, apply, as_sympy, evaluate, from_sympy, jacobian, lift, symbol, symbols
from vinculum.graph.vectors import Vector, cross, dot, minus, plus, scaled, times
from vinculum.notebook_repr import html
from vinculum.units.dimensions import LENGTH
from vinculum.units.given import fields_in_si

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree

_STATES, _ATTEMPTS = 4, 40
_DEPENDENT = 1e-8  # a row depends on earlier ones if its part across them is this small, rows of unit length


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

    def __post_init__(self) -> None:
        fields_in_si(self, dict.fromkeys(("radius", "center", "height"), LENGTH), "Invalid rolling contact")

    def check(self, tree: BodyTree) -> None:
        """The body must exist, the directions must be nonzero, and the plane must have a known place."""
        _ = tree.base.position
        tree.body(self.body)
        if not any(self.normal) or (self.axis is not None and not any(self.axis)):
            raise ModelError(f"Invalid contact of {self.body!r}", ["an axis or the normal has no direction."])

    def arm(self, tree: BodyTree) -> tuple[Vector, Any]:
        """From the center to the point of contact, inertial axes, and the height of the center above the plane."""
        n, r = tuple(lift(x) for x in unit(self.normal)), node_of(self.radius)
        if self.axis is None:
            return scaled(-r, n), r
        a = times(tree.motion_of(self.body).R, tuple(lift(x) for x in unit(self.axis)))
        down = minus(n, scaled(dot(n, a), a))  # from the contact to the center, of length cos(lean)
        upright = apply("sqrt", lift(dot(down, down)))
        return scaled(-r / upright, down), r * upright

    def directions(self, tree: BodyTree) -> dict[str, Vector]:
        """Unit vectors of the plane by name: of a disk its heading and its axle, of a ball two fixed ones."""
        n = tuple(lift(x) for x in unit(self.normal))
        if self.axis is None:
            return dict(zip("uv", across(unit(self.normal)), strict=True))
        ahead = cross(times(tree.motion_of(self.body).R, tuple(lift(x) for x in unit(self.axis))), n)
        ahead = scaled(1 / apply("sqrt", lift(dot(ahead, ahead))), ahead)
        return {"along": ahead, "across": cross(n, ahead)}

    def constraints(self, tree: BodyTree) -> list[Constraint]:
        """The height, then the velocity of the point of contact in two directions."""
        motion, label = tree.motion_of(self.body), self.name or f"{self.body} rolling"
        place, velocity = motion.at(nodes_of(self.center))
        arm, height = self.arm(tree)
        n = tuple(lift(x) for x in unit(self.normal))
        level = lift(dot(n, place) - node_of(self.height) - height)
        slip = plus(velocity, cross(times(motion.R, motion.omega), arm))
        found: list[Constraint] = []
        if symbols([level]) & {symbol(q) for q in tree.coordinates}:
            found.append(Holonomic(as_sympy(level), name=f"{label} height"))
        for key, side in self.directions(tree).items():
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

    def __post_init__(self) -> None:
        fields_in_si(self, dict.fromkeys(("point",), LENGTH), "Invalid sliding contact")

    def check(self, tree: BodyTree) -> None:
        """The body must exist and the direction must be nonzero."""
        tree.body(self.body)
        if not any(self.across):
            raise ModelError(f"Invalid contact of {self.body!r}", ["its direction is zero."])

    def constraints(self, tree: BodyTree) -> list[Constraint]:
        """(e, v) = 0."""
        motion = tree.motion_of(self.body)
        v = plus(motion.v, cross(motion.omega, nodes_of(self.point)))
        sideways = lift(dot(tuple(lift(x) for x in unit(self.across)), v))
        return [Nonholonomic(as_sympy(sideways), name=self.name or f"{self.body} blade")]

    _repr_html_ = html


# -- conditions that other contacts imply ----------------------------------------------------------------------


def implied(tree: BodyTree, constraints: Sequence[Constraint]) -> set[str]:
    """Names of the conditions of contacts that the other constraints imply, at states in general position."""
    held = [*tree.normalizations, *constraints]
    ours = {c.name for contact in tree.contacts for c in contact.constraints(tree)}
    if len(tree.contacts) < 2:
        return set()
    position = [from_sympy(c.expression) for c in held if isinstance(c, Holonomic)]
    q, v = ([symbol(x) for x in keys] for keys in (tree.coordinates, tree.velocities))
    slopes = iter(jacobian(position, q))
    rows = [next(slopes) if isinstance(c, Holonomic) else jacobian([from_sympy(c.expression)], v)[0] for c in held]
    states = list(_states(tree, position, q))
    found: set[str] = set()
    for k, constraint in enumerate(held):
        before = [i for i in range(k) if held[i].name not in found and _comparable(held[i], constraint)]
        if (
            constraint.name in ours
            and states
            and all(_depends(rows[k], [rows[i] for i in before], at) for at in states)
        ):
            found.add(constraint.name)
    return found


def _comparable(earlier: Constraint, constraint: Constraint) -> bool:
    """A holonomic condition may follow only from holonomic ones."""
    return isinstance(earlier, Holonomic) or not isinstance(constraint, Holonomic)


def _states(tree: BodyTree, position: list[Node], q: list[Node]) -> Any:
    """Numbers for q and the parameters at poses in general position that meet the holonomic constraints."""
    random = np.random.default_rng(11)
    known = {symbol(p): float(x) for p, x in tree.parameters.items()} | {symbol(tree.time): 0.3}
    home, count = np.array([tree.home[x] for x in tree.coordinates]), 0
    slopes = jacobian(position, q)
    for _ in range(_ATTEMPTS):
        x, left = closed_pose(position, slopes, q, home + random.normal(0, 0.4, len(q)), known)
        if np.all(np.abs(left) < 1e-9):
            count += 1
            yield known | dict(zip(q, map(float, x), strict=True))
        if count == _STATES:
            return


def _depends(row: np.ndarray, others: Sequence[np.ndarray], at: dict[Node, float]) -> bool:
    """Whether a row is a combination of others at a state."""
    try:
        b, *A = (np.array(evaluate(list(r), at)) for r in (row, *others))
    except DomainError:
        return False
    size = np.linalg.norm(b)
    if not A or not size:
        return not size
    rows = np.array(A).T / np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    left = b / size - rows @ np.linalg.lstsq(rows, b / size, rcond=1e-10)[0]
    return bool(np.linalg.norm(left) < _DEPENDENT)
