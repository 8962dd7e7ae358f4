"""Random expressions over every operation of the graph, with arguments kept inside the domains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from vinculum.describe.spline import pieces_through
from vinculum.graph import Node, apply, constant, select, symbol
from vinculum.graph.node import compare, power
from vinculum.graph.splines import spline

KEYS = sp.symbols("x y z", real=True)
VARIABLES = tuple(symbol(key) for key in KEYS)


def _inside(a: Node) -> Node:
    """A number between -0.9 and 0.9."""
    return constant(Fraction(9, 10)) * apply("sin", a)


CURVE = pieces_through(np.linspace(-2, 2, 9), np.sin(np.linspace(-3, 3, 9)), 5, "curve")


def _above(a: Node) -> Node:
    """A number above 3/2."""
    return Fraction(3, 2) + a * a


ONE_ARGUMENT: dict[str, Callable[[Node], Node]] = {
    "negate": lambda a: -a,
    "sqrt": lambda a: apply("sqrt", 1 + a * a),
    "exp": lambda a: apply("exp", _inside(a)),
    "log": lambda a: apply("log", 1 + a * a),
    "sin": lambda a: apply("sin", a),
    "cos": lambda a: apply("cos", a),
    "tan": lambda a: apply("tan", _inside(a)),
    "asin": lambda a: apply("asin", _inside(a)),
    "acos": lambda a: apply("acos", _inside(a)),
    "atan": lambda a: apply("atan", a),
    "sinh": lambda a: apply("sinh", _inside(a)),
    "cosh": lambda a: apply("cosh", _inside(a)),
    "tanh": lambda a: apply("tanh", a),
    "asinh": lambda a: apply("asinh", a),
    "acosh": lambda a: apply("acosh", _above(a)),
    "atanh": lambda a: apply("atanh", _inside(a)),
    "abs": lambda a: apply("abs", a),
    "sign": lambda a: apply("sign", a),
    "spline": lambda a: spline(CURVE, _inside(a)),
    "third power": lambda a: _inside(a) ** 3,
    "negative power": lambda a: _above(a) ** -2,
    "half power": lambda a: _above(a) ** Fraction(-3, 2),
    "fractional power": lambda a: _above(a) ** Fraction(1, 3),
}

TWO_ARGUMENTS: dict[str, Callable[[Node, Node], Node]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: apply("tanh", a) * b,
    "divide": lambda a, b: a / (2 + apply("cos", b)),
    "upper angle": lambda a, b: apply("atan2", Fraction(3, 2) + apply("sin", a), b),
    "lower angle": lambda a, b: apply("atan2", -_above(a), b),
    "power": lambda a, b: power(_above(_inside(a)), _inside(b)),
    "power of a number": lambda a, b: power(constant(Fraction(7, 3)), _inside(a)) * b,
    "less": lambda a, b: select(compare("less", a, b), a * b, a - 1),
    "less_equal": lambda a, b: select(compare("less_equal", b, a), b, apply("sin", a)),
    "either": lambda a, b: select(compare("either", compare("less", a, b), compare("less", b, 0 * b)), a, 2 - b),
    "both": lambda a, b: select(compare("both", compare("less", a, b), compare("less", 0 * b, b)), b - a, b),
}


CORNERS = {"abs", "sign", "less", "less_equal", "either", "both"}


def expression(
    random: np.random.Generator, steps: int = 12, variables: Sequence[Node] = VARIABLES, smooth: bool = False
) -> Node:
    """A random expression: every step applies an operation to results of earlier steps, so parts are shared."""
    one, two = (
        [build for name, build in table.items() if not (smooth and name in CORNERS)]
        for table in (ONE_ARGUMENT, TWO_ARGUMENTS)
    )
    found = [*variables, constant(0.625), constant(-1.25)]
    for _ in range(steps):
        first, second = (found[i] for i in random.integers(len(found), size=2))
        if random.random() < 0.5:
            found.append(one[random.integers(len(one))](first))
        else:
            found.append(two[random.integers(len(two))](first, second))
    return sum(found[-3:], found[-4])


def single_operations() -> list[tuple[str, Node]]:
    """Every operation once, on plain variables, by name."""
    x, y, _ = VARIABLES
    one = [(name, build(x)) for name, build in ONE_ARGUMENT.items()]
    return one + [(name, build(x, y)) for name, build in TWO_ARGUMENTS.items()]


def point(random: np.random.Generator) -> dict[Node, float]:
    """Values for the variables."""
    return dict(zip(VARIABLES, random.uniform(-1.5, 1.5, len(VARIABLES)), strict=True))
