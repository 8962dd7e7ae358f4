"""The records of the papers in words: numbers, sizes of errors, sources."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from papers.record import Evidence, Number, Paper
from papers.reproduce import Reproduced

_POWER = re.compile(r"(\d)e([+-]?\d+)")
_WORD = re.compile(r"(?!det |max|dq/)[a-z]{2,}")  # not a formula
_ONE = re.compile(r"(?<![\d.])1·10")
_FUNCTION = re.compile(r"\\(?:sin|cos)(?:\^2)?(?![a-z])")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def readable(text: str) -> str:
    """1.2e-7 as 1.2·10⁻⁷, with a true minus.

    >>> readable("-1.2e-7"), readable("< 1e-9")
    ('−1.2·10⁻⁷', '< 10⁻⁹')
    """
    text = _POWER.sub(lambda found: f"{found[1]}·10{str(int(found[2])).translate(_SUPERSCRIPTS)}", text)
    text = _ONE.sub("10", text)
    return text.replace("-", "\N{MINUS SIGN}")


def spaced(latex: str) -> str:
    r"""With thin spaces around the names of functions.

    >>> spaced(r"u\cos\varphi")
    'u\\,\\cos\\,\\varphi'
    """
    return _FUNCTION.sub(r"\\,\g<0>\\,", latex)


def size(error: float, exact: bool = False) -> str:
    """An error by its first digit where it is wrong, by its power of ten where it is rounding.

    >>> size(0.1438), size(2.3e-16), size(0.0, exact=True), size(3.0)
    ('0.1', 'below 10⁻¹⁵', 'exactly 0', '3')
    """
    if exact and error == 0:
        return "exactly 0"
    if not math.isfinite(error):
        return "not a number"
    if error < 1e-6:
        power = max(math.ceil(math.log10(max(error, 1e-16) * 2)), -15)
        return "below 10" + str(power).translate(_SUPERSCRIPTS)
    return readable(f"{error:.1g}") if error < 1 or error >= 1000 else f"{error:.0f}"


def sentence(words: str) -> str:
    """With a capital letter where it begins with a word; formulas stay.

    >>> sentence("roots of the five-bar"), sentence("e = 2"), sentence("dq/dt, the rate"), sentence("δq of the sleigh")
    ('Roots of the five-bar', 'e = 2', 'dq/dt, the rate', 'δq of the sleigh')
    """
    return words[0].upper() + words[1:] if _WORD.match(words) else words


def evidence(found: Evidence) -> tuple[str, str]:
    """The errors of the printed and of the corrected form."""
    return size(found.printed), size(found.corrected, found.exact)


def verdict(number: Number) -> str:
    """Whether ours agrees, or why not."""
    if number.agrees:
        return "agrees" if number.agrees_strictly else "agrees to a unit of the last digit"
    return number.reason


def source(paper: Paper) -> str:
    """Authors, journal, year."""
    return ", ".join(str(part) for part in (paper.authors, paper.journal, paper.year) if part)


def summary(papers: Sequence[Reproduced]) -> str:
    """The whole in one sentence."""
    errata, numbers = sum(len(p.errata) for p in papers), sum(len(p.numbers) for p in papers)
    agreeing, shown = sum(p.agreeing for p in papers), sum(p.shown for p in papers)
    figures = sum(len(p.figures) for p in papers)
    return (
        f"{errata} errata, {'each' if shown == errata else shown} shown by the errors of the printed and the corrected "
        f"form against an independent reference; {numbers} rows of numbers, of which {agreeing} agree to the printed "
        f"digits and {numbers - agreeing} say why they differ; {figures} figures."
    )
