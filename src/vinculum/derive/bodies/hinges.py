"""The tree as elementary hinges in frames of our choice, with base parameters regrouped.

Frames: z along the hinge axis, x along the common perpendicular to the first outboard axis (Denavit-Hartenberg), which
uses the freedom of α_ab in Lemma 1 to make the constant rotations sparse. Where geometry has symbols in it, or axes are
nearly parallel, the frame stays at the user's origin.

Regrouping: a rod on the axis of a revolute hinge does not know whether the hinge turns, so it may be counted with the
parent: m, h_z and Σ_zz of a body move inboard. On a sliding hinge Σ moves, on a ball joint m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.derive.bodies.stages import Inertia, Screw, Shift, Stage, Turn, matrix_plus
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.joints import BALL, SHIFT, TURN, across
from vinculum.describe.bodies.kinematics import node_of, nodes_of, quaternion_matrix
from vinculum.graph import ZERO, Node, apply, lift, symbol
from vinculum.graph.vectors import plus

_SMALL_ANGLE = 1e-3  # axes closer to parallel than this get no common perpendicular
_ROUNDING = 4e-15


@dataclass(frozen=True, eq=False)
class Hinge:
    """An elementary hinge and what it carries."""

    kind: str
    parent: int  # -1: the external body
    stages: tuple[Stage, ...]  # from the parent's frame to this one
    inertia: Inertia  # regrouped, about the origin of this frame
    rotor: Node  # G² J_m
    q: tuple[Node, ...]
    v: tuple[Node, ...]  # q̇


@dataclass(frozen=True, eq=False)
class Pose:
    """A constant frame: axes as columns R (3, 3), origin p (3) numbers or nodes."""

    R: np.ndarray
    p: np.ndarray  # of floats or nodes

    def then(self, other: Pose) -> Pose:
        """The frame ``other``, given in this one."""
        return Pose(snapped(self.R @ other.R), self.p + self.R @ other.p)

    def seen_from(self, frame: Pose) -> Pose:
        """This frame in the axes of another."""
        return Pose(snapped(frame.R.T @ self.R), frame.R.T @ (self.p - frame.p))

    @property
    def numeric(self) -> bool:
        """Whether the origin is made of numbers."""
        return all(not isinstance(x, Node) or x.op == "constant" for x in self.p)

    @property
    def origin(self) -> np.ndarray:
        """p as floats."""
        return np.array([float(x.value) if isinstance(x, Node) else float(x) for x in self.p])


HERE = Pose(np.eye(3), np.zeros(3))


def snapped(X: np.ndarray) -> np.ndarray:
    """Entries that are 0, 1 or -1 up to rounding, made so."""
    nearest = np.round(X)
    return np.where(np.abs(X - nearest) < _ROUNDING, nearest, X)


@dataclass(eq=False)
class _Raw:
    """A hinge as the user gave it: ``pose`` of its frame in the parent hinge's frame, ``axis`` in its own."""

    kind: str
    parent: int
    pose: Pose
    axis: np.ndarray
    rotor: Node
    q: tuple[Node, ...]
    v: tuple[Node, ...]
    inertia: Inertia
    frame: Pose = HERE  # our frame in the user's


NOTHING: Inertia = (0, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0)))


def hinges(tree: BodyTree, regroup: bool = True) -> list[Hinge]:
    """All elementary hinges, parents first, branches together."""
    raw = _raw_hinges(tree)
    for i, hinge in enumerate(raw):
        hinge.frame = _frame(hinge, [child for child in raw if child.parent == i])
    stages = [_stages(hinge, raw[hinge.parent].frame if hinge.parent >= 0 else HERE) for hinge in raw]
    carried = [_in_frame(hinge.inertia, hinge.frame) for hinge in raw]
    if regroup:
        for i in reversed(range(len(raw))):
            carried[i], rod = _split(raw[i].kind, carried[i])
            if raw[i].parent >= 0:
                carried[raw[i].parent] = _added(carried[raw[i].parent], _carried_in(stages[i], raw[i].kind, rod))
    return [
        Hinge(h.kind, h.parent, s, _tidy(inertia), h.rotor, h.q, h.v)
        for h, s, inertia in zip(raw, stages, carried, strict=True)
    ]


def _raw_hinges(tree: BodyTree) -> list[_Raw]:
    found: list[_Raw] = []
    place: dict[str | None, tuple[int, Pose]] = {None: (-1, HERE)}  # last hinge and frame of the body in its frame
    for name in tree.order:
        body = tree.body(name)
        parent, frame = place[body.parent]
        pose = frame.then(Pose(snapped(body.turned), np.array(nodes_of(body.origin), dtype=object)))
        inertia = _about_origin(body)
        for joint in body.elementary:
            rates = body.coordinates
            q = tuple(symbol(rates[i]) for i in joint.places)
            v = tuple(symbol(rates[i].diff(rates[i].args[0])) for i in joint.places)
            rotor = _rotor(body, joint.places[0]) if joint.kind != BALL else ZERO
            found.append(_Raw(joint.kind, parent, pose, np.array(joint.axis), rotor, q, v, NOTHING))
            parent, pose = len(found) - 1, HERE
        if parent >= 0:
            found[parent].inertia = _added(found[parent].inertia, _moved(inertia, pose))
        place[name] = (parent, pose)
    return found


