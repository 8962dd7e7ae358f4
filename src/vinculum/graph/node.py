"""The scalar expression graph: one node for every distinct subexpression.

A node is an operation on older nodes. Nodes are interned: building ``x*y`` twice gives the same object,
so equality is identity and a shared subexpression is stored, differentiated and compiled once. Every
constructor folds constants and the identities of the field (``x + 0``, ``1*x``, ``x - x``, ``-(-x)``),
which makes zeros *structural*: an entry that vanishes identically is the node ``ZERO``.
"""

from __future__ import annotations

import atexit
import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import count
from threading import RLock
from typing import Any, Union
from weakref import WeakValueDictionary

from vinculum.graph.place import place

Number = int | float | Fraction
Operand = Union["Node", int, float, Fraction]  # the class is named before it is defined

_LARGEST_EXACT = 2**53
_serial = count()
_table: WeakValueDictionary[tuple, Node] = WeakValueDictionary()
_leaves: WeakValueDictionary[tuple, Node] = WeakValueDictionary()
atexit.register(_leaves.clear)  # else a leaf that goes asks SymPy for the hash of its symbol, when SymPy is gone
_building = RLock()  # held while a node enters a table; the garbage collector may build nodes meanwhile


class Node:
    """One operation of the graph.

    ``op`` names it, ``args`` are its operands, ``value`` is the payload of a leaf (the number of a constant,
    the key of a symbol). Its `place` is the same in every process and after any history, and so is everything that
    is in the order of places; ``serial`` grows with creation. Only `pickling` uses ``depth``, which it computes on
    demand.
    """

    __slots__ = ("__weakref__", "args", "depth", "op", "place", "serial", "value")

    op: str
    args: tuple[Node, ...]
    value: Any
    place: float
    serial: int
    depth: int

    def __add__(self, other: Operand) -> Node:
        return add(self, lift(other))

    def __radd__(self, other: Operand) -> Node:
        return add(lift(other), self)

    def __sub__(self, other: Operand) -> Node:
        return subtract(self, lift(other))

    def __rsub__(self, other: Operand) -> Node:
        return subtract(lift(other), self)

    def __mul__(self, other: Operand) -> Node:
        return multiply(self, lift(other))

    def __rmul__(self, other: Operand) -> Node:
        return multiply(lift(other), self)

    def __truediv__(self, other: Operand) -> Node:
        return divide(self, lift(other))

    def __rtruediv__(self, other: Operand) -> Node:
        return divide(lift(other), self)

    def __pow__(self, other: Operand) -> Node:
        return power(self, lift(other))

    def __neg__(self) -> Node:
        return negate(self)

    def __repr__(self) -> str:
        from vinculum.graph.traverse import describe

        return describe(self)

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Node:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from vinculum.graph.pickling import reduced

        return reduced(self)


def intern(op: str, value: Hashable, *args: Node) -> Node:
    """An operation that is folded already; ``value`` is the payload of a call, of its components or of a spline."""
    if op == "add" or (op == "multiply" and args[0].op != "constant"):
        args = _order(*args)
    return _intern(op, args, value)


def _intern(op: str, args: tuple[Node, ...], value: Hashable = None) -> Node:
    key = (op, value, *args)
    node = _table.get(key)
    if node is None:
        with _building:  # another thread may build the same operation
            node = _table.get(key)
            if node is None:
                node = _table[key] = _new(op, args, value)
    return node


def _leaf(op: str, value: Hashable) -> Node:
    key = (op, value, type(value)) if op == "constant" else (op, value)  # 1 is not 1.0; types of SymPy hash slowly
    node = _leaves.get(key)
    if node is None:
        with _building:
            node = _leaves.get(key)
            if node is None:
                node = _leaves[key] = _new(op, (), value)
    return node


def _new(op: str, args: tuple[Node, ...], value: Hashable) -> Node:
    node = Node()
    node.op, node.args, node.value, node.serial, node.depth = op, args, value, next(_serial), -1
    node.place = place(op, value, args)
    return node


