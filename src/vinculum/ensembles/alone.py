"""Runs that are made by `simulate`, one by one: milliseconds each, with everything that `simulate` can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.ensembles.measures import FINAL, INTEGRAL, REFINED, SETTLED, Measure, bracket, curve, located, unsettled
from vinculum.names import variable_name
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.run import simulate
from vinculum.simulation.trajectory.outcome import DIVERGED, KINDS

if TYPE_CHECKING:
    from vinculum.ensembles.ensemble import Ensemble

REFUSED = "refused"  # the start of a run could not be made consistent
OUTCOMES = (
    *(kind for kind in KINDS if kind != DIVERGED),
    REFUSED,
    DIVERGED,
)  # stores keep these numbers: add at the end
_GAUSS = 6  # points between two samples at which `simulate` evaluates an integrand


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
        results[name][run] = _measure(ensemble, measure, motion, varied)


def run_alone(ensemble: Ensemble, varied: Mapping[Any, float], values: np.ndarray, times: np.ndarray) -> Any:
    """The trajectory of one run."""
    known = dict(zip(ensemble.starts.keys, map(float, values), strict=True))
    equations = ensemble.starts.equations
    initial = {key: known[key] for key in equations.user_symbols}
    initial |= {key: float(varied.get(key, ensemble.extra.get(key, 0.0))) for key in equations.extra}
    parameters = {key: known[key] for key in ensemble.starts.parameters}
    options = dict(ensemble.options) | {"events": ensemble.until, "progress": False}
    return simulate(equations, initial, times, ensemble.method, parameters=parameters, **options)


def _measure(ensemble: Ensemble, measure: Measure, motion: Any, varied: Mapping[Any, float]) -> float:
    """A measure of one trajectory; brackets are refined by further short runs from its samples."""
    if measure.kind == FINAL:
        return float(motion[measure.expression][-1])
    if measure.kind == INTEGRAL:
        return _integral(ensemble, measure, motion, varied)
    first = curve(measure, motion[measure.expression])[None, :]
    t0, y, part = float(motion.t[0]), first, motion
    for _ in range(measure.rounds):
        low, high = (int(k[0]) for k in bracket(measure, y))
        if low < 0 or high <= low:
            break
        part = _between(ensemble, part, low, high, np.linspace(0.0, 1.0, REFINED), varied)
        y = curve(measure, part[measure.expression])[None, :]
    value = located(measure, part.t[None, :], y)
    return float((unsettled(measure, first, t0, value) if measure.kind == SETTLED else value)[0])


def _between(
    ensemble: Ensemble, motion: Any, low: int, high: int, shares: np.ndarray, varied: Mapping[Any, float]
) -> Any:
    """The motion again between two of its samples, at the given shares of the interval."""
    keys = (*ensemble.starts.equations.user_symbols, *ensemble.starts.equations.extra)
    state = {key: float(motion[key][low]) for key in keys}
    parameters = {key: varied.get(key, value) for key, value in ensemble.starts.parameters.items()}
    times = motion.t[low] + (motion.t[high] - motion.t[low]) * shares
    times[-1] = motion.t[high]
    equations, options, method = ensemble.starts.equations, ensemble.options, ensemble.method
    if isinstance(method, FixedStep):
        assert method.step is not None
        method = replace(method, step=min(method.step, abs(times[-1] - times[0])))  # type: ignore[type-var]
    return simulate(equations, state, times, method, parameters=parameters, progress=False, **options)


def _integral(ensemble: Ensemble, measure: Measure, motion: Any, varied: Mapping[Any, float]) -> float:
    """Gauss's quadrature between the samples."""
    nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
    shares = np.concatenate([[0.0], (nodes + 1) / 2, [1.0]])
    total = 0.0
    for low in range(len(motion.t) - 1):
        part = _between(ensemble, motion, low, low + 1, shares, varied)
        total += 0.5 * (part.t[-1] - part.t[0]) * float(weights @ part[measure.expression][1:-1])
    return total
