"""Shorter formulas by trigonometric identities: always equal, and as short as in a textbook."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import planar_arms
from vinculum.graph import evaluate, from_sympy, symbol, to_sympy, tree_size
from vinculum.graph.trigonometry import shortened

a, b, m, l = SYMBOLS = sp.symbols("a b m l")
LEAVES = [a, b, m, l, sp.Integer(2), sp.Rational(1, 3), sp.Float(0.7)]


def extended(parts: st.SearchStrategy) -> st.SearchStrategy:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] - 2 * p[1]),
        parts.map(lambda p: p**2),
        parts.map(lambda p: p / (2 + m**2)),
        st.sampled_from([sp.sin, sp.cos]).flatmap(
            lambda f: st.sampled_from([a, b, a + b, 2 * a - b, a / 2, a * b + 1]).map(f)
        ),
    )


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.sampled_from(LEAVES), extended, max_leaves=12))
def test_the_shorter_formula_is_the_same_function(expression):
    node = from_sympy(sp.sympify(expression))
    short = shortened(node)
    assert tree_size(short) <= tree_size(node)
    for values in np.random.default_rng(1).uniform(-2, 2, (3, 4)):
        at = dict(zip(map(symbol, SYMBOLS), values, strict=True))
        before, after = evaluate([node, short], at)
        assert after == pytest.approx(before, rel=1e-9, abs=1e-9 * (1 + size(node, at)))


def size(node, at):
    """The largest number in the computation, which its rounding errors follow."""
    return max(abs(x) for x in evaluate([n for n in vn.graph.order([node]) if n.op != "constant"] or [node], at))


@pytest.mark.parametrize(
    ("given", "short"),
    [
        (m * sp.sin(a) ** 2 + m * sp.cos(a) ** 2, m),
        (sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b), sp.cos(a - b)),
        (sp.sin(a) * sp.cos(b) + sp.cos(a) * sp.sin(b), sp.sin(a + b)),
        (m * l * sp.sin(a) * sp.cos(a) + m * l * sp.cos(a) * sp.sin(a), m * l * sp.sin(2 * a)),
        (l - l * sp.cos(a) ** 2, l * sp.sin(a) ** 2),
        (sp.sin(a) * sp.sin(b), sp.sin(a) * sp.sin(b)),
    ],
)
def test_textbook_forms(given, short):
    assert sp.expand(to_sympy(shortened(from_sympy(given))) - short) == 0


def furuta() -> vn.System:
    """An arm of length L and a pendulum of length l at its end, from the Cartesian place of its mass."""
    theta, alpha = dynamicsymbols("theta alpha")
    L, J, g, u = sp.symbols("L J g u")
    along, across = sp.Matrix([sp.cos(theta), sp.sin(theta), 0]), sp.Matrix([-sp.sin(theta), sp.cos(theta), 0])
    place = L * along + l * sp.sin(alpha) * across + sp.Matrix([0, 0, l * sp.cos(alpha)])
    v = place.diff(dynamicsymbols._t)
    T = J * theta.diff() ** 2 / 2 + m * v.dot(v) / 2
    return vn.System(
        [theta, alpha],
        T,
        m * g * place[2],
        {theta: u},
        inputs=[u],
        parameters={m: 0.1, l: 0.3, L: 0.2, J: 0.01, g: 9.81},
    )


def test_the_furuta_pendulum_prints_as_in_a_textbook():
    equations = vn.derive(furuta())
    assert len(equations.printed().definitions) > 20
    printed = equations.printed(simplify=True)
    assert printed.definitions == ()
    assert [side for pair in printed.equations for side in pair] == [
        r"L l m \cos{\left(\alpha \right)} \ddot{\alpha} + l m \left(- L \sin{\left(\alpha \right)} \dot{\alpha} + "
        r"l \sin{\left(2 \alpha \right)} \dot{\theta}\right) \dot{\alpha} + "
        r"\left(J + L^{2} m + l^{2} m \sin^{2}{\left(\alpha \right)}\right) \ddot{\theta}",
        "u",
        r"L l m \cos{\left(\alpha \right)} \ddot{\theta} + l^{2} m \ddot{\alpha} - "
        r"l m \left(g \sin{\left(\alpha \right)} + \frac{l \sin{\left(2 \alpha \right)} \dot{\theta}^{2}}{2}\right)",
        "0",
    ]


def test_simplified_equations_are_equal_at_random_states():
    """All lines of the Furuta pendulum and of a planar arm, derived and shortened."""
    for equations in (vn.derive(furuta()), vn.derive(planar_arms.system())):
        sides = [side for line in equations.form.lines(equations) for side in line]
        keys = sorted({n for n in vn.graph.order(sides) if n.op == "symbol"}, key=str)
        for values in np.random.default_rng(2).uniform(-2, 2, (5, len(keys))):
            at = dict(zip(keys, values, strict=True))
            np.testing.assert_allclose(
                evaluate([shortened(side) for side in sides], at), evaluate(sides, at), rtol=1e-10, atol=1e-10
            )


def test_long_sums_are_left_alone():
    expression = sp.prod([sp.sin(a + k * b) + sp.cos(b - k * a) + m for k in range(1, 8)])
    node = from_sympy(expression)
    assert shortened(node) is node
