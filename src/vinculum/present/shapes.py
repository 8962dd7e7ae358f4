"""The lines of a scene as Plotly traces, with equal scales in all directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.present.drawing import Scene, Stroke


def spread(count: int, most: int) -> np.ndarray:
    """Indices of at most ``most`` of ``count`` samples, equally spaced, including the ends.

    >>> spread(9, 3), spread(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


SERIES = ("#2a6fdb", "#c8553d", "#2f8f5b", "#8a5cc2", "#b0801f", "#1f8a99", "#c2487f", "#66707c")
MUTED, GRID = "#8b95a1", "#e3e7ec"
_GRAY = ("point", "line")
_AXES = ("x", "y", "z")
_LARGE = 1.35  # size of the longest axis in space, in Plotly's units
_MOST = 1500  # points of a path
_PAD = 0.08  # margin, as a fraction of the size


def path_traces(scene: Scene, color: str = MUTED) -> list[dict[str, Any]]:
    """The paths of points, as fixed lines."""
    line = {"width": 1.5 if scene.dimension == 2 else 3, "color": color}
    return [
        _trace(scene.dimension, path[spread(len(path), _MOST)])
        | {"mode": "lines", "line": line, "name": name, "hoverinfo": "skip"}
        for name, path in scene.paths.items()
    ]


def moving_traces(scene: Scene, frame: int, colors: Sequence[str] = SERIES, muted: str = MUTED) -> list[dict[str, Any]]:
    """All strokes at one frame; strokes of one name have one color."""
    return [
        _trace(scene.dimension, stroke.places[frame]) | _style(stroke, scene.dimension, color)
        for stroke, color in zip(scene.strokes, colored(scene, colors, muted), strict=True)
    ]


def colored(scene: Scene, colors: Sequence[str] = SERIES, muted: str = MUTED) -> list[str]:
    """The color of every stroke: one for each name or stroke without a name, another for lone points and scenery."""
    numbers = color_numbers([(stroke.kind, stroke.name) for stroke in scene.strokes])
    return [muted if number is None else colors[number % len(colors)] for number in numbers]


def color_numbers(shapes: Sequence[tuple[str, str]]) -> list[int | None]:
    """A number for every (kind, name): shapes of one name have one, lone points and scenery have none.

    >>> color_numbers([("bar", "rod"), ("line", "floor"), ("disc", ""), ("ring", "rod")])
    [0, None, 1, 0]
    """
    keys = [name or i for i, (_, name) in enumerate(shapes)]
    lines = [key for key, (kind, _) in zip(keys, shapes, strict=True) if kind not in _GRAY]
    number = {key: k for k, key in enumerate(dict.fromkeys(lines))}
    return [None if kind in _GRAY else number[key] for key, (kind, _) in zip(keys, shapes, strict=True)]


def coordinates(scene: Scene, frame: int) -> list[dict[str, np.ndarray]]:
    """The data that changes from frame to frame: x, y (and z) of every stroke."""
    return [_coordinates(scene.dimension, stroke.places[frame]) for stroke in scene.strokes]


def ranges(box: tuple[np.ndarray, np.ndarray]) -> list[list[float]]:
    """[low, high] of every axis: the bounding box with a margin; no axis is thinner than the margin."""
    low, high = box
    pad = _PAD * (max(high - low) or 1.0)
    return [[float(a - pad), float(b + pad)] for a, b in zip(low, high, strict=True)]


def layout(box: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
    """Axes with equal units: a circle is round."""
    limits = ranges(box)
    spans = [b - a for a, b in limits]
    if len(limits) == 2:
        x, y = ({"range": limit, "zeroline": False, "showgrid": True} for limit in limits)
        return {"xaxis": x, "yaxis": y | {"scaleanchor": "x", "scaleratio": 1}}
    ratio = {axis: _LARGE * span / max(spans) for axis, span in zip(_AXES, spans, strict=True)}
    axes = {f"{axis}axis": {"range": limit, "title": axis} for axis, limit in zip(_AXES, limits, strict=True)}
    camera = {"eye": {"x": 1.25, "y": -1.35, "z": 0.75}, "projection": {"type": "orthographic"}}
    return {"scene": axes | {"aspectmode": "manual", "aspectratio": ratio, "camera": camera}}


def _trace(dimension: int, places: np.ndarray) -> dict[str, Any]:
    return {"type": "scatter" if dimension == 2 else "scatter3d", **_coordinates(dimension, places)}


def _coordinates(dimension: int, places: np.ndarray) -> dict[str, np.ndarray]:
    return {axis: places[:, k] for k, axis in enumerate(_AXES[:dimension])}


def _style(stroke: Stroke, dimension: int, color: str) -> dict[str, Any]:
    named = {"name": stroke.name, "hovertemplate": _hover(stroke.name), "showlegend": False}
    if stroke.kind == "point":
        return named | {"mode": "markers", "marker": {"size": 8 if dimension == 2 else 4, "color": color}}
    width = 5 if dimension == 2 else 9
    if stroke.kind == "bar":
        marker = {"size": 9 if dimension == 2 else 4, "color": color}
        return named | {"mode": "lines+markers", "line": {"width": width, "color": color}, "marker": marker}
    filled = {"fill": "toself", "opacity": 0.85} if dimension == 2 and stroke.kind not in ("line", "arrow") else {}
    return named | {"mode": "lines", "line": {"width": width / 2, "color": color}} | filled


def _hover(name: str) -> str:
    from html import escape

    return f"{escape(name)}<extra></extra>"
