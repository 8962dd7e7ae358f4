"""One object for every distinct expression, for as long as somebody holds it."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction

import pytest
import sympy as sp

from graph.random_expressions import expression
from vinculum.graph import ONE, ZERO, apply, constant, from_sympy, order, symbol
from vinculum.graph.traverse import dependence

x, y, z = (symbol(name) for name in "xyz")


def test_equal_expressions_are_one_object():
    assert apply("sin", x * y + z) is apply("sin", x * y + z)


@pytest.mark.parametrize("operation", ["__add__", "__mul__"])
def test_commutative_operations_do_not_see_the_order(operation):
    """x + y = y + x and x y = y x."""
    assert getattr(x, operation)(y) is getattr(y, operation)(x)


def test_difference_and_quotient_see_the_order():
    assert x - y is not y - x
    assert x / y is not y / x


def test_equal_numbers_are_one_object_whatever_their_type():
    """2 = 2.0 = 4/2 and 0 = -0.0."""
    assert constant(2) is constant(2.0) is constant(Fraction(4, 2))
    assert constant(-0.0) is ZERO
    assert constant(1.0) is ONE


def test_symbols_are_told_apart_by_their_assumptions():
    assert symbol(sp.Symbol("m")) is symbol(sp.Symbol("m"))
    assert symbol(sp.Symbol("m")) is not symbol(sp.Symbol("m", positive=True))


def test_conversion_from_sympy_meets_nodes_built_by_hand():
    a, b = sp.symbols("a b")
    assert from_sympy(sp.cos(a * b)) is apply("cos", symbol(a) * symbol(b))


def test_numbers_and_symbols_are_dropped_too():
    """A process that describes system after system does not keep their names and numbers."""
    held = [symbol("used once"), constant(0.123456789)]
    seen = [weakref.ref(node) for node in held]
    del held
    gc.collect()
    assert [node() for node in seen] == [None, None]


def test_an_expression_lives_as_long_as_it_is_held():
    held = apply("exp", x * y * z)
    inner = weakref.ref(held.args[0])
    gc.collect()
    assert inner() is held.args[0]
    del held
    gc.collect()
    assert inner() is None


def test_dropping_random_expressions_frees_their_nodes(random):
    own = [symbol(("dropped", i)) for i in range(3)]
    held = [expression(random, steps=50, variables=own) for _ in range(20)]
    # what is made of numbers alone may be held by others
    watched = [weakref.ref(node) for node, bits in dependence(held, own).items() if node.args and bits]
    assert len(watched) > 500
    del held
    gc.collect()
    assert [ref() for ref in watched if ref() is not None] == []


def test_a_deep_expression_is_built_and_dropped_without_recursion():
    deep = symbol("deep")
    for _ in range(50_000):
        deep = apply("sin", deep)
    watched = [weakref.ref(node) for node in order([deep]) if node.args]
    assert len(watched) == 50_000
    del deep
    gc.collect()
    assert all(ref() is None for ref in watched)


def test_operands_are_older_than_results(random):
    """The creation number is a topological order."""
    stack = [expression(random, steps=40)]
    while stack:
        node = stack.pop()
        assert all(arg.serial < node.serial for arg in node.args)
        stack.extend(node.args)