def _rotor(body: Any, i: int) -> Node:
    return node_of(body.each("gear_ratio")[i]) ** 2 * node_of(body.each("rotor_inertia")[i])


def _about_origin(body: Any) -> Inertia:
    """m, h, Σ about the body's origin; Σ = ½ tr(J) 1 - J + m c cᵀ."""
    m, c = node_of(body.mass), nodes_of(body.center_of_mass)
    J = [nodes_of(row) for row in body.inertia_matrix]
    half = (J[0][0] + J[1][1] + J[2][2]) / 2
    S = [[(half if i == j else ZERO) - J[i][j] + m * c[i] * c[j] for j in range(3)] for i in range(3)]
    return m, tuple(m * x for x in c), tuple(map(tuple, S))


def _moved(inertia: Inertia, pose: Pose) -> Inertia:
    """Inertia of a body whose frame is at ``pose``, about the origin of the outer frame."""
    turned = Turn(_lifted(pose.R)).inertia(inertia) if not np.array_equal(pose.R, np.eye(3)) else inertia
    return Shift(tuple(lift(x) for x in pose.p)).inertia(turned)


def _in_frame(inertia: Inertia, frame: Pose) -> Inertia:
    """Inertia in our frame, given in the user's."""
    return _moved(inertia, HERE.seen_from(frame))


def _lifted(R: np.ndarray) -> tuple[tuple[Node, ...], ...]:
    return tuple(tuple(lift(float(x)) for x in row) for row in R)


def _added(a: Inertia, b: Inertia) -> Inertia:
    return a[0] + b[0], plus(a[1], b[1]), matrix_plus(a[2], b[2])


def _split(kind: str, inertia: Inertia) -> tuple[Inertia, Inertia]:
    """(what stays, what may be counted with the parent)."""
    m, h, S = inertia
    zero = (ZERO, ZERO, ZERO)
    if kind == TURN:
        rod = (zero, zero, (ZERO, ZERO, S[2][2]))
        rest = (S[0], S[1], (S[2][0], S[2][1], ZERO))
        return (ZERO, (h[0], h[1], ZERO), rest), (m, (ZERO, ZERO, h[2]), rod)
    if kind == SHIFT:
        return (m, h, (zero, zero, zero)), (ZERO, zero, S)
    return (ZERO, h, S), (m, zero, (zero, zero, zero))


def _carried_in(stages: Sequence[Stage], kind: str, rod: Inertia) -> Inertia:
    """The rod in the parent's frame; it does not matter at which value of the joint coordinate."""
    at_zero = [*stages[:-1], _at_rest(stages[-1], kind)]
    for stage in reversed(at_zero):
        rod = stage.inertia(rod)
    return rod


def _at_rest(stage: Stage, kind: str) -> Stage:
    if isinstance(stage, Screw):
        return Screw(stage.k, 1, 0, stage.d) if kind == TURN else Screw(stage.k, stage.c, stage.s, 0)
    return Shift((0, 0, 0))


def _tidy(inertia: Inertia) -> Inertia:
    """Numbers that are zero up to rounding, made so."""
    m, h, S = inertia
    sizes = [abs(float(x.value)) for x in [*h, *(y for row in S for y in row)] if _number(x)]
    limit = _ROUNDING * max(sizes, default=0.0)

    def clean(x: Any) -> Node:
        x = lift(x)
        return ZERO if _number(x) and abs(float(x.value)) < limit else x

    return lift(m), tuple(clean(x) for x in h), tuple(tuple(clean(x) for x in row) for row in S)


def _number(x: Any) -> bool:
    return isinstance(x, Node) and x.op == "constant"


def _frame(hinge: _Raw, children: Sequence[_Raw]) -> Pose:
    """Our frame in the user's: z along the axis, x and origin on the common perpendicular to the first child's."""
    if hinge.kind == BALL:
        return HERE
    n = hinge.axis
    first, second = (np.array(x) for x in across(list(n)))
    plain = Pose(snapped(np.column_stack([first, second, n])), np.zeros(3))
    child = next((c for c in children if c.pose.numeric), None)
    if child is None or len(children) == 0 or any(not c.pose.numeric for c in children):
        return _towards(plain, _center(hinge.inertia)) if not children else plain
    place = child.pose.origin
    u = child.pose.R @ child.axis
    common = np.cross(n, u)
    sine = np.linalg.norm(common)
    if child.kind == BALL or sine < 1e-12:
        return _towards(plain, place)
    if sine < _SMALL_ANGLE or child.kind == SHIFT:
        return _with_x(plain, common / sine, np.zeros(3)) if sine > _SMALL_ANGLE else plain
    along = float(np.dot(np.cross(place, u), common)) / sine**2  # n·along is the foot of the perpendicular
    if abs(along) > 10 * (np.linalg.norm(place) + 1e-3):
        return plain
    return _with_x(plain, common / sine, along * n)


