"""Identities are decided exactly: a zero is proved, a difference of 1e-15 is seen."""

from __future__ import annotations

import time
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy as sp

from tests.graph.random_expressions import CURVE
from vinculum.graph import Node, apply, call_routine, constant, from_sympy, gradient, select, symbol
from vinculum.graph.exact import independent, on_branch, residues, vanishes, vanishing
from vinculum.graph.node import compare
from vinculum.graph.routine import Routine
from vinculum.graph.splines import spline

X, Y, T = (symbol(name) for name in "xyt")


def sin(a: Node) -> Node:
    return apply("sin", a)


def cos(a: Node) -> Node:
    return apply("cos", a)


def root(a: Node) -> Node:
    return apply("sqrt", a)


def exp(a: Node) -> Node:
    return apply("exp", a)


IDENTITIES = {
    "circle": sin(X) ** 2 + cos(X) ** 2 - 1,
    "double angle": sin(2 * X) - 2 * sin(X) * cos(X),
    "half angle": 2 * sin(X / 2) ** 2 - 1 + cos(X),
    "third of an angle": cos(X) - 4 * cos(X / 3) ** 3 + 3 * cos(X / 3),
    "tangent": apply("tan", X) * cos(X) - sin(X),
    "product to sum": 2 * sin(X) * cos(Y) - sin(X + Y) - sin(X - Y),
    "binary fractions": sin(0.1 * (X + Y)) - sin(0.1 * X) * cos(0.1 * Y) - cos(0.1 * X) * sin(0.1 * Y),
    "product as angle": sin(2 * X * T) - 2 * sin(T * X) * cos(X * T),
    "sum times symbol as angle": sin((X + Y) * T) - sin(X * T) * cos(Y * T) - cos(X * T) * sin(Y * T),
    "fraction as angle": cos(X / Y) - 1 + 2 * sin(X / (2 * Y)) ** 2,
    "angles equal in value only": cos(1 / (X + Y)) - cos((X - Y) / (X * X - Y * Y)),
    "quarter turn": cos(X + np.pi / 2) + sin(X),
    "three quarter turns": sin(X - 3 * np.pi / 2) - cos(X),
    "phase": sin(X + 0.3) ** 2 + cos(X + 0.3) ** 2 - 1,
    "nested": sin(sin(X) + Y) - sin(sin(X)) * cos(Y) - cos(sin(X)) * sin(Y),
    "square": (X + Y) ** 2 - X * X - 2 * X * Y - Y * Y,
    "angle outside of its sine": X * (cos(X) ** 2 - 1) + X * sin(X) ** 2,
    "square of a root": root(1 + X * X) ** 2 - 1 - X * X,
    "product of roots": root(1 + X * X) * root(Y) - root(Y + X * X * Y),
    "root of three": root(constant(3)) * root(constant(3)) - 3,
    "power 3/2": (1 + X) ** Fraction(3, 2) - (1 + X) * root(1 + X),
    "power 4/3": X ** Fraction(4, 3) - X * X ** Fraction(1, 3),
    "exponential": exp(X + 2 * Y) - exp(X) * exp(Y) ** 2,
    "hyperbolic": apply("cosh", X) ** 2 - apply("sinh", X) ** 2 - 1,
    "hyperbolic tangent": apply("tanh", X) * apply("cosh", X) - apply("sinh", X),
    "logarithm of equals": apply("log", (X + Y) ** 2) - apply("log", X * X + 2 * X * Y + Y * Y),
    "spline of equals": spline(CURVE, X * (1 + Y)) - spline(CURVE, X + X * Y),
    "branches that agree": select(compare("less", X, Y), (X + 1) ** 2, X * X + 2 * X + 1) - (1 + X) ** 2,
}

