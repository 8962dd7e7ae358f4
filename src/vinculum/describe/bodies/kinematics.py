"""Positions, rotations and velocities of the bodies, traced through the graph in the user's frames.

Along a path, from a parent p to its child a:   R_a = R_p C Rot(q),  ω_a = Rot(q)ᵀ Cᵀ ω_p + (joint),
v_a = Rot(q)ᵀ Cᵀ (v_p + [ω_p, r_a]) + (joint), with velocities in the axes of the body they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vinculum.expressions import as_expression
from vinculum.graph import Node, from_sympy, lift, symbol
from vinculum.graph.vectors import Matrix, Vector, cross, dot, matrix_times, plus, times, transposed

if TYPE_CHECKING:
    from vinculum.describe.bodies.body import Body
    from vinculum.describe.bodies.tree import BodyTree


@dataclass(frozen=True, eq=False)
class Motion:
    """The pose and velocity of a body."""

    R: Matrix  # the body's axes as columns, in inertial axes
    p: Vector  # the body's origin, inertial axes
    omega: Vector  # angular velocity, body axes
    v: Vector  # velocity of the origin, body axes

    def at(self, point: Vector) -> tuple[Vector, Vector]:
        """Position and velocity of a point fixed in the body, both in inertial axes."""
        return plus(self.p, times(self.R, point)), times(self.R, plus(self.v, cross(self.omega, point)))


def node_of(value: Any) -> Node:
    """A number or SymPy expression as a node."""
    if isinstance(value, (int, float)):
        return lift(value)
    return from_sympy(as_expression(value))


def nodes_of(values: Sequence[Any]) -> tuple[Node, ...]:
    """A vector of numbers or SymPy expressions as nodes."""
    return tuple(node_of(value) for value in values)


def rates_of(quaternion: Sequence[Any], rates: Sequence[Any]) -> Vector:
    """ω = 2 E(q) q̇ in body axes, for a unit quaternion (w, x, y, z)."""
    return tuple(2 * dot(row, rates) for row in quaternion_rows(quaternion))


def quaternion_rows(quaternion: Sequence[Any]) -> Matrix:
    """E(q) (3, 4) of ω = 2 E(q) q̇ in body axes."""
    w, x, y, z = quaternion
    return ((-x, w, z, -y), (-y, -z, w, x), (-z, y, -x, w))


def quaternion_matrix(quaternion: Sequence[Any]) -> Matrix:
    """The rotation of a unit quaternion (w, x, y, z), body axes as columns."""
    w, x, y, z = quaternion
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def base_motion(tree: BodyTree) -> Motion:
    """The motion of the base, with velocities in its own axes; positions are relative to a base of unknown place."""
    base = tree.base
    R = tuple(nodes_of(base.rotation.row(i)) for i in range(3))
    velocity, omega = nodes_of(base.velocity), nodes_of(base.angular_velocity)
    place = base.place if base.place is not None else (0, 0, 0)
    return Motion(R, nodes_of(place), times(transposed(R), omega), times(transposed(R), velocity))


def motions(tree: BodyTree) -> Mapping[str | None, Motion]:
    """The motion of every body, the base under the key None."""
    found: dict[str | None, Motion] = {None: base_motion(tree)}
    for name in tree.order:
        body = tree.body(name)
        found[name] = _attach(body, found[body.parent])
    return found


def _attach(body: Body, parent: Motion) -> Motion:
    origin = nodes_of(body.origin)
    p, _ = parent.at(origin)
    C = tuple(tuple(lift(x) for x in row) for row in body.turned)
    inward = transposed(C)
    v = times(inward, plus(parent.v, cross(parent.omega, origin)))
    motion = Motion(matrix_times(parent.R, C), p, times(inward, parent.omega), v)
    for part in body.parts:
        q = [symbol(body.coordinates[i]) for i in part.places]
        rates = [symbol(body.rates[i]) for i in part.places]
        motion = part.joint.move(motion, tuple(lift(x) for x in part.axis), q, rates)
    return motion


def turn_motion(motion: Motion, R: Matrix, own: Vector) -> Motion:
    """The motion after a rotation R that adds ``own`` to the angular velocity."""
    inward = transposed(R)
    omega = plus(times(inward, motion.omega), own)
    return Motion(matrix_times(motion.R, R), motion.p, omega, times(inward, motion.v))