def _center(inertia: Inertia) -> np.ndarray:
    m, h = inertia[0], inertia[1]
    if not all(_number(lift(x)) for x in (m, *h)) or lift(m) is ZERO:
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
    return Pose(snapped(np.column_stack([x, np.cross(n, x), n])), origin)


def _stages(hinge: _Raw, parent: Pose) -> tuple[Stage, ...]:
    """Constant steps, then the step of the joint coordinate."""
    constant = hinge.pose.then(hinge.frame).seen_from(parent)
    if hinge.kind == BALL:
        turn = () if np.array_equal(constant.R, np.eye(3)) else (Turn(_lifted(constant.R)),)
        return (Shift(tuple(lift(x) for x in constant.p)), *turn, Turn(_as_nodes(quaternion_matrix(hinge.q))))
    shift, gamma, alpha, delta, (d0, a, d) = _screws(constant)
    steps: list[Stage] = [Shift(tuple(lift(x) for x in shift))] if shift is not None else []
    if gamma or d0:
        steps.append(_screw(2, gamma, d0))
    if alpha or a:
        steps.append(_screw(0, alpha, a))
    q = hinge.q[0]
    if hinge.kind == TURN:
        return (*steps, Screw(2, *_cosine_sine(q, delta), lift(d)))
    fixed = _screw(2, delta, 0.0)
    return (*steps, Screw(2, fixed.c, fixed.s, q + lift(d)))


def _as_nodes(R: Any) -> tuple[tuple[Node, ...], ...]:
    return tuple(tuple(lift(x) for x in row) for row in R)


def _screw(k: int, angle: float, d: float) -> Screw:
    c, s = snapped(np.array([np.cos(angle), np.sin(angle)]))
    return Screw(k, lift(float(c)), lift(float(s)), lift(float(d)))


def _cosine_sine(q: Node, delta: float) -> tuple[Node, Node]:
    """cos and sin of q + δ; a quarter turn costs nothing."""
    quarter = round(delta / (np.pi / 2))
    if abs(delta - quarter * np.pi / 2) < _ROUNDING:
        c, s = apply("cos", q), apply("sin", q)
        return [(c, s), (-s, c), (-c, -s), (s, -c)][quarter % 4]
    return apply("cos", q + lift(delta)), apply("sin", q + lift(delta))


def _screws(pose: Pose) -> tuple[Any, float, float, float, tuple[float, float, float]]:
    """(shift or None, γ, α, δ, (d0, a, d)) with pose = Z(γ, d0) X(α, a) Z(δ, d), after a shift where need be."""
    R = pose.R
    sine = float(np.hypot(R[0, 2], R[1, 2]))
    alpha = float(np.arctan2(sine, R[2, 2]))
    none = (0.0, 0.0, 0.0)
    if sine < 1e-12:
        p = pose.origin if pose.numeric else np.zeros(3)
        gamma = float(np.arctan2(p[1], p[0])) if np.hypot(p[0], p[1]) > 1e-12 else 0.0
        alpha = 0.0 if R[2, 2] > 0 else float(np.pi)
        turned = np.array([[np.cos(gamma), np.sin(gamma)], [-np.sin(gamma), np.cos(gamma)]]) @ R[:2, :2]
        delta = float(np.arctan2(turned[1, 0], turned[0, 0])) * (1 if R[2, 2] > 0 else -1)
        if not pose.numeric:
            return pose.p, gamma, alpha, delta, none
        gamma, delta = (x if abs(x) > _ROUNDING else 0.0 for x in (gamma, delta))
        return None, gamma, alpha, delta, (float(p[2]), float(np.hypot(p[0], p[1])), 0.0)
    gamma, delta = float(np.arctan2(R[0, 2], -R[1, 2])), float(np.arctan2(R[2, 0], R[2, 1]))
    gamma, delta = (x if abs(x) > _ROUNDING else 0.0 for x in (gamma, delta))
    if not pose.numeric or sine < _SMALL_ANGLE:
        moves = any(lift(x) is not ZERO for x in pose.p)
        return pose.p if moves else None, gamma, alpha, delta, none
    p = pose.origin
    x, y = np.cos(gamma) * p[0] + np.sin(gamma) * p[1], np.cos(gamma) * p[1] - np.sin(gamma) * p[0]
    d = -float(y) / sine
    lengths = np.array([p[2] - d * R[2, 2], x, d])
    lengths[np.abs(lengths) < _ROUNDING * max(1e-3, float(np.abs(lengths).max()))] = 0.0
    return None, gamma, alpha, delta, (float(lengths[0]), float(lengths[1]), float(lengths[2]))
