r"""LaTeX as MathML, which browsers render without scripts or a network connection.

`latex2mathml` does the work; this module adds ``aligned`` and escapes text that could be taken for a tag. `STYLE`
contains the alignment that MathML Core leaves to style sheets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import sympy as sp

from vinculum.present.html import Html, joined, tag
from vinculum.text_printer import vlatex

_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_SIGNS = {"<": r"\lt ", ">": r"\gt "}
_PLUS_MINUS = ("+", "\N{MINUS SIGN}")
_DOTS = ("\N{DOT ABOVE}", "\N{DIAERESIS}")
_LONG = 40  # characters of a term that stays in one line, also on a telephone
_SHORT = 60  # longest left side, in characters, for which right sides are aligned
_DOLLARS = re.compile(r"(\$[^$\s](?:[^$\n]*[^$\s])?\$(?!\d))")
_WORD = re.compile(r"\\(?:begin|end|operatorname|text|mathrm)\{[^{}]*\}|\\[A-Za-z]+|([A-Za-z]{2,})")
# links and looks; and accents, which would overlap their letters without a mathematical font
_UNWANTED = ("href", "style", "class", "id", "accent")
STYLE = """\
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
math mtd { padding-top: .35em; padding-bottom: .35em; }
math mtd[columnalign="left"] { text-align: left; text-align: -webkit-left; padding-left: 0; }
math mtd[columnalign="right"] { text-align: right; text-align: -webkit-right; padding-right: 0; }
"""


def mathml(latex: str, display: bool = False) -> Html:
    r"""LaTeX as a ``<math>`` element, centered on its own line with ``display``; as code if it cannot be converted.

    >>> mathml(r"\dot{x}")
    '<math display="inline"><mrow><mover><mrow><mi>x</mi></mrow><mo mathsize="160%">˙</mo></mover></mrow></math>'
    """
    root = element(latex, display)
    for part in () if root is None else root.iter("mover"):
        if len(part) == 2 and part[1].text in _DOTS:
            part[1].set("mathsize", "160%")  # the size of a script is too small for a dot in most fonts
    return tag("code", latex) if root is None else Html(ElementTree.tostring(root, encoding="unicode"))


def element(latex: str, display: bool = False) -> Element | None:
    """A formula as a tree of presentation elements only; None if it cannot be converted."""
    from latex2mathml.converter import convert

    try:
        found = convert(_settable(latex), display="block" if display else "inline")
        root = ElementTree.fromstring(found.replace("&<", "&amp;<"))
    except Exception:  # whatever the error, the text of the formula can be shown
        return None
    _tidy(root)
    return root if all(part.tag in _TAGS for part in root.iter()) else None


_TAGS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "msub", "msup", "msubsup",
    "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mpadded", "mphantom", "menclose",
}  # fmt: skip


def _settable(latex: str) -> str:
    """``aligned`` by the name the converter knows, and comparisons as commands, so they cannot form a tag."""
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
    return re.sub("[<>]", lambda sign: _SIGNS[sign[0]], latex)


def _tidy(root: Element) -> None:
    """Plain element names, without links, and with accents above their letters."""
    for part in root.iter():
        part.tag = part.tag.removeprefix(_NAMESPACE)
        for name in _UNWANTED:
            part.attrib.pop(name, None)


def upright(latex: str) -> str:
    """Names of several letters set as words, not as products of letters."""
    return _WORD.sub(lambda found: rf"\text{{{found[1]}}}" if found[1] else found[0], latex)


def displayed(latex: str) -> Html:
    """LaTeX as displayed lines, for a document that has neither our font nor our style."""
    styled = "".join(f".vinculum {rule}\n" for rule in STYLE.splitlines()[1:])
    return tag(
        "div", tag("style", Html(styled)), mathml(latex, display=True), class_="vinculum", style="overflow-x:auto"
    )


# -- pages with our font ------------------------------------------------------------------------------------------


def inline(expression: sp.Expr | float) -> Html:
    """An expression or a symbol in a line of text."""
    return formula(vlatex(expression))


def formula(latex: str) -> Html:
    """LaTeX in a line of a page that has our font, with the spacing of TeX; as code if it cannot be converted."""
    tree = element(upright(latex))
    return tag("code", latex) if tree is None else _typeset(tree)


def prose(words: str) -> Html:
    """Text with formulas between dollar signs; a single dollar sign, and one before a number, is text."""
    return joined(formula(part[1:-1]) if _DOLLARS.fullmatch(part) else part for part in _DOLLARS.split(words))


def terms(latex: str) -> Html:
    """LaTeX as one piece for each term of a sum, so a long line can break between them."""
    tree = element(upright(latex))
    if tree is None:
        return tag("code", latex)
    return joined(joined([" " if i else "", _typeset(piece)]) for i, piece in enumerate(_pieces(tree)))


def _pieces(tree: Element) -> list[Element]:
    """The terms of a sum, each with its sign; those of a long bracket too."""
    (row,) = tree
    pieces: list[Element] = []
    for term in _terms(list(row)):
        pieces.append(Element("math", {"displaystyle": "true"}))
        SubElement(pieces[-1], "mrow").extend(term)
        if len(pieces) > 1:
            term[0].attrib.update(form="infix", lspace="0", rspace="0.25em")
    return pieces


def _terms(parts: list[Element]) -> list[list[Element]]:
    """The parts of a sum divided at its signs; a term that is too long for a line is divided inside its brackets."""
    found: list[list[Element]] = []
    for part in parts:
        if not found or (_is_sign(part) and not _is_opening(found[-1][-1])):
            found.append([])
        found[-1].append(part)
    divided = [(term, _opened(term) if sum(map(_length, term)) > _LONG else term) for term in found]
    return [piece for term, opened in divided for piece in ([term] if opened is term else _terms(opened))]


def _opened(term: list[Element]) -> list[Element]:
    """A term with the contents of its longest bracket in its own row; the same term if there is no sum in brackets."""
    brackets = [part for part in term if part.tag == "mrow" and len(part) > 2 and _is_opening(part[0])]
    sums = [part for part in brackets if any(_is_sign(child) for child in part[2:])]
    longest = max(sums, key=_length, default=None)
    if longest is None:
        return term
    for bracket in (longest[0], longest[-1]):
        bracket.set("stretchy", "false")  # its other half is in another piece
    place = term.index(longest)
    return [*term[:place], *longest, *term[place + 1 :]]


def _is_sign(part: Element) -> bool:
    return part.tag == "mo" and part.text in _PLUS_MINUS


def _is_opening(part: Element) -> bool:
    return part.tag == "mo" and part.get("form") == "prefix"


def _is_closing(part: Element) -> bool:
    return part.tag == "mo" and part.get("form") == "postfix"


def _length(part: Element) -> int:
    """The number of characters of a formula."""
    return sum(len(child.text or "") for child in part.iter())


def _typeset(tree: Element) -> Html:
    """Spacing as in TeX, without rows of a single part."""
    _unwrap(tree)
    for part in list(tree.iter()):
        _raise_dots(part)
        _space_functions(part)
        _join_signs(part)
    return Html(ElementTree.tostring(tree, encoding="unicode"))


def _unwrap(part: Element) -> None:
    """Replace rows of one element by the element, which looks the same and is shorter; the outermost row stays."""
    for i, child in enumerate(part):
        while part.tag != "math" and child.tag == "mrow" and len(child) == 1 and not child.attrib:
            child = child[0]
            part[i] = child
        _unwrap(child)


def _raise_dots(part: Element) -> None:
    """Dots over a letter with a small gap."""
    if part.tag != "mover" or len(part) != 2 or part[1].text not in _DOTS:
        return
    part.set("accent", "true")
    dots = part[1]
    part.remove(dots)
    SubElement(part, "mpadded", voffset="-0.4em", height="0.25em").append(dots)


def _space_functions(part: Element) -> None:
    """A thin space between a factor and an adjacent function or word, and after the argument of a function."""
    if part.tag not in ("mrow", "math"):
        return
    children = list(part)
    for i, child in enumerate(children[1:], start=1):
        before = children[i - 1]
        after_argument = i > 1 and _is_function(children[i - 2]) and before.tag == "mrow"
        called = _is_function(before) and child.tag == "mrow"
        apart = _is_function(child) or after_argument or _is_word(child) or _is_word(before)
        if child.tag != "mo" and (before.tag != "mo" or _is_closing(before)) and apart and not called:
            part.insert(list(part).index(child), Element("mspace", width="0.17em"))


def _join_signs(part: Element) -> None:
    """The sign of the first term in brackets next to the term."""
    for before, child in pairwise(part):
        if _is_sign(child) and _is_opening(before):
            child.attrib.update(form="prefix", lspace="0", rspace="0")


def _is_function(part: Element) -> bool:
    """sin, or sin²."""
    base = part[0] if part.tag == "msup" and len(part) else part
    return base.tag == "mi" and len(base.text or "") > 1


def _is_word(part: Element) -> bool:
    """A name of several letters, with or without an index, a power or a dot."""
    base = part[0] if part.tag in ("msub", "msup", "msubsup", "mover", "mrow") and len(part) else part
    return part.tag == "mtext" or (base is not part and _is_word(base))


def equations(lines: Sequence[tuple[str, str]], **attributes: object) -> Html:
    """Equations (left, right) one below the other: aligned if left sides are short, otherwise as broken lines."""
    aligned = all(len(left) <= _SHORT for left, _ in lines)
    sides = [(tag("span", terms(left)), tag("span", terms(right))) for left, right in lines]
    equal = tag("span", formula("="))
    rows = [tag("div", left, " ", equal, " ", right, class_="row") for left, right in sides]
    kind = "equations aligned" if aligned else "equations"
    return tag("div", *rows, class_=kind, tabindex="0", **attributes)
