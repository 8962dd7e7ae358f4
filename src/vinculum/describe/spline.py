"""A curve through measured points as an expression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError


def spline(variable: sp.Expr, points: Sequence[float], values: Sequence[float], degree: int = 5) -> sp.Expr:
    """The interpolating spline through (points, values) as a SymPy expression of ``variable``.

    p = Σ_j c_j(s) (s - knot(s))ʲ with coefficients and knots chosen by where s lies; beyond the ends the last piece
    goes on. The default degree 5 has four continuous derivatives, so that reactions (which contain p'') are smooth.

    >>> s = sp.Symbol("s")
    >>> round(float(spline(s, [0, 1, 2, 3, 4, 5], [0, 1, 4, 9, 16, 25]).subs(s, 2.5)), 12)
    6.25
    """
    from scipy.interpolate import PPoly, make_interp_spline  # imported late: it takes a quarter of a second

    places, heights = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if places.ndim != 1 or places.shape != heights.shape or len(places) <= degree or np.any(np.diff(places) <= 0):
        raise VinculumError(
            f"a spline of degree {degree} needs at least {degree + 1} points in rising order and as many values; got "
            f"{len(places)} points and {len(heights)} values."
        )
    pieces = PPoly.from_spline(make_interp_spline(places, heights, k=degree))
    real = np.flatnonzero(np.diff(pieces.x) > 0)
    knots, rows = pieces.x[real], pieces.c[:, real]
    offset = variable - _choice(variable, knots, knots)
    terms = (_choice(variable, knots, row) * offset**j for j, row in enumerate(rows[::-1]))
    return sp.Add(*terms)


def _choice(variable: sp.Expr, knots: np.ndarray, numbers: np.ndarray) -> sp.Expr:
    """numbers[k] for knots[k] <= variable < knots[k+1], the first and last going on beyond."""
    cases = [(sp.Float(float(n)), variable < float(knot)) for n, knot in zip(numbers[:-1], knots[1:], strict=True)]
    return sp.Piecewise(*cases, (sp.Float(float(numbers[-1])), True))
