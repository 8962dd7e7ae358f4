"""A path of a body in space as servo constraints, held by the torques of the joints.

position     p_i(q) - p_i,d(t) = 0                                 for every given component
orientation  (W_kj - W_jk) / √(1 + tr W) = 0,  W = R_dᵀR            2 sin(θ/2) n of the turn from R_d(t) to R(q)
joints       q_i - q_i,d(t) = 0                                    for every given joint
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.bodies.tree import BodyTree
from vinculum.describe.constraints import Servo
from vinculum.errors import About, Finding, Formula, ModelError, call
from vinculum.graph import Node, apply, as_sympy, lift, symbol
from vinculum.graph.vectors import matrix_times, transposed
from vinculum.names import name_of, suggestion
from vinculum.units.dimensions import LENGTH
from vinculum.units.given import number_in_si

_AROUND = (("x", 1, 2), ("y", 2, 0), ("z", 0, 1))

PATH = About("path")


def servo_path(
    tree: BodyTree,
    body: str,
    path: Sequence[Any] = (None, None, None),
    point: Sequence[Any] = (0, 0, 0),
    *,
    orientation: Any = None,
    joints: Mapping[sp.Expr, Any] | None = None,
) -> list[Servo]:
    """Servo constraints that move a point of a body along p_d(t), held by all joint torques of the tree.

    Components of ``path`` that are None are free; ``orientation`` is a 3×3 matrix R_d(t), ``joints`` {coordinate:
    function of time}. Together there must be as many conditions as torques. Add them to the system with
    ``tree.system(constraints=servo_path(...))``, or use `task_path` to turn them into control laws.
    """
    torques = list(tree.inputs) if tree.loops else actuated(tree)  # in a loop some joints have no motor
    conditions = _of_position(tree, body, path, point)
    conditions |= _of_orientation(tree, body, orientation) if orientation is not None else {}
    conditions |= _of_joints(tree, joints or {})
    if len(conditions) != len(torques):
        count = f"{len(conditions)} components of the path ({', '.join(conditions)}) for {len(torques)} torques"
        raise ModelError(
            "the path does not determine the motion",
            [
                Finding(
                    f"{count}.", ["Give one condition for each torque; orientation and joints add conditions."], PATH
                )
            ],
        )
    return [Servo(as_sympy(lift(f)), through=torques, name=name) for name, f in conditions.items()]


def actuated(tree: BodyTree) -> list[sp.Expr]:
    """The torque of every coordinate; a joint without one is an error."""
    idle = [body.name for body in tree.bodies if (body.coordinates and not body.torques) or body.kind.quaternion]
    if idle:
        raise ModelError(
            f"{tree.name!r} is not fully actuated",
            [
                Finding(
                    f"the joint of {name!r} has no torque for each coordinate.",
                    ["Use ", call("Body", torque=Formula("u")), "."],
                    About("body", name),
                )
                for name in idle
            ],
        )
    return list(tree.inputs)


def _of_position(tree: BodyTree, body: str, path: Sequence[Any], point: Sequence[Any]) -> dict[str, Node]:
    if len(path) != 3:
        raise ModelError(
            "Invalid path",
            [Finding(f"it has {len(path)} components.", ["Give three; use None for a free one."], PATH)],
        )
    point = number_in_si(tuple(point), LENGTH, "point", "Invalid path")
    path = number_in_si(tuple(path), LENGTH, "path", "Invalid path")
    place, _ = tree.motion_of(body).at(nodes_of(point))
    pairs = zip("xyz", place, path, strict=True)
    return {f"{body} {key}": lift(p) - node_of(goal) for key, p, goal in pairs if goal is not None}


def _of_orientation(tree: BodyTree, body: str, orientation: Any) -> dict[str, Node]:
    wanted = sp.Matrix(orientation)
    if wanted.shape != (3, 3):
        raise ModelError("Invalid orientation", [f"its shape is {wanted.shape}. Give a 3×3 rotation matrix."])
    W = matrix_times(transposed([nodes_of(wanted.row(i)) for i in range(3)]), tree.motion_of(body).R)
    size = apply("sqrt", lift(1 + W[0][0] + W[1][1] + W[2][2]))
    return {f"{body} turn {key}": lift((W[k][j] - W[j][k]) / size) for key, j, k in _AROUND}


def _of_joints(tree: BodyTree, joints: Mapping[sp.Expr, Any]) -> dict[str, Node]:
    unknown = [q for q in joints if q not in tree.coordinates]
    if unknown:
        near = suggestion(name_of(unknown[0]), map(name_of, tree.coordinates))
        raise ModelError(
            "Invalid path",
            [Finding(f"{name_of(unknown[0])} is not a coordinate of the tree.{near}", about=PATH)],
        )
    return {f"{name_of(q)} path": symbol(q) - node_of(goal) for q, goal in joints.items()}
