r"""LaTeX as MathML, which browsers draw themselves, without a script and without a network.

`latex2mathml` does the work; here is what it leaves open: ``aligned``, accents that sit close to their letter, and text
that could be taken for a tag. `STYLE` aligns what MathML Core leaves to style sheets.
"""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_ACCENTS = set("˙¨⃛^~ˉ¯→˚ˇ˘")
_SIGNS = {"<": r"\lt ", ">": r"\gt "}
STYLE = """\
math[display="block"] { overflow-x: auto; overflow-y: hidden; padding: .2em 0; }
math mtd[columnalign="left"] { text-align: left; padding-left: 0; }
math mtd[columnalign="right"] { text-align: right; padding-right: 0; }
"""


def mathml(latex: str, display: bool = False) -> str:
    r"""A formula as a ``<math>`` element, centered on its own line with ``display``; as code if it cannot be set.

    >>> mathml(r"\dot{x}")
    '<math display="inline"><mrow><mover accent="true"><mrow><mi>x</mi></mrow><mo>˙</mo></mover></mrow></math>'
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
    """Accents close to their letters; no links."""
    for element in root.iter():
        element.attrib.pop("href", None)
        if element.tag.endswith("}mover") and element[1].text in _ACCENTS:
            element.set("accent", "true")
