"""What is kept of every run as one number: extremes, integrals, values at the end, instants.

An extreme or an instant is first bracketed by the samples of the run and then refined on finer and finer samples of
that bracket, so its error is rounding, not the distance of the samples. The ends of a bracket keep their values: what
is a zero there must not be lost by the rounding of another integration. A peak that begins and ends between two samples
is not seen: give more instants in ``times`` if the motion has such peaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.errors import VinculumError
from vinculum.simulation.problem.events import DIRECTIONS

KEEP = ("end", "motion", "measures")  # what is kept of every run: states at the end, at all times, or none
REFINED = 17  # samples of a bracket
_ZERO = 1e-12  # of the largest value: a value this small at an event is zero
LARGEST, SMALLEST, INTEGRAL, FINAL = "maximum", "minimum", "integral", "final"
FIRST, SETTLED = "first_time", "settling_time"
KINDS = {
    LARGEST: "The largest value.",
    SMALLEST: "The smallest value.",
    INTEGRAL: "The integral over time.",
    FINAL: "The value at the end.",
    FIRST: "The first instant at which it passes zero.",
    SETTLED: "The last instant at which it is farther than band from target.",
}


@dataclass(frozen=True)
class Measure:
    """One number of a run, made from an expression of the state, accelerations, reactions, inputs and time."""

    kind: str
    expression: sp.Expr
    direction: str = "any"
    band: float = 0.0
    target: float = 0.0
    refined: bool = True  # False: an extreme is that of a parabola through the samples

    def __post_init__(self) -> None:
        if not isinstance(self.expression, sp.Expr):
            raise VinculumError(f"{self.kind} needs a SymPy expression; got {self.expression!r}.")
        if self.direction not in DIRECTIONS:
            raise VinculumError(f"direction={self.direction!r} is not known. Use {', '.join(map(repr, DIRECTIONS))}.")
        if self.kind == SETTLED and not (np.isfinite(self.band) and self.band > 0):
            raise VinculumError(f"The band of settling_time is {self.band}; it must be positive.")
        if not np.isfinite(self.target):
            raise VinculumError(f"The target of settling_time is {self.target}; it must be a finite number.")

    @property
    def is_extreme(self) -> bool:
        """Whether it is a maximum or minimum."""
        return self.kind in (LARGEST, SMALLEST)

    @property
    def rounds(self) -> int:
        """How often a bracket is divided. Samples of a top must differ by more than rounding; a zero has no limit."""
        return 0 if not self.refined else 3 if self.is_extreme else 5

    @property
    def sampled(self) -> bool:
        """Whether the whole motion is needed, not only its end."""
        return self.kind not in (INTEGRAL, FINAL)


def maximum(expression: sp.Expr) -> Measure:
    """The largest value during a run."""
    return Measure(LARGEST, expression)


def minimum(expression: sp.Expr) -> Measure:
    """The smallest value during a run."""
    return Measure(SMALLEST, expression)


def integral(expression: sp.Expr) -> Measure:
    """∫ expression dt over a run, integrated along with the motion."""
    return Measure(INTEGRAL, expression)


def final(expression: sp.Expr) -> Measure:
    """The value at the end of a run."""
    return Measure(FINAL, expression)


def first_time(expression: sp.Expr, direction: str = "any") -> Measure:
    """The first instant at which an expression passes zero; not a number if it never does."""
    return Measure(FIRST, expression, direction)


def settling_time(expression: sp.Expr, band: float, target: float = 0.0) -> Measure:
    """The last instant at which |expression - target| leaves the band; not a number if the run ends outside of it."""
    try:
        return Measure(SETTLED, expression, band=float(band), target=float(target))
    except (TypeError, ValueError):
        raise VinculumError(
            f"settling_time needs a band and a target as numbers in SI units; got {band!r} and {target!r}."
        ) from None


# -- on samples: y is (runs, instants), and not a number beyond the end of a run ----------------------------------


def curve(measure: Measure, y: np.ndarray) -> np.ndarray:
    """The function that is searched: its maximum, or its zero."""
    if measure.kind == SMALLEST:
        return -y
    return np.abs(y - measure.target) - measure.band if measure.kind == SETTLED else y


def bracket(measure: Measure, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every run the samples (low, high) around the place that is searched; low = -1 if there is none."""
    if measure.is_extreme:
        best = np.argmax(np.where(np.isnan(y), -np.inf, y), axis=1)
        return np.maximum(best - 1, 0), np.minimum(best + 1, last_places(y))
    crossed = _crossings(measure, y)
    if not crossed.size:
        return np.full(len(y), -1), np.zeros(len(y), dtype=int)
    if measure.kind == SETTLED:
        low = np.where(crossed.any(axis=1), crossed.shape[1] - 1 - np.argmax(crossed[:, ::-1], axis=1), -1)
    else:
        low = np.where(crossed.any(axis=1), np.argmax(crossed, axis=1), -1)
    return low, low + 1


