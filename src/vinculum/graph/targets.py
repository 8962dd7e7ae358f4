"""Writing the graph in another language: LLVM, heyoka, SymPy, C.

A target is a table of operations and a way to write a number; everything else is the same for all targets and is here:
the order of the operations, numbers where a truth value is needed and the reverse, routines and splines that the
target does not know, functions made of other operations.

| operation                                        | operands                    | result      |
|--------------------------------------------------|-----------------------------|-------------|
| add, subtract, multiply, divide, negate, power   | numbers                     | number      |
| sqrt, exp, sin, ... (`functions.FUNCTIONS`)      | numbers                     | number      |
| less, less_equal, equal                          | numbers                     | truth value |
| both, either                                     | truth values                | truth value |
| select                                           | truth value, number, number | number      |
| piece, entry, spline, call, component (optional) | numbers                     | number      |
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from vinculum.graph.node import COMPARISONS, Node, Number
from vinculum.graph.place import in_order
from vinculum.graph.routine import expand_calls
from vinculum.graph.splines import TABLES, Numbers, expand_splines, without_tables

T = TypeVar("T")

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negate": operator.neg,
    "power": operator.pow,
}  # for targets whose values are Python objects with operators


class Target(ABC, Generic[T]):
    """One piece of code being written: ``values`` is what each node has become so far."""

    splines: ClassVar[bool] = False  # whether the table has "spline"; else splines become polynomials
    tables: ClassVar[bool] = False  # whether the table has "piece" and "entry"; else they become comparisons
    routines: ClassVar[bool] = False  # whether the table has "call" and "component"; else calls are written out
    late: ClassVar[bool] = False  # whether symbols are loaded where they are first needed, instead of in order

    def __init__(self, known: Mapping[Node, T]) -> None:
        self.values: dict[Node, T] = dict(known)

    # -- defined by each target ------------------------------------------------------------------------------

    @abstractmethod
    def constant(self, value: Number) -> T:
        """A number."""

    @abstractmethod
    def operation(self, node: Node, args: Sequence[T]) -> T:
        """An operation from the table."""

    def symbol(self, node: Node) -> T:
        """A symbol without a value yet; a target that loads its inputs loads it here."""
        raise KeyError(f"{node!r} is not an argument of this function")

    def as_number(self, truth: T) -> T:
        """1 or 0 of a truth value, where these are different things."""
        return truth

    def as_truth(self, number: T) -> T:
        """Whether a number is not zero."""
        return number

    # -- common to all targets -------------------------------------------------------------------------------

    def prepare(self, outputs: Sequence[Node]) -> list[Node]:
        """The outputs in the operations that the target has."""
        outputs = list(outputs) if self.routines else expand_calls(outputs)
        if self.splines:
            return outputs
        return expand_splines(outputs) if self.tables else without_tables(expand_splines(outputs))

    def write(self, outputs: Iterable[Node]) -> None:
        """All operations below the outputs, operands before results."""
        for node in self.sequence(outputs):
            if node.args:
                self.values[node] = self._write(node)
            elif not self.late:
                self.value(node)

    def sequence(self, outputs: Iterable[Node]) -> list[Node]:
        """The nodes that are not written yet, operands before results."""
        return below(outputs, self.values)

    def number(self, node: Node) -> T:
        """A node as a number."""
        value = self.value(node)
        return self.as_number(value) if node.op in COMPARISONS else value

    def truth(self, node: Node) -> T:
        """A node as a truth value."""
        value = self.value(node)
        return value if node.op in COMPARISONS else self.as_truth(value)

    def value(self, node: Node) -> T:
        """A node as it was written."""
        if node not in self.values:
            if node.args:
                self.write([node])
            else:
                self.values[node] = self.constant(node.value) if node.op == "constant" else self.symbol(node)
        return self.values[node]

    def _write(self, node: Node) -> T:
        if node.op == "select":
            condition, *others = node.args
            return self.operation(node, [self.truth(condition), *map(self.number, others)])
        if node.op in ("both", "either"):
            return self.operation(node, [self.truth(arg) for arg in node.args])
        if node.op == "component":
            return self.operation(node, [self.value(node.args[0])])
        return self.operation(node, [self.number(arg) for arg in node.args])


def below(outputs: Iterable[Node], known: Mapping[Node, Any]) -> list[Node]:
    """The nodes below the outputs, operands before results; nodes in ``known`` are not entered."""
    seen = set(outputs)
    stack = list(seen)
    while stack:
        node = stack.pop()
        for arg in () if node in known else node.args:
            if arg not in seen:
                seen.add(arg)
                stack.append(arg)
    return in_order(node for node in seen if node not in known)


class Lines(Target[str]):
    """A target that is text, one named result per line.

    ``table`` has for each operation a template with {0}, {1}, ... for its operands: "{0} + {1}", "sin({0})". Operations
    that are missing there come from `DERIVED`. To print C, give a table, ``line`` = "double {name} = {value};",
    a name for symbols and a head and foot around ``lines``.
    """

    table: Mapping[str, str]
    line: str
    name: str = "v{}"
    row: str = "table{}"

    def __init__(self, known: Mapping[Node, str]) -> None:
        super().__init__(known)
        self.lines: list[str] = []
        self.rows: dict[Numbers, str] = {}

    def result(self, value: str) -> str:
        """The name of an expression that was given a line."""
        name = self.name.format(len(self.lines))
        self.lines.append(self.line.format(name=name, value=value))
        return name

    def operation(self, node: Node, args: Sequence[str]) -> str:
        """A line made from the template; piece and entry get the name of their numbers as a further operand."""
        if node.op in TABLES:
            args = (*args, self.numbers(node.value), str(len(node.value.values)))
        return self.applied(node.op, args)

    def numbers(self, numbers: Numbers) -> str:
        """The name of a row of numbers in the code."""
        return self.rows.setdefault(numbers, self.row.format(len(self.rows)))

    def applied(self, op: str, args: Sequence[str]) -> str:
        """An operation by name."""
        if op in self.table:
            return self.result(self.table[op].format(*args))
        if op not in DERIVED:
            raise KeyError(f"{type(self).__name__} has no template for {op!r}. Add one to its table.")
        return DERIVED[op](self, *args)


def _sign(target: Lines, a: str) -> str:
    """1 for 0 < a, -1 for a < 0, else 0."""
    zero, one, minus = (target.constant(x) for x in (0.0, 1.0, -1.0))
    above, beneath = target.applied("less", (zero, a)), target.applied("less", (a, zero))
    return target.applied("select", (above, one, target.applied("select", (beneath, minus, zero))))


def _abs(target: Lines, a: str) -> str:
    """a for 0 ≤ a, else -a."""
    above = target.applied("less_equal", (target.constant(0.0), a))
    return target.applied("select", (above, a, target.applied("negate", (a,))))


DERIVED: dict[str, Callable[..., str]] = {"sign": _sign, "abs": _abs}  # from comparisons and select
