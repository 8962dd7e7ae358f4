"""Nodes that stand among SymPy expressions without being written out."""

from __future__ import annotations

import pickle

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from vinculum.graph import GraphExpression, as_sympy, from_sympy

theta = dynamicsymbols("theta")
m, k = sp.symbols("m k")
t = dynamicsymbols._t
PLAIN = m * theta.diff() ** 2 * sp.sin(theta) ** 3 + k * sp.cos(t) * theta
HELD = GraphExpression(from_sympy(PLAIN))


@pytest.mark.parametrize("by", [theta, theta.diff(), m, t], ids=["coordinate", "velocity", "parameter", "time"])
def test_derivatives(by):
    for make in (lambda e: e, lambda e: 3 * e**2 + by, lambda e: sp.sin(e) / (1 + by**2)):
        found = make(HELD).diff(by).xreplace({HELD: PLAIN})
        assert sp.simplify(found - make(PLAIN).diff(by)) == 0


def test_second_derivative_in_time():
    assert sp.simplify(HELD.diff(t, 2) - PLAIN.diff(t, 2)) == 0


def test_substitution_and_the_way_back():
    assert sp.simplify(HELD.doit() - PLAIN) == 0
    assert sp.simplify(HELD.subs(m, 2 * k) - PLAIN.subs(m, 2 * k)) == 0
    assert from_sympy(HELD) is HELD.node
    assert HELD.has(m)
    assert not HELD.has(sp.Symbol("stranger"))
    assert HELD.free_symbols == {m, k, t}


def test_equal_nodes_are_equal_expressions():
    assert GraphExpression(from_sympy(PLAIN)) == HELD
    assert GraphExpression(from_sympy(PLAIN + 1)) != HELD
    assert (HELD - HELD) == 0


def test_small_nodes_are_written_out_and_large_ones_are_not():
    assert isinstance(as_sympy(HELD.node, whole_up_to=3), GraphExpression)
    assert not isinstance(as_sympy(HELD.node), GraphExpression)
    assert "operations" in str(2 * HELD)


def test_it_pickles():
    assert pickle.loads(pickle.dumps(HELD)) == HELD
