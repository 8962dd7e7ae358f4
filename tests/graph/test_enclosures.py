"""Enclosures contain every value, and shrink to it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from vinculum.graph import evaluate, from_sympy, symbol
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
    assert np.isinf(bounds[1][3])  # more than two pieces
    assert np.all((bounds[1] - bounds[0])[[0, 1, 2, 4]] < 4)


def test_every_function_of_the_graph_has_an_enclosure():
    """None of those that come with the package is sampled."""
    from vinculum.graph import enclosures as module

    assert set(FUNCTIONS) <= {*module._OPERATIONS, *module._RISING}
