"""Inertias (m, h, Σ) of bodies, and what of them may be counted with the parent.

A rod on the axis of a revolute hinge does not know whether the hinge turns, so m, h_z and Σ_zz of a body move inboard
(base parameters). On a sliding hinge Σ moves, on a ball joint m.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.derivation.bodies.poses import HERE, Pose
from vinculum.describe.bodies.joints import Elementary
from vinculum.describe.bodies.kinematics import node_of, nodes_of
from vinculum.describe.bodies.transforms import ROUNDING, Inertia, Shift, Stage, Turn, matrix_plus
from vinculum.graph import ZERO, Node, lift
from vinculum.graph.vectors import plus

NOTHING: Inertia = (0, (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0)))


def about_origin(body: Any) -> Inertia:
    """m, h, Σ about the body's origin; Σ = ½ tr(J) 1 - J + m c cᵀ."""
    m, c = node_of(body.mass), nodes_of(body.center_of_mass)
    J = [nodes_of(row) for row in body.inertia_matrix]
    half = (J[0][0] + J[1][1] + J[2][2]) / 2
    S = [[(half if i == j else ZERO) - J[i][j] + m * c[i] * c[j] for j in range(3)] for i in range(3)]
    return m, tuple(m * x for x in c), tuple(map(tuple, S))


def moved(inertia: Inertia, pose: Pose) -> Inertia:
    """Inertia of a body whose frame is at ``pose``, about the origin of the outer frame."""
    turned = Turn(lifted(pose.R)).inertia(inertia) if not np.array_equal(pose.R, np.eye(3)) else inertia
    return Shift(tuple(lift(x) for x in pose.p)).inertia(turned)


def in_frame(inertia: Inertia, frame: Pose) -> Inertia:
    """Inertia in our frame, given in the user's."""
    return moved(inertia, HERE.seen_from(frame))


def lifted(R: np.ndarray) -> tuple[tuple[Node, ...], ...]:
    """A matrix of numbers as nodes."""
    return tuple(tuple(lift(float(x)) for x in row) for row in R)


def added(a: Inertia, b: Inertia) -> Inertia:
    """Two bodies as one."""
    return a[0] + b[0], plus(a[1], b[1]), matrix_plus(a[2], b[2])


def carried_in(stages: Sequence[Stage], joint: Elementary, rod: Inertia) -> Inertia:
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
