"""Modelica: its table of operations, its names and its units.

Comparisons are written where they are used, because a variable that has their value is of another type. Modelica
compares numbers for equality in functions only, so = is written as ≤ and ≥.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from vinculum.export.identifiers import identifier
from vinculum.export.inline import InlineSource
from vinculum.export.kernel import Kernel
from vinculum.graph import Node
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, Number

TABLE = {name: f"{name}({{0}})" for name in FUNCTIONS} | {
    "asinh": "(sign({0}) * log(abs({0}) + sqrt({0} * {0} + 1)))",
    "acosh": "log({0} + sqrt({0} * {0} - 1))",
    "atanh": "(0.5 * log((1 + {0}) / (1 - {0})))",
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "negate": "(-{0})",
    "power": "({0} ^ {1})",
    "atan2": "atan2({0}, {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "equal": "({0} <= {1} and {0} >= {1})",
    "both": "({0} and {1})",
    "either": "({0} or {1})",
    "select": "(if {0} then {1} else {2})",
}

_WORDS = """
    algorithm and annotation assert block break class connect connector constant constrainedby der discrete each else
    elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for function if
    import impure in initial inner input loop model not operator or outer output package parameter partial protected
    public pure record redeclare replaceable return stream then true type when while within
    Real Integer Boolean String Clock time abs acos acosh actualStream array asin asinh atan atan2 atanh backSample
    cardinality cat ceil change cos cosh cross delay diagonal div edge exp fill floor getInstanceName hold homotopy
    identity inStream integer linspace log log10 matrix max min mod ndims noClock noEvent ones outerProduct pre previous
    product promote reinit rem sample scalar semiLinear shiftSample sign sin sinh size skew smooth spatialDistribution
    sqrt subSample sum superSample symmetric tan tanh terminal terminate transpose vector zeros
"""  # keywords, types and functions of the language
WORDS = frozenset(_WORDS.split())


class ModelicaSource(InlineSource):
    """The equations of a kernel: lines v1 = ..., and expressions for its results."""

    table = TABLE
    line = "  {name} = {value};"

    def __init__(self, kernel: Kernel, names: Mapping[Node, str], auxiliary: str) -> None:
        self.name = auxiliary + "{}"
        super().__init__(kernel, names)

    def constant(self, value: Number) -> str:
        """A number, in brackets if it is negative."""
        text = repr(float(value))
        return f"({text})" if text.startswith("-") else text

    def as_number(self, truth: str) -> str:
        """1 or 0."""
        return f"(if {truth} then 1.0 else 0.0)"

    def as_truth(self, number: str) -> str:
        """Whether a number is not zero."""
        return f"({number} < 0 or {number} > 0)"

    def operation(self, node: Node, args: Sequence[str]) -> str:
        """A comparison is an expression, however often it is used."""
        self.inside = node.op in COMPARISONS
        return super().operation(node, args)

    def result(self, value: str) -> str:
        """A line, or the expression itself."""
        return value if self.inside else super().result(value)


def variable(name: str) -> str:
    """A name of the user as a name of Modelica: ``θ_1`` is theta_1, ``reaction(rod)`` is reaction_rod."""
    spelled = "".join(letter if letter.isascii() else _spelled(letter) for letter in name)
    plain = identifier(spelled)
    return f"{plain}_" if plain in WORDS else plain


def _spelled(letter: str) -> str:
    """The last word of the name of a letter: theta for θ, Theta for Θ."""
    words = unicodedata.name(letter, "").split()
    word = words[-1] if "LETTER" in words else ""
    return word.capitalize() if "CAPITAL" in words else word.lower()


def quoted(text: str) -> str:
    """A string of Modelica on one line."""
    return '"' + re.sub(r"\s+", " ", text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def unit(text: str) -> str:
    """A unit in the notation of Modelica: kg*m^2/s^2 is kg.m2/s2; empty for one that cannot be written."""
    above: list[str] = []
    below: list[str] = []
    for sign, factor in re.findall(r"([*/]?)([^*/]+)", text.replace("**", "^").replace(" ", "")):
        match = re.fullmatch(r"([A-Za-z]+|1)(?:\^(\d+))?", factor)
        if match is None:
            return ""
        if match[1] != "1":
            (below if sign == "/" else above).append(match[1] + (match[2] or ""))
    under = f"({'.'.join(below)})" if len(below) > 1 else "".join(below)
    return (".".join(above) or ("1" if text else "")) + (f"/{under}" if under else "")
