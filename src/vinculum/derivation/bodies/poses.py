"""Constant frames, and the way between two of them as three screws.

Any displacement is a z-screw, an x-screw and a z-screw: Z(γ, d0) X(α, a) Z(δ, d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.describe.bodies.transforms import ROUNDING, snapped
from vinculum.graph import ZERO, Node, lift

SMALL_ANGLE = 1e-3  # axes closer to parallel than this get no common perpendicular


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