def last_places(y: np.ndarray) -> np.ndarray:
    """The last sample of every run that is a number, (runs); 0 if there is none."""
    known = ~np.isnan(y)
    return np.where(known.any(axis=1), known.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1), 0)


def zero_at_event(measure: Measure, y: np.ndarray) -> np.ndarray:
    """Samples of runs that an event ended, with zero for rounding at the end: the event may be this very zero."""
    if measure.kind != FIRST:
        return y
    rows, last = np.arange(len(y)), last_places(y)
    size = np.max(np.abs(np.where(np.isnan(y), 0.0, y)), axis=1, initial=0.0)
    y = y.copy()
    y[rows, last] = np.where(np.abs(y[rows, last]) <= _ZERO * size, 0.0, y[rows, last])
    return y


def _crossings(measure: Measure, y: np.ndarray) -> np.ndarray:
    """(runs, intervals): whether the curve passes zero in an interval; a zero at the very start does not count."""
    before, after = y[:, :-1], y[:, 1:]
    falling = (before > 0) & (after <= 0)
    if measure.kind == SETTLED:
        return falling
    rising, wanted = (before < 0) & (after >= 0), DIRECTIONS[measure.direction]
    return rising if wanted > 0 else falling if wanted < 0 else rising | falling


def located(measure: Measure, t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The result from the last, finest samples: the top of a parabola, or the zero of a chord."""
    rows = np.arange(len(y))
    if measure.is_extreme:
        top = peak(t, y)[1]
        return -top if measure.kind == SMALLEST else top
    low, high = bracket(measure, y)
    a, b, ya, yb = t[rows, low], t[rows, high], y[rows, low], y[rows, high]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = a + (b - a) * np.where(ya == yb, 1.0, ya / (ya - yb))
    return np.where(low < 0, np.nan, found)


def peak(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Instant and height of the top of a parabola through the largest sample and its neighbors, for every run.

    Where the largest sample is the first or the last one, it is the top. So it is where differences of samples are
    too large for a number.
    """
    rows = np.arange(len(y))
    best = np.argmax(np.where(np.isnan(y), -np.inf, y), axis=1)
    if y.shape[1] < 3:  # the motion ended at once
        return t[rows, best], y[rows, best]
    middle = np.clip(best, 1, y.shape[1] - 2)
    a, b, c = y[rows, middle - 1], y[rows, middle], y[rows, middle + 1]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        curvature, slope = a - 2 * b + c, 0.5 * (c - a)
        shift = -slope / curvature
        top = b + 0.5 * slope * shift
    inside = (best == middle) & (curvature < 0) & np.isfinite(top) & (np.abs(shift) <= 1)
    instant = t[rows, middle] + np.where(inside, shift, 0.0) * (t[rows, middle + 1] - t[rows, middle])
    return np.where(inside, instant, t[rows, best]), np.where(inside, top, y[rows, best])


def at_least(measure: Measure, value: np.ndarray, final: np.ndarray) -> np.ndarray:
    """An extreme, or the value at the end if that is more extreme."""
    return np.fmin(value, final) if measure.kind == SMALLEST else np.fmax(value, final)


def unsettled(measure: Measure, y: np.ndarray, t0: float, value: np.ndarray) -> np.ndarray:
    """Settling times, with those of runs that never left the band (t0) or end outside of it (not a number)."""
    last = y[np.arange(len(y)), last_places(y)]
    value = np.where(np.nanmax(np.where(np.isnan(y), -np.inf, y), axis=1) <= 0, t0, value)
    return np.where(last > 0, np.nan, value)


def check_measures(measure: Any) -> dict[str, Measure]:
    """The measures by name; raises for anything else."""
    for name, one in (measure or {}).items():
        if not isinstance(name, str) or not isinstance(one, Measure):
            raise VinculumError(
                f"measure must be {{name: maximum(x), integral(x), settling_time(x, band), ...}}; {name!r} is {one!r}."
            )
    return dict(measure or {})
