"""The tree as elementary hinges in frames of our choice, with base parameters regrouped.

Frames: z along the hinge axis, x along the common perpendicular to the first outboard axis (Denavit-Hartenberg), which
uses the freedom of α_ab in Lemma 1 to make the constant rotations sparse. Where the geometry contains symbols, or axes
are nearly parallel, the frame stays at the user's origin.

The displacement between two constant frames is a z-screw, an x-screw and a z-screw: Z(γ, d0) X(α, a) Z(δ, d).
Inertias (m, h, Σ) are moved between frames with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.joints import Elementary, across
from vinculum.describe.bodies.kinematics import node_of
from vinculum.describe.bodies.transforms import (
    ROUNDING,
    Inertia,
    Shift,
    Stage,
    Turn,
    matrix_plus,
    plain,
    plain_inertia,
    plain_stage,
    screw,
    snap,
)
from vinculum.graph import ZERO, Node, apply, evaluate, lift, symbol
from vinculum.graph.vectors import cross, dot, plus

SMALL_ANGLE = 1e-3  # axes closer to parallel than this get no common perpendicular


@dataclass(frozen=True, eq=False)
class Pose:
    """A constant frame: axes as columns R (3, 3), origin p (3), each of numbers or of nodes."""

    R: np.ndarray
    p: np.ndarray

    def then(self, other: Pose) -> Pose:
        """The frame ``other``, given in this one."""
        return Pose(_snapped(self.R @ other.R), self.p + self.R @ other.p)

    def seen_from(self, frame: Pose) -> Pose:
        """This frame in the axes of another."""
        return Pose(_snapped(frame.R.T @ self.R), frame.R.T @ (self.p - frame.p))

    @property
    def numeric(self) -> bool:
        """Whether axes and origin are made of numbers."""
        return self.p.dtype != object and self.R.dtype != object

    @property
    def origin(self) -> np.ndarray:
        """p as floats."""
        return self.p


def _snapped(R: np.ndarray) -> np.ndarray:
    return R if R.dtype == object else snap(R)


HERE = Pose(np.eye(3), np.zeros(3))
_EYE = np.eye(3).tolist()


def screws(pose: Pose) -> tuple[Any, float, float, float, tuple[float, float, float]]:
    """(shift or None, γ, α, δ, (d0, a, d)) with pose = Z(γ, d0) X(α, a) Z(δ, d), after a shift if needed."""
    R = pose.R
    sine = float(np.hypot(R[0, 2], R[1, 2]))
    alpha = float(np.arctan2(sine, R[2, 2]))
    none = (0.0, 0.0, 0.0)
    if sine < ROUNDING:
        p = pose.origin if pose.numeric else np.zeros(3)
        gamma = float(np.arctan2(p[1], p[0])) if np.hypot(p[0], p[1]) > 1e-12 else 0.0
        alpha = 0.0 if R[2, 2] > 0 else float(np.pi)
        turned = np.array([[np.cos(gamma), np.sin(gamma)], [-np.sin(gamma), np.cos(gamma)]]) @ R[:2, :2]
        delta = float(np.arctan2(turned[1, 0], turned[0, 0])) * (1 if R[2, 2] > 0 else -1)
        if not pose.numeric:
            return pose.p, gamma, alpha, delta, none
        gamma, delta = (x if abs(x) > ROUNDING else 0.0 for x in (gamma, delta))
        return None, gamma, alpha, delta, (float(p[2]), float(np.hypot(p[0], p[1])), 0.0)
    gamma = float(np.arctan2(R[0, 2], -R[1, 2]))
    x = (
        np.cos(gamma) * R[0] + np.sin(gamma) * R[1]
    )  # (cos δ, -sin δ, 0), also where nearly parallel axes leave γ to chance
    delta = float(np.arctan2(-x[1], x[0]))
    gamma, delta = (x if abs(x) > ROUNDING else 0.0 for x in (gamma, delta))
    if not pose.numeric or sine < SMALL_ANGLE:
        moves = any(lift(x) is not ZERO for x in pose.p)
        return pose.p if moves else None, gamma, alpha, delta, none
    p = pose.origin
    x, y = np.cos(gamma) * p[0] + np.sin(gamma) * p[1], np.cos(gamma) * p[1] - np.sin(gamma) * p[0]
    d = -float(y) / sine
    lengths = np.array([p[2] - d * R[2, 2], x, d])
    lengths[np.abs(lengths) < ROUNDING * max(1e-3, float(np.abs(lengths).max()))] = 0.0
    return None, gamma, alpha, delta, (float(lengths[0]), float(lengths[1]), float(lengths[2]))


NOTHING: Inertia = (0, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0)))


def about_origin(body: Any) -> Inertia:
    """m, h, Σ about the body's origin; Σ = ½ tr(J) 1 - J + m c cᵀ."""
    m, c = scalar_of(body.mass), [scalar_of(x) for x in body.center_of_mass]
    J = [[scalar_of(x) for x in row] for row in body.inertia_matrix]
    half = (J[0][0] + J[1][1] + J[2][2]) / 2
    S = [[(half if i == j else 0) - J[i][j] + m * c[i] * c[j] for j in range(3)] for i in range(3)]
    return m, tuple(m * x for x in c), tuple(map(tuple, S))


def scalar_of(value: Any) -> Any:
    """A float, or the node of an expression with symbols."""
    return float(value) if isinstance(value, (int, float)) else plain(node_of(value))


