"""Taylor coefficients of every kind of instruction, at every order, against the equations they solve as series."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.simulation.integrators.series import start_series

a, b, c, d, e = q = dynamicsymbols("a b c d e")
FORCES = {
    a: a * b.diff() - 3 * b * a.diff() + a * b / 7,
    b: a / (2 + b),
    c: sp.sqrt(2 + a**2),
    d: sp.exp(-a * b),
    e: sp.atan(a),
}


@pytest.fixture(scope="module")
def problem():
    system = vn.System(list(q), sum(x.diff() ** 2 for x in q) / 2, forces=FORCES)
    start = dict(zip([*q, *(x.diff() for x in q)], np.linspace(0.3, 1.2, 10), strict=True))
    motion = vn.simulate(vn.derive(system), start, (0, 1e-3))
    return motion.problem, motion.segments[0].states[0]


def coefficients(problem, x, order):
    """Those of the states and, in the same order, of their rates."""
    series = start_series(problem, 0.0, x, np.exp(-2 * (order - 1.5)))
    assert series.order == order
    _, dense, _ = series._steps(1.0, 1)
    rows = dense.coefficients[0]
    return rows[:, :-1], rows[:, 1:] * np.arange(1, order + 1)


@pytest.mark.parametrize("order", [*range(2, 15), 20, 27, 40])
def test_every_instruction_has_its_series(problem, order):
    (states, rates), length = coefficients(*problem, order), order

    def times(f, g):
        return np.convolve(f, g)[:length]

    def slope(f):
        return f[1:] * np.arange(1, length)

    one = np.eye(1, length)[0]
    a, b = states[:2]
    da, db, fa, fb, fc, fd, fe = rates[0], rates[1], *rates[5:10]  # then the work of the forces
    same = {
        "product": (fa, times(a, db) - 3 * times(b, da) + times(a, b) / 7),
        "quotient": (times(fb, 2 * one + b), a),
        "square root": (times(fc, fc), 2 * one + times(a, a)),
        "exponential": (slope(fd), -times(fd, np.append(slope(times(a, b)), 0.0))[:-1]),
        "arc tangent": (times(np.append(slope(fe), 0.0), one + times(a, a))[:-1], slope(a)),
    }
    for found, wanted in same.values():
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13 * np.abs(wanted).max(initial=1.0))
    assert fd[0] == pytest.approx(np.exp(-a[0] * b[0]), rel=1e-15)
    assert fe[0] == pytest.approx(np.arctan(a[0]), rel=1e-15)


def test_a_run_placed_elsewhere_forgets_what_was_not_finite(problem):
    """Coefficients of a lost motion leave no trace in those that follow."""
    made, x = problem
    series = start_series(made, 0.0, x, None)
    _, fresh, _ = series._steps(1.0, 1)
    for bad in (np.full_like(x, np.nan), np.full_like(x, 1e300)):
        series.place(0.0, bad)
        series._steps(1.0, 3)
        series.place(0.0, x)
        _, again, _ = series._steps(1.0, 1)
        np.testing.assert_array_equal(again.coefficients, fresh.coefficients)
