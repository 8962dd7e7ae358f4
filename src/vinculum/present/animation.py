"""A mechanism in motion: polygonal lines through moving points, as a Plotly figure with play, pause and a slider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError

if TYPE_CHECKING:
    from vinculum.simulate.trajectory import Trajectory

Point = Sequence[sp.Expr | float]


def animation(motion: Trajectory, lines: Sequence[Sequence[Point]], frames: int = 120, trace: bool = True) -> Any:
    """Lines [(x, y), ...] in the plane, drawn to one scale; ``trace`` leaves the path of each line's last point."""
    import plotly.graph_objects as go

    if not lines:
        raise VinculumError("Say what to draw: motion.animate([(0, 0), (x, y)], ...), one list of points per line.")
    shapes = [evaluated(motion, line) for line in lines]
    chosen = np.unique(np.linspace(0, len(motion.t) - 1, min(frames, len(motion.t))).astype(int))
    paths = [
        go.Scatter(x=s[:, -1, 0], y=s[:, -1, 1], mode="lines", line={"width": 1, "color": "#c9c9c9"}) for s in shapes
    ]
    paths = paths if trace else []
    figure = go.Figure(data=[*paths, *_drawn(shapes, 0)])
    moving = list(range(len(paths), len(paths) + len(shapes)))
    figure.frames = [go.Frame(data=_drawn(shapes, i), name=f"{motion.t[i]:.4g}", traces=moving) for i in chosen]
    return figure.update_layout(**_layout(shapes, [f.name for f in figure.frames]))


def evaluated(motion: Trajectory, line: Sequence[Point]) -> np.ndarray:
    """The points of a line at every sample: (samples, points, 2)."""
    return np.stack([np.stack([motion(c) for c in point], axis=1) for point in line], axis=1)


def _drawn(shapes: Sequence[np.ndarray], i: int) -> list[Any]:
    import plotly.graph_objects as go

    return [go.Scatter(x=s[i, :, 0], y=s[i, :, 1], mode="lines+markers", line={"width": 4}) for s in shapes]


def _layout(shapes: Sequence[np.ndarray], names: list[str]) -> dict[str, Any]:
    points = np.concatenate([s.reshape(-1, 2) for s in shapes])
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.08 * max(high - low)
    play = {"frame": {"duration": 40, "redraw": False}, "fromcurrent": True, "transition": {"duration": 0}}
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    buttons = [
        {"label": "play", "method": "animate", "args": [None, play]},
        {"label": "pause", "method": "animate", "args": [[None], stop]},
    ]
    steps = [{"label": name, "method": "animate", "args": [[name], stop]} for name in names]
    return {
        "template": "plotly_white",
        "showlegend": False,
        "xaxis": {"range": [low[0] - pad, high[0] + pad]},
        "yaxis": {"range": [low[1] - pad, high[1] + pad], "scaleanchor": "x"},
        "updatemenus": [{"type": "buttons", "buttons": buttons, "direction": "left", "x": 0, "y": -0.12}],
        "sliders": [{"steps": steps, "currentvalue": {"prefix": "t = "}, "x": 0.25, "len": 0.75, "y": -0.05}],
    }
