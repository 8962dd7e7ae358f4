"""A picture of the page as SVG, for pages that cannot run a script."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

import numpy as np

from vinculum.present.report.charts import SERIES, Figure
from vinculum.present.shapes import spread

COLORS = ("#2a6fdb", "#c8553d", "#2f8f5b", "#8a5cc2", "#a87812", "#1f8a99", "#c2487f", "#66707c")
DASHES = {"dot": "2 3", "dash": "7 4", "solid": ""}
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760, 62, 14, 26, 44


def svg(figure: Figure) -> str:
    """Axes, lines, points and a legend above."""
    layout, height = figure["layout"], figure["layout"]["height"]
    x, y = (_Axis(figure["data"], layout.get(f"{name}axis", {}), name) for name in "xy")
    x.place(LEFT, WIDTH - RIGHT)
    y.place(height - BOTTOM, TOP)
    if layout.get("yaxis", {}).get("scaleanchor"):
        x.match(y)
    parts = [*x.drawn(height), *y.drawn(height)]
    parts += [_trace(trace, x, y) for trace in figure["data"]]
    parts += _legend([trace for trace in figure["data"] if trace.get("showlegend")])
    look = 'font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {look}>'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="#fafaf8"/>', *parts, "</svg>\n"])


def values(packed: dict[str, str]) -> np.ndarray:
    """The numbers of a typed array."""
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype="<f4").astype(float)


class _Axis:
    """Numbers to places, straight or logarithmic, with a few ticks."""

    def __init__(self, traces: list[Figure], given: dict[str, Any], name: str) -> None:
        self.name, self.title, self.log = name, given.get("title", ""), given.get("type") == "log"
        found = self.level(np.concatenate([values(trace[name]) for trace in traces]))
        low, high = given.get("range", (found.min(), found.max()))
        room = 0.0 if "range" in given or self.log else 0.03 * (high - low)
        self.low, self.high = float(low - room), float(high + room)

    def level(self, numbers: np.ndarray) -> np.ndarray:
        return np.log10(np.maximum(numbers, 1e-300)) if self.log else numbers

    def place(self, first: float, last: float) -> None:
        self.first, self.last = first, last

    def match(self, other: _Axis) -> None:
        """One scale for both: the looser of the two is widened."""
        scales = [abs(a.last - a.first) / (a.high - a.low) for a in (self, other)]
        for axis, scale in zip((self, other), scales, strict=True):
            extra = (axis.high - axis.low) * (scale / min(scales) - 1) / 2
            axis.low, axis.high = axis.low - extra, axis.high + extra

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        share = (self.level(np.asarray(numbers)) - self.low) / (self.high - self.low)
        return self.first + np.clip(share, -0.02, 1.02) * (self.last - self.first)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        if self.log:
            step = max(1, round((self.high - self.low) / 6))
            return [(10.0**k, f"1e{k}") for k in range(int(np.ceil(self.low)), int(np.floor(self.high)) + 1, step)]
        step = 10 ** np.floor(np.log10((self.high - self.low) / 4))
        step *= min((1, 2, 5, 10), key=lambda k: abs((self.high - self.low) / (k * step) - 5))
        first = int(np.ceil(self.low / step))
        return [(k * step, f"{k * step:g}") for k in range(first, int(np.floor(self.high / step)) + 1)]

    def drawn(self, height: int) -> list[str]:
        parts = []
        for number, text in self.ticks:
            at = float(self(np.array(number)))
            if self.name == "x":
                parts.append(_line(at, TOP, at, height - BOTTOM))
                parts.append(_text(at, height - BOTTOM + 16, text, "middle"))
            else:
                parts.append(_line(LEFT, at, WIDTH - RIGHT, at))
                parts.append(_text(LEFT - 6, at + 4, text, "end"))
        if self.name == "x":
            return [*parts, _text((LEFT + WIDTH - RIGHT) / 2, height - 10, self.title, "middle")]
        return [*parts, _text(12, TOP - 10, self.title, "start")]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#e2e6ea"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#5c6773">{escape(text)}</text>'


def _trace(trace: Figure, x: _Axis, y: _Axis) -> str:
    across, up = x(values(trace["x"])), y(values(trace["y"]))
    if trace["mode"] == "markers":
        radius, color = trace["marker"]["size"] / 2, _color(trace["marker"]["color"])
        return "".join(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:g}" fill="{color}"/>'
            for a, b in zip(across, up, strict=True)
        )
    chosen = spread(len(across), 9000)
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across[chosen], up[chosen], strict=True))
    dash = DASHES[trace["line"].get("dash", "solid")]
    style = (
        f'stroke="{_color(trace["line"]["color"])}" stroke-width="{trace["line"]["width"]:g}" stroke-dasharray="{dash}"'
    )
    return f'<polyline points="{path}" fill="none" {style}/>'


def _color(name: str) -> str:
    return COLORS[SERIES.index(name)]


def _legend(traces: list[Figure]) -> list[str]:
    parts, at = [], LEFT + 40.0
    for trace in traces:
        color = _color((trace.get("line") or trace["marker"])["color"])
        dash = DASHES[trace.get("line", {}).get("dash", "solid")]
        style = f'stroke="{color}" stroke-width="3" stroke-dasharray="{dash}"'
        parts.append(f'<line x1="{at}" y1="14" x2="{at + 20}" y2="14" {style}/>')
        parts.append(_text(at + 25, 18, trace["name"], "start"))
        at += 40 + 7 * len(trace["name"])
    return parts
