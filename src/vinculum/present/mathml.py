r"""LaTeX as MathML, which browsers draw themselves, without a script and without a network.

`latex2mathml` does the work; here is what it leaves open: ``aligned``, and text that could be taken for a tag. `STYLE`
aligns what MathML Core leaves to style sheets.
"""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_SIGNS = {"<": r"\lt ", ">": r"\gt "}
_UNWANTED = ("href", "accent")  # links; and accents would be set into their letters where no mathematical font is
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
    from latex2mathml.converter import convert

    try:
        found = convert(_settable(latex), display="block" if display else "inline")
        root = ElementTree.fromstring(found.replace("&<", "&amp;<"))
    except Exception:  # whatever is wrong with a formula, its text can be shown
        return f"<code>{escape(latex)}</code>"
    if any(element.tag.rpartition("}")[2] not in _TAGS for element in root.iter()):
        return f"<code>{escape(latex)}</code>"
    _tidy(root)
    ElementTree.register_namespace("", _NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode").replace(f' xmlns="{_NAMESPACE}"', "")


_TAGS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "msub", "msup", "msubsup",
    "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mpadded", "mphantom", "menclose",
}  # fmt: skip


def _settable(latex: str) -> str:
    """``aligned`` by the name the converter knows, and comparisons as commands, so that no tag can arise."""
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
    return re.sub("[<>]", lambda sign: _SIGNS[sign[0]], latex)


def _tidy(root: ElementTree.Element) -> None:
    """Without links, and with accents above their letters."""
    for element in root.iter():
        for name in _UNWANTED:
            element.attrib.pop(name, None)
