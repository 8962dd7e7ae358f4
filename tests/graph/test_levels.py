"""Levels give the same bits as the evaluation node by node, and the same refusals."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.errors import DomainError
from vinculum.graph import Converter, evaluate, jacobian, symbol
from vinculum.graph.evaluate import magnitudes
from vinculum.graph.levels import Levels

x, y, z = sp.symbols("x y z")
FUNCTIONS = [
    sp.sin(x * y) / (2 + sp.cos(z)) - sp.exp(-(x**2)) * sp.sqrt(1 + y**2),
    sp.Piecewise((x**3, x < y), (sp.tanh(z), True)) + sp.Abs(x - z),
    sp.Max(x, y) * sp.atan2(y, z) + x ** sp.Rational(5, 2),
    (x + y - z) ** 2 - x**2,
]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_bits(seed):
    random = np.random.default_rng(seed)
    nodes = [Converter()(f) for f in FUNCTIONS]
    outputs = [*nodes, *jacobian(nodes, [symbol(s) for s in (x, y, z)]).ravel()]
    values = {symbol(s): float(v) for s, v in zip((x, y, z), random.uniform(0.1, 2.0, 3), strict=True)}
    levels = Levels(outputs)
    assert levels.numbers(values).tolist() == evaluate(outputs, values)
    assert levels.magnitudes(values).tolist() == [list(pair) for pair in magnitudes(outputs, values)]


def test_the_same_bits_for_equations_of_motion():
    theta, phi = dynamicsymbols("theta phi")
    T = (theta.diff() ** 2 + sp.sin(theta) ** 2 * phi.diff() ** 2) / 2
    equations = vn.derive(vn.System([theta, phi], T, -9.81 * sp.cos(theta)))
    outputs = [*equations.mechanics.M.ravel(), *equations.mechanics.h, *equations.mechanics.Q]
    nodes = equations.system.nodes
    values = dict(zip((*nodes.q, *nodes.v), (0.3, -0.2, 1.1, 0.7), strict=True))
    assert Levels(outputs).numbers(values).tolist() == evaluate(outputs, values)


def test_what_has_no_value_is_named():
    node, values = Converter()(1 / x + sp.log(y)), {symbol(x): 0.0, symbol(y): 1.0}
    with pytest.raises(DomainError, match="division by zero: x = 0"):
        Levels([node]).numbers(values)
    with pytest.raises(DomainError, match="not positive: log"):
        Levels([node]).magnitudes({symbol(x): 1.0, symbol(y): -1.0})
