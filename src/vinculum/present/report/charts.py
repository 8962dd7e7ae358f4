"""Charts of a page: quantities over time, drawn by the page's script, and roots in the complex plane as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from vinculum.present.html import Html, tag
from vinculum.present.report.tables import Table, packed_table
from vinculum.present.svg import SERIES, Axis, Marks, Picture, svg
from vinculum.simulation import Trajectory
from vinculum.text_printer import number

_MOST = 400  # samples of an envelope
FLOOR = 1e-18  # lower end of a logarithmic axis


@dataclass(frozen=True)
class Series:
    """A column of a table as a line."""

    run: str
    key: str
    name: str = ""
    color: str = SERIES[0]
    dash: str = ""


class Charts:
    """The tables and the charts over time of a page."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.envelopes: dict[str, dict[str, Any]] = {}
        self.charts: list[dict[str, Any]] = []
        self.group = ""  # of the charts that follow: those of one motion

    def table(self, identifier: str, motion: Trajectory) -> Table:
        """The table of a motion."""
        return self.tables.setdefault(identifier, Table(identifier, motion))

    @property
    def runs(self) -> dict[str, Any]:
        """All tables as data of the page."""
        return {name: table.data for name, table in self.tables.items()} | self.envelopes

    def over_time(self, caption: object, series: Sequence[Series], unit: str = "", **options: Any) -> Html:
        """A chart: the first line is whole, the others as far as they stay near it."""
        identifier = f"chart-{len(self.charts) + 1}"
        lines = [asdict(s) for s in series]
        self.charts.append({"id": identifier, "group": self.group, "series": lines, "unit": unit, **options})
        head = tag("figcaption", tag("span", caption), tag("output"))
        keys = [key_of(f"var({s.color})", s.name) for s in series if s.name]
        keys += [key_of("var(--text)", bound["name"]) for bound in options.get("bounds", ())]
        legend = tag("div", *keys, class_="keys") if len(keys) > 1 else ""
        return tag("figure", head, legend, tag("div", class_="plot"), id=identifier, class_="chart")

    def sizes(
        self,
        caption: object,
        run: str,
        t: np.ndarray,
        columns: Sequence[tuple[str, np.ndarray]],
        bounds: Sequence[tuple[str, float]] = (),
    ) -> Html:
        """Quantities that should be small, on a logarithmic axis, with dashed lines at the guaranteed bounds."""
        found = [(name, *envelope(t, y)) for name, y in columns]
        self.envelopes[run] = packed_table(found[0][1], {name: size for name, _, size in found})
        lines = [Series(run, name, name, SERIES[i % len(SERIES)]) for i, (name, _) in enumerate(columns)]
        levels = [{"name": f"promised: {name}", "value": bound} for name, bound in bounds]
        return self.over_time(caption, lines, log=True, bounds=levels)


def grid(charts: Iterable[Html]) -> Html:
    """Charts side by side, as many as fit."""
    return tag("div", *charts, class_="grid")


def wide_grid(pictures: Iterable[Html]) -> Html:
    """Pictures side by side, wide enough for the text inside them."""
    return tag("div", *pictures, class_="grid two")


def figure(picture: Picture, caption: object = "", words: str = "") -> Html:
    """A picture that does not change, under its name; a broad one has another shape on a telephone."""
    return tag("figure", tag("figcaption", caption) if caption else "", *_shapes(picture, words))


_NARROW = 360, 300  # width and height on a telephone


def _shapes(picture: Picture, words: str) -> list[Html]:
    if picture.width <= 1.3 * _NARROW[0]:
        return [Html(svg(picture, words))]
    width, height = _NARROW
    narrow = replace(picture, width=width, height=height)
    return [Html(svg(picture, words, kind="broad")), Html(svg(narrow, words, kind="narrow"))]


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


def settled(t: np.ndarray, columns: Sequence[np.ndarray]) -> float:
    """A time after which nothing visible changes: twice the time of the last change by 1 % of any range."""
    last = 0
    for y in columns:
        moving = np.nonzero(np.abs(y - y[-1]) > 0.01 * np.ptp(y))[0]
        last = max(last, int(moving[-1]) if len(moving) else 0)
    return float(min(t[0] + 2 * (t[last] - t[0]), t[-1])) if last else float(t[-1])


def key_of(color: str, name: str) -> Html:
    """An entry of a legend: a patch of color and its meaning."""
    return tag("span", tag("i", style=f"background:{color}"), name, class_="key")


_FAR_APART = 40.0  # ratio of the largest to the smallest root above which axes are compressed


def root_map(sets: Sequence[tuple[str, np.ndarray]], zeros: int = 0, unit: str = "") -> Picture:
    """Sets of roots by name: crosses for the first (open loop), circles for the next; squares for structural zeros."""
    every = np.concatenate([roots for _, roots in sets])
    scale = _scale(every)
    looks = zip(("cross", "circle", "diamond"), (SERIES[1], SERIES[0], SERIES[2]), strict=True)
    parts = [_marks(roots, name, *look, scale) for (name, roots), look in zip(sets, looks, strict=False)]
    if zeros:
        parts.append(_marks(np.zeros(1, complex), f"structural zeros ({zeros})", "square", "--muted", scale))
    least = 0.5 * float(np.abs(every).max())  # real roots have a plane around them too
    x, y = (
        _axis(f"{name} part{unit and f' [{unit}]'}", part, scale, least)
        for name, part in (("real", every.real), ("imaginary", every.imag))
    )
    return Picture(parts, x, y, height=380, width=600, zero=True)


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


def _marks(roots: np.ndarray, name: str, sign: str, color: str, scale: float | None) -> Marks:
    x, y = _placed(roots.real, scale), _placed(roots.imag, scale)
    return Marks(x, y, name, color, sign, 10, [number(root) for root in roots])


def _axis(title: str, parts: np.ndarray, scale: float | None, least: float = 0.0) -> Axis:
    if scale is None:
        room = 0.08 * max(float(np.ptp(np.append(parts, 0.0))), least, 1e-9)
        return Axis(title, span=(min(float(parts.min()), 0.0) - room, max(float(parts.max()), 0.0) + room))
    top = int(np.ceil(np.log10(max(float(np.abs(parts).max()), scale) / scale)))
    powers = [scale * 10.0**k for k in range(top + 1)]
    powers = powers[:: max(1, (len(powers) + 2) // 4)]
    ticks = [-p for p in reversed(powers)] + [0.0] + powers
    low, high = (float(np.arcsinh(end / scale)) for end in (min(parts.min(), 0.0), max(parts.max(), 0.0)))
    room = 0.08 * max(high - low, 1.0)
    places = {float(np.arcsinh(x / scale)): _tick(x) for x in ticks}
    kept = {at: label for at, label in places.items() if low - room <= at <= high + room}
    return Axis(title, span=(low - room, high + room), ticks=kept)


def _tick(x: float) -> str:
    return f"{x:g}".replace("-", "\N{MINUS SIGN}")
