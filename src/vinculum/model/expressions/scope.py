"""The names an expression may use, and their meanings."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import sympy as sp

from vinculum.errors import Refused
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.splines import Pieces
from vinculum.model import limits
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.syntax import GREEK, Translated
from vinculum.names import TIME as t
from vinculum.names import reaction, residual, suggestion
from vinculum.units.dimensions import NONE, TIME, Dimension

CONSTANTS = {"pi": Value(sp.pi, dimension=NONE, number=math.pi)}
ALIASES = {
    "ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "tg": "tan", "sgn": "sign",
    "fabs": "abs", "power": "^", "diff": "dot", "ddt": "dot", "der": "dot", "ctg": "1/tan", "cot": "1/tan",
    "where": "piecewise(condition, value, otherwise)", "heaviside": "piecewise(x < 0, 0, 1)",
}  # fmt: skip
EVERYWHERE = ("dot", "min", "max", "piecewise")  # functions in addition to the elementary ones
SPECIAL = (*EVERYWHERE, "reaction", "residual")
RESERVED = {*FUNCTIONS, *CONSTANTS, *ALIASES, *SPECIAL, "t"} - {"power", "diff", "where"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Macro:
    """A definition with arguments, such as p(s) = s^2; its body is read again at each use."""

    arguments: tuple[str, ...]
    body: ast.expr
    text: Translated
    scope: Scope


@dataclass(frozen=True)
class Curve:
    """A spline through points, as a function of one argument."""

    pieces: Pieces
    argument: Dimension | None  # of the points, if they have units
    dimension: Dimension | None  # of the values, if they have units


@dataclass(frozen=True)
class Scope:
    """Names, definitions with arguments, splines, and the constraints whose reactions may be used."""

    values: Mapping[str, Value] = field(default_factory=dict)
    macros: Mapping[str, Macro | Curve] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()  # definitions whose problems have been reported
    constraints: tuple[str, ...] = ()
    residuals: bool = False  # whether residual(constraint, level) may be used
    claimed: bool = True  # whether dimensions are checked

    def with_values(self, further: Mapping[str, Value]) -> Scope:
        """The scope with more names."""
        return replace(self, values={**self.values, **further})

    def with_failed(self, name: str) -> Scope:
        """The scope with a name whose definition has problems."""
        return replace(self, failed=self.failed | {name})

    def with_function(self, name: str, function: Macro | Curve | None) -> Scope:
        """The scope with a definition with arguments, or a spline; None if it has problems."""
        return self.with_failed(name) if function is None else replace(self, macros={**self.macros, name: function})

    def without_dimensions(self) -> Scope:
        """The same names without dimensions: a drawing may mix them."""
        return replace(self, claimed=False)

    def value(self, name: str) -> Value:
        """The meaning of a name, with its dimension if dimensions are checked."""
        return self.values[name] if self.claimed else replace(self.values[name], dimension=None)


def plain_scope() -> Scope:
    """Time and the constants. Time has a dimension only if the file has units (`with_time`)."""
    return Scope({**CONSTANTS, "t": Value(t)})


def with_time(scope: Scope) -> Scope:
    """The scope of a file with units: t is in seconds."""
    return scope.with_values({"t": Value(t, dimension=TIME)})


def english_name(name: str) -> str:
    """A name with Greek letters spelled out: θ_1 is theta_1."""
    return "".join(GREEK.get(letter, letter) for letter in name)


def name_problem(name: str) -> str:
    """The reason a name cannot be used, or an empty string."""
    plain = english_name(name)
    if len(plain) > limits.NAME:
        return f"the name has {len(plain)} characters; at most {limits.NAME} are allowed."
    if keyword.iskeyword(plain):
        instead = "lamda" if plain == "lambda" else f"{plain}_1"
        return f"{plain} is a reserved word of Python. Use {instead}, for instance."
    if plain in RESERVED:
        return f"{plain} is a reserved name in expressions. Choose another, such as {plain}_1."
    if not _NAME.fullmatch(plain):
        return f"{name!r} is not a valid name. Use letters, digits and _, starting with a letter."
    return ""


def read_multiplier(node: ast.Call, name: str, scope: Scope) -> Value:
    """reaction(rod), residual(rod, 1): the constraint's name is quoted unless it is one word."""
    if name == "residual" and not scope.residuals:
        raise Refused("residual(...) may be used only in the functions of a perturbation.")
    first = node.args[0] if node.args else None
    known = scope.constraints
    label = first.id if isinstance(first, ast.Name) else first.value if isinstance(first, ast.Constant) else None
    if not isinstance(label, str) or len(node.args) > (2 if name == "residual" else 1):
        raise Refused(f"write {name}(constraint), with the name of a constraint.")
    if label not in known:
        near = suggestion(label, known) or (f" The constraints are {', '.join(known)}." if known else "")
        raise Refused(f"there is no constraint {label[:40]}.{near}")
    if name == "reaction":
        return Value(reaction(label))
    level = node.args[1].value if len(node.args) == 2 and isinstance(node.args[1], ast.Constant) else 0
    if not isinstance(level, int) or not 0 <= level < 10:
        raise Refused("the level of a residual must be 0, 1, ..., 9.")
    return Value(residual(label, level))
