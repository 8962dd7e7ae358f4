"""Figures for Plotly: lines over time, roots in the complex plane, and their positions on the page.

Colors are names of the page's style (``--series-1``), which follow its theme.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from vinculum.present.html import Html, tag
from vinculum.present.thinning import thinned
from vinculum.text_printer import number

SERIES = tuple(f"--series-{i}" for i in range(1, 9))
_MOST = 2000  # samples of a line
FLOOR = 1e-18  # lower end of a logarithmic axis

Figure = dict[str, Any]


def packed(values: np.ndarray | Sequence[float]) -> dict[str, str]:
    """Numbers as Plotly's typed array: four bytes each."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()}


def envelope(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|y| for a logarithmic axis, with zeros drawn below the smallest other value; if there are many samples, the
    largest of each group, which keeps all peaks.
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
    t, y = thinned(np.asarray(t), np.asarray(y), _MOST)
    return _scatter(t, y, name, color=color, width=2, dash=dash)


def _scatter(x: np.ndarray | Sequence[float], y: np.ndarray | Sequence[float], name: str, **style: Any) -> Figure:
    return {"type": "scatter", "mode": "lines", "x": packed(x), "y": packed(y), "name": name, "line": style}


def figure(lines: Sequence[Figure], height: int = 300, **layout: Any) -> Figure:
    """Lines with axes, and a legend if there is more than one name."""
    names = [entry["name"] for entry in lines if entry.get("showlegend", True)]
    return {"data": list(lines), "layout": {"height": height, "showlegend": len(names) > 1} | layout}


def over_time(lines: Sequence[Figure], height: int = 300, title: str = "", **layout: Any) -> Figure:
    """Lines over t."""
    return figure(lines, height, xaxis={"title": "t"}, yaxis={"title": title} | layout.pop("yaxis", {}), **layout)


def small(
    lines: Sequence[Figure], limits: tuple[float, float] | None = None, times: tuple[float, float] | None = None
) -> Figure:
    """A small chart of one quantity, with its name above it."""
    x, y = ({} if span is None else {"range": list(span)} for span in (times, limits))
    return figure(lines, 190, xaxis=x, yaxis=y, showlegend=False)


def settled(t: np.ndarray, columns: Sequence[np.ndarray]) -> float:
    """A time after which nothing visible changes: twice the time of the last change by 1 % of any range."""
    last = 0
    for y in columns:
        moving = np.nonzero(np.abs(y - y[-1]) > 0.01 * np.ptp(y))[0]
        last = max(last, int(moving[-1]) if len(moving) else 0)
    return float(min(t[0] + 2 * (t[last] - t[0]), t[-1])) if last else float(t[-1])


def fitting(y: np.ndarray, further: np.ndarray) -> tuple[float, float] | None:
    """Limits that show the whole first line and the second one as far as it stays near; None if both fit."""
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
    """Quantities that should be small, on a logarithmic axis, with dashed lines at the guaranteed bounds."""
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
    """A logarithmic axis between powers of ten, with a few labels."""
    finite = [size for size in sizes if np.isfinite(size) and size > 0] or [FLOOR, 1.0]
    low, high = int(np.floor(np.log10(min(finite)))), int(np.ceil(np.log10(max(finite))))
    high = max(high, low + 1)
    return {"type": "log", "exponentformat": "power", "range": [low, high], "dtick": max(1, -(-(high - low) // 6))}


def key_of(color: str, name: str) -> Html:
    """An entry of a legend: a patch of color and its meaning."""
    return tag("span", tag("i", style=f"background:{color}"), name, class_="key")


class Figures:
    """Figures placed so far, by identifier."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}

    def place(self, figure: dict[str, Any], caption: object = "", words: str = "") -> Html:
        """An empty box of the figure's height that the page's script fills; ``words`` describe the figure."""
        identifier = f"figure-{len(self.data) + 1}"
        self.data[identifier] = figure
        style = f"height:{figure['layout']['height']}px"
        box = tag("div", id=identifier, class_="plot", style=style, role="img", aria_label=words or None)
        return tag("figure", tag("figcaption", caption) if caption else "", box)

    def grid(self, pictures: Iterable[tuple[object, dict[str, Any]]]) -> Html:
        """Small charts side by side, as many as fit, each under its name."""
        return tag("div", *(self.place(figure, caption) for caption, figure in pictures), class_="grid")


_FAR_APART = 40.0  # ratio of the largest to the smallest root above which axes are compressed


def root_map(sets: Sequence[tuple[str, np.ndarray]], zeros: int = 0) -> Figure:
    """Sets of roots by name: crosses for the first (open loop), circles for the next; squares for structural zeros."""
    every = np.concatenate([roots for _, roots in sets])
    scale = _scale(every)
    signs = ("x", "circle-open", "diamond-open")
    data = [
        _marks(roots, name, sign, color, scale)
        for (name, roots), sign, color in zip(sets, signs, (SERIES[1], SERIES[0], SERIES[2]), strict=False)
    ]
    if zeros:
        data.append(_marks(np.zeros(1, complex), f"structural zeros ({zeros})", "square-open", "--muted", scale))
    axes = [_axis(part, scale) for part in (every.real, every.imag)]
    x, y = axes[0] | {"title": "real part"}, axes[1] | {"title": "imaginary part"}
    return figure(data, 340, xaxis=x, yaxis=y, hovermode="closest", showlegend=True)


def compressed(roots: np.ndarray) -> bool:
    """Whether the axes of a map are compressed."""
    return _scale(roots) is not None


def _scale(roots: np.ndarray) -> float | None:
    sizes = np.abs(roots[np.abs(roots) > 0])
    if not len(sizes) or sizes.max() <= _FAR_APART * sizes.min():
        return None
    return float(10 ** np.floor(np.log10(max(sizes.min(), 1e-6 * sizes.max()))))


def _placed(x: np.ndarray, scale: float | None) -> np.ndarray:
    return x if scale is None else np.arcsinh(x / scale)


def _marks(roots: np.ndarray, name: str, sign: str, color: str, scale: float | None) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": _placed(roots.real, scale).tolist(),
        "y": _placed(roots.imag, scale).tolist(),
        "name": name,
        "text": [number(root) for root in roots],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": sign, "size": 11, "color": color, "line": {"width": 2, "color": color}},
    }


def _axis(parts: np.ndarray, scale: float | None) -> Figure:
    plain: Figure = {"zeroline": True, "zerolinewidth": 2}
    if scale is None:
        return plain
    top = int(np.ceil(np.log10(max(float(np.abs(parts).max()), scale) / scale)))
    powers = [scale * 10.0**k for k in range(top + 1)]
    powers = powers[:: max(1, (len(powers) + 2) // 4)]
    ticks = [-p for p in reversed(powers)] + [0.0] + powers
    return plain | {"tickvals": np.arcsinh(np.array(ticks) / scale).tolist(), "ticktext": [_tick(x) for x in ticks]}


def _tick(x: float) -> str:
    return f"{x:g}".replace("-", "\N{MINUS SIGN}")
