"""Forces and torques of a drawing as arrows to scale: lines of a scene.

The largest force of the whole motion is a quarter of the picture long, all others are in proportion; torques have
their own scale. In the plane a torque is an arc about its point, three quarters of a turn for the largest one; in
space it is an arrow with two heads along its axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vinculum.model.model import Arrow, Drawing
from vinculum.present.strokes import Scene, Stroke, has_units, values_of

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory

LONGEST = 0.25  # of the picture
_TURN = 1.5 * np.pi  # of the largest torque in the plane
_RADIUS = 0.07  # of an arc, in sizes of the picture
_HEAD = 0.028  # length of a head, in sizes of the picture


def with_arrows(
    scene: Scene, motion: Trajectory, seen: Trajectory, drawing: Drawing, places: Mapping[str, np.ndarray]
) -> Scene:
    """The scene with its arrows: ``seen`` is the motion at the instants of the scene."""
    low, high = scene.box
    size = float(max(high - low)) or 1.0
    notes, strokes = [], []
    for kind in ("force", "torque"):
        own = [arrow for arrow in drawing.arrows if getattr(arrow, kind) is not None]
        largest = strongest(motion, own)
        if not largest:
            continue
        notes.append(f"largest {kind} {largest:.3g}{_unit(motion, kind)}")
        for arrow in own:
            vectors = values_of(seen, arrow.components) / largest
            strokes.append(Stroke(arrow.name or kind, "arrow", _line(vectors, places[arrow.at], size)))
    return replace(scene, strokes=(*scene.strokes, *strokes), note=", ".join(notes))


def strongest(motion: Trajectory, arrows: Sequence[Arrow]) -> float:
    """The largest size of any of the arrows during a motion."""
    sizes = [np.linalg.norm(values_of(motion, arrow.components), axis=1) for arrow in arrows]
    finite = [size[np.isfinite(size)].max(initial=0.0) for size in sizes]
    return float(max(finite, default=0.0))


def _unit(motion: Trajectory, kind: str) -> str:
    return {"force": " N", "torque": " N·m"}[kind] if has_units(motion) else ""


def _line(vectors: np.ndarray, tails: np.ndarray, size: float) -> np.ndarray:
    """From the tail to the tip, with a head of two short lines; (frames, points, 2 or 3)."""
    if vectors.shape[1] == 1:
        return _arc(vectors[:, 0], tails, size)
    tips = tails + LONGEST * size * vectors
    long = np.linalg.norm(vectors, axis=1, keepdims=True)
    along = np.where(long > 0, vectors / np.where(long > 0, long, 1.0), 0.0)
    head = np.minimum(_HEAD * size, 0.5 * LONGEST * size * long)
    return np.stack([tails, tips, *_barbs(tips, along, head)], axis=1)


def _barbs(tips: np.ndarray, along: np.ndarray, head: np.ndarray) -> list[np.ndarray]:
    """One side of the head, the tip, and the other side."""
    aside = np.zeros_like(along)
    if along.shape[1] == 2:
        aside[:, 0], aside[:, 1] = -along[:, 1], along[:, 0]
    else:
        aside = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    return [tips - head * (along - 0.5 * aside), tips, tips - head * (along + 0.5 * aside)]


def _arc(turns: np.ndarray, centers: np.ndarray, size: float) -> np.ndarray:
    """An arc about its center that begins on the right, counterclockwise for positive torques."""
    angles = turns[:, None] * np.linspace(0.0, _TURN, 25)
    rim = centers[:, None] + _RADIUS * size * np.stack([np.cos(angles), np.sin(angles)], axis=2)
    last = angles[:, -1]
    along = np.sign(turns)[:, None] * np.stack([-np.sin(last), np.cos(last)], axis=1)
    head = np.minimum(_HEAD * size, 0.5 * _RADIUS * size * np.abs(last))[:, None]
    return np.concatenate([rim, np.stack(_barbs(rim[:, -1], along, head), axis=1)], axis=1)