NOT_PROVED = {
    "root of a square": root(X * X) - X,
    "small coefficient": sin(X) ** 2 + cos(X) ** 2 - 1 + 1e-15 * Y,
    "parameters that differ by 1e-15": 2.0 * X * Y - (2.0 + 4e-16) * X * Y,
    "angle and sine": X - sin(X),
    "other angle": sin(X) - sin(Y),
    "cosine of phase": cos(X + 1.5707963) + sin(X),
    "rational and binary": sin(0.1 * X) - sin(Fraction(1, 10) * X),
    "absolute value": apply("abs", X) - X,
    "condition": select(compare("less", X, Y), X, Y) - X,
    "division by zero": 1 / (sin(X) ** 2 + cos(X) ** 2 - 1),
    "power": 64 * X**6 - X**5,
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_is_proved(name):
    assert vanishes(IDENTITIES[name])
    assert not vanishes(IDENTITIES[name] + 1e-9 * X)


@pytest.mark.parametrize("name", NOT_PROVED)
def test_what_is_no_identity_is_not_proved(name):
    assert not vanishes(NOT_PROVED[name])


def test_nodes_are_tested_together():
    assert vanishing([X - X, X, sin(X) ** 2 + cos(X) ** 2 - 1, Y]) == [True, False, True, False]


def test_independence_is_proved_through_identities():
    """sin²x + cos²x, (x + y) - x and tan of a sum do not depend on x; x·y and sin(x + y) do."""
    nodes = [Y * (sin(X) ** 2 + cos(X) ** 2), (X + Y) - X, X * Y, sin(X + Y), sin(X + Y) * cos(X) - cos(X + Y) * sin(X)]
    assert independent(nodes, [X, Y]) == {X: [True, True, False, False, True], Y: [False] * 5}


def test_a_derivative_by_two_roads():
    f = (X * X + Y) / (1 + sin(X) * Y)
    by_quotient = (2 * X * (1 + sin(X) * Y) - (X * X + Y) * cos(X) * Y) / (1 + sin(X) * Y) ** 2
    assert vanishes(gradient(f, [X])[0] - by_quotient)


@pytest.mark.parametrize(("x", "sign"), [(0.4, 1), (-0.4, -1)])
def test_corners_are_decided_at_the_branch(x, sign):
    node = apply("abs", X) - sign * X + apply("sign", X) - sign
    assert not vanishes(node)
    assert vanishes(node, {X: x})
    smaller = select(compare("less", X, constant(0)), -X, X) - sign * X
    assert vanishes(smaller, {X: x})


def test_on_a_corner_nothing_is_proved():
    assert not vanishes(apply("abs", X) - X, {X: 0.0})
    assert not vanishes(select(compare("less_equal", X, Y), X, Y) - X, {X: 1.0, Y: 1.0})
    (kept,) = on_branch([apply("abs", X)], {X: 0.0})
    assert kept is apply("abs", X)


def test_routines_are_written_out():
    a = symbol("formal")
    square = Routine("square", [a], lambda: [a * a, 2 * a], None)
    value, slope = call_routine(square, [X + Y], 2)
    assert vanishes(value - X * X - 2 * X * Y - Y * Y)
    assert not vanishes(slope - X)


def test_many_calls_need_no_recursion():
    a = symbol("formal")
    step = Routine("step", [a], lambda: [a + 1], None)
    node = X
    for _ in range(1200):
        (node,) = call_routine(step, [node], 1)
    assert vanishes(node - X - 1200)


def test_deep_and_large_graphs_take_seconds():
    node = X
    for k in range(50_000):
        node = node * (X + k) + sin(Y)
    start = time.perf_counter()
    residues([node], Random(1))
    assert time.perf_counter() - start < 5


def test_all_nodes_of_a_call_share_one_point():
    a, b, c = residues([X, Y, X * Y], Random(3))
    assert any((a * b - c) % p == 0 for p in (2**61 - k for k in (1, 45, 229, 465, 829, 985, 1153, 1281)))


def _random(rng: Random, depth: int) -> sp.Expr:
    x, y, z = sp.symbols("x y z")
    if depth == 0:
        return rng.choice([x, y, z, sp.Integer(rng.randint(1, 5)), sp.Rational(rng.randint(1, 5), 3)])
    a, b = _random(rng, depth - 1), _random(rng, depth - 1)
    linear = rng.choice([x, y, x + y, 2 * x - z, x / 2 + z])
    return rng.choice([a + b, a * b, a - b, a**2, sp.sin(linear) * a, sp.cos(linear) + b, a * sp.sin(linear) - b])


@pytest.mark.parametrize("seed", range(200))
def test_an_expression_minus_its_expansion_vanishes(seed):
    expression = _random(Random(seed), 3)
    expanded = sp.expand(sp.expand_trig(sp.expand(expression)))
    difference = from_sympy(expression) - from_sympy(expanded)
    assert vanishes(difference)
    assert not vanishes(difference + 1e-9 * from_sympy(sp.Symbol("y")))
