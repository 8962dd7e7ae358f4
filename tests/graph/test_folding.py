"""The identities that constructors apply, so that what vanishes identically is the node zero."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from vinculum.graph import ONE, ZERO, apply, constant, evaluate, gradient, operations, select, substitute, symbol
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import compare, negate

x, y = symbol("x"), symbol("y")

IDENTITIES = {
    "x + 0": (x + 0, x),
    "0 + x": (0 + x, x),
    "x - 0": (x - 0, x),
    "0 - x": (0 - x, -x),
    "x - x": (x - x, ZERO),
    "x + (-x)": (x + (-x), ZERO),
    "-(-x)": (negate(negate(x)), x),
    "-(x - y)": (-(x - y), y - x),
    "x + (-y)": (x + (-y), x - y),
    "-x - y": (-x - y, -(x + y)),
    "x - (-y)": (x - (-y), x + y),
    "x + x": (x + x, 2 * x),
    "1 x": (1 * x, x),
    "0 x": (0 * x, ZERO),
    "x (-1)": (x * -1, -x),
    "(-x) (-y)": ((-x) * (-y), x * y),
    "(-x) y": ((-x) * y, -(x * y)),
    "2 (3 x)": (2 * (3 * x), 6 * x),
    "(2 x) (3 y)": ((2 * x) * (3 * y), 6 * (x * y)),
    "2 (-x)": (2 * (-x), -2 * x),
    "x / 1": (x / 1, x),
    "x / x": (x / x, ONE),
    "0 / x": (0 / x, ZERO),
    "x / 4": (x / 4, Fraction(1, 4) * x),
    "(-x) / y": ((-x) / y, -(x / y)),
    "x / (-y)": (x / (-y), -(x / y)),
    "sin(-x)": (apply("sin", -x), -apply("sin", x)),
    "cos(-x)": (apply("cos", -x), apply("cos", x)),
    "|-x|": (apply("abs", -x), apply("abs", x)),
    "sin 0": (apply("sin", ZERO), ZERO),
    "cos 0": (apply("cos", ZERO), ONE),
    "exp 0": (apply("exp", ZERO), ONE),
    "sqrt 49": (apply("sqrt", constant(49)), constant(7)),
    "equal branches": (select(compare("less", x, y), x, x), x),
    "known condition": (select(compare("less", ZERO, ONE), x, y), x),
}


@pytest.mark.parametrize("identity", IDENTITIES)
def test_identity(identity):
    left, right = IDENTITIES[identity]
    assert left is right


def test_fractions_stay_exact():
    """1/3 + 1/6 = 1/2 and 3 (x/3) = x, not nearly so."""
    assert constant(Fraction(1, 3)) + constant(Fraction(1, 6)) is constant(Fraction(1, 2))
    assert 3 * (x / 3) is x
    assert (x / 7) * 7 - x is ZERO


def test_large_integers_become_floating_point_rather_than_wrong():
    big = constant(2**53) * constant(3)
    assert big.value == 3.0 * 2**53
    assert isinstance(big.value, float)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, 12, -1, -2, -5])
def test_whole_power_is_made_of_products(exponent):
    """x^n needs at most 2 log2 n products, and one division when n < 0."""
    power = x**exponent
    counted = operations([power])
    assert set(counted) <= {"multiply", "divide"}
    assert counted["multiply"] <= 2 * np.log2(max(1, abs(exponent)))
    assert counted["divide"] == (exponent < 0)
    assert evaluate([power], {x: 1.7})[0] == pytest.approx(1.7**exponent, rel=1e-15)


@pytest.mark.parametrize("exponent", [Fraction(1, 2), 0.5, Fraction(-1, 2), -0.5])
def test_a_power_of_one_half_is_a_root(exponent):
    power = x**exponent
    assert set(operations([power])) <= {"divide", "sqrt"}
    assert evaluate([power], {x: 1.7})[0] == pytest.approx(1.7 ** float(exponent), rel=1e-15)


@pytest.mark.parametrize("exponent", [Fraction(3, 2), 2.5, Fraction(-3, 2), 1.3])
def test_a_power_has_its_slope_up_to_the_edge(exponent):
    """d xᵃ = a xᵃ⁻¹ dx, also at zero where that is finite: the force law of a contact."""
    slope = gradient(x**exponent, [x])[0]
    at = 0.0 if exponent > 1 else 0.9
    assert evaluate([slope], {x: at})[0] == pytest.approx(float(exponent) * at ** (float(exponent) - 1), rel=1e-14)


def test_other_powers_stay_powers():
    assert operations([x ** Fraction(1, 3)]) == {"power": 1}
    assert operations([x**y]) == {"power": 1}


def test_power_of_numbers_is_a_number():
    assert constant(2) ** 10 is constant(1024)
    assert constant(2) ** -2 is constant(Fraction(1, 4))
    assert (constant(8) ** Fraction(1, 3)).value == pytest.approx(2.0, rel=1e-15)


@pytest.mark.parametrize("zero", [0, 0.0, Fraction(0), ZERO])
def test_division_by_the_number_zero_is_refused_where_it_is_written(zero):
    with pytest.raises(ZeroDivisionError, match="x"):
        x / zero
    with pytest.raises(ZeroDivisionError):
        ZERO**-1


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"atan2"}))
def test_a_function_of_a_number_is_that_number(name):
    argument = 1.25 if name == "acosh" else 0.375
    assert apply(name, constant(argument)).value == FUNCTIONS[name].number(argument)


def test_substituting_numbers_folds_the_rest():
    """x² y + x with x = 0 is zero, with x = 1 it is y + 1."""
    f = x * x * y + x
    assert substitute([f], {x: ZERO}) == [ZERO]
    assert substitute([f], {x: ONE}) == [y + 1]
