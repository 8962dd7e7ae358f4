"""Pictures as the page draws them: colors are names of its style, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.present.report.charts import SERIES, Figure, figure, packed
from vinculum.present.shapes import spread

Panel = tuple[str, Figure]  # a name and a picture


def curve(
    x: Sequence[float] | np.ndarray,
    y: Sequence[float] | np.ndarray,
    name: str = "",
    color: int = 0,
    most: int = 4000,
    **line: Any,
) -> Figure:
    """A line of at most so many points; ``color`` is a number of the page's series."""
    chosen = spread(len(x), most)
    style = {"color": SERIES[color % len(SERIES)], "width": 1.5} | line
    places = {"x": packed(np.asarray(x)[chosen]), "y": packed(np.asarray(y)[chosen])}
    return {"type": "scatter", "mode": "lines", **places, "name": name, "line": style, "showlegend": bool(name)}


def points(x: Sequence[float], y: Sequence[float], name: str = "", color: int = 0, size: int = 9) -> Figure:
    """Separate points."""
    style = {"color": SERIES[color % len(SERIES)], "size": size}
    return {"type": "scatter", "mode": "markers", "x": packed(x), "y": packed(y), "name": name, "marker": style,
            "showlegend": bool(name)}  # fmt: skip


def printed(level: float, ends: Sequence[float], name: str) -> Figure:
    """A value that can be read in the paper, dotted across the picture."""
    return curve(ends, [level, level], f"printed: {name}", color=7, dash="dot")


def picture(lines: Sequence[Figure], x: str, y: str, height: int = 340, **layout: Any) -> Figure:
    """Lines with named axes."""
    axes = {"xaxis": {"title": x} | layout.pop("xaxis", {}), "yaxis": {"title": y} | layout.pop("yaxis", {})}
    return figure(lines, height, hovermode="closest", **axes, **layout)


def plane(lines: Sequence[Figure], x: str, y: str, height: int = 340) -> Figure:
    """The same with one scale in both directions."""
    return picture(lines, x, y, height, yaxis={"scaleanchor": "x"})


LOGARITHMIC = {"type": "log", "exponentformat": "power", "dtick": 1}
