"""Borders of stability: where a motion becomes or ceases to be stable as a speed or a parameter changes.

The steady motion is followed from value to value, and its roots λ are judged with the bounds of their errors. Between
two values with different judgments the border is the zero of max Re λ, or the value at which roots leave the axis.

Two borders may lie between two values. So each interval is halved until neither max Re λ nor a gap between roots on the
axis can vanish inside it: both are so straight that the middle differs from the mean of the ends by at most half of the
smallest of the three. After eight halvings the search ends; what is narrower than 1/256 of an interval may be missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.mode_names import ModeNames
from vinculum.analyze.mode_shapes import ModeShape, natural_units, shape_of
from vinculum.analyze.sweep import Sweep
from vinculum.describe.quantities import dimensions_of
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.units.given import column_in_si, numbers_in_si

_WIDTH = 8 * np.finfo(float).eps  # of the last interval, relative to the value; of a value near zero, to the whole one
_HALVINGS = 8
_NEXT = 1e-6  # of the whole interval: next to the border, on the stable side
_STRAIGHT = 0.5  # bend of a curve over its smallest value that cannot bring it to zero


@dataclass(frozen=True, eq=False)
class Border:
    """A value at which the stability changes, and the mode that changes it."""

    over: sp.Expr
    value: float
    gained: bool  # whether the motion is stable above the value
    mode: ModeShape
    at: Equilibrium

    @property
    def root(self) -> complex:
        """The root iω of the mode, ω >= 0."""
        return self.mode.root

    @property
    def shape(self) -> Mapping[sp.Expr, complex]:
        """The proportions of the coordinates in the mode."""
        return self.mode.shape

    def __str__(self) -> str:
        change = "becomes stable" if self.gained else "ceases to be stable"
        return f"{change} at {name_of(self.over)} = {self.value:.15g} ({self.mode})"

    _repr_html_ = html


def stability_borders(
    equations: Analyzed,
    given: Mapping[sp.Expr, float],
    over: sp.Expr,
    between: tuple[float, float],
    *,
    near: Mapping[sp.Expr, float] | None = None,
    moving: Sequence[sp.Expr] | None = None,
    points: int = 25,
    named: LinearModel | None = None,
) -> tuple[Border, ...]:
    """The values of a parameter or given quantity ``over`` between two numbers at which the stability changes.

    The other ``given`` values determine the steady motion as in `steady` (an equilibrium with ``moving=()``). The scan
    has ``points`` values, and more where roots come near the imaginary axis or meet on it. ``named`` is a linear model
    with names of modes (`LinearModel.named`) at any value of ``over``; the borders have these names.
    """
    return scanned(equations, given, over, between, near, moving, points, named)[2]


def scanned(
    equations: Analyzed,
    given: Mapping[sp.Expr, float],
    over: sp.Expr,
    between: tuple[float, float],
    near: Mapping[sp.Expr, float] | None,
    moving: Sequence[sp.Expr] | None,
    points: int,
    named: LinearModel | None,
) -> tuple[Sweep, list[float], tuple[Border, ...]]:
    """The motions over a value, the values of the scan, and the borders among them."""
    low, high = column_in_si(over, tuple(between), dimensions_of(equations), "Invalid values between=")
    between = float(low), float(high)
    given = numbers_in_si(given, dimensions_of(equations), "Invalid given values")
    near = numbers_in_si(near or {}, dimensions_of(equations), "Invalid values near=")
    scan = _Scan(Sweep(equations, given, over, between[0], moving, near), abs(between[1] - between[0]))
    values = scan.refined(np.linspace(*between, points))
    names = None
    if named is not None and named.mode_names:
        names = ModeNames(lambda value: scan.sweep.at(value).vectors, named, over)
    found = tuple(scan.border(a, b, names) for a, b in pairwise(values) if scan.stable(a) != scan.stable(b))
    return scan.sweep, values, found


class _Scan:
    """Judgments of the roots over a value."""

    def __init__(self, sweep: Sweep, span: float) -> None:
        self.sweep, self.span, self.units = sweep, span, natural_units(sweep.linear)

    def stable(self, value: float) -> bool:
        """Whether no root lies to the right of the axis by more than its error."""
        return not self.sweep.at(value).roots.right.any()

    def rightmost(self, value: float) -> float:
        """max Re λ."""
        return float(self.sweep.at(value).roots.roots.real.max())

    # -- where to look ------------------------------------------------------------------------------------------

    def refined(self, values: np.ndarray) -> list[float]:
        """The values, with more of them where a pair of borders may lie between two."""
        found = [float(values[0])]
        for a, b in pairwise(values.tolist()):
            found += [*self._inside(a, b, _HALVINGS), b]
        return found

    def _inside(self, a: float, b: float, halvings: int) -> list[float]:
        middle = (a + b) / 2
        if not halvings or self._straight(a, middle, b):
            return [middle]
        return [*self._inside(a, middle, halvings - 1), middle, *self._inside(middle, b, halvings - 1)]

    def _straight(self, a: float, middle: float, b: float) -> bool:
        """Whether no curve can vanish between a and b, from its values at three points."""
        curves = np.array([self._curves(x) for x in (a, middle, b)])
        bend = np.abs(curves[1] - (curves[0] + curves[2]) / 2)
        crossed = (curves.min(axis=0) < 0) & (curves.max(axis=0) > 0)
        return bool(np.all(~crossed & (bend <= _STRAIGHT * np.abs(curves).min(axis=0))))

    def _curves(self, value: float) -> tuple[float, float]:
        """max Re λ, and the smallest gap between roots on the axis; zero and one if there are none."""
        roots = self.sweep.at(value).roots
        off = roots.roots.real[~roots.on_axis]
        inside = not roots.right.any() and roots.on_axis.any()
        frequencies = np.sort(roots.roots.imag[roots.on_axis])
        gap = float(np.diff(frequencies).min()) if len(frequencies) > 1 else 1.0
        return 0.0 if inside or not len(off) else float(off.max()), gap

    # -- a border -----------------------------------------------------------------------------------------------

    def border(self, a: float, b: float, names: ModeNames | None) -> Border:
        """The value between two others at which the rightmost root crosses the axis."""
        gained = self.stable(b)
        sure = self.sweep.at(b if gained else a).roots.left.all()
        value = float(self._zero(a, b) if sure else self._change(a, b, gained))
        vectors = self.sweep.at(value).vectors
        k = self._leaving(vectors.roots, value, (a if gained else b) - value)
        found = shape_of(self.sweep.linear.states, self.units, vectors, k)
        name = "" if names is None else self._name(names, value, k, (b if gained else a) - value)
        mode = replace(found, root=complex(0.0, vectors.roots[k].imag), name=name)
        return Border(self.sweep.over, value, gained, mode, self.sweep.record(value))

    def _leaving(self, roots: np.ndarray, value: float, outward: float) -> int:
        """The number of the root that crosses the axis: the one nearest to the rightmost root on the unstable side."""
        step = np.sign(outward) * min(abs(outward), _NEXT * self.span)
        beyond = self.sweep.at(value + step).vectors.roots
        rightmost = beyond[np.argmax(beyond.real)]
        return int(np.argmin(np.abs(roots - complex(rightmost.real, abs(rightmost.imag)))))

    def _name(self, names: ModeNames, value: float, k: int, inward: float) -> str:
        """The name of a mode at the border, or of the pair next to it that meets there."""
        found = names.at(value)
        if k in found:
            return found[k]
        near = value + _NEXT * np.sign(inward) * self.span
        roots = self.sweep.at(near).vectors.roots
        return names.at(near).get(int(np.argmin(np.abs(roots - self.sweep.at(value).vectors.roots[k]))), "")

    def _zero(self, a: float, b: float) -> float:
        """The zero of max Re λ."""
        return scipy.optimize.brentq(self.rightmost, a, b, xtol=self._width(a, b), rtol=_WIDTH)

    def _change(self, a: float, b: float, gained: bool) -> float:
        """By bisection, where a root leaves the axis: max Re λ is zero on one side."""
        while abs(b - a) > self._width(a, b):
            middle = (a + b) / 2
            a, b = (a, middle) if self.stable(middle) == gained else (middle, b)
        return (a + b) / 2

    def _width(self, a: float, b: float) -> float:
        """How close two values are that count as one."""
        return _WIDTH * max(abs(a), abs(b), _WIDTH * self.span)
