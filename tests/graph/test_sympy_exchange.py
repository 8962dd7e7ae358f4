"""Expressions go from SymPy into the graph and back without change of value."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from graph.numeric import numeric
from graph.random_expressions import KEYS, VARIABLES, expression, point
from vinculum.errors import VinculumError
from vinculum.graph import apply, evaluate, from_sympy, operations, to_sympy

x, y, z = KEYS

EXPRESSIONS = [
    x + y - 3 * z,
    x * y / (z * sp.cos(x)),
    x**-3 * y**2 / (1 + z**2) ** sp.Rational(5, 2),
    1 / sp.sqrt(1 + x**2),
    (2 + sp.sin(x)) ** sp.Rational(-1, 3),
    (2 + sp.sin(x)) ** y,
    sp.pi ** (x + y),
    sp.exp(1) * x + sp.exp(x - y) + sp.exp(1) ** (2 * y),
    sp.pi * x + sp.GoldenRatio,
    sp.Rational(22, 7) * x - sp.Float("0.1"),
    sp.Abs(x - y) + sp.sign(x * y),
    sp.tan(x) + sp.cot(y) + sp.sec(z) + sp.csc(x) + sp.coth(y) + sp.sech(z) + sp.csch(x),
    sp.atan2(x, y) - sp.asin(x / 4) * sp.acos(y / 4) + sp.atan(z),
    sp.asinh(x) + sp.acosh(2 + y**2) + sp.atanh(z / 4) + sp.sinh(x) * sp.cosh(y) * sp.tanh(z),
    sp.log(1 + x**2) / sp.log(3 + y),
    sp.Min(x, y, z) + sp.Max(x, y) * sp.Max(y, z, 0),
    sp.Heaviside(x) - 2 * sp.Heaviside(y - z),
    sp.Piecewise((x, x < 0), (x**2, x <= y), (sp.sin(z), x > z), (-y, True)),
    sp.Piecewise((1, sp.Eq(x, y)), (2, sp.Ne(x, 0)), (3, True)),
    sp.Piecewise((1, (x > 0) & (y > 0) & (z > 0)), (2, (x < 0) | (y < 0)), (3, True)),
    sp.Piecewise((1, ~((x > 0) & (y > 0))), (x, x >= z), (y, True)),
    sp.Piecewise((1, sp.Ne(x, 0) & (y > 0)), (2, True)),
]


def four_corners(random: np.random.Generator) -> list[np.ndarray]:
    """Points in several octants, so that every branch is visited."""
    return [random.uniform(0.2, 1.5, 3) * random.choice([-1, 1], 3) for _ in range(12)]


@pytest.mark.parametrize("plain", EXPRESSIONS, ids=str)
def test_value_in_the_graph_is_the_value_in_sympy(plain, random):
    expected = numeric([plain], KEYS)
    for values in four_corners(random):
        found = evaluate([from_sympy(plain)], dict(zip(VARIABLES, values, strict=True)))
        assert found == pytest.approx(expected(*values), rel=2e-15, abs=2e-15)


@pytest.mark.parametrize("plain", EXPRESSIONS, ids=str)
def test_there_and_back_is_the_same_function(plain, random):
    back = numeric([to_sympy(from_sympy(plain))], KEYS)
    expected = numeric([plain], KEYS)
    for values in four_corners(random):
        assert back(*values) == pytest.approx(expected(*values), rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_random_expression_survives_the_round_trip(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random), point(random)
    again = from_sympy(to_sympy(f))
    assert evaluate([again], values) == pytest.approx(evaluate([f], values), rel=1e-13, abs=1e-13)


def test_plain_expressions_come_back_as_they_were():
    for plain in (x**2 * sp.sin(y), x / 3 - y, sp.sqrt(x) * z, sp.Rational(1, 2) * x * y**2, sp.exp(x)):
        assert to_sympy(from_sympy(plain)) == plain


def test_floating_point_numbers_come_back_to_the_last_bit(random):
    for number in random.normal(size=50):
        assert float(to_sympy(from_sympy(sp.Float(number) * x)).coeff(x)) == number


def test_whole_powers_in_a_product_share_one_fraction_line():
    """x²/(y z³) is one division."""
    assert operations([from_sympy(x**2 / (y * z**3))])["divide"] == 1


def test_functions_of_time_and_their_derivatives_are_symbols():
    t = sp.Symbol("t")
    theta = sp.Function("theta")(t)
    for plain in (theta, theta.diff(t), theta.diff(t, 2)):
        assert from_sympy(plain).op == "symbol"
        assert to_sympy(from_sympy(plain)) == plain


def test_exp_is_one_operation_however_it_is_written():
    assert from_sympy(sp.exp(x)) is from_sympy(sp.E**x) is apply("exp", VARIABLES[0])


def test_a_deep_expression_is_converted_without_recursion():
    """The continued fraction 1/(2 + 1/(2 + ...)), two thousand levels deep, is √2 - 1."""
    deep = x
    for _ in range(2000):
        deep = sp.Pow(sp.Add(2, deep, evaluate=False), -1, evaluate=False)
    assert evaluate([from_sympy(deep)], {VARIABLES[0]: 0.0})[0] == pytest.approx(np.sqrt(2) - 1, rel=1e-15)


UNSUPPORTED = {
    "gamma": sp.gamma(x),
    "erf": x + sp.erf(y),
    "floor": sp.floor(x),
    "besselj": sp.besselj(1, x),
    "Mod": sp.Mod(x, 2),
    "Integral": sp.Integral(sp.exp(-(z**2)), (z, 0, x)),
    "DiracDelta": sp.DiracDelta(x),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_an_unsupported_function_is_named(name):
    with pytest.raises(VinculumError, match=name):
        from_sympy(UNSUPPORTED[name])


@pytest.mark.parametrize("number", [sp.I, sp.oo, sp.zoo, sp.nan, -sp.oo], ids=str)
def test_only_finite_real_numbers_are_taken(number):
    with pytest.raises(VinculumError, match="not a finite real number"):
        from_sympy(number)


def test_an_open_piecewise_is_refused():
    with pytest.raises(VinculumError, match="Piecewise has no value"):
        from_sympy(sp.Piecewise((x, x > 0)))
