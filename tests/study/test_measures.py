"""Extremes and instants on samples, whatever their size and number."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum import measure, vary
from vinculum.ensembles.measures import located, peak
from vinculum.errors import VinculumError

x = dynamicsymbols("x")
t = dynamicsymbols._t
FREE = vn.System([x], x.diff() ** 2 / 2)
OSCILLATOR = vn.System([x], x.diff() ** 2 / 2, x**2 / 2)
METHODS = [dict(method="taylor"), dict(method="rk4", step=0.05), dict(method="ab4", step=0.05), dict(method="bdf")]


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


# -- of runs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", METHODS, ids=lambda options: options["method"])
def test_a_zero_at_a_sample_is_found(options):
    """A body with constant velocity passes zero at one of the instants, to the last bit or next to it."""
    random, times = np.random.default_rng(0), np.linspace(0, 2, 11)
    velocity, instant = -random.uniform(0.3, 3, 100), random.choice(times[1:-1], 100)
    rows = vary.table({x: -velocity * instant, x.diff(): velocity})
    runs = vn.study(FREE, {}, times, over=rows, measure={"zero": measure.first_time(x)}, **options)
    np.testing.assert_allclose(runs.zero, instant, atol=1e-13)


@pytest.mark.parametrize("options", [METHODS[0], METHODS[1]], ids=lambda options: options["method"])
def test_the_event_that_ends_a_run_is_a_zero(options):
    falling = vn.System([x], x.diff() ** 2 / 2, sp.Float(9.81) * x)
    height = np.linspace(1, 9, 60)
    asked = {
        "hit": measure.first_time(x),
        "down": measure.first_time(x, "falling"),
        "up": measure.first_time(x, "rising"),
    }
    runs = vn.study(falling, {}, (0, 3), over={x: height}, measure=asked, until=vn.Event(x), **options)
    np.testing.assert_allclose(runs.hit, np.sqrt(2 * height / 9.81), atol=1e-13)
    np.testing.assert_array_equal(runs.hit, runs.down)
    assert np.isnan(runs.up).all()


def test_instants_far_from_zero_are_resolved_as_far_as_the_time_is():
    asked = {"zero": measure.first_time(x), "fast": measure.minimum(x.diff())}
    for begin in (0.0, 1e6, 1.7e9):
        runs = vn.study(OSCILLATOR, {}, (begin, begin + 5), over={x: [1.0, 2.0]}, measure=asked)
        np.testing.assert_allclose(runs.zero - begin, np.pi / 2, atol=4 * np.spacing(begin) + 1e-13)
        np.testing.assert_allclose(runs.fast, [-1, -2], rtol=1e-9)
    found = vn.ensembles.sensitivity(OSCILLATOR, {x: 1.0}, (1.7e9, 1.7e9 + 5), by=[x], measure=asked)
    assert found["zero"] - 1.7e9 == pytest.approx(np.pi / 2, abs=1e-6)


def test_a_value_that_does_not_exist_at_the_end_is_missing_whatever_other_runs_do():
    """√x of a body that has passed zero, alone and next to a run that breaks down."""
    k = sp.Symbol("k")
    system = vn.System([x], x.diff() ** 2 / 2, -k * x**4, parameters={k: 0.0})
    asked = {"root": measure.final(sp.sqrt(x))}
    calm = {k: [0.0, 0.0], x: [1.0, 1.0], x.diff(): [-1.0, -0.2]}
    alone = vn.study(system, {}, (0, 3), over=vary.table(calm), measure=asked)
    rows = vary.table({key: [*values, 5.0] for key, values in calm.items()})
    together = vn.study(system, {}, (0, 3), over=rows, measure=asked)
    np.testing.assert_array_equal(alone.root, together.root[:2])
    np.testing.assert_allclose(alone.root, [np.nan, np.sqrt(0.4)], atol=1e-14)


def test_a_quantity_may_begin_to_exist_during_a_run():
    """x = t - 1: √x exists from t = 1 on, and √x exp(-2 x) is largest at x = 1/4."""
    asked = {
        "top": measure.maximum(sp.sqrt(x) * sp.exp(-2 * x)),
        "half": measure.first_time(sp.sqrt(x) - 0.5),
        "settled": measure.settling_time(sp.sqrt(x), band=0.2, target=1.0),
    }
    runs = vn.study(FREE, {x.diff(): 1.0}, np.linspace(0, 2, 41), over={x: [-1.0]}, measure=asked)
    np.testing.assert_allclose(
        [runs.top[0], runs.half[0], runs.settled[0]], [0.5 * np.exp(-0.5), 1.25, 1.64], atol=1e-12
    )


def over_half_periods(value) -> float:
    """The integral of a function of cos t over 0 ... 10, from corner to corner."""
    corners = [0.0, *(np.pi / 2 + np.pi * k for k in range(3)), 10.0]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    return sum(
        0.5 * (b - a) * float(weights @ value(np.cos(0.5 * (a + b) + 0.5 * (b - a) * nodes)))
        for a, b in pairwise(corners)
    )


@pytest.mark.parametrize(
    ("integrand", "value"),
    [
        (sp.Abs(x), np.abs),
        (sp.Max(x, 0), lambda x: np.maximum(x, 0)),
        (sp.sign(x), np.sign),
        (sp.Heaviside(x), lambda x: x > 0),
        (sp.Piecewise((x**2, x > 0), (-3 * x, True)), lambda x: np.where(x > 0, x**2, -3 * x)),
    ],
    ids=["turn", "half wave", "sign", "step", "pieces"],
)
def test_integrals_of_quantities_with_corners(integrand, value):
    """No Taylor series of the integrand holds beyond a corner."""
    asked = {"integral": measure.integral(integrand)}
    expected = over_half_periods(value)
    runs = vn.study(OSCILLATOR, {}, (0, 10), over={x: np.ones(20)}, measure=asked)
    np.testing.assert_allclose(runs.integral, expected, atol=1e-11)
    few = vn.study(OSCILLATOR, {}, [0, 3, 10], over={x: [1.0]}, measure=asked)
    np.testing.assert_allclose(few.integral, expected, atol=1e-11)
    with pytest.raises(VinculumError, match="smooth integrands"):
        vn.ensembles.sensitivity(OSCILLATOR, {x: 1.0}, (0, 10), by=[x], measure=asked)


def test_a_path_integral_ends_where_an_event_ends_the_run():
    asked = {"path": measure.integral(sp.Abs(x))}
    runs = vn.study(OSCILLATOR, {}, (0, 10), over={x: [1.0, 2.0]}, measure=asked, until=vn.Event(x + 0.5))
    np.testing.assert_allclose(runs.path[0], 2 - np.sqrt(0.75), atol=1e-12)


def test_integrals_along_a_motion_with_corners():
    """Friction c brings a body from x to rest at x - 2 c/k after half a period; it takes c times the path."""
    system = vn.System([x], x.diff() ** 2 / 2, 2 * x**2, {x: -5 * sp.sign(x.diff())})
    asked = {"work": measure.integral(5 * sp.Abs(x.diff())), "speed": measure.integral(sp.Heaviside(-x.diff()))}
    runs = vn.study(system, {}, (0, 3), over={x: [2.0, 1.5]}, measure=asked)
    np.testing.assert_allclose(runs.work, [7.5, 2 * (1.5**2 - 1)], atol=1e-10)


def test_runs_that_drift_from_their_constraints_are_measured():
    """A sample of a run with "bdf" is not a consistent start to rounding; dry friction makes the runs one by one."""
    theta, r = dynamicsymbols("theta"), sp.Symbol("r")
    rod = vn.Holonomic((x - r * sp.cos(theta)) ** 2 + (r * sp.sin(theta)) ** 2 - 0.09, name="rod")
    crank = vn.System([theta, x], 0.01 * theta.diff() ** 2 + x.diff() ** 2 / 2, 0, {x: -0.1 * sp.sign(x.diff())},
                      constraints=[rod], parameters={r: 0.1})  # fmt: skip
    asked = {
        "inner": measure.minimum(x),
        "turn": measure.first_time(x.diff(), "rising"),
        "area": measure.integral(x**2),
    }
    start = {theta: 0.3, theta.diff(): 4.0}
    options = dict(over={r: [0.1, 0.11]}, guess={x: 0.4}, measure=asked)
    exact = vn.study(crank, start, (0, 2), **options)
    stiff = vn.study(crank, start, (0, 2), method="bdf", **options)
    np.testing.assert_array_equal(stiff.outcome, 0)
    for name in asked:
        np.testing.assert_allclose(stiff[name], exact[name], atol=1e-5)
