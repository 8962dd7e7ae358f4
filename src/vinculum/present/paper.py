"""The look of pictures for papers: serif letters with STIX mathematics, thin lines, no frames, 300 dots per inch."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import sympy as sp

from vinculum.export.identifiers import unit_of
from vinculum.present.mathml import upright
from vinculum.text_printer import vlatex

COLUMN = 3.4  # inches: the width of a column of most journals
LINES = (  # colors that the color-blind can tell apart, and dashes for black-and-white print
    ("#000000", "-"), ("#0072b2", "--"), ("#d55e00", "-."), ("#009e73", ":"), ("#cc79a7", (0, (5, 1, 1, 1, 1, 1))),
    ("#7a5c00", (0, (8, 2))),
)  # fmt: skip
STYLE: Any = {  # of Matplotlib
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.5,
    "lines.linewidth": 0.9,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "legend.frameon": False,
    "grid.linewidth": 0.3,
    "grid.color": "#d8dce0",
    "pdf.fonttype": 42,  # letters stay letters
    "svg.hashsalt": "vinculum",  # the same figure gives the same file
}
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rendered(figure: Any, kind: str, dots: int) -> bytes:
    """A figure as the content of a file of this kind: png, svg or pdf."""
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=dots, metadata=_METADATA[kind])
    return content.getvalue()


def symbol_text(key: sp.Expr | str) -> str:
    """A symbol, or the name of a column of a file, as mathematics that Matplotlib sets; as plain text if it cannot."""
    written = f"${upright(_of_name(key) if isinstance(key, str) else vlatex(key))}$"
    return written if _is_settable(written) else str(key).replace("$", r"\$")


def _of_name(name: str) -> str:
    """theta_dot as θ with a dot."""
    found = re.fullmatch(r"(\w+?)_(d*)dot", name)
    own = vlatex(sp.Symbol(found[1] if found else name))
    return rf"\{found[2]}dot{{{own}}}" if found else own


def _is_settable(written: str) -> bool:
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(written)
    except ValueError:
        return False
    return True


def unit_text(key: sp.Expr | str, units: Mapping[sp.Expr, str]) -> str:
    """The printed unit of a symbol, such as kg·m/s²; empty if none is known."""
    unit = "" if isinstance(key, str) else unit_of(key, units)
    raised = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_SUPERSCRIPTS), unit)
    return raised.replace("*", "·")
