"""Pictures of the papers: colors are names of the page's style, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.present.shapes import spread
from vinculum.present.svg import LIGHT, SERIES, Axis, Line, Marks, Picture, svg

Panel = tuple[str, Picture]  # a name and a picture
Part = Line | Marks


def curve(
    x: Sequence[float] | np.ndarray,
    y: Sequence[float] | np.ndarray,
    name: str = "",
    color: int = 0,
    most: int = 9000,
    **style: Any,
) -> Line:
    """A line of at most so many points; ``color`` is a number of the page's series."""
    chosen = spread(len(x), most)
    return Line(np.asarray(x)[chosen], np.asarray(y)[chosen], name, SERIES[color % len(SERIES)], **style)


def points(x: Sequence[float], y: Sequence[float], name: str = "", color: int = 0, size: int = 9) -> Marks:
    """Separate points."""
    return Marks(x, y, name, SERIES[color % len(SERIES)], size=size)


def printed(level: float, ends: Sequence[float], name: str) -> Line:
    """A value that can be read in the paper, dotted across the picture."""
    return curve(ends, [level, level], f"printed: {name}", color=7, dash="dot")


def picture(lines: Sequence[Part], x: str | Axis, y: str | Axis, height: int = 340) -> Picture:
    """Lines with named axes."""
    across, up = (Axis(axis) if isinstance(axis, str) else axis for axis in (x, y))
    return Picture(lines, across, up, height)


def plane(lines: Sequence[Part], x: str, y: str, height: int = 340) -> Picture:
    """The same with one scale in both directions."""
    return Picture(lines, Axis(x), Axis(y), height, equal=True)


def svg_file(drawn: Picture) -> str:
    """The picture as a file of its own."""
    return svg(drawn, colors=LIGHT)
