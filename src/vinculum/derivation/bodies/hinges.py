"""The tree as elementary hinges in frames of our choice, with base parameters regrouped.

Frames: z along the hinge axis, x along the common perpendicular to the first outboard axis (Denavit-Hartenberg), which
uses the freedom of α_ab in Lemma 1 to make the constant rotations sparse. Where geometry has symbols in it, or axes are
nearly parallel, the frame stays at the user's origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.derivation.bodies.frames import (
    HERE,
    NOTHING,
    SMALL_ANGLE,
    Pose,
    about_origin,
    add_inertias,
    carry_in,
    in_frame,
    is_number,
    lift_matrix,
    move_inertia,
    screws,
    tidy,
)
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.joints import Elementary, across
from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.bodies.transforms import Inertia, Shift, Stage, Turn, screw, snap
from vinculum.graph import ZERO, Node, lift, symbol


@dataclass(frozen=True, eq=False)
class Hinge:
    """An elementary joint in its place and what it carries."""

    joint: Elementary
    parent: int  # -1: the ground
    stages: tuple[Stage, ...]  # from the parent's frame to this one
    inertia: Inertia  # regrouped, about the origin of this frame
    rotor: Node  # G² J_m
    q: tuple[Node, ...]
    v: tuple[Node, ...]  # q̇


@dataclass(eq=False)
class _Raw:
    """A hinge as the user gave it: ``pose`` of its frame in the parent hinge's frame, ``axis`` in its own."""

    joint: Elementary
    parent: int
    pose: Pose
    axis: np.ndarray
    rotor: Node
    q: tuple[Node, ...]
    v: tuple[Node, ...]
    inertia: Inertia
    frame: Pose = HERE  # our frame in the user's


def hinges(tree: BodyTree, regroup: bool = True) -> list[Hinge]:
    """All elementary hinges, parents first, branches together."""
    raw = _raw_hinges(tree)
    for i, hinge in enumerate(raw):
        hinge.frame = _frame(hinge, [child for child in raw if child.parent == i])
    stages = [_stages(hinge, raw[hinge.parent].frame if hinge.parent >= 0 else HERE) for hinge in raw]
    carried = [in_frame(hinge.inertia, hinge.frame) for hinge in raw]
    if regroup:
        for i in reversed(range(len(raw))):
            carried[i], rod = raw[i].joint.split(carried[i])
            if raw[i].parent >= 0 and rod is not None:
                carried[raw[i].parent] = add_inertias(carried[raw[i].parent], carry_in(stages[i], raw[i].joint, rod))
    return [
        Hinge(h.joint, h.parent, s, tidy(inertia), h.rotor, h.q, h.v)
        for h, s, inertia in zip(raw, stages, carried, strict=True)
    ]


def _raw_hinges(tree: BodyTree) -> list[_Raw]:
    found: list[_Raw] = []
    place: dict[str | None, tuple[int, Pose]] = {None: (-1, HERE)}  # last hinge and frame of the body in its frame
    for name in tree.order:
        body = tree.body(name)
        parent, frame = place[body.parent]
        pose = frame.then(Pose(snap(body.turned), np.array(nodes_of(body.origin), dtype=object)))
        inertia = about_origin(body)
        for part in body.parts:
            rates = body.coordinates
            q = tuple(symbol(rates[i]) for i in part.places)
            v = tuple(symbol(rates[i].diff(rates[i].args[0])) for i in part.places)
            rotor = _rotor(body, part.places[0]) if part.joint.axial else ZERO
            found.append(_Raw(part.joint, parent, pose, np.array(part.axis), rotor, q, v, NOTHING))
            parent, pose = len(found) - 1, HERE
        if parent >= 0:
            found[parent].inertia = add_inertias(found[parent].inertia, move_inertia(inertia, pose))
        place[name] = (parent, pose)
    return found


def _rotor(body: Any, i: int) -> Node:
    return node_of(body.each("gear_ratio")[i]) ** 2 * node_of(body.each("rotor_inertia")[i])


def _frame(hinge: _Raw, children: Sequence[_Raw]) -> Pose:
    """Our frame in the user's: z along the axis, x and origin on the common perpendicular to the first child's."""
    if not hinge.joint.axial:
        return HERE
    n = hinge.axis
    first, second = (np.array(x) for x in across(list(n)))
    plain = Pose(snap(np.column_stack([first, second, n])), np.zeros(3))
    child = next((c for c in children if c.pose.numeric), None)
    if child is None or len(children) == 0 or any(not c.pose.numeric for c in children):
        return _towards(plain, _center(hinge.inertia)) if not children else plain
    place = child.pose.origin
    u = child.pose.R @ child.axis
    common = np.cross(n, u)
    sine = np.linalg.norm(common)
    if not child.joint.axial or sine < 1e-12:
        return _towards(plain, place)
    if sine < SMALL_ANGLE or not child.joint.line:
        return _with_x(plain, common / sine, np.zeros(3)) if sine > SMALL_ANGLE else plain
    along = float(np.dot(np.cross(place, u), common)) / sine**2  # n·along is the foot of the perpendicular
    if abs(along) > 10 * (np.linalg.norm(place) + 1e-3):
        return plain
    return _with_x(plain, common / sine, along * n)


def _center(inertia: Inertia) -> np.ndarray:
    m, h = inertia[0], inertia[1]
    if not all(is_number(lift(x)) for x in (m, *h)) or lift(m) is ZERO:
        return np.zeros(3)
    return np.array([float(lift(x).value) for x in h]) / float(lift(m).value)


def _towards(plain: Pose, point: np.ndarray) -> Pose:
    """x towards a point, where it lies off the axis."""
    n = plain.R[:, 2]
    across_axis = point - np.dot(point, n) * n
    length = np.linalg.norm(across_axis)
    return _with_x(plain, across_axis / length, np.zeros(3)) if length > 1e-9 else plain


def _with_x(plain: Pose, x: np.ndarray, origin: np.ndarray) -> Pose:
    n = plain.R[:, 2]
    return Pose(snap(np.column_stack([x, np.cross(n, x), n])), origin)


def _stages(hinge: _Raw, parent: Pose) -> tuple[Stage, ...]:
    """Constant steps, then the step of the joint coordinate."""
    constant = hinge.pose.then(hinge.frame).seen_from(parent)
    if not hinge.joint.axial:
        turn = () if np.array_equal(constant.R, np.eye(3)) else (Turn(lift_matrix(constant.R)),)
        return (Shift(tuple(lift(x) for x in constant.p)), *turn, hinge.joint.step(hinge.q, 0.0, ZERO))
    shift, gamma, alpha, delta, (d0, a, d) = screws(constant)
    steps: list[Stage] = [Shift(tuple(lift(x) for x in shift))] if shift is not None else []
    if gamma or d0:
        steps.append(screw(2, gamma, d0))
    if alpha or a:
        steps.append(screw(0, alpha, a))
    return (*steps, hinge.joint.step(hinge.q, delta, d))
