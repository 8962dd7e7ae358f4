"""Figures as Plotly reads them. Colors are names of the page's style (``--series-1``), to follow its theme."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.present.samples import spread

SERIES = tuple(f"--series-{i}" for i in range(1, 9))
_MOST = 2000  # samples of a line
FLOOR = 1e-18  # where a logarithmic axis ends

Figure = dict[str, Any]


def packed(values: np.ndarray | Sequence[float]) -> dict[str, str]:
    """Numbers as Plotly's typed array: four bytes each."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()}


def thinned(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A line with at most some thousand samples, the ends included."""
    chosen = spread(len(t), _MOST)
    return t[chosen], y[chosen]


def envelope(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|y| for a logarithmic axis, zeros drawn below the smallest other value; of many samples, the largest of each
    group, so that no peak is lost.
    """
    size = np.abs(y)
    some = size[np.isfinite(size) & (size > 0)]
    size = np.maximum(size, max(float(some.min()) / 10, FLOOR) if len(some) else FLOOR)
    if len(t) <= _MOST:
        return t, size
    starts = np.unique(np.linspace(0, len(t), _MOST, endpoint=False).astype(int))
    return t[starts], np.maximum.reduceat(size, starts)


def line(t: np.ndarray, y: np.ndarray, name: str = "", color: str = SERIES[0], dash: str = "solid") -> Figure:
    """One quantity over time."""
    t, y = thinned(np.asarray(t), np.asarray(y))
    return _scatter(t, y, name, color=color, width=2, dash=dash)


def _scatter(x: np.ndarray | Sequence[float], y: np.ndarray | Sequence[float], name: str, **style: Any) -> Figure:
    return {"type": "scatter", "mode": "lines", "x": packed(x), "y": packed(y), "name": name, "line": style}


def figure(lines: Sequence[Figure], height: int = 300, **layout: Any) -> Figure:
    """Lines with axes; a legend where there is more than one name."""
    names = [entry["name"] for entry in lines if entry.get("showlegend", True)]
    return {"data": list(lines), "layout": {"height": height, "showlegend": len(names) > 1} | layout}


def over_time(lines: Sequence[Figure], height: int = 300, title: str = "", **layout: Any) -> Figure:
    """Lines over t."""
    return figure(lines, height, xaxis={"title": "t"}, yaxis={"title": title} | layout.pop("yaxis", {}), **layout)


def small(
    lines: Sequence[Figure], limits: tuple[float, float] | None = None, times: tuple[float, float] | None = None
) -> Figure:
    """A small picture of one quantity; its name stands above it."""
    x, y = ({} if span is None else {"range": list(span)} for span in (times, limits))
    return figure(lines, 190, xaxis=x, yaxis=y, showlegend=False)


def settled(t: np.ndarray, columns: Sequence[np.ndarray]) -> float:
    """A time by which nothing more is to be seen: twice as late as the last change of a hundredth of any range."""
    last = 0
    for y in columns:
        moving = np.nonzero(np.abs(y - y[-1]) > 0.01 * np.ptp(y))[0]
        last = max(last, int(moving[-1]) if len(moving) else 0)
    return float(min(t[0] + 2 * (t[last] - t[0]), t[-1])) if last else float(t[-1])


def fitting(y: np.ndarray, further: np.ndarray) -> tuple[float, float] | None:
    """Limits that show the first line whole and the second as far as it stays near; None where both fit."""
    y, further = y[np.isfinite(y)], further[np.isfinite(further)]
    if not len(y) or not len(further):
        return None
    low, high = float(y.min()), float(y.max())
    room = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-12)
    if further.min() >= low - 2 * room and further.max() <= high + 2 * room:
        return None
    return low - room, high + room


def levels(
    t: np.ndarray, columns: Sequence[tuple[str, np.ndarray]], bounds: Sequence[tuple[str, float]] = ()
) -> Figure:
    """Sizes that should be small, on a logarithmic axis, with dashed lines at what was promised."""
    lines, sizes = [], [bound for _, bound in bounds]
    for i, (name, y) in enumerate(columns):
        x, size = envelope(t, y)
        sizes += [float(np.nanmin(size)), float(np.nanmax(size))]
        lines.append(_scatter(x, size, name, color=SERIES[i % len(SERIES)], width=1.5))
    for name, bound in bounds:
        ends = [t[0], t[-1]], [bound, bound]
        lines.append(_scatter(*ends, f"promised: {name}", color="--text", width=1.5, dash="dash"))
    return over_time(lines, 320, yaxis=_decades(sizes))


def _decades(sizes: Sequence[float]) -> Figure:
    """A logarithmic axis from power to power of ten, with a few of them named."""
    finite = [size for size in sizes if np.isfinite(size) and size > 0] or [FLOOR, 1.0]
    low, high = int(np.floor(np.log10(min(finite)))), int(np.ceil(np.log10(max(finite))))
    high = max(high, low + 1)
    return {"type": "log", "exponentformat": "power", "range": [low, high], "dtick": max(1, -(-(high - low) // 6))}