def place_of(origin: Sequence[Any]) -> np.ndarray:
    """A vector (3) of floats, or of nodes if it contains symbols."""
    entries = [scalar_of(x) for x in origin]
    symbolic = any(isinstance(x, Node) for x in entries)
    return np.array([lift(x) for x in entries] if symbolic else entries, dtype=object if symbolic else float)


def move_inertia(inertia: Inertia, pose: Pose) -> Inertia:
    """Inertia of a body whose frame is at ``pose``, about the origin of the outer frame."""
    R = pose.R.tolist()
    return Shift(tuple(pose.p.tolist())).inertia(inertia if R == _EYE else Turn(R).inertia(inertia))


def in_frame(inertia: Inertia, frame: Pose) -> Inertia:
    """Inertia in our frame, given in the user's."""
    return move_inertia(inertia, HERE.seen_from(frame))


def lift_matrix(R: np.ndarray) -> tuple[tuple[Node, ...], ...]:
    """A matrix as nodes."""
    return tuple(tuple(lift(x) for x in row) for row in R)


def add_inertias(a: Inertia, b: Inertia) -> Inertia:
    """Two bodies as one."""
    return a[0] + b[0], plus(a[1], b[1]), matrix_plus(a[2], b[2])


def carry_in(stages: Sequence[Stage], joint: Elementary, rod: Inertia) -> Inertia:
    """The rod in the parent's frame; independent of the joint coordinate."""
    at_zero = [*stages[:-1], joint.at_zero(stages[-1])]
    for stage in reversed(at_zero):
        rod = plain_stage(stage).inertia(rod)
    return rod


def tidy(inertia: Inertia) -> Inertia:
    """Replace numbers that are zero up to rounding by zero."""
    m, h, S = inertia
    sizes = [abs(x) for x in [*h, *(y for row in S for y in row)] if is_number(x)]
    limit = ROUNDING * max(sizes, default=0.0)

    def clean(x: Any) -> Node:
        return ZERO if is_number(x) and abs(x) < limit else lift(x)

    return lift(m), tuple(clean(x) for x in h), tuple(tuple(clean(x) for x in row) for row in S)


def is_number(x: Any) -> bool:
    """Whether a scalar is a plain number."""
    return isinstance(x, (int, float))


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

    @property
    def numeric(self) -> bool:
        """Whether its place and direction are made of numbers."""
        return self.pose.numeric and self.axis.dtype != object


def hinges(tree: BodyTree, regroup: bool = True) -> list[Hinge]:
    """All elementary hinges, parents first, branches together."""
    raw = _raw_hinges(tree)
    children: list[list[_Raw]] = [[] for _ in raw]
    for hinge in raw:
        if hinge.parent >= 0:
            children[hinge.parent].append(hinge)
    for hinge, own in zip(raw, children, strict=True):
        hinge.frame = _frame(hinge, own) if hinge.axis.dtype != object else _symbolic_frame(hinge, tree.parameters)
    stages = [_stages(hinge, raw[hinge.parent].frame if hinge.parent >= 0 else HERE) for hinge in raw]
    carried = [in_frame(hinge.inertia, hinge.frame) for hinge in raw]
    if regroup:
        for i in reversed(range(len(raw))):
            kept, rod = raw[i].joint.split(carried[i])
            carried[i] = plain_inertia(kept)
            if raw[i].parent >= 0 and rod is not None:
                moved = carry_in(stages[i], raw[i].joint, plain_inertia(rod))
                carried[raw[i].parent] = add_inertias(carried[raw[i].parent], moved)
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
        pose = frame.then(Pose(_snapped(body.turned), place_of(body.origin)))
        inertia = about_origin(body)
        for part in body.parts:
            q = tuple(symbol(body.coordinates[i]) for i in part.places)
            v = tuple(symbol(body.rates[i]) for i in part.places)
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
    child = next((c for c in children if c.numeric), None)
    if child is None or any(not c.numeric for c in children):
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


def _symbolic_frame(hinge: _Raw, parameters: Mapping[Any, float]) -> Pose:
    """z along an axis with symbols, x across it and the coordinate axis from which it is farthest at their values."""
    n = tuple(hinge.axis)
    at = evaluate(n, {symbol(p): float(x) for p, x in parameters.items()})
    aside = cross(n, tuple(float(i == int(np.argmin(np.abs(at)))) for i in range(3)))
    size = apply("sqrt", lift(dot(aside, aside)))
    x = tuple(lift(a) / size for a in aside)
    columns = (x, cross(n, x), n)
    return Pose(np.array([[lift(column[i]) for column in columns] for i in range(3)], dtype=object), np.zeros(3))


def _center(inertia: Inertia) -> np.ndarray:
    m, h = inertia[0], inertia[1]
    if not all(is_number(x) for x in (m, *h)) or m == 0:
        return np.zeros(3)
    return np.array(h) / m


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
        turn = () if constant.R.tolist() == _EYE else (Turn(lift_matrix(constant.R)),)
        return (Shift(tuple(lift(x) for x in constant.p)), *turn, hinge.joint.step(hinge.q, 0.0, ZERO))
    if constant.R.dtype == object:
        shift = Shift(tuple(lift(x) for x in constant.p))
        return shift, Turn(lift_matrix(constant.R)), hinge.joint.step(hinge.q, 0.0, ZERO)
    shift, gamma, alpha, delta, (d0, a, d) = screws(constant)
    steps: list[Stage] = [Shift(tuple(lift(x) for x in shift))] if shift is not None else []
    if gamma or d0:
        steps.append(screw(2, gamma, d0))
    if alpha or a:
        steps.append(screw(0, alpha, a))
    return (*steps, hinge.joint.step(hinge.q, delta, d))
