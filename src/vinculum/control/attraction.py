"""An estimate of the region of attraction, from a study of many starts.

A run has converged if every state of the linear model has come back to the equilibrium, each compared with its own
maximum, so the result does not depend on units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import linearize
from vinculum.analyze.unit_free import unit_free
from vinculum.control.feedback import value_at
from vinculum.deprecations import renamed, warn
from vinculum.derivation import EquationsOfMotion
from vinculum.describe.quantities import dimensions_of
from vinculum.ensembles.ensemble import OUTCOMES, REFUSED
from vinculum.ensembles.measures import final, maximum
from vinculum.ensembles.plan import Study, plan_study
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.options import refuse_unknown
from vinculum.simulation import Event, Trajectory
from vinculum.simulation.integrators import method_from
from vinculum.simulation.problem.start import given_fixed
from vinculum.simulation.progress import Shown
from vinculum.simulation.trajectory.outcome import EVENT, FINISHED
from vinculum.units.given import column_in_si, duration

CONVERGED, AWAY = "converged", "did not converge"
_OPTIONS = ("method", "step", "stabilization", "inputs", "parameters", "threads")
_ROUNDING = 1e-9
_FAR = 1e4


@dataclass(frozen=True, eq=False)
class Attraction:
    """Which of many starts converged to the equilibrium.

    ``distances`` are |state - equilibrium| at the end relative to its maximum during the run, the largest one over all
    states of the linear model; infinite for a run that ended early. A start converged if its distance is less than
    ``within``. ``outcomes`` say what happened.
    """

    starts: tuple[dict[sp.Expr, float], ...]
    distances: np.ndarray  # (starts)
    within: float
    outcomes: tuple[str, ...] = ()

    @property
    def converged(self) -> np.ndarray:
        """True for the starts that ended near the equilibrium."""
        return self.distances < self.within

    came_back = renamed("came_back", "converged")
    tolerance = renamed("tolerance", "within")

    def __repr__(self) -> str:
        return f"Attraction: {int(self.converged.sum())} of {len(self.starts)} starts converged"

    _repr_html_ = html


def region_of_attraction(
    closed: EquationsOfMotion,
    at: Equilibrium,
    over: Mapping[sp.Expr, Sequence[float]],
    time: float,
    *,
    fixed: Sequence[sp.Expr] | None = None,
    within: float = 0.05,
    progress: Shown = None,
    **options: Any,
) -> Attraction:
    """Run from every combination of values in ``over``, all else at the equilibrium, and compare after ``time``.

    ``over`` may contain coordinates (also dependent and ignorable ones), velocities and states of the controller. The
    coordinates that are not in ``fixed`` follow from the constraints. A run has converged if at the end each state of
    the linear model is ``within`` this share of its largest distance from the equilibrium. ``options`` are ``method``,
    ``step``, ``stabilization``, ``inputs``, ``parameters`` and ``threads`` of `study`; ``progress`` too.
    """
    within = _criterion(within, options)
    if not over:
        raise VinculumError("Nothing to vary. Pass over={coordinate: values, ...}.")
    dimensions, time = dimensions_of(closed), duration(time, "time")
    _refuse_options(time, options)
    over = {key: _starts(key, column_in_si(key, values, dimensions, "Invalid starts")) for key, values in over.items()}
    linear = linearize(replace(closed, laws={}, extra={}), at)
    _refuse_unknown(closed, over)
    keys = (*closed.system.coordinates, *closed.system.velocities)
    rest = {key: value_at(linear, key) for key in keys} | dict.fromkeys(closed.extra, 0.0)
    chosen = _independent(linear, keys, over) if fixed is None else list(given_fixed(closed, fixed) or ())
    known = {key: rest[key] for key in chosen if key not in over}
    guess = {key: rest[key] for key in keys if key not in known and key not in over}
    threads, until = options.pop("threads", None), _far(linear, over, options)
    away = {s: sp.Abs(s - sp.Float(value_at(linear, s))) for s in linear.states}
    measures = {f"peak {k}": replace(maximum(d), refined=False) for k, d in enumerate(away.values())}
    measures |= {f"end {k}": final(d) for k, d in enumerate(away.values())}
    planned = plan_study(
        closed, known, (0.0, time), over=over, measure=measures, guess=guess, until=until, **options
    )  # fmt: skip
    runs = planned.run(threads=threads, progress=progress)
    peaks, ends = (np.array([runs[f"{w} {k}"].values.ravel() for k in range(len(away))]) for w in ("peak", "end"))
    finished = runs.outcome.values.ravel() == OUTCOMES.index(FINISHED)
    distances = _distances(linear, np.where(finished, peaks, np.nan), ends)
    kinds, times = [OUTCOMES[code] for code in runs.outcome.values.ravel()], runs.end_time.values.ravel()
    told = zip(kinds, times, distances < within, strict=True)
    outcomes = tuple(_outcome(planned, number, *one) for number, one in enumerate(told))
    starts = [dict(zip(over, values, strict=True)) for values in product(*over.values())]
    return Attraction(tuple(starts), distances, within, outcomes)


def _criterion(within: float, options: dict[str, Any]) -> float:
    """``within``, also under its old name, which is that of an option of methods."""
    if "tolerance" in options:
        within = options.pop("tolerance")
        warn(
            "tolerance= of region_of_attraction is now within=, and the accuracy of the runs is"
            " method=vn.Taylor(tolerance=...) or vn.BDF(tolerance=...)", stacklevel=4,
        )  # fmt: skip
    if not 0 < within < 1:
        raise VinculumError(f"within={within!r} must be between 0 and 1: the share of its largest distance.")
    return within


def _outcome(planned: Study, number: int, kind: str, end: float, converged: bool) -> str:
    """What happened in a run."""
    if kind == FINISHED:
        return CONVERGED if converged else AWAY
    if kind != REFUSED:
        return f"{'diverged' if kind == EVENT else kind} at t = {end:.6g}"
    try:
        return str(planned.one(number).outcome)
    except VinculumError as error:
        return str(error)


def _distances(linear: LinearModel, peaks: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """For each run the largest ratio of |state - equilibrium| at the end to its peak; both are (states, runs).

    States that only rounding moves are left out: 1e-9 of the largest movement, in natural units. A run without a peak
    did not finish.
    """
    units = unit_free(linear.system_matrix, linear.input_matrix).states[:, None]
    moved = np.nanmax(peaks / units, initial=0.0)
    if moved == 0 and not np.isnan(peaks).any():
        raise VinculumError("Every start is the equilibrium itself. Pass other values in over={...}.")
    counted = peaks > _ROUNDING * moved * units
    ratios = np.where(counted, ends / np.where(counted, peaks, 1.0), 0.0).max(axis=0)
    return np.where(np.isnan(peaks).any(axis=0), np.inf, ratios)


def relative_distance(linear: LinearModel, motion: Trajectory) -> float:
    """The largest ratio of |state - equilibrium| at the end of a motion to its peak, over the states of the model."""
    away = deviations_of(linear, motion)
    return float(_distances(linear, away.max(axis=1)[:, None], away[:, -1:])[0])


def deviations_of(linear: LinearModel, motion: Trajectory) -> np.ndarray:
    """|state - equilibrium|, (states, times)."""
    return np.array([np.abs(motion[s] - value_at(linear, s)) for s in linear.states])


def _far(linear: LinearModel, over: Mapping[sp.Expr, Sequence[float]], options: Mapping[str, Any]) -> list[Event]:
    """The end of a run that has diverged: 10⁴ times the distance of the farthest start, in natural units."""
    asked = {name: options[name] for name in ("step", "tolerance") if name in options}
    if not method_from(options.get("method", "taylor"), **asked).finds_events:
        return []
    units = dict(zip(linear.states, unit_free(linear.system_matrix, linear.input_matrix).states, strict=True))
    first = [(np.array(over[key]) - value_at(linear, key)) / units[key] for key in over if key in units]
    size = float(np.linalg.norm([np.abs(values).max() for values in first])) if first else 0.0
    if size == 0:
        return []
    away = sum((s - sp.Float(value_at(linear, s))) ** 2 / (size * unit) ** 2 for s, unit in units.items())
    return [Event(away - _FAR**2, name="diverged", direction="rising", terminal=True)]


def _independent(linear: LinearModel, keys: Sequence[sp.Expr], start: Iterable[sp.Expr]) -> list[sp.Expr]:
    """Coordinates and velocities to prescribe; a dependent one in ``start`` replaces the state that moves it most."""
    known = [key for key in keys if key in linear.states or key not in linear.measured]
    units = unit_free(linear.system_matrix, linear.input_matrix).states
    for key in start:
        if key in linear.measured and key not in linear.states:
            share = np.abs(linear.measured[key]) * units
            candidates = [
                s for s in known if s in linear.states and s not in start and share[linear.states.index(s)] > 0
            ]
            if candidates:
                known.remove(max(candidates, key=lambda s: share[linear.states.index(s)]))
    return known


def _refuse_options(time: float, options: Mapping[str, Any]) -> None:
    """Raise for what decides nothing, and for options of `study` that it does not have."""
    if not (np.isfinite(time) and time > 0):
        raise VinculumError(f"time={time!r} must be positive: it is the duration after which starts are compared.")
    refuse_unknown("A region of attraction", options, _OPTIONS)


def _starts(key: sp.Expr, values: Any) -> list[float]:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise VinculumError(f"{name_of(key)} starts from {values!r}. Give a list of finite numbers.")
    return [float(value) for value in found]


def _refuse_unknown(closed: EquationsOfMotion, over: Mapping[sp.Expr, Sequence[float]]) -> None:
    allowed = (*closed.system.coordinates, *closed.system.velocities, *closed.extra)
    problems = [f"{name_of(key)} is not among {listed(allowed)}." for key in over if key not in allowed]
    if problems:
        raise ModelError("Invalid starts over=", problems)
