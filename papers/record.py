"""What a paper prints and what we compute: numbers, figures, errata with the evidence for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_ENOUGH = 1e3  # smallest ratio of the error of a wrong form to that of a right one


@dataclass(frozen=True)
class Number:
    """A printed number, or several in one text ("±2.807726, ±2.807726i"), and ours in the same order.

    A number agrees when it is within ``units`` of the last printed digit, half a unit by default. A text that
    begins with "<" is a bound. ``reason`` says why ours differs, where it does.
    """

    quantity: str
    printed: str
    ours: float | Sequence[float]
    reason: str = ""
    units: float = 0.5  # of the last digit: the largest difference that agrees
    in_paper: bool = False  # printed in the paper itself, or in a reference computed independently

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(map(float, self.ours)) if isinstance(self.ours, Sequence) else (float(self.ours),)

    @property
    def is_bound(self) -> bool:
        return self.printed.startswith("<")

    @property
    def agrees(self) -> bool:
        return self._within(self.units)

    @property
    def agrees_strictly(self) -> bool:
        """All printed digits agree."""
        return self._within(0.5)

    def _within(self, units: float) -> bool:
        tokens = _TOKEN.findall(self.printed)
        if len(tokens) != len(self.values):
            raise ValueError(f"{self.quantity}: {len(tokens)} numbers are printed, {len(self.values)} computed.")
        pairs = zip(tokens, self.values, strict=True)
        if self.is_bound:
            return all(value <= float(token) for token, value in pairs)
        return all(abs(value - float(token)) <= (units + 1e-6) * last_unit(token) for token, value in pairs)

    @property
    def shown(self) -> str:
        """Ours with as many digits as are printed."""
        values = iter(self.values)
        if self.is_bound:
            return ", ".join(f"{value:.1e}" for value in values)
        return _TOKEN.sub(lambda token: rounded(next(values), token[0]), self.printed)


def last_unit(token: str) -> float:
    """One unit of the last digit of a number as text; a bare 0 means zero.

    >>> last_unit("-2.80"), last_unit("3e-4"), last_unit("0")
    (0.01, 0.0001, 1e-09)
    """
    if token == "0":
        return 1e-9
    mantissa, _, exponent = token.partition("e")
    return float(f"1e{int(exponent or 0) - len(mantissa.partition('.')[2])}")


def rounded(value: float, token: str) -> str:
    """A value with the digits of a printed number.

    >>> rounded(0.00030941234, "3.0940e-4"), rounded(-1e-12, "0.00")
    ('3.0941e-4', '0.00')
    """
    mantissa, _, exponent = token.partition("e")
    digits = len(mantissa.partition(".")[2])
    text = f"{value / 10 ** int(exponent or 0):.{digits}f}"
    text = text.lstrip("-") if float(text) == 0 else text
    return f"{text}e{exponent}" if exponent else text


@dataclass(frozen=True)
class Table:
    """Numbers that are computed together."""

    title: str
    make: Callable[[], list[Number]]
    remark: str = ""


@dataclass(frozen=True)
class Evidence:
    """The errors of the printed and the corrected form against an independent reference."""

    measure: str  # what was compared with what
    printed: float
    corrected: float
    exact: bool = False  # the corrected form is right in exact arithmetic
    accepted: float = 1e-9  # largest error of a right form
    wrong: float | None = None  # smallest error of a wrong form; a thousand times ``accepted`` where it is None

    @property
    def printed_is_wrong(self) -> bool:
        least = _ENOUGH * self.accepted if self.wrong is None else self.wrong
        return not self.printed <= least  # also where it is not a number

    @property
    def corrected_is_right(self) -> bool:
        return self.corrected == 0 if self.exact else self.corrected <= self.accepted

    @property
    def shows(self) -> bool:
        return self.printed_is_wrong and self.corrected_is_right


def evidence(measure: str, errors: Sequence[float], *, exact: bool = False, accepted: float = 1e-9) -> Evidence:
    """Evidence from the errors of the printed and of the corrected form."""
    printed, corrected = errors
    return Evidence(measure, float(printed), float(corrected), exact, accepted)


@dataclass(frozen=True)
class Erratum:
    """A misprint: both forms in LaTeX, and the function that shows which is right."""

    label: str  # unique within the paper
    where: str
    printed: str
    corrected: str
    show: Callable[[], Evidence]
    remark: str = ""


@dataclass(frozen=True)
class Confirmation:
    """A formula that is right as printed; ``check`` gives what was compared and the error."""

    where: str
    formula: str
    check: Callable[[], tuple[str, float]]
    accepted: float = 1e-9


@dataclass(frozen=True)
class Figure:
    """A printed figure: what it shows there, and ours."""

    where: str
    caption: str
    printed: str  # what the printed figure shows, with the values that can be read off it
    make: Callable[[], list[Any]]  # panels: a name and a picture each


@dataclass(frozen=True)
class Paper:
    """A paper and everything in it that can be computed again."""

    key: str
    short: str  # what it is about, in a word or two
    title: str
    authors: str
    about: str
    year: int | None = None  # where our copy of the paper says it
    journal: str = ""
    tables: Sequence[Table] = ()
    errata: Sequence[Erratum] = ()
    confirmations: Sequence[Confirmation] = ()
    figures: Sequence[Figure] = ()

    @property
    def labels(self) -> list[str]:
        return [erratum.label for erratum in self.errata]
