"""The motions of a mechanism as data for the page's player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.model.examine import Results
from vinculum.present import shapes
from vinculum.present.animation import scene_of
from vinculum.present.drawing import Scene
from vinculum.present.report.charts import SERIES, packed
from vinculum.simulation import Trajectory

_SHORTEST, _LONGEST = 3.0, 20.0  # target duration in seconds; slower or faster motions are shown at another speed
_RATE = 20  # frames per second


@dataclass(frozen=True, eq=False)
class Animation:
    """One motion: data for the player, and the scene it came from."""

    name: str
    scene: Scene
    box: tuple[np.ndarray, np.ndarray]
    speed: float  # seconds of the motion per second of the animation

    @property
    def data(self) -> dict[str, Any]:
        """Traces at the first frame, the layout, and x, y (z) of all points at all frames."""
        scene = self.scene
        paths = shapes.path_traces(scene, "--muted")
        traces = [*paths, *shapes.moving_traces(scene, 0, SERIES, "--text")]
        places = np.concatenate([stroke.places for stroke in scene.strokes], axis=1)  # (frames, points, dimension)
        return {
            "name": self.name,
            "speed": self.speed,
            "t": scene.t.tolist(),
            "traces": [_packed(trace) for trace in traces],
            "still": len(paths),
            "layout": shapes.layout(self.box),
            "counts": [stroke.places.shape[1] for stroke in scene.strokes],
            "places": [packed(places[..., k].ravel())["bdata"] for k in range(scene.dimension)],
        }


def animations(results: Results) -> list[Animation]:
    """All motions of the results that can be drawn: closed loops first, each with the motion without feedback."""
    found = []
    several = len(results.points) > 1
    for i, point in enumerate(results.points, start=1):
        where = f", equilibrium {i}" if several else ""
        if point.closed_motion is not None:
            closed = animation(results, point.closed_motion, f"With feedback{where}")
            found.append(closed)
            if point.held_motion is not None:
                found.append(animation(results, point.held_motion, f"Without feedback{where}", closed.box))
    if results.motion is not None:
        found.append(animation(results, results.motion, "Motion" if not found else "Requested motion"))
    return found


def animation(results: Results, motion: Trajectory, name: str, box: Any = None) -> Animation:
    """One motion, in a picture of the given size if that fits."""
    lasts = abs(float(motion.t[-1] - motion.t[0]))
    shown = min(max(lasts, _SHORTEST), _LONGEST)
    scene = scene_of(motion, [results.model], frames=int(_RATE * shown))
    usable = box is not None and len(box[0]) == scene.dimension
    return Animation(name, scene, box if usable else scene.box, _round(lasts / shown) if lasts else 1.0)


def _round(speed: float) -> float:
    return float(f"{speed:.2g}")


def _packed(trace: dict[str, Any]) -> dict[str, Any]:
    return {key: packed(value) if isinstance(value, np.ndarray) else value for key, value in trace.items()}
