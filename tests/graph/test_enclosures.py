"""Enclosures contain every value, and shrink to it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from vinculum.graph import evaluate, from_sympy, symbol
from vinculum.graph.enclosed_rates import enclosed_rates
from vinculum.graph.enclosures import enclosures
from vinculum.graph.functions import FUNCTIONS

s = sp.Symbol("s")
KNOTS = np.linspace(0, 2, 11)
CASES = [
    s**2 - 3 * s, (s - 1) ** 3, (s - 1) ** -2, sp.sqrt(s + 1), (s + 2) ** sp.Rational(5, 3), 2**s, 1 / (s - 0.7),
    sp.exp(-((s - 0.3) ** 2) * 50), sp.log(s + 1.2), sp.sin(7 * s), sp.cos(s**2 * 3), sp.tan(2 * s), sp.asin(s / 2),
    sp.acos(s / 2), sp.atan(9 * s), sp.sinh(s), sp.cosh(3 * s), sp.tanh(8 * s), sp.asinh(s), sp.acosh(s + 2),
    sp.atanh(s / 2.1), sp.atan2(s - 0.2, s**2 - 1), sp.atan2(s, -1), sp.Abs(s), sp.sign(s - 0.5), sp.Max(s, s**2),
    sp.Piecewise((s, s < 0.1), (1 - s, (s > 1) | (s < 0.6)), (s**3, True)),
    sp.Piecewise((2.0, (s >= -0.3) & (s <= 0.7)), (-1.0, True)), sp.Heaviside(s), sp.sin(s) / (s + 3) - sp.cos(s),
]  # fmt: skip


def values(expression: sp.Expr, points: np.ndarray) -> np.ndarray:
    """The expression point by point, by the interpreter of the graph."""
    node, argument = from_sympy(expression), symbol(s)
    found = []
    for point in points:
        try:
            found.append(evaluate([node], {argument: float(point)})[0])
        except ValueError:
            found.append(np.nan)
    return np.array(found)


@pytest.mark.parametrize("expression", CASES, ids=str)
def test_every_value_is_inside(expression):
    """Of intervals of all lengths at random places."""
    random = np.random.default_rng(4)
    low = random.uniform(-1, 1.9, 60)
    high = np.minimum(low + 10 ** random.uniform(-6, 0.5, 60), 2.0)
    (bounds,) = enclosures([from_sympy(expression)], {symbol(s): (low, high)})
    for share in np.linspace(0, 1, 9):
        inside = values(expression, low + share * (high - low))
        good = np.isfinite(inside)
        slack = 1e-12 * (1 + np.abs(inside[good]))
        assert np.all(inside[good] >= np.broadcast_to(bounds[0], low.shape)[good] - slack)
        assert np.all(inside[good] <= np.broadcast_to(bounds[1], low.shape)[good] + slack)


@pytest.mark.parametrize(
    "expression", [case for case in CASES if not case.has(sp.Piecewise, sp.sign, sp.Heaviside)], ids=str
)
def test_short_intervals_have_short_enclosures(expression):
    """Where the expression is smooth, halving an interval halves its enclosure."""
    points = np.random.default_rng(5).uniform(-0.9, 1.9, 40)
    (wide,), (short,) = (enclosures([from_sympy(expression)], {symbol(s): (points, points + h)}) for h in (2e-6, 1e-6))
    with np.errstate(invalid="ignore"):
        ratio = (short[1] - short[0]) / (wide[1] - wide[0])
    found = ratio[np.isfinite(ratio)]
    assert np.mean(found < 0.6) > 0.9


def test_splines_are_enclosed_piece_by_piece():
    import vinculum as vn

    expression = vn.spline(s, KNOTS, np.cos(5 * KNOTS), degree=3, name="curve")
    node = from_sympy(expression)
    low = np.array([0.05, 0.35, 0.85, 0.1, 0.39])
    high = np.array([0.15, 0.45, 1.0, 1.9, 0.41])
    (bounds,) = enclosures([node], {symbol(s): (low, high)})
    for share in np.linspace(0, 1, 21):
        inside = values(expression, low + share * (high - low))
        assert np.all((inside >= bounds[0] - 1e-12) & (inside <= bounds[1] + 1e-12))
    assert np.all(np.isfinite(bounds))  # also over many pieces
    assert np.all((bounds[1] - bounds[0]) < 6)


def test_every_function_of_the_graph_has_an_enclosure():
    """None of those that come with the package is sampled."""
    from vinculum.graph import enclosures as module

    assert set(FUNCTIONS) <= {*module._OPERATIONS, *module._RISING}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_an_enclosure_with_rounding_contains_what_code_computes(kind):
    """Random expressions, evaluated operation by operation in the numbers of the code."""
    random, a, b = np.random.default_rng(8), *map(sp.Symbol, "ab")
    machine = np.finfo(kind)
    x, y = (random.uniform(-2, 2, 200).astype(kind) for _ in range(2))
    one, third = kind(1), kind(1 / 3)
    cases = [
        (a * b - b * (a + sp.Rational(1, 3)) + b / 3, x * y - y * (x + third) + y / kind(3)),
        ((a - b) * (a + b) - a**2 + b**2, (x - y) * (x + y) - x * x + y * y),
        (sp.sin(a) ** 2 + sp.cos(a) ** 2 - 1, np.sin(x) * np.sin(x) + np.cos(x) * np.cos(x) - one),
        (sp.exp(a) / (1 + sp.exp(a)), np.exp(x) / (one + np.exp(x))),
        (sp.Max(a, b) - sp.Abs(a - b) / 2, np.maximum(x, y) - np.abs(x - y) / kind(2)),
    ]  # fmt: skip
    given = {symbol(a): (x.astype(float),) * 2, symbol(b): (y.astype(float),) * 2}
    for expression, found in cases:
        ((low, high),) = enclosures(
            [from_sympy(expression)], given, rounding=float(machine.eps) / 2, smallest=float(machine.tiny)
        )
        assert np.all((low <= found) & (found <= high)), expression
        assert np.max(high - low) < 200 * machine.eps


def test_an_enclosure_with_rounding_knows_tables():
    import vinculum as vn

    node = from_sympy(vn.spline(s, KNOTS, np.cos(5 * KNOTS), degree=3, name="curve"))
    points = np.random.default_rng(2).uniform(0, 2, 50).astype(np.float32).astype(float)
    ((low, high),) = enclosures([node], {symbol(s): (points, points)}, rounding=2**-24)
    exact = np.array([evaluate([node], {symbol(s): point})[0] for point in points])
    assert np.all((low < exact) & (exact < high))
    assert np.median(high - low) < 1e-5
    ((low, high),) = enclosures([node], {symbol(s): (KNOTS[[3]], KNOTS[[3]])}, rounding=2**-24)
    assert np.isfinite([low, high]).all()
    assert low < np.cos(5 * KNOTS[3]) < high


@pytest.mark.parametrize("expression", CASES, ids=str)
def test_derivatives_are_enclosed_too(expression):
    """Both enclosures contain what central differences and values at random points give."""
    random = np.random.default_rng(3)
    low = random.uniform(0.05, 0.9, 200)
    high = low + random.uniform(0, 0.1, 200) ** 2
    (least, most), (middle, _) = enclosed_rates([from_sympy(expression)], symbol(s), low, high, {})
    for share in (0.1, 0.35, 0.5, 0.9):
        t, h = low + share * (high - low), 1e-6
        slope = (values(expression, t + h) - values(expression, t - h)) / (2 * h)
        for row, found in ((0, values(expression, t)), (1, slope)):
            slack = 1e-4 * (1 + np.abs(found)) * (row == 1) + 1e-12 * (1 + np.abs(found))
            good = np.isfinite(found) & np.isfinite(middle[row])
            assert np.all((found >= least[row] - slack)[good] & (found <= most[row] + slack)[good])


def test_the_mean_value_form_makes_a_written_out_square_as_narrow_as_the_square():
    low = np.array([1.0 - 1e-4])
    (least, most), _ = enclosed_rates([from_sympy(s**2 - 2 * s + 1)], symbol(s), low, low + 2e-4, {})
    assert most[0] - least[0] < 1e-7
