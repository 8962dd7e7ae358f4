"""Extremes and instants on samples, whatever their size and number."""

from __future__ import annotations

import numpy as np
import pytest
from sympy.physics.mechanics import dynamicsymbols

from vinculum import measure
from vinculum.ensembles.measures import located, peak

x = dynamicsymbols("x")


def test_the_top_of_a_curve_scales_with_the_curve():
    """A power of two changes no bit of a mantissa, however large the samples are."""
    random = np.random.default_rng(0)
    t, y = np.linspace(0, 1, 5)[None, :].repeat(20, axis=0), random.normal(size=(20, 5))
    instant, top = peak(t, y)
    for power in (-900, 700, 1000):
        other, height = peak(t, np.ldexp(y, power))
        np.testing.assert_array_equal(other, instant)
        np.testing.assert_array_equal(height, np.ldexp(top, power))


def test_where_differences_overflow_the_top_is_the_largest_sample():
    _, top = peak(np.array([[0.0, 1.0, 2.0]]), np.array([[-1.5e308, 1.7e308, 1.6e308]]))
    assert top == [1.7e308]


@pytest.mark.parametrize("one", [measure.maximum(x), measure.first_time(x), measure.settling_time(x, 0.1)])
def test_a_single_sample_has_a_largest_value_and_no_crossing(one):
    found = located(one, np.zeros((2, 1)), np.array([[3.0], [-1.0]]))
    np.testing.assert_array_equal(found, [3.0, -1.0] if one.is_extreme else [np.nan, np.nan])
