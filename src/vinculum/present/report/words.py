"""Numbers, roots, lists and sentences as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vinculum.present.report.html import Html, joined, tag, text


def number(value: float, digits: int = 6) -> Html:
    """0.00012 as 1.2 × 10⁻⁴, with a true minus; what is not finite is said in words."""
    if not math.isfinite(value):
        return text("not finite")
    mantissa, _, exponent = f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}").partition("e")
    if not exponent:
        return text(mantissa)
    power = exponent.lstrip("+").replace("\N{MINUS SIGN}0", "\N{MINUS SIGN}").lstrip("0")
    return joined([f"{mantissa}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10", tag("sup", power)])


def root(value: complex) -> Html:
    """A root, a conjugate pair as a ± b i."""
    if value.imag == 0:
        return number(value.real, 5)
    sign = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
    return joined([number(value.real, 5), sign, number(abs(value.imag), 5), "\N{NO-BREAK SPACE}i"])


def pairs(roots: Sequence[complex] | np.ndarray) -> list[complex]:
    """Every root once, conjugate pairs by the one above the axis."""
    return [complex(r) for r in roots if r.imag >= 0]


def counted(amount: int, singular: str, plural: str | None = None) -> str:
    """1 constraint, 2 constraints, no constraints."""
    if amount == 1:
        return f"1 {singular}"
    return f"{amount or 'no'} {plural or singular + 's'}"


def sentence(words: str) -> str:
    """With a capital letter and a full stop."""
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
