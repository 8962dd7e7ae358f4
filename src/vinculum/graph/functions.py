"""The elementary functions the graph knows: their numbers, derivatives and SymPy names.

To add one, write its row here, under its name in the C library and in heyoka. Everything else follows from the row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from vinculum.graph.node import ONE, ZERO, Node, apply, divide, multiply


@dataclass(frozen=True)
class Function:
    """An elementary function y = f(a, ...)."""

    number: Callable[..., float]  # its value at numbers; raises ValueError outside its domain
    partials: Callable[..., tuple[Node, ...]]  # (y, *args) -> derivatives with respect to the arguments
    sympy: str  # the name of its class in SymPy
    domain: str = ""  # what its argument must satisfy, for messages
    smooth: bool = True
    range: tuple[float, float] | None = None  # of its values, if its Taylor series may leave it


def _of(derivative: Callable[[Node, Node], Node]) -> Callable[..., tuple[Node, ...]]:
    return lambda y, a: (derivative(y, a),)


def _root(a: Node) -> Node:
    return apply("sqrt", a)


def _atan2_partials(_: Node, a: Node, b: Node) -> tuple[Node, Node]:
    """d atan2(a, b) = (b da - a db)/(a² + b²)."""
    square = a * a + b * b
    return divide(b, square), -divide(a, square)


_RAY, _QUARTER = (0.0, math.inf), math.pi / 2
FUNCTIONS: dict[str, Function] = {
    "sqrt": Function(math.sqrt, _of(lambda y, a: divide(ONE, 2 * y)), "sqrt", "non-negative", range=_RAY),
    "exp": Function(math.exp, _of(lambda y, a: y), "exp"),
    "log": Function(math.log, _of(lambda y, a: divide(ONE, a)), "log", "positive"),
    "sin": Function(math.sin, _of(lambda y, a: apply("cos", a)), "sin"),
    "cos": Function(math.cos, _of(lambda y, a: -apply("sin", a)), "cos"),
    "tan": Function(math.tan, _of(lambda y, a: 1 + y * y), "tan"),
    "asin": Function(
        math.asin, _of(lambda y, a: 1 / _root(1 - a * a)), "asin", "between -1 and 1", range=(-_QUARTER, _QUARTER)
    ),
    "acos": Function(
        math.acos, _of(lambda y, a: -1 / _root(1 - a * a)), "acos", "between -1 and 1", range=(0.0, math.pi)
    ),
    "atan": Function(math.atan, _of(lambda y, a: 1 / (1 + a * a)), "atan", range=(-_QUARTER, _QUARTER)),
    "sinh": Function(math.sinh, _of(lambda y, a: apply("cosh", a)), "sinh"),
    "cosh": Function(math.cosh, _of(lambda y, a: apply("sinh", a)), "cosh"),
    "tanh": Function(math.tanh, _of(lambda y, a: 1 - y * y), "tanh"),
    "asinh": Function(math.asinh, _of(lambda y, a: 1 / _root(a * a + 1)), "asinh"),
    "acosh": Function(math.acosh, _of(lambda y, a: 1 / _root(a * a - 1)), "acosh", "at least 1", range=_RAY),
    "atanh": Function(math.atanh, _of(lambda y, a: 1 / (1 - a * a)), "atanh", "between -1 and 1"),
    "atan2": Function(math.atan2, _atan2_partials, "atan2", "not both zero", range=(-math.pi, math.pi)),
    "abs": Function(abs, _of(lambda y, a: apply("sign", a)), "Abs", smooth=False),
    "sign": Function(lambda a: float((a > 0) - (a < 0)), _of(lambda y, a: ZERO), "sign", smooth=False),
}


def power_partials(y: Node, a: Node, b: Node) -> tuple[Node, Node]:
    """d a**b = b a**(b-1) da + log(a) a**b db."""
    return b * a ** (b - 1), multiply(apply("log", a), y)
