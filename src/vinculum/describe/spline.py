"""A curve through measured points as an expression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.expressions import as_expression
from vinculum.graph.splines import Pieces, Spline
from vinculum.units.given import number_in_si


def spline(
    variable: sp.Expr, points: Sequence[float], values: Sequence[float], degree: int = 5, name: str = "spline"
) -> sp.Expr:
    """The interpolating spline through (points, values) as a SymPy function of ``variable``, printed by its name.

    p = Σ_j c_jk (s - s_k)ʲ between the knots s_k; beyond the ends the last piece is extrapolated. The default degree 5
    has four continuous derivatives, so reactions (which contain p'') are smooth.

    >>> s = sp.Symbol("s")
    >>> p = spline(s, [0, 1, 2, 3, 4, 5], [0, 1, 4, 9, 16, 25], name="p")
    >>> p.diff(s)
    p'(s)
    >>> round(float(p.subs(s, 2.5)), 12)
    6.25
    """
    points, values = (number_in_si(x, None, "points and values", f"Invalid spline {name!r}") for x in (points, values))
    return Spline(as_expression(variable), pieces_through(points, values, degree, name))


def pieces_through(
    points: Sequence[float] | np.ndarray, values: Sequence[float] | np.ndarray, degree: int, name: str
) -> Pieces:
    """The polynomials between the knots of an interpolating spline."""
    from scipy.interpolate import PPoly, make_interp_spline  # imported here because it takes a quarter of a second

    places, heights = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if places.ndim != 1 or places.shape != heights.shape or len(places) <= degree or np.any(np.diff(places) <= 0):
        raise VinculumError(
            f"a spline of degree {degree} needs at least {degree + 1} points in increasing order and as many values; "
            f"got {len(places)} points and {len(heights)} values."
        )
    nearest = int(np.argmin(np.diff(places)))
    if places[nearest + 1] - places[nearest] < 1e-9 * (places[-1] - places[0]):
        raise VinculumError(
            f"the points {places[nearest]:.6g} and {places[nearest + 1]:.6g} of the spline {name} are too close "
            "together. Leave one of them out."
        )
    with np.errstate(all="ignore"):
        pieces = PPoly.from_spline(make_interp_spline(places, heights, k=degree))
    if not np.all(np.isfinite(pieces.c)):
        raise VinculumError(f"the spline {name} through these points has no finite coefficients. Choose other units.")
    real = np.flatnonzero(np.diff(pieces.x) > 0)
    return Pieces(name, pieces.x[real], pieces.c[::-1, real], places[-1])
