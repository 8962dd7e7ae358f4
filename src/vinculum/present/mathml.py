r"""LaTeX as MathML, which browsers draw themselves, without a script and without a network.

`latex2mathml` does the work; here is what it leaves open: ``aligned``, and text that could be taken for a tag. `STYLE`
aligns what MathML Core leaves to style sheets.
"""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_SIGNS = {"<": r"\lt ", ">": r"\gt "}
# links, looks; and accents would be set into their letters where no mathematical font is
_UNWANTED = ("href", "style", "class", "id", "accent")
STYLE = """\
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
math mtd { padding-top: .35em; padding-bottom: .35em; }
math mtd[columnalign="left"] { text-align: left; text-align: -webkit-left; padding-left: 0; }
math mtd[columnalign="right"] { text-align: right; text-align: -webkit-right; padding-right: 0; }
"""


def mathml(latex: str, display: bool = False) -> str:
    r"""A formula as a ``<math>`` element, centered on its own line with ``display``; as code if it cannot be set.

    >>> mathml(r"\dot{x}")
    '<math display="inline"><mrow><mover><mrow><mi>x</mi></mrow><mo>˙</mo></mover></mrow></math>'
    """
    root = element(latex, display)
    return f"<code>{escape(latex)}</code>" if root is None else written(root)


def element(latex: str, display: bool = False) -> ElementTree.Element | None:
    """A formula as a tree of MathML elements that do nothing but show it; None if it cannot be set."""
    from latex2mathml.converter import convert

    try:
        found = convert(_settable(latex), display="block" if display else "inline")
        root = ElementTree.fromstring(found.replace("&<", "&amp;<"))
    except Exception:  # whatever is wrong with a formula, its text can be shown
        return None
    _tidy(root)
    return root if all(part.tag in _TAGS for part in root.iter()) else None


def written(root: ElementTree.Element) -> str:
    """A tree as text."""
    return ElementTree.tostring(root, encoding="unicode")


_TAGS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "msub", "msup", "msubsup",
    "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mpadded", "mphantom", "menclose",
}  # fmt: skip


def _settable(latex: str) -> str:
    """``aligned`` by the name the converter knows, and comparisons as commands, so that no tag can arise."""
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
    return re.sub("[<>]", lambda sign: _SIGNS[sign[0]], latex)


def _tidy(root: ElementTree.Element) -> None:
    """Plain names of elements, without links, and with accents above their letters."""
    for part in root.iter():
        part.tag = part.tag.removeprefix(_NAMESPACE)
        for name in _UNWANTED:
            part.attrib.pop(name, None)