def constant(value: Number) -> Node:
    """A number. Integers and small fractions stay exact, so ``m/2`` prints as the user wrote it."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            value = value.numerator
        elif value.denominator > 10**9 or abs(value.numerator) > _LARGEST_EXACT:
            value = float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_EXACT:
        value = int(value)
    elif isinstance(value, int) and abs(value) > _LARGEST_EXACT:
        value = float(value)
    return _leaf("constant", value)


def symbol(key: Hashable) -> Node:
    """A leaf whose value is given later: a coordinate, a velocity, a parameter, the time."""
    return _leaf("symbol", key)


def lift(value: Operand) -> Node:
    """A node from a node or a number."""
    return value if isinstance(value, Node) else constant(_plain(value))


def _plain(value: Number) -> Number:
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return value
    return float(value)


ZERO = constant(0)
ONE = constant(1)
MINUS_ONE = constant(-1)


def add(a: Node, b: Node) -> Node:
    """The sum a + b."""
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    if a.op == "constant" and b.op == "constant":
        return constant(a.value + b.value)
    if b.op == "negate":
        return subtract(a, b.args[0])
    if a.op == "negate":
        return subtract(b, a.args[0])
    if a is b:
        return multiply(constant(2), a)
    return _intern("add", _order(a, b))


def subtract(a: Node, b: Node) -> Node:
    """The difference a - b."""
    if b is ZERO:
        return a
    if a is ZERO:
        return negate(b)
    if a is b:
        return ZERO
    if b.op == "constant":
        return add(a, negate(b))
    if b.op == "negate":
        return add(a, b.args[0])
    if a.op == "negate":
        return negate(add(a.args[0], b))
    return _intern("subtract", (a, b))


def negate(a: Node) -> Node:
    """The negative -a."""
    if a.op == "constant":
        return constant(-a.value)
    if a.op == "negate":
        return a.args[0]
    if a.op == "subtract":
        return subtract(a.args[1], a.args[0])
    if a.op == "multiply" and a.args[0].op == "constant":
        return multiply(negate(a.args[0]), a.args[1])
    return _intern("negate", (a,))


def multiply(a: Node, b: Node) -> Node:
    """The product a b, a constant factor first."""
    if b.op == "constant":
        a, b = b, a
    if a.op == "constant":
        return _scale(a, b)
    if a.op == "negate":
        return negate(multiply(a.args[0], b))
    if b.op == "negate":
        return negate(multiply(a, b.args[0]))
    if a.op == "multiply" and a.args[0].op == "constant":
        return _scale(a.args[0], multiply(a.args[1], b))
    if b.op == "multiply" and b.args[0].op == "constant":
        return _scale(b.args[0], multiply(a, b.args[1]))
    return _intern("multiply", _order(a, b))


def _scale(c: Node, a: Node) -> Node:
    """The product of a constant c and any node a."""
    if c is ZERO:
        return ZERO
    if c is ONE:
        return a
    if a.op == "constant":
        return constant(c.value * a.value)
    if c is MINUS_ONE:
        return negate(a)
    if a.op == "negate":
        return _scale(negate(c), a.args[0])
    if a.op == "multiply" and a.args[0].op == "constant":
        return _scale(constant(c.value * a.args[0].value), a.args[1])
    return _intern("multiply", (c, a))


def divide(a: Node, b: Node) -> Node:
    """The quotient a / b. Division by the constant zero raises an error."""
    if b is ZERO:
        raise ZeroDivisionError(f"division of {a!r} by zero")
    if b.op == "constant":
        return multiply(_reciprocal(b), a)
    if a is ZERO:
        return ZERO
    if a is b:
        return ONE
    if a.op == "negate":
        return negate(divide(a.args[0], b))
    if b.op == "negate":
        return negate(divide(a, b.args[0]))
    return _intern("divide", (a, b))


def _reciprocal(c: Node) -> Node:
    value = c.value
    return constant(Fraction(1, value) if isinstance(value, (int, Fraction)) else 1.0 / value)


def power(a: Node, b: Node) -> Node:
    """The power a**b. Whole exponents become products, ±1/2 square roots."""
    if b.op == "constant":
        exponent = b.value
        if isinstance(exponent, int):
            return _whole_power(a, exponent)
        if abs(exponent) == 0.5:
            root = apply("sqrt", a)
            return root if exponent > 0 else divide(ONE, root)
        if a.op == "constant" and a.value > 0:
            return constant(float(a.value) ** float(exponent))
    return _intern("power", (a, b))


def _whole_power(a: Node, exponent: int) -> Node:
    """a**n by repeated squaring; a negative exponent divides once, at the end."""
    if exponent < 0:
        return divide(ONE, _whole_power(a, -exponent))
    result, square = ONE, a
    while exponent:
        if exponent & 1:
            result = multiply(result, square)
        exponent >>= 1
        if exponent:
            square = multiply(square, square)
    return result


_ODD = frozenset({"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sign"})
_EVEN = frozenset({"cos", "cosh", "abs"})
_AT_ZERO = {"cos": 1, "cosh": 1, "exp": 1}


def apply(name: str, *args: Node) -> Node:
    """An elementary function by name, as ``apply("sin", x)``; the names are those of `functions.FUNCTIONS`."""
    a = args[0]
    if len(args) == 1:
        if a is ZERO and name in _ODD | {"sqrt"}:
            return ZERO
        if a is ZERO and name in _AT_ZERO:
            return ONE
        if a.op == "negate" and name in _ODD:
            return negate(apply(name, a.args[0]))
        if a.op == "negate" and name in _EVEN:
            return apply(name, a.args[0])
        if name == "sqrt" and isinstance(a.value, int) and a.op == "constant" and a.value >= 0:
            root = math.isqrt(a.value)
            if root * root == a.value:
                return constant(root)
    if all(arg.op == "constant" and isinstance(arg.value, float) for arg in args):
        return _fold(name, args)
    return _intern(name, args)


def _fold(name: str, args: Sequence[Node]) -> Node:
    """A function of floating-point constants as a constant; outside its domain it stays a function."""
    from vinculum.graph.functions import FUNCTIONS

    try:
        return constant(FUNCTIONS[name].number(*(arg.value for arg in args)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return _intern(name, tuple(args))


def select(condition: Node, when_true: Node, when_false: Node) -> Node:
    """One of two nodes, by a condition that is 1 (true) or 0 (false)."""
    if condition.op == "constant":
        return when_true if condition is not ZERO else when_false
    if when_true is when_false:
        return when_true
    return _intern("select", (condition, when_true, when_false))


def compare(name: str, a: Node, b: Node) -> Node:
    """A condition: ``less``, ``less_equal``, ``equal``; logic: ``both``, ``either``."""
    if a.op == "constant" and b.op == "constant":
        return ONE if COMPARISONS[name](a.value, b.value) else ZERO
    return _intern(name, (a, b))


COMPARISONS = {
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "both": lambda a, b: bool(a) and bool(b),
    "either": lambda a, b: bool(a) or bool(b),
}


def _order(a: Node, b: Node) -> tuple[Node, Node]:
    """Operands of a sum or product, the same way around in every process."""
    if a.place == b.place:
        return (a, b) if a.serial <= b.serial else (b, a)
    return (a, b) if a.place < b.place else (b, a)
