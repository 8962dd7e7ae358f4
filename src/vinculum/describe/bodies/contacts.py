"""Bodies that roll on a plane or slide along a blade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vinculum.describe.bodies.joints import across
from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.bodies.loops import _unit
from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic
from vinculum.errors import ModelError
from vinculum.graph import apply, as_sympy, lift, symbol, symbols
from vinculum.graph.vectors import Vector, cross, dot, minus, plus, scaled, times
from vinculum.notebook_repr import html

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree


@dataclass(frozen=True, eq=False)
class Rolling:
    """A ball, or with ``axis`` (in the body's frame) a thin disk, that rolls on a plane without slipping.

    The center stands at the radius above the plane (a holonomic constraint) and the point of contact does not move
    along it (two nonholonomic ones). The plane is {r: (normal, r) = height}, inertial axes.
    """

    body: str
    radius: Any
    center: Sequence[Any] = (0, 0, 0)
    axis: Sequence[float] | None = None
    normal: Sequence[float] = (0, 0, 1)
    height: Any = 0
    name: str = ""

    def check(self, tree: BodyTree) -> None:
        """The body must exist and the directions have a length."""
        tree.body(self.body)
        if not any(self.normal) or (self.axis is not None and not any(self.axis)):
            raise ModelError(f"the contact of {self.body!r} is not usable", ["an axis or the normal has no direction."])

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
        """Height, then the velocity of the point of contact in two directions."""
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
        """The body must exist and the direction have a length."""
        tree.body(self.body)
        if not any(self.across):
            raise ModelError(f"the contact of {self.body!r} is not usable", ["its direction has no length."])

    def constraints(self, tree: BodyTree) -> list[Constraint]:
        """(e, v) = 0."""
        motion = tree.motion_of(self.body)
        v = plus(motion.v, cross(motion.omega, nodes_of(self.point)))
        sideways = lift(dot(tuple(lift(x) for x in _unit(self.across)), v))
        return [Nonholonomic(as_sympy(sideways), name=self.name or f"{self.body} blade")]

    _repr_html_ = html
