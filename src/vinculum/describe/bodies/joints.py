"""Joints as sequences of elementary ones: a turn or a shift along an axis, and the ball joint.

| joint       | coordinates                                              | elementary                  |
|-------------|----------------------------------------------------------|-----------------------------|
| revolute    | angle                                                    | turn                        |
| prismatic   | displacement                                             | shift                       |
| cylindrical | displacement, angle                                      | shift, turn                 |
| universal   | angle, angle (about the first, then the second axis)     | turn, turn                  |
| planar      | two displacements in the plane normal to the axis, angle | shift, shift, turn          |
| spherical   | unit quaternion w, x, y, z                               | ball                        |
| free        | three displacements, unit quaternion                     | shift, shift, shift, ball   |
| fixed       | none                                                     | none                        |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TURN, SHIFT, BALL = "turn", "shift", "ball"

COORDINATES = {
    "revolute": ("",),
    "prismatic": ("",),
    "cylindrical": ("shift", "angle"),
    "universal": ("1", "2"),
    "planar": ("x", "y", "angle"),
    "spherical": ("w", "x", "y", "z"),
    "free": ("rx", "ry", "rz", "w", "x", "y", "z"),
    "fixed": (),
}
BALLS = ("spherical", "free")  # joints with a unit quaternion


@dataclass(frozen=True)
class Elementary:
    """One elementary joint: its kind, unit axis and the places of its coordinates among those of the body."""

    kind: str
    axis: tuple[float, float, float]
    places: tuple[int, ...]


def elementary(joint: str, axes: Sequence[tuple[float, float, float]]) -> list[Elementary]:
    """The elementary joints of a joint, from the parent outwards."""
    if joint == "fixed":
        return []
    if joint in BALLS:
        shifts = [Elementary(SHIFT, unit, (i,)) for i, unit in enumerate(_UNITS)] if joint == "free" else []
        return [*shifts, Elementary(BALL, _UNITS[2], tuple(range(len(shifts), len(shifts) + 4)))]
    kinds = {"revolute": [TURN], "prismatic": [SHIFT], "cylindrical": [SHIFT, TURN], "universal": [TURN, TURN]}
    if joint == "planar":
        first, second = across(axes[0])
        return [Elementary(SHIFT, first, (0,)), Elementary(SHIFT, second, (1,)), Elementary(TURN, axes[0], (2,))]
    own = axes if joint == "universal" else [axes[0]] * len(kinds[joint])
    return [Elementary(kind, axis, (i,)) for i, (kind, axis) in enumerate(zip(kinds[joint], own, strict=True))]


_UNITS: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def across(axis: Sequence[float]) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Two unit vectors that make a right-handed frame with the axis; x and y for the axis z."""
    n = np.asarray(axis, dtype=float)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        if abs(n[k]) == 1.0:
            return _UNITS[i], _triple(n[k] * np.array(_UNITS[j]))
    first = np.cross(n, _UNITS[int(np.argmin(np.abs(n)))])
    first /= np.linalg.norm(first)
    second = np.cross(n, first)
    return _triple(first), _triple(second)


def _triple(a: np.ndarray) -> tuple[float, float, float]:
    return float(a[0]), float(a[1]), float(a[2])
