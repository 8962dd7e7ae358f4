"""Charts as SVG inside a page: no script, and colors by the names of the page's style, which follow its theme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.present.html import Html, joined, tag

WIDTH, HEIGHT = 420.0, 260.0
NARROW, _APART = 340.0, 74.0  # the width of a telephone, and the distance of axes on it
LEFT, RIGHT, TOP, BOTTOM = 56.0, 14.0, 10.0, 40.0
_TEXT = {"font_size": "11", "fill": "var(--muted)"}
_ON_LINES = {"paint_order": "stroke", "stroke": "var(--page)", "stroke_width": "3"}  # readable above other marks


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` along a line from ``start`` to ``end`` of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, values: np.ndarray | float) -> np.ndarray:
        """Where values are drawn."""
        return self.start + (np.asarray(values, dtype=float) - self.low) / (self.high - self.low) * (
            self.end - self.start
        )

    @property
    def ticks(self) -> list[float]:
        """About five round values."""
        raw = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def axis(values: Iterable[np.ndarray], start: float, end: float, margin: float = 0.04) -> Axis:
    """An axis that shows all finite values."""
    every = np.concatenate([np.asarray(part, dtype=float).ravel() for part in values])
    finite = every[np.isfinite(every)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
    room = margin * (high - low)
    return Axis(low - room, high + room, start, end)


def across(*values: np.ndarray) -> Axis:
    """A horizontal axis."""
    return axis(values, LEFT, WIDTH - RIGHT)


def upward(*values: np.ndarray, margin: float = 0.04) -> Axis:
    """A vertical axis."""
    return axis(values, HEIGHT - BOTTOM, TOP, margin)


def chart(x: Axis, y: Axis, marks: Iterable[object], across: str, up: str, words: str) -> Html:
    """Marks between two axes; ``words`` describe the picture to those who do not see it."""
    return tag(
        "svg",
        *_grid(x, y),
        *marks,
        _label(across, (x.start + x.end) / 2, HEIGHT - 6, "middle"),
        tag("g", _label(up, 0, 0, "middle"), transform=f"translate(13 {(y.start + y.end) / 2:.1f}) rotate(-90)"),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", class_="plot", role="img", aria_label=words,
    )  # fmt: skip


def _grid(x: Axis, y: Axis) -> list[Html]:
    """Lines and numbers at the ticks."""
    found = []
    for tick, place in zip(x.ticks, x.at(np.array(x.ticks)), strict=True):
        found += [_line(place, y.start, place, y.end), _label(_number(tick), place, y.start + 15, "middle")]
    for tick, place in zip(y.ticks, y.at(np.array(y.ticks)), strict=True):
        found += [_line(x.start, place, x.end, place), _label(_number(tick), x.start - 5, place + 4, "end")]
    return found


def _line(x1: float, y1: float, x2: float, y2: float, color: str = "--grid") -> Html:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return tag("line", **ends, stroke=f"var({color})")


def _label(content: str, x: float, y: float, anchor: str, **style: str) -> Html:
    return tag("text", content, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, **_TEXT, **style)


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


# -- marks -------------------------------------------------------------------------------------------------------


def scale_color(share: float) -> str:
    """A color between those of the first and the second series, for a share from 0 to 1."""
    return f"color-mix(in oklab, var(--series-2) {100 * min(max(share, 0.0), 1.0):.0f}%, var(--series-1))"


def shares(values: np.ndarray) -> np.ndarray:
    """The place of every value between the smallest and the largest one; not a number where there is no value."""
    finite = values[np.isfinite(values)]
    span = float(np.ptp(finite)) if len(finite) else 0.0
    return np.where(np.isfinite(values), (values - (finite.min() if span else 0.0)) / span if span else 0.5, np.nan)


def dots(x: np.ndarray, y: np.ndarray, share: np.ndarray, titles: Sequence[str]) -> list[Html]:
    """A dot for every pair, colored by its share; a cross where that is not a number."""
    found = []
    for place, up, part, title in zip(x, y, share, titles, strict=True):
        if np.isfinite(part):
            mark = {"cx": f"{place:.1f}", "cy": f"{up:.1f}", "r": "3.2", "fill": scale_color(float(part))}
            found.append(tag("circle", tag("title", title), **mark))
        else:
            arms = f"M{place - 3.5:.1f} {up - 3.5:.1f}l7 7m0 -7l-7 7"
            found.append(tag("path", tag("title", title), d=arms, stroke="var(--bad)", stroke_width="1.6"))
    return found


def cells(x: Axis, y: Axis, columns: np.ndarray, rows: np.ndarray, share: np.ndarray) -> list[Html]:
    """A rectangle for every pair of grid values; share is (columns, rows), not a number: hatched by the bad color."""
    left, low = edges(columns), edges(rows)
    found = []
    for i, j in np.ndindex(share.shape):
        a, b = x.at(left[i]), x.at(left[i + 1])
        c, d = y.at(low[j]), y.at(low[j + 1])
        fill = scale_color(float(share[i, j])) if np.isfinite(share[i, j]) else "var(--bad-back)"
        box = {"x": f"{min(a, b):.1f}", "y": f"{min(c, d):.1f}"}
        found.append(tag("rect", **box, width=f"{abs(b - a) + 0.3:.1f}", height=f"{abs(d - c) + 0.3:.1f}", fill=fill))
    return found


def edges(values: np.ndarray) -> np.ndarray:
    """Borders between neighbors, and as far beyond the first and the last value."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = 0.5 * (values[1:] + values[:-1])
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])


