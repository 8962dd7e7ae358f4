"""Numbers from the graph: equal to those of SymPy, refused outside the domain of an operation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from graph.numeric import numeric
from graph.random_expressions import KEYS, VARIABLES, expression, point, single_operations
from vinculum.errors import DomainError
from vinculum.graph import (
    apply,
    constant,
    evaluate,
    from_sympy,
    gradient,
    operations,
    substitute,
    symbol,
    symbols,
    to_sympy,
)
from vinculum.graph.functions import FUNCTIONS

x, y, z = VARIABLES


def test_the_generator_knows_every_operation():
    known = {"add", "subtract", "multiply", "divide", "negate", "power", "select", "less", "less_equal"}
    built = operations([node for _, node in single_operations()])
    assert set(built) == known | set(FUNCTIONS) | {"both", "either", "spline"}


@pytest.mark.parametrize("seed", range(60))
def test_random_expression_has_the_value_sympy_gives(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random), point(random)
    (expected,) = numeric([to_sympy(f)], KEYS)(*values.values())
    assert evaluate([f], values)[0] == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("seed", range(30))
def test_substitution_is_composition(seed):
    """f(g(x)) evaluated is f evaluated at the value of g."""
    random = np.random.default_rng(seed)
    f, g, values = expression(random), expression(random), point(random)
    (composed,) = substitute([f], {x: g})
    inner = evaluate([g], values)[0]
    expected = evaluate([f], values | {x: inner})[0]
    assert evaluate([composed], values)[0] == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_substitution_is_simultaneous():
    """x and y exchange places in x² - sin(y); a second exchange brings the same object back."""
    f = x * x - apply("sin", y)
    (swapped,) = substitute([f], {x: y, y: x})
    assert swapped is y * y - apply("sin", x)
    assert substitute([swapped], {x: y, y: x}) == [f]


def test_substitution_replaces_whole_subexpressions():
    f = apply("sin", x * y) + x * y
    assert substitute([f], {x * y: z}) == [apply("sin", z) + z]


def test_symbols_are_what_the_value_depends_on():
    assert symbols([x * y - y * x + z]) == {z}


def test_a_symbol_without_value_is_named():
    with pytest.raises(KeyError, match="y"):
        evaluate([x * y], {x: 1.0})


OUTSIDE = {
    "division by zero": (1 / (x - 1), 1.0),
    "log": (apply("log", x), -0.25),
    "sqrt": (apply("sqrt", x), -0.25),
    "asin": (apply("asin", x), 1.5),
    "acos": (apply("acos", x), -1.5),
    "acosh": (apply("acosh", x), 0.5),
    "atanh": (apply("atanh", x), 1.0),
    r"x \*\* y": (x**y, -2.0),
    r"exp\(x\)": (apply("exp", x), 1e4),
}


@pytest.mark.parametrize("operation", OUTSIDE)
def test_outside_its_domain_the_operation_is_named(operation):
    f, value = OUTSIDE[operation]
    with pytest.raises(DomainError, match=operation) as caught:
        evaluate([f], {x: value, y: 0.5})
    assert "x" in str(caught.value)


def test_the_message_gives_the_argument_and_the_requirement():
    theta = sp.Function("theta")(sp.Symbol("t"))
    with pytest.raises(DomainError, match=r"log of a number that is not positive: log\(.*theta.*-0.25"):
        evaluate([from_sympy(sp.log(theta))], {symbol(theta): -0.25})


def test_no_operation_is_blamed_for_a_number_that_was_not_finite_before():
    assert math.isnan(evaluate([apply("log", x) + y], {x: math.nan, y: 1.0})[0])


GUARDED = {
    "root": sp.sqrt(KEYS[0]),
    "logarithm": sp.log(KEYS[0]),
    "power": KEYS[0] ** sp.Rational(4, 3),
    "angle": sp.acosh(1 + KEYS[0]),
}


@pytest.mark.parametrize("name", GUARDED)
def test_a_branch_not_taken_is_not_visited(name):
    """f(x) for x > 0, else x²: at x = -1/2 the value is 1/4 and the slope -1, wherever f is defined."""
    f = from_sympy(sp.Piecewise((GUARDED[name], KEYS[0] > 0), (KEYS[0] ** 2, True)))
    assert evaluate([f, *gradient(f, [x])], {x: -0.5}) == [0.25, -1.0]


def test_numbers_of_all_kinds_are_exact():
    assert evaluate([constant(1) / 3, constant(0.1), constant(2**60)], {}) == [1 / 3, 0.1, 2.0**60]
