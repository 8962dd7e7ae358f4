"""Pictures as SVG text: axes, lines, points and a legend. They need no script, print sharply and follow the theme.

A color is a name of the page's style (``--series-1``). On a page it stays a name; in a separate file it becomes
the color of the light theme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

import numpy as np

SERIES = tuple(f"--series-{i}" for i in range(1, 9))
_SHADES = ("#2a6fdb", "#c8553d", "#2f8f5b", "#8a5cc2", "#a87812", "#1f8a99", "#c2487f", "#66707c")
LIGHT = dict(zip(SERIES, _SHADES, strict=True)) | {
    "--text": "#1c2228", "--muted": "#5c6773", "--grid": "#e2e6ea", "--line": "#c9d0d8", "--page": "#fafaf8",
}  # fmt: skip
DASHES = {"dot": "2 3", "dash": "7 4", "solid": ""}
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 26, 44

Numbers = Sequence[float] | np.ndarray
Color = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points."""

    x: Numbers
    y: Numbers
    name: str = ""
    color: str = SERIES[0]
    width: float = 1.5
    dash: str = "solid"


@dataclass(frozen=True, eq=False)
class Marks:
    """Separate points: ``sign`` is dot, cross, circle, diamond or square; ``titles`` appear under the pointer."""

    x: Numbers
    y: Numbers
    name: str = ""
    color: str = SERIES[0]
    sign: str = "dot"
    size: float = 9
    titles: Sequence[str] = ()


@dataclass(frozen=True)
class Axis:
    """A title, the ends and the ticks {number: label}; what is missing is chosen."""

    title: str = ""
    log: bool = False
    span: tuple[float, float] | None = None
    ticks: Mapping[float, str] = field(default_factory=dict)

    def level(self, numbers: Numbers) -> np.ndarray:
        """The numbers as they are spread along the axis."""
        given = np.asarray(numbers, dtype=float)
        return np.log10(np.maximum(given, 1e-300)) if self.log else given

    def marks(self, low: float, high: float) -> dict[float, str]:
        """{level: label} between two levels: about five numbers 1, 2 or 5 times a power of ten, or whole powers."""
        if self.ticks:
            return dict(self.ticks)
        if self.log:
            every = max(1, round((high - low) / 5))
            return {float(k): f"10{raised(k)}" for k in range(int(np.ceil(low)), int(np.floor(high)) + 1, every)}
        step = _round_step((high - low) / 5)
        numbers = [k * step for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
        return {number: f"{number:g}".replace("-", "\N{MINUS SIGN}") for number in numbers}


@dataclass(frozen=True, eq=False)
class Picture:
    """Lines and points with their axes; ``equal`` gives both directions one scale."""

    parts: Sequence[Line | Marks]
    x: Axis = Axis()
    y: Axis = Axis()
    height: int = 340
    width: int = 760
    equal: bool = False
    zero: bool = False  # the lines x = 0 and y = 0 are drawn stronger


def svg(picture: Picture, words: str = "", colors: Mapping[str, str] | None = None, kind: str = "") -> str:
    """The picture as an element of a page, of a ``kind`` of the style; with ``colors``, as a separate file."""
    x, y = _placed(picture)
    color: Color = _variable if colors is None else colors.__getitem__
    parts = [*_grid(x, y, color, picture), *(_drawn(part, x, y, color) for part in picture.parts)]
    named = [part for part in picture.parts if part.name]
    legend, above = _legend(named, color, len(picture.y.title), picture.width)
    parts += legend
    box = f"0 {-above} {picture.width} {picture.height + above}"
    size = f'viewBox="{box}" font-family="sans-serif" font-size="12"'
    if colors is None:
        label = f' role="img" aria-label="{escape(words, quote=True)}"' if words else ""
        return "".join([f'<svg class="plot{kind and f" {kind}"}" {size}{label}>', *parts, "</svg>"])
    back = f'<rect y="{-above}" width="{picture.width}" height="{picture.height + above}" fill="{color("--page")}"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', back, *parts, "</svg>\n"])


def _variable(name: str) -> str:
    return f"var({name})"


