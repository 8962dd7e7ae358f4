"""Runs that are made by `simulate`, one by one: milliseconds each, with everything that `simulate` can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.ensembles.measures import (
    FINAL,
    INTEGRAL,
    SETTLED,
    Measure,
    bracket,
    curve,
    located,
    unsettled,
    zero_at_event,
)
from vinculum.ensembles.quadrature import SHARES, TOLERANCE, integrate, is_wide
from vinculum.names import variable_name
from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.run import simulate
from vinculum.simulation.trajectory.outcome import DIVERGED, EVENT, KINDS

if TYPE_CHECKING:
    from vinculum.ensembles.ensemble import Ensemble

REFUSED = "refused"  # the start of a run could not be made consistent
OUTCOMES = (
    *(kind for kind in KINDS if kind != DIVERGED),
    REFUSED,
    DIVERGED,
)  # stores keep these numbers: add at the end
_SAMPLES = {True: (4097,), False: (1025, 1025)}  # of a bracket, for an extreme and for an instant; a run for each
_ROUGH = 1e-9  # of ∫ |e| dt: dense output of "bdf" is not smoother


def fill_alone(
    ensemble: Ensemble, run: int, varied: Mapping[Any, float], values: np.ndarray, results: dict[str, np.ndarray]
) -> None:
    """The results of one run; raises the refusal of `simulate`."""
    motion = run_alone(ensemble, varied, values, ensemble.grid)
    reached = int(np.isin(motion.t, ensemble.grid).sum())  # the sample at an early end is not one of them
    results["outcome"][run] = OUTCOMES.index(motion.outcome.kind)
    results["end_time"][run], results["energy_error"][run] = motion.t[-1], motion.energy_error
    results["largest_residual"][run] = max(motion.largest_residuals.values(), default=0.0)
    if ensemble.keep == "motion":
        for key in ensemble.shown:
            results[variable_name(key)][run, :reached] = motion[key][:reached]
    elif ensemble.keep == "end":
        for key in ensemble.shown:
            results[variable_name(key)][run] = motion[key][-1]
    for name, measure in ensemble.measures.items():
        results[name][run] = _measure(ensemble, measure, motion, varied, values)


def run_alone(ensemble: Ensemble, varied: Mapping[Any, float], values: np.ndarray, times: np.ndarray) -> Any:
    """The trajectory of one run."""
    known = dict(zip(ensemble.starts.keys, map(float, values), strict=True))
    equations = ensemble.starts.equations
    initial = {key: known[key] for key in equations.user_symbols}
    initial |= {key: float(varied.get(key, ensemble.extra.get(key, 0.0))) for key in equations.extra}
    parameters = {key: known[key] for key in ensemble.starts.parameters}
    options = dict(ensemble.options) | {"events": ensemble.until, "progress": False}
    return simulate(equations, initial, times, ensemble.method, parameters=parameters, **options)


def _measure(
    ensemble: Ensemble, measure: Measure, motion: Any, varied: Mapping[Any, float], values: np.ndarray
) -> float:
    """A measure of one trajectory; brackets are refined by the same run at further instants."""
    if measure.kind == FINAL:
        return float(motion[measure.expression][-1])
    again = _Again(ensemble, measure, varied, values)
    if measure.kind == INTEGRAL:
        return _integral(again, motion)
    t, y = motion.t, curve(measure, motion[measure.expression])[None, :]
    y = zero_at_event(measure, y) if motion.outcome.kind == EVENT else y
    first, value = y, located(measure, t[None, :], y)
    for samples in _SAMPLES[measure.is_extreme] if measure.rounds else ():
        low, high = (int(k[0]) for k in bracket(measure, y))
        if low < 0 or high <= low or not is_wide(t[low], t[high]):
            break
        ends = y[0, [low, high]]
        t = np.linspace(t[low], t[high], samples)
        y = curve(measure, again.at(t))[None, :]
        y[0, [0, -1]] = ends
        value = located(measure, t[None, :], y)
    return float((unsettled(measure, first, float(motion.t[0]), value) if measure.kind == SETTLED else value)[0])


@dataclass(frozen=True)
class _Again:
    """The expression of a measure, from the same run at other instants.

    The run is made from its start, and with the same end: steps of a fixed size fit the whole interval, and a sample
    of a run that drifts need not be a consistent start.
    """

    ensemble: Ensemble
    measure: Measure
    varied: Mapping[Any, float]
    values: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """Values at the instants, not a number where the run does not arrive."""
        grid = self.ensemble.grid
        own = np.unique(np.concatenate([grid[[0, -1]], times]))[:: 1 if grid[-1] > grid[0] else -1]
        motion = run_alone(self.ensemble, self.varied, self.values, own)
        known = dict(zip(motion.t.tolist(), motion[self.measure.expression].tolist(), strict=True))
        return np.array([known.get(time, np.nan) for time in times.tolist()])

    def between(self, a: np.ndarray, b: np.ndarray, x: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values at the shares of intervals, for `integrate`; ``x`` is not used."""
        times = a[:, None] + (b - a)[:, None] * SHARES
        return self.at(times.ravel()).reshape(times.shape), x


def _integral(again: _Again, motion: Any) -> float:
    """∫ e dt between the samples, as exact as the run."""
    t, y, count = motion.t, motion[again.measure.expression], len(motion.t) - 1
    tolerance = TOLERANCE if isinstance(again.ensemble.method, Taylor) else _ROUGH
    nothing, only, ends = np.zeros((0, count)), np.zeros(count, dtype=int), np.array([y[:-1], y[1:]])
    return float(integrate(t[:-1], t[1:], nothing, ends, only, 1, again.between, tolerance)[0])