def bars(x: Axis, y: Axis, edges: np.ndarray, counts: np.ndarray) -> list[Html]:
    """A bar for every interval."""
    floor = float(y.at(0.0))
    found = []
    for a, b, count in zip(x.at(edges[:-1]), x.at(edges[1:]), counts, strict=True):
        top = float(y.at(count))
        box = {"x": f"{a + 0.5:.1f}", "y": f"{top:.1f}", "width": f"{max(b - a - 1, 0.5):.1f}"}
        found.append(tag("rect", tag("title", f"{count}"), **box, height=f"{floor - top:.1f}", fill="var(--series-1)"))
    return found


def curve(
    x: np.ndarray, y: np.ndarray, color: str, width: float = 1.5, dash: str | None = None, title: str = ""
) -> Html:
    """A line through places of the picture; it is broken where one is not finite."""
    good = np.isfinite(x) & np.isfinite(y)
    parts, pen = [], "M"
    for a, b, drawn in zip(x, y, good, strict=True):
        if drawn:
            parts.append(f"{pen}{a:.1f} {b:.1f}")
        pen = "L" if drawn else "M"
    style = {"fill": "none", "stroke": color, "stroke_width": f"{width:g}", "stroke_dasharray": dash}
    return tag("path", d="".join(parts), **style)


def parallel(names: Sequence[str], columns: Sequence[np.ndarray], share: np.ndarray, words: str) -> Html:
    """Parallel coordinates: one vertical axis for every column, one line for every row, colored by its share."""
    places = np.linspace(LEFT, 2 * WIDTH - LEFT, len(names))
    axes = [axis([column], HEIGHT - BOTTOM, TOP) for column in columns]
    heights = [one.at(column) for one, column in zip(axes, columns, strict=True)]
    colors = [scale_color(float(part)) if np.isfinite(part) else "var(--bad)" for part in share]
    lines = [curve(places, np.array([h[k] for h in heights]), colors[k], 0.8) for k in range(len(share))]
    found = []
    for name, place, one in zip(names, places, axes, strict=True):
        found += [_line(place, one.start, place, one.end, "--muted"), _label(name, place, HEIGHT - 6, "middle")]
        places_up = zip(one.ticks, one.at(np.array(one.ticks)), strict=True)
        found += [_label(_number(tick), place - 4, float(up) + 4, "end", **_ON_LINES) for tick, up in places_up]
    size = f"0 0 {2 * WIDTH:g} {HEIGHT:g}"
    broad = tag("svg", *lines, *found, viewBox=size, width="100%", role="img", aria_label=words, class_="broad")
    return joined([broad, _downward(names, columns, colors, words)])