def raised(power: int) -> str:
    """A power in small raised digits."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten, nearest to a step."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(power * min((1, 2, 5, 10), key=lambda k: abs(np.log(step / (k * power)))))


# -- places -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scale:
    """From numbers to places: levels low … high lie at first … last."""

    axis: Axis
    low: float
    high: float
    first: float
    last: float

    def __call__(self, numbers: Numbers) -> np.ndarray:
        return self.at(self.axis.level(numbers))

    def at(self, levels: Numbers | float) -> np.ndarray:
        share = (np.asarray(levels, dtype=float) - self.low) / (self.high - self.low)
        return self.first + np.clip(share, -0.02, 1.02) * (self.last - self.first)

    def widened(self, factor: float) -> _Scale:
        extra = (self.high - self.low) * (factor - 1) / 2
        return replace(self, low=self.low - extra, high=self.high + extra)

    @property
    def density(self) -> float:
        return abs(self.last - self.first) / (self.high - self.low)


def _placed(picture: Picture) -> tuple[_Scale, _Scale]:
    """Both axes on the picture; for equal scales the looser one is widened."""
    x = _scale(picture.x, [part.x for part in picture.parts], LEFT, picture.width - RIGHT)
    y = _scale(picture.y, [part.y for part in picture.parts], picture.height - BOTTOM, TOP)
    if picture.equal:
        least = min(x.density, y.density)
        return x.widened(x.density / least), y.widened(y.density / least)
    return x, y


def _scale(axis: Axis, columns: Sequence[Numbers], first: float, last: float) -> _Scale:
    found = axis.level(np.concatenate([np.asarray(c, dtype=float).ravel() for c in columns] or [np.array([0.0, 1.0])]))
    found = found[np.isfinite(found)] if np.isfinite(found).any() else np.array([0.0, 1.0])
    low, high = map(float, axis.level(axis.span)) if axis.span else (float(found.min()), float(found.max()))
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
    room = 0.0 if axis.span else 0.03 * (high - low)
    return _Scale(axis, low - room, high + room, first, last)


# -- elements -----------------------------------------------------------------------------------------------------


def _grid(x: _Scale, y: _Scale, color: Color, picture: Picture) -> list[str]:
    bottom, right = picture.height - BOTTOM, picture.width - RIGHT
    parts = []
    for level, label in x.axis.marks(x.low, x.high).items():
        at = float(x.at(level))
        parts += [_rule(at, TOP, at, bottom, color), _text(at, bottom + 16, label, "middle", color)]
    for level, label in y.axis.marks(y.low, y.high).items():
        at = float(y.at(level))
        parts += [_rule(LEFT, at, right, at, color), _text(LEFT - 6, at + 4, label, "end", color)]
    if picture.zero:
        parts += [_rule(float(x.at(0)), TOP, float(x.at(0)), bottom, color, "--muted")] if x.low < 0 < x.high else []
        parts += [_rule(LEFT, float(y.at(0)), right, float(y.at(0)), color, "--muted")] if y.low < 0 < y.high else []
    titles = [_text((LEFT + right) / 2, picture.height - 10, x.axis.title, "middle", color)]
    return [*parts, *titles, _text(4, TOP - 12, y.axis.title, "start", color)]


def _rule(x1: float, y1: float, x2: float, y2: float, color: Color, name: str = "--grid") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color(name)}"/>'


def _text(x: float, y: float, text: str, anchor: str, color: Color) -> str:
    fill = color("--muted")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>' if text else ""


def _drawn(part: Line | Marks, x: _Scale, y: _Scale, color: Color) -> str:
    paint, across, up = color(part.color), x(part.x), y(part.y)
    known = np.isfinite(across) & np.isfinite(up)
    if isinstance(part, Line):
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across[known], up[known], strict=True))
        style = f'stroke="{paint}" stroke-width="{part.width:g}" stroke-dasharray="{DASHES[part.dash]}"'
        return f'<polyline points="{path}" fill="none" {style}/>'
    titles = [*part.titles, *[""] * (len(across) - len(part.titles))]
    places = zip(across, up, titles, known, strict=True)
    return "".join(_mark(part, a, b, paint, title) for a, b, title, good in places if good)


_SIGNS = {
    "cross": "M-1,-1L1,1M-1,1L1,-1",
    "diamond": "M0,-1.2L1.2,0L0,1.2L-1.2,0Z",
    "square": "M-1,-1H1V1H-1Z",
}


def _mark(part: Marks, x: float, y: float, paint: str, title: str) -> str:
    told = f"<title>{escape(title)}</title>" if title else ""
    radius = part.size / 2
    if part.sign in ("dot", "circle"):
        look = f'fill="{paint}"' if part.sign == "dot" else f'fill="none" stroke="{paint}" stroke-width="2"'
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" {look}>{told}</circle>'
    look = f'fill="none" stroke="{paint}" stroke-width="{2 / radius:.2g}"'
    place = f"translate({x:.1f},{y:.1f}) scale({radius:g})"
    return f'<path d="{_SIGNS[part.sign]}" transform="{place}" {look}>{told}</path>'


_ROW = 18  # of a legend above a narrow picture


def _legend(parts: Sequence[Line | Marks], color: Color, before: int, width: float) -> tuple[list[str], int]:
    """One entry after the other after a title of so many letters, or if they have no room, one below the other above
    it; and the height that they need there."""
    at = max(LEFT + 40.0, 16.0 + 7 * before)
    lengths = [40 + 7 * len(part.name) for part in parts]
    if at + sum(lengths) <= width + 30:
        places = [(at + sum(lengths[:k]), 14.0) for k in range(len(parts))]
        return [_entry(part, *place, color) for part, place in zip(parts, places, strict=True)], 0
    above = _ROW * len(parts) + 8
    rows = [_entry(part, 4.0, 14.0 - above + _ROW * k, color) for k, part in enumerate(parts)]
    return rows, above


def _entry(part: Line | Marks, x: float, y: float, color: Color) -> str:
    """The look of a part and its name."""
    paint, name = color(part.color), _text(x + 25, y + 4, part.name, "start", color)
    if isinstance(part, Marks):
        return _mark(part, x + 12, y, paint, "") + name
    style = f'stroke="{paint}" stroke-width="3" stroke-dasharray="{DASHES[part.dash]}"'
    return f'<line x1="{x:g}" y1="{y:g}" x2="{x + 20:g}" y2="{y:g}" {style}/>{name}'
