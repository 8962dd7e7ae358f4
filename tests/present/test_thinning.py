"""Curves of a million samples: small figures that look the same."""

from __future__ import annotations

import numpy as np
import pytest
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.present.thinning import MOST, thinned


def spiky(n: int = 1_000_000) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0, 10, n)
    y = np.sin(3 * t)
    y[[123_456, 777_777]] = 5.0, -7.0  # one sample each
    return t, y


def test_every_extreme_survives():
    t, y = spiky()
    times, values = thinned(t, y)
    assert len(times) <= MOST
    assert (values.max(), values.min()) == (5.0, -7.0)
    assert (times[0], times[-1]) == (t[0], t[-1])
    assert np.all(np.diff(times) > 0)
    assert set(zip(times, values, strict=True)) <= set(zip(t, y, strict=True))  # samples, not means
    for low, high in ((2.0, 2.1), (7.0, 7.05)):  # in every part of the picture
        part, kept = y[(t >= low) & (t <= high)], values[(times >= low - 0.01) & (times <= high + 0.01)]
        assert kept.max() >= part.max()
        assert kept.min() <= part.min()


def test_short_curves_and_gaps_are_kept():
    t = np.linspace(0, 1, 100)
    np.testing.assert_array_equal(thinned(t, t)[0], t)
    t, y = np.linspace(0, 1, 100_000), np.linspace(0, 1, 100_000)
    y[40_000:40_100] = np.nan
    assert np.isnan(thinned(t, y)[1]).any()


def test_the_figure_of_a_long_run_is_small():
    x = dynamicsymbols("x")
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2))
    motion = vn.simulate(equations, {x: 1.0}, np.linspace(0, 50, 300_001), "rk4", step=1e-3)
    figure = motion.plot(x, x.diff())
    assert len(figure.to_json()) < 400_000
    assert max(figure.data[0].y) == pytest.approx(motion[x].max(), abs=0)