def _downward(names: Sequence[str], columns: Sequence[np.ndarray], colors: Sequence[str], words: str) -> Html:
    """The same on a telephone: a horizontal axis for every column, one below the other."""
    heights = _APART * (np.arange(len(names)) + 0.5)
    axes = [axis([column], RIGHT, NARROW - RIGHT) for column in columns]
    places = [one.at(column) for one, column in zip(axes, columns, strict=True)]
    lines = [curve(np.array([p[k] for p in places]), heights, color, 0.8) for k, color in enumerate(colors)]
    found = []
    for name, height, one in zip(names, heights, axes, strict=True):
        found += [
            _line(one.start, height, one.end, height, "--muted"),
            _label(name, one.start, height - 6, "start", **_ON_LINES),
        ]
        places_along = zip(one.ticks, one.at(np.array(one.ticks)), strict=True)
        found += [_label(_number(tick), float(at), height + 14, "middle", **_ON_LINES) for tick, at in places_along]
    size = f"0 0 {NARROW:g} {_APART * len(names):g}"
    return tag("svg", *lines, *found, viewBox=size, width="100%", role="img", aria_label=words, class_="narrow")


def color_key(low: float, high: float, name: str) -> Html:
    """What the colors mean."""
    patches = [
        tag("rect", x=f"{6 * k}", y="2", width="6.3", height="9", fill=scale_color(k / 19)) for k in range(20)
    ]  # fmt: skip
    strip = tag("svg", *patches, viewBox="0 0 120 12", width="120", height="12", aria_hidden="true")
    return joined([f"{name}: {_number(low)} ", strip, f" {_number(high)}"])


# -- marks of regions --------------------------------------------------------------------------------------------


def box(
    x: Axis,
    y: Axis,
    wide: tuple[float, ...] | np.ndarray,
    high: tuple[float, ...] | np.ndarray,
    fill: str,
    title: str = "",
) -> Html:
    """A rectangle between two values of each axis."""
    (a, b), (c, d) = sorted(map(float, x.at(np.array(wide)))), sorted(map(float, y.at(np.array(high))))
    place = {"x": f"{a:.1f}", "y": f"{c:.1f}", "width": f"{b - a + 0.3:.1f}", "height": f"{d - c + 0.3:.1f}"}
    return tag("rect", tag("title", title) if title else "", **place, fill=fill)


def level(x: Axis, y: Axis, value: float) -> Html:
    """A horizontal line."""
    return _line(x.start, float(y.at(value)), x.end, float(y.at(value)), "--muted")


def upright(x: Axis, y: Axis, value: float, name: str) -> list[Html]:
    """A vertical line with its value."""
    place = float(x.at(value))
    return [_line(place, y.start, place, y.end, "--text"), _label(name, place + 3, y.end + 10, "start", **_ON_LINES)]


def cross(x: float, y: float, color: str, size: float) -> Html:
    """A small cross."""
    arms = f"M{x - size:.1f} {y - size:.1f}l{2 * size:g} {2 * size:g}m0 -{2 * size:g}l-{2 * size:g} {2 * size:g}"
    return tag("path", d=arms, stroke=color, stroke_width="0.9", fill="none")


def ring(x: float, y: float, title: str) -> Html:
    """A circle around one place, with what it is."""
    look = {"fill": "none", "stroke": "var(--text)", "stroke_width": "2"}
    return tag("circle", tag("title", title), cx=f"{x:.1f}", cy=f"{y:.1f}", r="5.5", **look)


def area(x: np.ndarray, y: np.ndarray, color: str) -> Html:
    """A closed line, filled lightly."""
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True)) + "Z"
    return tag("path", d=path, fill=color, fill_opacity="0.22", stroke=color, stroke_width="2")


def steps_between(x: Axis, y: Axis, columns: np.ndarray, rows: np.ndarray, kinds: np.ndarray) -> list[Html]:
    """A bold line between neighboring cells of different kinds."""
    left, low = x.at(edges(columns)), y.at(edges(rows))
    parts = []
    for i, j in np.ndindex(kinds.shape):
        if i + 1 < len(columns) and kinds[i, j] != kinds[i + 1, j]:
            parts.append(f"M{left[i + 1]:.1f} {low[j]:.1f}V{low[j + 1]:.1f}")
        if j + 1 < len(rows) and kinds[i, j] != kinds[i, j + 1]:
            parts.append(f"M{left[i]:.1f} {low[j + 1]:.1f}H{left[i + 1]:.1f}")
    look = {"fill": "none", "stroke": "var(--text)", "stroke_width": "2.2", "stroke_linecap": "square"}
    return [tag("path", d="".join(parts), **look)] if parts else []
