"""Formulas as MathML, which browsers set without any script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

import sympy as sp

from vinculum.present.mathml import element, written
from vinculum.present.report.html import Html, joined, tag

_SIGNS = ("+", "\N{MINUS SIGN}")
_DOTS = ("\N{DOT ABOVE}", "\N{DIAERESIS}")
_SHORT = 60  # characters of a left side beside which right sides are aligned
_WORD = re.compile(r"\\(?:begin|end|operatorname|text|mathrm)\{[^{}]*\}|\\[A-Za-z]+|([A-Za-z]{2,})")


def inline(expression: sp.Expr | float) -> Html:
    """An expression or a symbol in a line of text."""
    return mathml(latex_of(expression))


def latex_of(expression: sp.Expr | float) -> str:
    """LaTeX with dots for derivatives in time."""
    from sympy.physics.vector.printing import vlatex

    return vlatex(sp.sympify(expression))


def mathml(latex: str) -> Html:
    """MathML of LaTeX in a line of text; what cannot be read is shown as it is."""
    tree = element(upright(latex))
    return tag("code", latex) if tree is None else _typeset(tree)


def terms(latex: str) -> Html:
    """MathML of LaTeX, one piece for each term of a sum, so that a long line can be broken between them."""
    tree = element(upright(latex))
    if tree is None:
        return tag("code", latex)
    return joined(joined([" " if i else "", _typeset(piece)]) for i, piece in enumerate(_pieces(tree)))


def upright(latex: str) -> str:
    """Names of several letters as words, not as products of letters."""
    return _WORD.sub(lambda found: rf"\text{{{found[1]}}}" if found[1] else found[0], latex)


def _pieces(tree: Element) -> list[Element]:
    """The terms of a sum, each with its sign."""
    (row,) = tree
    pieces: list[Element] = []
    for child in row:
        signed = child.tag == "mo" and child.text in _SIGNS
        if not pieces or (signed and len(pieces[-1][0])):
            pieces.append(Element("math", {"displaystyle": "true"}))
            SubElement(pieces[-1], "mrow")
            if signed and len(pieces) > 1:
                child.attrib.update(form="infix", lspace="0", rspace="0.25em")
        pieces[-1][0].append(child)
    return pieces


def _typeset(tree: Element) -> Html:
    """As TeX would set it."""
    for part in list(tree.iter()):
        _raise_dots(part)
        _space_functions(part)
    return Html(written(tree))


def _raise_dots(part: Element) -> None:
    """Dots over a letter at a little distance from it."""
    if part.tag != "mover" or len(part) != 2 or part[1].text not in _DOTS:
        return
    part.set("accent", "true")
    dots = part[1]
    part.remove(dots)
    SubElement(part, "mpadded", voffset="-0.4em", height="0.25em").append(dots)


def _space_functions(part: Element) -> None:
    """A thin space between a factor and the function or word beside it, and after the argument of a function."""
    if part.tag not in ("mrow", "math"):
        return
    children = list(part)
    for i, child in enumerate(children[1:], start=1):
        before = children[i - 1]
        after_argument = i > 1 and _is_function(children[i - 2]) and before.tag == "mrow"
        called = _is_function(before) and child.tag == "mrow"
        apart = _is_function(child) or after_argument or _is_word(child) or _is_word(before)
        if child.tag != "mo" and before.tag != "mo" and apart and not called:
            part.insert(list(part).index(child), Element("mspace", width="0.17em"))


def _is_function(part: Element) -> bool:
    """sin, or sin²."""
    base = part[0] if part.tag == "msup" and len(part) else part
    return base.tag == "mi" and len(base.text or "") > 1


def _is_word(part: Element) -> bool:
    """A name of several letters, with or without an index, a power or a dot."""
    base = part[0] if part.tag in ("msub", "msup", "msubsup", "mover", "mrow") and len(part) else part
    return part.tag == "mtext" or (base is not part and _is_word(base))


def equations(lines: Sequence[tuple[str, str]], **attributes: object) -> Html:
    """Equations (left, right) one below the other: aligned where left sides are short, otherwise as broken lines."""
    aligned = all(len(left) <= _SHORT for left, _ in lines)
    rows = [
        tag(
            "div", tag("span", terms(left)), " ", tag("span", mathml("=")), " ", tag("span", terms(right)), class_="row"
        )
        for left, right in lines
    ]
    kind = "equations aligned" if aligned else "equations"
    return tag("div", *rows, class_=kind, tabindex="0", **attributes)
