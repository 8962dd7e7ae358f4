"""Constant frames, the way between two of them as three screws, and inertias (m, h, Σ) of bodies in them.

Any displacement is a z-screw, an x-screw and a z-screw: Z(γ, d0) X(α, a) Z(δ, d).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.describe.bodies.joints import Elementary
from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.bodies.transforms import ROUNDING, Inertia, Shift, Stage, Turn, matrix_plus, snap
from vinculum.graph import ZERO, Node, lift
from vinculum.graph.vectors import plus

SMALL_ANGLE = 1e-3  # axes closer to parallel than this get no common perpendicular


@dataclass(frozen=True, eq=False)
class Pose:
    """A constant frame: axes as columns R (3, 3), origin p (3) numbers or nodes."""

    R: np.ndarray
    p: np.ndarray  # of floats or nodes

    def then(self, other: Pose) -> Pose:
        """The frame ``other``, given in this one."""
        return Pose(snap(self.R @ other.R), self.p + self.R @ other.p)

    def seen_from(self, frame: Pose) -> Pose:
        """This frame in the axes of another."""
        return Pose(snap(frame.R.T @ self.R), frame.R.T @ (self.p - frame.p))

    @property
    def numeric(self) -> bool:
        """Whether the origin is made of numbers."""
        return all(not isinstance(x, Node) or x.op == "constant" for x in self.p)

    @property
    def origin(self) -> np.ndarray:
        """p as floats."""
        return np.array([float(x.value) if isinstance(x, Node) else float(x) for x in self.p])


HERE = Pose(np.eye(3), np.zeros(3))


def screws(pose: Pose) -> tuple[Any, float, float, float, tuple[float, float, float]]:
    """(shift or None, γ, α, δ, (d0, a, d)) with pose = Z(γ, d0) X(α, a) Z(δ, d), after a shift where need be."""
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
    m, c = node_of(body.mass), nodes_of(body.center_of_mass)
    J = [nodes_of(row) for row in body.inertia_matrix]
    half = (J[0][0] + J[1][1] + J[2][2]) / 2
    S = [[(half if i == j else ZERO) - J[i][j] + m * c[i] * c[j] for j in range(3)] for i in range(3)]
    return m, tuple(m * x for x in c), tuple(map(tuple, S))


def move_inertia(inertia: Inertia, pose: Pose) -> Inertia:
    """Inertia of a body whose frame is at ``pose``, about the origin of the outer frame."""
    turned = Turn(lift_matrix(pose.R)).inertia(inertia) if not np.array_equal(pose.R, np.eye(3)) else inertia
    return Shift(tuple(lift(x) for x in pose.p)).inertia(turned)


def in_frame(inertia: Inertia, frame: Pose) -> Inertia:
    """Inertia in our frame, given in the user's."""
    return move_inertia(inertia, HERE.seen_from(frame))


def lift_matrix(R: np.ndarray) -> tuple[tuple[Node, ...], ...]:
    """A matrix of numbers as nodes."""
    return tuple(tuple(lift(float(x)) for x in row) for row in R)


def add_inertias(a: Inertia, b: Inertia) -> Inertia:
    """Two bodies as one."""
    return a[0] + b[0], plus(a[1], b[1]), matrix_plus(a[2], b[2])


def carry_in(stages: Sequence[Stage], joint: Elementary, rod: Inertia) -> Inertia:
    """The rod in the parent's frame; it does not matter at which value of the joint coordinate."""
    at_zero = [*stages[:-1], joint.at_zero(stages[-1])]
    for stage in reversed(at_zero):
        rod = stage.inertia(rod)
    return rod


def tidy(inertia: Inertia) -> Inertia:
    """Numbers that are zero up to rounding, made so."""
    m, h, S = inertia
    sizes = [abs(float(x.value)) for x in [*h, *(y for row in S for y in row)] if is_number(x)]
    limit = ROUNDING * max(sizes, default=0.0)

    def clean(x: Any) -> Node:
        x = lift(x)
        return ZERO if is_number(x) and abs(float(x.value)) < limit else x

    return lift(m), tuple(clean(x) for x in h), tuple(tuple(clean(x) for x in row) for row in S)


def is_number(x: Any) -> bool:
    """Whether a scalar is a node with a number in it."""
    return isinstance(x, Node) and x.op == "constant"
