"""Expressions in ordinary notation, read with a whitelist over Python's syntax tree. No code is ever executed.

``^`` and ``**`` are powers, ``dot(x)`` is a time derivative, functions are those of the graph. Anything else is
an error at its position.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from vinculum.errors import Refused
from vinculum.graph.functions import FUNCTIONS
from vinculum.model import limits
from vinculum.model.expressions import arithmetic
from vinculum.model.expressions.arithmetic import Value, elementary
from vinculum.model.expressions.conditions import choose, read_condition
from vinculum.model.expressions.scope import ALIASES, EVERYWHERE, SPECIAL, Curve, Macro, Scope, read_multiplier
from vinculum.model.expressions.syntax import (
    Translated,
    early_faults,
    explain_syntax,
    foreign_characters,
    translate,
    why_forbidden,
)
from vinculum.names import TIME, suggestion
from vinculum.units import dimensions

Fault = tuple[int, int, str]  # first and last character, message

_RATE = re.compile(r"(\w+?)_?(d?)dot")  # x_dot, xddot
_CURVE = 500  # operations that a curve counts for, at most: its size does not depend on its points
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Work:
    """Operations that a file may still spend."""

    def __init__(self, left: int = limits.WORK) -> None:
        self.left = left

    def spend(self, operations: int) -> None:
        """Raise an error when all are spent."""
        self.left -= operations
        if self.left < 0:
            raise Refused(
                f"the expressions of this file have more than {limits.WORK} operations in total. Simplify them."
            )


@dataclass(frozen=True)
class Read:
    """The result of reading: a value, or faults."""

    value: Value | None
    faults: tuple[Fault, ...] = ()


def read_expression(text: str, scope: Scope, work: Work) -> Read:
    """The value of an expression, or all its faults."""
    tree, faults = parse_expression(text, {*scope.values, *scope.macros, *scope.failed})
    if tree is None:
        return Read(None, tuple(faults))
    reader = _Reader(translate(text), scope, work)
    value = reader.value(tree, 0)
    return Read(value if not reader.faults else None, tuple(reader.faults))


def parse_expression(text: str, names: Container[str] = ()) -> tuple[ast.expr | None, list[Fault]]:
    """The syntax tree, after checks of length, characters, digits and nesting; ``names`` are the known ones."""
    faults = [(i, i + 1, message) for i, message in foreign_characters(text)[:5]]
    if not text.strip():
        faults.append((0, 1, "the expression is empty. Write a number or a formula."))
    faults = faults or early_faults(text)
    if faults:
        return None, faults
    made = translate(text)
    indent = len(made.text) - len(made.text.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(made.text.strip(), mode="eval").body, []
    except SyntaxError as error:
        offset = indent + max((error.offset or 1) - 1, 0)
        return None, [explain_syntax(text, made, offset, names)]
    except (ValueError, MemoryError, RecursionError):
        return None, [(0, len(text), "this is nested too deeply to be read. Split it with definitions.")]


class _Reader:
    """Walks the tree. A fault is recorded, and expressions that depend on it have no value."""

    def __init__(self, made: Translated, scope: Scope, work: Work) -> None:
        self.made, self.scope, self.work = made, scope, work
        self.indent = len(made.text) - len(made.text.lstrip())
        self.faults: list[Fault] = []

    def value(self, node: ast.expr, depth: int) -> Value | None:
        """The value of a node, read according to its kind."""
        try:
            self.reach(depth)
            if isinstance(node, ast.Constant):
                return self.constant(node)
            if isinstance(node, ast.Name):
                return self.name(node)
            if isinstance(node, ast.BinOp):
                return self.binary(node, depth)
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
                operand = self.value(node.operand, depth + 1)
                return operand if operand is None or isinstance(node.op, ast.UAdd) else _negative(operand)
            if isinstance(node, ast.Call):
                return self.call(node, depth)
            raise Refused(why_forbidden(node))
        except Refused as refusal:
            self.fault(node, str(refusal))
            return None

    def reach(self, depth: int) -> None:
        """Refuse expressions nested too deeply, and count one operation."""
        if depth > limits.DEPTH:
            raise Refused(f"this is nested more than {limits.DEPTH} levels deep. Split it with definitions.")
        self.work.spend(1)

    def fault(self, node: ast.AST, message: str) -> None:
        """Record a fault at a node."""
        start = self.made.start(self.indent + getattr(node, "col_offset", 0))
        end = self.made.start(self.indent + getattr(node, "end_col_offset", 1))
        self.faults.append((start, max(end, start + 1), message))

    def constant(self, node: ast.Constant) -> Value:
        """A number, written in decimal."""
        source = self.made.text[self.indent + node.col_offset : self.indent + (node.end_col_offset or 0)]
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise Refused(f"{source[:30]} is not a number. Use only numbers, names and functions.")
        if not _NUMBER.fullmatch(source):
            raise Refused(f"{source[:30]} is not a decimal number. Write it as 1000 or 1e3.")
        return replace(arithmetic.number(node.value), dimension=dimensions.NONE)

    def name(self, node: ast.Name) -> Value | None:
        """A symbol, a definition or a constant."""
        if node.id in self.scope.failed:
            return None
        if node.id in self.scope.values:
            return self.scope.value(node.id)
        if node.id in self.scope.macros or node.id in FUNCTIONS or node.id in SPECIAL:
            raise Refused(f"{node.id} is a function. Write {node.id}(...).")
        rate = _RATE.fullmatch(node.id)
        if rate is not None and rate[1] in self.scope.values:
            raise Refused(
                f"{node.id} is not known. Write {'dot(dot(' if rate[2] else 'dot('}{rate[1]}{'))' if rate[2] else ')'}."
            )
        near = suggestion(node.id, [name for name in self.scope.values if name not in ("pi",)])
        raise Refused(
            f"{node.id[:40]} is not known.{near or ' Declare it as a coordinate, input, parameter or definition.'}"
        )

    def binary(self, node: ast.BinOp, depth: int) -> Value | None:
        """A sum, a product or a power; long sums and products are read without recursion."""
        if isinstance(node.op, ast.Pow):
            base, exponent = self.value(node.left, depth + 1), self.value(node.right, depth + 1)
            if base is None or exponent is None:
                return None
            return self.made_of(arithmetic.power(base, exponent), dimensions.of_power(base, exponent))
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return self.row(node, (ast.Add, ast.Sub), depth, arithmetic.add, dimensions.of_sum)
        if isinstance(node.op, (ast.Mult, ast.Div)):
            return self.row(node, (ast.Mult, ast.Div), depth, arithmetic.multiply, dimensions.of_product)
        raise Refused(why_forbidden(node))

    def row(
        self, node: ast.BinOp, kinds: tuple[type, ...], depth: int, join: Callable[[Sequence[Value]], Value],
        dimension: Callable[[Sequence[Value]], dimensions.Dimension | None],
    ) -> Value | None:  # fmt: skip
        """a ± b ± c ..., or a */ b */ c ...: from the left, without recursion."""
        operands: list[tuple[ast.expr, ast.operator | None]] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, kinds):
            operands.append((left.right, left.op))
            left = left.left
        operands.append((left, None))
        values = [self.operand(part, how, depth) for part, how in reversed(operands)]
        known = [value for value in values if value is not None]
        return self.made_of(join(known), dimension(known)) if len(known) == len(values) else None

    def operand(self, node: ast.expr, how: ast.operator | None, depth: int) -> Value | None:
        """One term or factor, negated after a minus sign, inverted after a division sign."""
        value = self.value(node, depth + 1)
        if value is None or how is None or isinstance(how, (ast.Add, ast.Mult)):
            return value
        if isinstance(how, ast.Sub):
            return _negative(value)
        try:
            return replace(arithmetic.inverse(value), dimension=dimensions.raised(value.dimension, Fraction(-1)))
        except Refused as refusal:
            self.fault(node, str(refusal))
            return None

    def made_of(self, value: Value, dimension: dimensions.Dimension | None) -> Value:
        """A new value, counted by its length."""
        self.work.spend(len(value.expression.args) // 4)
        return replace(value, dimension=dimension)

    # -- functions ---------------------------------------------------------------------------------------------

    def call(self, node: ast.Call, depth: int) -> Value | None:
        """A known function, a derivative, a reaction, or a definition with arguments."""
        if not isinstance(node.func, ast.Name):
            raise Refused("only the name of a function may precede a parenthesis. Write * between factors.")
        name = node.func.id
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Refused(f"{name} takes positional arguments only. Write {name}(a, ...).")
        if name in ("reaction", "residual"):
            return read_multiplier(node, name, self.scope)
        if name in self.scope.failed:
            return None
        if name in self.scope.values:
            raise Refused(f"{name} is not a function. Write {name}*(...) for a product.")
        self.refuse_unknown(name)
        if name == "piecewise":
            return self.piecewise(node, depth)
        arguments = [self.value(argument, depth + 1) for argument in node.args]
        known = [argument for argument in arguments if argument is not None]
        if len(known) != len(arguments):
            return None
        called = self.scope.macros.get(name)
        if isinstance(called, Curve):
            return self.curve(called, known)
        if called is not None:
            return self.macro(called, name, known, depth)
        if name == "dot":
            return self.dot(known)
        return self.made_of(elementary(name, known), dimensions.of_function(name, known))

    def refuse_unknown(self, name: str) -> None:
        """Report an unknown function."""
        if name in FUNCTIONS or name in SPECIAL or name in self.scope.macros:
            return
        known = [*FUNCTIONS, *EVERYWHERE, *self.scope.macros]
        near = f" Write {ALIASES[name]}." if name in ALIASES else suggestion(name, known)
        raise Refused(f"the function {name[:40]} is not known.{near or ' Known are ' + ', '.join(known[:20]) + '.'}")

    def dot(self, arguments: list[Value]) -> Value:
        """The time derivative of an expression that depends on time."""
        if len(arguments) != 1:
            raise Refused(f"dot takes 1 argument, found {len(arguments)}.")
        value = arguments[0]
        if not value.expression.has(TIME):
            raise Refused("this is constant in time, so its derivative is zero. Use dot(...) of coordinates.")
        if value.rough:
            raise Refused("this has corners, where it has no derivative. Use dot(...) of smooth functions.")
        self.work.spend(4 * value.size)
        found = arithmetic.derivative(value, TIME)
        if any(d.derivative_count > 2 for d in found.expression.atoms(sp.Derivative)):
            raise Refused("this contains a third time derivative; a model may contain at most accelerations.")
        return self.made_of(found, dimensions.of_rate(value))

    def piecewise(self, node: ast.Call, depth: int) -> Value | None:
        """piecewise(condition, value, ..., otherwise): the value of the first condition that holds."""
        if len(node.args) < 3 or len(node.args) % 2 == 0:
            raise Refused(
                "piecewise needs pairs of a condition and a value, then a value for all other cases: (x < 0, a, b)."
            )
        conditions = [self.condition(part, depth + 1) for part in node.args[:-1:2]]
        values = [self.value(part, depth + 1) for part in (*node.args[1::2], node.args[-1])]
        known = [value for value in values if value is not None]
        if None in conditions or len(known) < len(values):
            return None
        chosen = choose([condition for condition in conditions if condition is not None], known)
        return self.made_of(chosen, dimensions.of_sum(known, "values of one function"))

    def condition(self, node: ast.expr, depth: int) -> Value | None:
        """A comparison, or several joined by and, or, not."""
        try:
            self.reach(depth)
            return read_condition(node, depth, self.value, self.condition)
        except Refused as refusal:
            self.fault(node, str(refusal))
            return None

    def curve(self, curve: Curve, arguments: list[Value]) -> Value:
        """A spline at its argument."""
        name = curve.pieces.name
        if len(arguments) != 1:
            raise Refused(f"{name} takes 1 argument, found {len(arguments)}.")
        self.work.spend(min(len(curve.pieces.knots), _CURVE))
        found, wanted = arguments[0].dimension, curve.argument
        if found is not None and wanted is not None and found != wanted:
            raise Refused(
                f"{name} is a function of {dimensions.shown(wanted)}, but its argument is in {dimensions.shown(found)}."
            )
        dimension = curve.dimension if self.scope.claimed else None
        return self.made_of(arithmetic.spline(curve.pieces, arguments[0]), dimension)

    def macro(self, macro: Macro, name: str, arguments: list[Value], depth: int) -> Value | None:
        """A definition with its arguments substituted."""
        if len(arguments) != len(macro.arguments):
            raise Refused(f"{name} takes {len(macro.arguments)} argument(s), found {len(arguments)}.")
        scope = macro.scope.with_values(dict(zip(macro.arguments, arguments, strict=True)))
        inner = _Reader(macro.text, replace(scope, claimed=self.scope.claimed), self.work)
        value = inner.value(macro.body, depth + 1)
        if inner.faults:
            raise Refused(f"in the definition of {name}: {inner.faults[0][2]}")
        return value


def _negative(value: Value) -> Value:
    return replace(arithmetic.negative(value), dimension=value.dimension)
