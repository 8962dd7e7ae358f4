"""Formulas as MathML, which browsers set without any script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import sympy as sp

from vinculum.present.report.html import Html, joined, tag

_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_SIGNS = ("+", "\N{MINUS SIGN}")
_DOTS = ("\N{DOT ABOVE}", "\N{DIAERESIS}")
_SHORT = 60  # characters of a left side beside which right sides are aligned
_DROPPED = ("href", "style", "class", "id")  # a symbol's name may be any LaTeX, but it sets no links and no styles
_WORD = re.compile(r"\\(?:begin|end|operatorname|text|mathrm)\{[^{}]*\}|\\[A-Za-z]+|([A-Za-z]{2,})")


def inline(expression: sp.Expr | float) -> Html:
    """An expression or a symbol in a line of text."""
    return mathml(latex_of(expression))


def latex_of(expression: sp.Expr | float) -> str:
    """LaTeX with dots for derivatives in time."""
    from sympy.physics.vector.printing import vlatex

    return vlatex(sp.sympify(expression))


def mathml(latex: str) -> Html:
    """MathML of LaTeX in a line of text."""
    return joined(_written(tree) for tree in _trees(latex)[:1]) or tag("code", latex)


def terms(latex: str) -> Html:
    """MathML of LaTeX, one piece for each term of a sum, so that a long line can be broken between them."""
    trees = _trees(latex)
    if not trees:
        return tag("code", latex)
    return joined(joined([" " if i else "", _written(piece)]) for i, piece in enumerate(_pieces(trees[0])))


def upright(latex: str) -> str:
    """Names of several letters as words, not as products of letters."""
    return _WORD.sub(lambda found: rf"\text{{{found[1]}}}" if found[1] else found[0], latex)


def _trees(latex: str) -> list[Element]:
    """The formula as a tree; none where the converter cannot read it: names of symbols are the user's, any text."""
    from latex2mathml.converter import convert

    try:
        return [ElementTree.fromstring(convert(upright(latex)))]
    except Exception:
        return []


def _pieces(tree: Element) -> list[Element]:
    """The terms of a sum, each with its sign."""
    (row,) = tree
    pieces: list[Element] = []
    for child in row:
        signed = child.tag == f"{_NAMESPACE}mo" and child.text in _SIGNS
        if not pieces or (signed and len(pieces[-1][0])):
            pieces.append(Element(tree.tag, {"displaystyle": "true"}))
            SubElement(pieces[-1], row.tag)
            if signed and len(pieces) > 1:
                child.attrib.update(form="infix", lspace="0", rspace="0.25em")
        pieces[-1][0].append(child)
    return pieces


def _written(tree: Element) -> Html:
    """Without attributes that could act and without prefixes, and set as TeX would set it."""
    for element in list(tree.iter()):
        element.tag = element.tag.replace(_NAMESPACE, "")
        element.attrib = {key: value for key, value in element.attrib.items() if key not in _DROPPED}
    for element in list(tree.iter()):
        _raise_dots(element)
        _space_functions(element)
    tree.set("xmlns", _NAMESPACE.strip("{}"))
    return Html(ElementTree.tostring(tree, encoding="unicode"))


def _raise_dots(element: Element) -> None:
    """Dots over a letter at a little distance from it."""
    if element.tag != "mover" or len(element) != 2 or element[1].text not in _DOTS:
        return
    element.set("accent", "true")
    dots = element[1]
    element.remove(dots)
    SubElement(element, "mpadded", voffset="-0.4em", height="0.25em").append(dots)


def _space_functions(element: Element) -> None:
    """A thin space between a factor and the function that follows it, and after the argument of a function."""
    if element.tag not in ("mrow", "math"):
        return
    children = list(element)
    for i, child in enumerate(children[1:], start=1):
        before = children[i - 1]
        after_argument = i > 1 and _is_function(children[i - 2]) and before.tag == "mrow"
        if child.tag != "mo" and before.tag != "mo" and (_is_function(child) or after_argument):
            element.insert(list(element).index(child), Element("mspace", width="0.17em"))


def _is_function(element: Element) -> bool:
    """sin, or sin²."""
    base = element[0] if element.tag == "msup" and len(element) else element
    return base.tag == "mi" and len(base.text or "") > 1


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
