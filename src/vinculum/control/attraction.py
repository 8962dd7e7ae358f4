"""An estimate of the region of attraction, from simulations with many starts.

A run has converged if every state of the linear model has come back to the equilibrium, each compared with its own
maximum, so the result does not depend on units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from vinculum.deprecations import renamed
from vinculum.derivation import EquationsOfMotion
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.simulation import Event, Trajectory, simulate

CONVERGED, AWAY = "converged", "did not converge"
_ROUNDING = 1e-9
_FAR = 1e4


@dataclass(frozen=True, eq=False)
class Attraction:
    """Which of many starts converged to the equilibrium.

    ``distances`` are |state - equilibrium| at the end relative to its maximum during the run, the largest one over all
    states of the linear model; infinite for a run that ended early. ``outcomes`` say what happened.
    """

    starts: tuple[dict[sp.Expr, float], ...]
    distances: np.ndarray  # (starts)
    tolerance: float
    outcomes: tuple[str, ...] = ()

    @property
    def converged(self) -> np.ndarray:
        """True for the starts that ended near the equilibrium."""
        return self.distances < self.tolerance

    came_back = renamed("came_back", "converged")

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
    tolerance: float = 0.05,
    **options: Any,
) -> Attraction:
    """Simulate from every combination of values in ``over``, all else at the equilibrium, and compare after ``time``.

    ``over`` may contain coordinates (also dependent and ignorable ones), velocities and states of the controller. The
    coordinates that are not in ``fixed`` follow from the constraints; ``options`` are passed to `simulate`.
    """
    if not over:
        raise VinculumError("Nothing to vary. Pass over={coordinate: values, ...}.")
    linear = linearize(replace(closed, laws={}, extra={}), at)
    _refuse_unknown(closed, over)
    starts = [dict(zip(over, values, strict=True)) for values in product(*over.values())]
    runs = [_run(closed, linear, start, time, fixed, options) for start in starts]
    distances = relative_distances(linear, [run for run, _ in runs])
    outcomes = tuple(
        words or (CONVERGED if distance < tolerance else AWAY)
        for (_, words), distance in zip(runs, distances, strict=True)
    )
    return Attraction(tuple(starts), distances, tolerance, outcomes)


def relative_distances(linear: LinearModel, motions: Sequence[Trajectory | None]) -> np.ndarray:
    """For each motion, the largest ratio |state - equilibrium| at the end to its maximum, over the states of the model.

    States that only rounding moves are left out: 1e-9 of the largest movement, in natural units.
    """
    units = unit_free(linear.system_matrix, linear.input_matrix).states
    away = [None if motion is None else deviations_of(linear, motion) for motion in motions]
    moved = max((float((d.max(axis=1) / units).max(initial=0.0)) for d in away if d is not None), default=1.0)
    if moved == 0:
        raise VinculumError("Every start is the equilibrium itself. Pass other values in over={...}.")
    return np.array([np.inf if d is None else _ratio(d, _ROUNDING * moved * units) for d in away])


def deviations_of(linear: LinearModel, motion: Trajectory) -> np.ndarray:
    """|state - equilibrium|, (states, times)."""
    return np.array([np.abs(motion[s] - value_at(linear, s)) for s in linear.states])


def _ratio(away: np.ndarray, rounding: np.ndarray) -> float:
    peak = away.max(axis=1)
    counted = peak > rounding
    return float((away[counted, -1] / peak[counted]).max(initial=0.0))


def _run(
    closed: EquationsOfMotion,
    linear: LinearModel,
    start: dict[sp.Expr, float],
    time: float,
    fixed: Sequence[sp.Expr] | None,
    options: dict[str, Any],
) -> tuple[Trajectory | None, str]:
    """The motion, or None and the reason why there is none to its end."""
    keys = (*closed.system.coordinates, *closed.system.velocities)
    rest = {key: value_at(linear, key) for key in keys} | dict.fromkeys(closed.extra, 0.0)
    chosen = _independent(linear, keys, start) if fixed is None else list(fixed)
    known = {key: (rest | start)[key] for key in (*chosen, *start)}
    guess = {key: value for key, value in rest.items() if key in keys and key not in known}
    given = options.get("events", ())
    events = [*([given] if isinstance(given, Event) else given), *_far(linear, start, options)]
    try:
        motion = simulate(closed, known, (0.0, time), guess=guess, **options | {"events": events})
    except VinculumError as error:
        return None, str(error)
    return (motion, "") if motion.outcome and motion.t[-1] == time else (None, str(motion.outcome))


def _far(linear: LinearModel, start: Mapping[sp.Expr, float], options: Mapping[str, Any]) -> list[Event]:
    """The end of a run that has diverged: a distance of 10⁴ times that of the start, in natural units.

    Methods with a fixed step look for no events.
    """
    if "step" in options or not getattr(options.get("method"), "finds_events", True):
        return []
    units = dict(zip(linear.states, unit_free(linear.system_matrix, linear.input_matrix).states, strict=True))
    first = [(value - value_at(linear, key)) / units[key] for key, value in start.items() if key in units]
    size = float(np.linalg.norm(first)) if first else 0.0
    if size == 0:
        return []
    away = sum((s - sp.Float(value_at(linear, s))) ** 2 / (size * unit) ** 2 for s, unit in units.items())
    return [Event(away - _FAR**2, name="diverged", direction="rising", terminal=True)]


def _independent(linear: LinearModel, keys: Sequence[sp.Expr], start: Mapping[sp.Expr, float]) -> list[sp.Expr]:
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


def _refuse_unknown(closed: EquationsOfMotion, over: Mapping[sp.Expr, Sequence[float]]) -> None:
    allowed = (*closed.system.coordinates, *closed.system.velocities, *closed.extra)
    problems = [f"{name_of(key)} is not among {listed(allowed)}." for key in over if key not in allowed]
    if problems:
        raise ModelError("Invalid starts over=", problems)
