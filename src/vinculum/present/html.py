"""HTML from Python: the user's text is escaped; only these functions make markup.

Formatting of numbers, roots, lists and sentences is at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np


class Html(str):
    """Markup that needs no escaping."""

    __slots__ = ()


def text(content: object) -> Html:
    """Anything as markup: plain strings are escaped."""
    return content if isinstance(content, Html) else Html(escape(str(content), quote=True))


def tag(name: str, *children: object, **attributes: object) -> Html:
    """An element; ``class_`` gives class, ``data_id`` data-id; an attribute that is None is omitted."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{escape(str(value), quote=True)}"' for key, value in given.items())
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def empty(name: str, **attributes: object) -> Html:
    """An element that has no end tag."""
    return Html(tag(name, **attributes).removesuffix(f"</{name}>"))


def joined(parts: Iterable[object]) -> Html:
    """Parts one after the other."""
    return Html("".join(text(part) for part in parts))


def table(
    head: Sequence[object], rows: Iterable[Sequence[object]], numeric: Sequence[int] = (), **attributes: object
) -> Html:
    """A table in its own scroll box; columns in ``numeric`` are right-aligned."""
    kinds = ["number" if i in numeric else None for i in range(len(head))]
    top = tag("tr", *(tag("th", cell, class_=kind, scope="col") for cell, kind in zip(head, kinds, strict=True)))
    body = [tag("tr", *(tag("td", c, class_=k) for c, k in zip(row, kinds, strict=True))) for row in rows]
    return tag("div", tag("table", tag("thead", top), tag("tbody", *body), **attributes), class_="wide", tabindex="0")


@dataclass(frozen=True)
class Section:
    """A part of the page that can be linked to."""

    identifier: str
    title: str
    content: Html
    short: str = ""  # its entry in the table of contents, if not the identifier

    @property
    def html(self) -> Html:
        """The part with its heading."""
        return tag("section", tag("h2", self.title), self.content, id=self.identifier)

    @property
    def link(self) -> Html:
        """An entry of the table of contents."""
        return tag("a", self.short or self.identifier.capitalize(), href=f"#{self.identifier}")


def section(identifier: str, title: str, *children: object) -> Section:
    """A part of the page."""
    return Section(identifier, title, joined(children))


def paragraph(*children: object, **attributes: object) -> Html:
    """A paragraph."""
    return tag("p", *children, **attributes)


def folded(title: object, *children: object) -> Html:
    """A collapsed part that opens on click."""
    return tag("details", tag("summary", title), *children)


def number(value: float, digits: int = 6) -> Html:
    """0.00012 as 1.2 × 10⁻⁴, with a true minus sign; "not finite" for infinity and NaN."""
    if not math.isfinite(value):
        return text("not finite")
    mantissa, _, exponent = f"{value + 0.0:.{digits}g}".replace("-", "\N{MINUS SIGN}").partition("e")
    if not exponent:
        return text(mantissa)
    power = exponent.lstrip("+").replace("\N{MINUS SIGN}0", "\N{MINUS SIGN}").lstrip("0")
    return joined([f"{mantissa}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10", tag("sup", power)])


def powers(words: str) -> Html:
    """Text in which 3.1e-05 is written 3.1 × 10⁻⁵."""
    parts = _POWER.split(words)
    return joined(number(float(part)) if _POWER.fullmatch(part) else part for part in parts)


_POWER = re.compile(r"(-?\d(?:\.\d+)?e[+-]?\d+)")


def root(value: complex) -> Html:
    """A root, a conjugate pair as a ± b i."""
    if value.imag == 0:
        return number(value.real, 5)
    sign = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
    return joined([number(value.real, 5), sign, number(abs(value.imag), 5), "\N{NO-BREAK SPACE}i"])


def pairs(roots: Sequence[complex] | np.ndarray) -> list[complex]:
    """Every root once; of a conjugate pair, the one above the real axis."""
    return [complex(r) for r in roots if r.imag >= 0]


def counted(amount: int, singular: str, plural: str | None = None) -> str:
    """1 constraint, 2 constraints, no constraints."""
    if amount == 1:
        return f"1 {singular}"
    return f"{amount or 'no'} {plural or singular + 's'}"


def sentence(words: str) -> str:
    """A sentence with a capital letter and a period."""
    words = words.strip()
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


def listing(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part) if words else ""


def duration(seconds: float) -> str:
    """Seconds or milliseconds."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1000 * seconds:.1f} ms"


def size(count: int) -> str:
    """Kilobytes or megabytes."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
