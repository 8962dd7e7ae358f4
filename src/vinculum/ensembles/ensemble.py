"""The runs of a study: prepared once, then computed in blocks of any size, on any thread or machine.

An `Ensemble` has no machine code and pickles; every process compiles it once. Smooth equations under the Taylor method
run in lanes. A run that lanes cannot finish (its pivots must change, or it lost its energy), and every run of another
method or with corners, is made by `simulate`, one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.ensembles.lanes import DONE, ENDED, NEEDS_PIVOTS, Lanes, Motions, check_stop
from vinculum.ensembles.measures import (
    FINAL,
    INTEGRAL,
    REFINED,
    SETTLED,
    Measure,
    at_least,
    bracket,
    curve,
    located,
    unsettled,
)
from vinculum.ensembles.starts import Starts
from vinculum.errors import VinculumError
from vinculum.graph import Node, symbol
from vinculum.names import variable_name
from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.problem.events import DIRECTIONS, Event
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.run import simulate
from vinculum.simulation.trajectory.outcome import EVENT, FINISHED, KINDS, NON_FINITE, STALLED

REFUSED = "refused"  # the start of a run could not be made consistent
OUTCOMES = (*KINDS, REFUSED)
_KINDS = (FINISHED, NON_FINITE, NON_FINITE, EVENT, STALLED)  # of the codes of lanes; small pivots are run again
_LOST = 1e-6  # a larger relative energy error is judged by `simulate`
_BLOCK = 64  # registers full of runs that are computed together
_GAUSS = 6  # points between two samples at which `simulate` evaluates an integrand


class OfThread(threading.local):
    """What belongs to one thread: its integrator."""

    def __repr__(self) -> str:
        return "OfThread()"


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Equations, options and measures of a study, with the problem of its first run."""

    problem: Problem  # with its stabilization, whose gains all runs share
    starts: Starts
    grid: np.ndarray  # instants
    measures: Mapping[str, Measure]
    keep: str  # "end", "motion" or "measures"
    shown: tuple[sp.Expr, ...]  # quantities of which the end or the motion is kept
    method: Any
    options: Mapping[str, Any]  # of `simulate`
    extra: Mapping[sp.Expr, float]  # further states of a closed loop at the start
    until: tuple[Event, ...] = ()  # events that end a run
    local: OfThread = field(default_factory=OfThread)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, local=OfThread())

    # -- what a block gives ------------------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """{variable: its dimensions beyond the run}."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(self.measures, ())
        if self.keep != "measures":
            dims = ("time",) if self.keep == "motion" else ()
            found |= {variable_name(key): dims for key in self.shown}
        return found | {"outcome": (), "end_time": (), "energy_error": (), "largest_residual": ()}

    def empty(self, count: int) -> dict[str, np.ndarray]:
        """The arrays of a block, filled with "not a number"."""
        shapes = {name: (count, *(len(self.grid) for _ in dims)) for name, dims in self.names.items()}
        arrays = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        return arrays | {"outcome": np.zeros(count, dtype=np.int8)}

    def run(self, columns: Mapping[Any, np.ndarray], stop: threading.Event | None = None) -> dict[str, np.ndarray]:
        """The results of a block of runs, by variable."""
        count = len(next(iter(columns.values())))
        results = self.empty(count)
        values, refusals = self.starts.solve(columns, count)
        refused = np.zeros(count, dtype=bool)
        refused[list(refusals)] = True
        results["outcome"][refused] = OUTCOMES.index(REFUSED)
        alone = np.flatnonzero(~refused)
        if self.in_lanes:
            size = _BLOCK * self.lanes.width
            parts = [alone[k : k + size] for k in range(0, len(alone), size)]
            alone = np.concatenate([self._block(part, columns, values, results, stop) for part in parts] or [alone[:0]])
        for run in alone:
            check_stop(stop)
            self._alone(int(run), {key: float(column[run]) for key, column in columns.items()}, values[run], results)
        return results

    # -- in lanes ----------------------------------------------------------------------------------------------

    @cached_property
    def in_lanes(self) -> bool:
        """Whether the equations can run in lanes: smooth, with the Taylor method and feedback as stabilization."""
        nodes = self.problem.nodes
        smooth = not nodes.corners and self.problem.sides is None
        return isinstance(self.method, Taylor) and smooth

    @cached_property
    def integrals(self) -> dict[Node, Node]:
        """{symbol of an integral: its rate}."""
        nodes = self.problem.nodes
        return {
            symbol(("integral", name)): nodes.node(one.expression, f"the measure {name!r}")
            for name, one in self.measures.items()
            if one.kind == INTEGRAL
        }

    @cached_property
    def state(self) -> tuple[Node, ...]:
        """x, works, and integrals."""
        return (*self.problem.nodes.state, *self.integrals)

    @property
    def lanes(self) -> Lanes:
        """The integrator of this thread."""
        if not hasattr(self.local, "lanes"):
            nodes, branch = self.problem.nodes, self.problem.branch
            rates = branch.prepared([*nodes.rates, *self.integrals.values()])
            watch, *ends = branch.prepared([nodes.watch.plain, *nodes.event_functions])
            until = [(node, DIRECTIONS[event.direction]) for node, event in zip(ends, self.until, strict=True)]
            self.local.lanes = Lanes(
                nodes.time, self.state, branch.parameters, rates, watch, until,
                self.method.tolerance, self.method.compact,
            )  # fmt: skip
        return self.local.lanes

    @cached_property
    def watched(self) -> Function:
        """Kept quantities, energy balance, kinetic energy, residuals and measured expressions, of (t, x, p)."""
        nodes = self.problem.nodes
        energy = nodes.integrable.energy
        kinetic = nodes.energy if energy is None or energy.kinetic is None else energy.kinetic
        kept = [nodes.node(key, "keep") for key in self.shown]
        measured = [nodes.node(m.expression, f"the measure {name!r}") for name, m in self.measures.items()]
        outputs = [*kept, nodes.balance, kinetic, *nodes.residuals, *measured]
        prepared = self.problem.branch.prepared(outputs)
        return function(nodes.time, (*self.state, *self.problem.branch.parameters), (), prepared)

    @cached_property
    def first_state(self) -> Function:
        """x at the start, of the user's symbols and parameters."""
        record = self.problem.integrable
        keys = tuple(map(symbol, self.starts.keys))
        own = [node for node in record.states if node.value not in record.equations.extra]
        return function(record.time, keys, (), [record.definitions.get(node, node) for node in own])

    @cached_property
    def computed(self) -> Function:
        """Expressions of the settings alone."""
        nodes = self.problem.nodes
        return function(nodes.time, nodes.settings, (), list(nodes.hoisted))

    def initial_states(self, columns: Mapping[Any, np.ndarray], values: np.ndarray) -> np.ndarray:
        """(states, runs)."""
        record, count = self.problem.integrable, len(values)
        x = np.zeros((len(self.state), count))
        found = self.first_state.rows(np.full(count, self.grid[0]), values, np.empty(0)).T
        x[: len(found)] = found
        for k, node in enumerate(record.states):
            if node.value in record.equations.extra:
                x[k] = columns.get(node.value, self.extra.get(node.value, 0.0))
        return x

    def settings_of(self, values: np.ndarray) -> np.ndarray:
        """(parameters, runs): p of every run."""
        nodes, count = self.problem.nodes, len(values)
        settings = np.repeat(self.problem.values[None, : len(nodes.settings)], count, axis=0)
        system = len(nodes.integrable.parameters)
        settings[:, :system] = values[:, len(values[0]) - system :]
        hoisted = self.computed.rows(np.zeros(count), settings, np.empty(0))
        held = np.zeros((count, len(nodes.integrable.corrections)))
        return np.ascontiguousarray(np.hstack([settings, hoisted, held]).T)

    def rates_of(self, keys: Sequence[sp.Expr]) -> Function:
        """The rates of states, of the state of a run and its parameters."""
        nodes, branch = self.problem.nodes, self.problem.branch
        own = dict(zip(nodes.state, nodes.rates, strict=True))
        rates = [own.get(symbol(key)) or nodes.node(key.diff(nodes.time.value), "rates") for key in keys]
        return function(nodes.time, (*self.state, *branch.parameters), (), branch.prepared(rates))

    def at_start(self, outputs: Function, columns: Mapping[Any, np.ndarray]) -> tuple[np.ndarray, dict[int, str]]:
        """Outputs of the state and the parameters at the start of every run, (runs, outputs), and starts not found."""
        count = len(next(iter(columns.values())))
        values, refusals = self.starts.solve(columns, count, doubts=False)
        rows = np.hstack([self.initial_states(columns, values).T, self.settings_of(values).T])
        return outputs.rows(np.full(count, self.grid[0]), rows, np.empty(0)), refusals

    def _values(self, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(outputs, runs, instants) of ``watched``; x is (instants, states, runs), t is (instants, runs)."""
        instants, _, runs = x.shape
        rows = np.empty((instants, runs, len(self.state) + len(p)))
        rows[:, :, : len(self.state)] = x.transpose(0, 2, 1)
        rows[:, :, len(self.state) :] = p.T
        found = self.watched.rows(t.ravel(), rows.reshape(instants * runs, -1), np.empty(0))
        return found.reshape(instants, runs, -1).transpose(2, 1, 0)

    def _block(
        self,
        runs: np.ndarray,
        columns: Mapping[Any, np.ndarray],
        values: np.ndarray,
        results: dict[str, np.ndarray],
        stop: threading.Event | None,
    ) -> np.ndarray:
        """Compute some runs in lanes; returns those that lanes could not finish."""
        x = self.initial_states({key: column[runs] for key, column in columns.items()}, values[runs])
        p = self.settings_of(values[runs])
        t = np.repeat(self.grid[:, None], len(runs), axis=1)
        motions = self.lanes.run(t, x, p, stop)
        states, codes = motions.states, motions.codes
        found, final = self._values(t, states, p), self._values(motions.ends[None, :], motions.last[None], p)[:, :, 0]
        kept, balance, kinetic = found[: len(self.shown)], found[len(self.shown)], found[len(self.shown) + 1]
        residuals = found[len(self.shown) + 2 : self.first_measure]
        with np.errstate(invalid="ignore"):
            error = np.nanmax(np.abs(balance - balance[:, :1]), axis=1)
            scale = np.nanmax(np.abs(kinetic), axis=1) + np.nanmax(np.abs(balance), axis=1)
            lost = (codes == DONE) & ~(error <= _LOST * scale + 1e-300)
            final = np.where(np.isfinite(final), final, np.array([_last(samples) for samples in found]))
        results["energy_error"][runs] = error
        results["largest_residual"][runs] = np.nanmax(np.abs(residuals), axis=(0, 2), initial=0.0)
        results["end_time"][runs] = motions.ends
        results["outcome"][runs] = np.array([OUTCOMES.index(kind) for kind in _KINDS])[codes]
        if self.keep != "measures":
            for key, samples, end in zip(self.shown, kept, final, strict=False):
                results[variable_name(key)][runs] = samples if self.keep == "motion" else end
        if self.measures:
            _add_ends(t, motions, found, final)
            self._measure(runs, t, motions, p, found[self.first_measure :], final[self.first_measure :], results)
        return runs[lost | (codes == NEEDS_PIVOTS)]

    # -- measures in lanes -------------------------------------------------------------------------------------

    def _measure(
        self,
        runs: np.ndarray,
        t: np.ndarray,
        motions: Motions,
        p: np.ndarray,
        y: np.ndarray,
        final: np.ndarray,
        results: dict[str, np.ndarray],
    ) -> None:
        """Every measure of a block, from samples y, (measures, runs, instants), and values at the end."""
        integrals = iter(range(len(self.state) - len(self.integrals), len(self.state)))
        for k, (name, measure) in enumerate(self.measures.items()):
            if measure.kind == INTEGRAL:
                results[name][runs] = motions.last[next(integrals)]
            elif measure.kind == FINAL:
                results[name][runs] = final[k]
            else:
                value = self._searched(k, measure, t, motions.states, p, y[k])
                results[name][runs] = at_least(measure, value, final[k]) if measure.is_extreme else value

    def _searched(
        self, k: int, measure: Measure, t: np.ndarray, states: np.ndarray, p: np.ndarray, y: np.ndarray
    ) -> np.ndarray:
        """An extreme or an instant: bracketed by the samples, then by finer ones that start from a sample."""
        first, runs = curve(measure, y), np.arange(y.shape[0])
        low, high = bracket(measure, first)
        use = runs[(low >= 0) & (high > low) & np.isfinite(first[runs, np.maximum(low, 0)])]
        value = np.full(len(runs), np.nan)
        if measure.is_extreme:
            value = located(measure, t.T, first)
        times, x = t, states
        lo, hi, places = low[use], high[use], use
        for _ in range(measure.rounds if len(use) else 0):
            start = np.ascontiguousarray(x[lo, :, places].T)
            a, b = times[lo, places], times[hi, places]
            times = a + (b - a) * np.linspace(0.0, 1.0, REFINED)[:, None]
            x = self.lanes.run(times, start, p[:, use]).states
            fine = curve(measure, self._values(times, x, p[:, use])[self.first_measure + k])
            lo, hi = bracket(measure, fine)
            lo, hi = np.maximum(lo, 0), np.maximum(hi, 1)
            places = np.arange(len(use))
        if len(use):
            value[use] = located(measure, times.T, fine)
        return unsettled(measure, first, float(t[0, 0]), value) if measure.kind == SETTLED else value

    @property
    def first_measure(self) -> int:
        """The place of the first measured expression among the outputs of ``watched``."""
        return len(self.shown) + 2 + len(self.problem.nodes.residuals)

    # -- one by one --------------------------------------------------------------------------------------------

    def _alone(self, run: int, varied: Mapping[Any, float], values: np.ndarray, results: dict[str, np.ndarray]) -> None:
        """One run by `simulate`; a refusal is its outcome."""
        try:
            self._simulated(run, varied, values, results)
        except VinculumError:
            results["outcome"][run] = OUTCOMES.index(REFUSED)

    def _simulated(
        self, run: int, varied: Mapping[Any, float], values: np.ndarray, results: dict[str, np.ndarray]
    ) -> None:
        motion = self.one(varied, values, self.grid)
        reached = len(motion.t) if motion.outcome else int(np.searchsorted(self.grid, motion.t[-1], side="right"))
        results["outcome"][run] = OUTCOMES.index(motion.outcome.kind)
        results["end_time"][run], results["energy_error"][run] = motion.t[-1], motion.energy_error
        results["largest_residual"][run] = max(motion.largest_residuals.values(), default=0.0)
        if self.keep == "motion":
            for key in self.shown:
                results[variable_name(key)][run, :reached] = motion[key][:reached]
        elif self.keep == "end":
            for key in self.shown:
                results[variable_name(key)][run] = motion[key][-1]
        for name, measure in self.measures.items():
            results[name][run] = self._measured_alone(measure, motion, varied)

    def one(self, varied: Mapping[Any, float], values: np.ndarray, times: np.ndarray) -> Any:
        """The trajectory of one run."""
        known = dict(zip(self.starts.keys, map(float, values), strict=True))
        equations = self.starts.equations
        initial = {key: known[key] for key in equations.user_symbols}
        initial |= {key: float(varied.get(key, self.extra.get(key, 0.0))) for key in equations.extra}
        parameters = {key: known[key] for key in self.starts.parameters}
        options = dict(self.options) | {"events": self.until, "progress": False}
        return simulate(equations, initial, times, self.method, parameters=parameters, **options)

    def _measured_alone(self, measure: Measure, motion: Any, varied: Mapping[Any, float]) -> float:
        """A measure of one trajectory; brackets are refined by further short runs from its samples."""
        if measure.kind == FINAL:
            return float(motion[measure.expression][-1])
        if measure.kind == INTEGRAL:
            return self._integral_alone(measure, motion, varied)
        first = curve(measure, motion[measure.expression])[None, :]
        t0, y, part = float(motion.t[0]), first, motion
        for _ in range(measure.rounds):
            low, high = (int(k[0]) for k in bracket(measure, y))
            if low < 0 or high <= low:
                break
            part = self._between(part, low, high, np.linspace(0.0, 1.0, REFINED), varied)
            y = curve(measure, part[measure.expression])[None, :]
        value = located(measure, part.t[None, :], y)
        return float((unsettled(measure, first, t0, value) if measure.kind == SETTLED else value)[0])

    def _between(self, motion: Any, low: int, high: int, shares: np.ndarray, varied: Mapping[Any, float]) -> Any:
        """The motion again between two of its samples, at the given shares of the interval."""
        keys = (*self.starts.equations.user_symbols, *self.starts.equations.extra)
        state = {key: float(motion[key][low]) for key in keys}
        parameters = {key: varied.get(key, value) for key, value in self.starts.parameters.items()}
        times = motion.t[low] + (motion.t[high] - motion.t[low]) * shares
        times[-1] = motion.t[high]
        equations, options = self.starts.equations, self.options
        return simulate(equations, state, times, self.method, parameters=parameters, progress=False, **options)

    def _integral_alone(self, measure: Measure, motion: Any, varied: Mapping[Any, float]) -> float:
        """Gauss's quadrature between the samples."""
        nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
        shares = np.concatenate([[0.0], (nodes + 1) / 2, [1.0]])
        total = 0.0
        for low in range(len(motion.t) - 1):
            part = self._between(motion, low, low + 1, shares, varied)
            total += 0.5 * (part.t[-1] - part.t[0]) * float(weights @ part[measure.expression][1:-1])
        return total


_FIELDS = tuple(name for name in Ensemble.__dataclass_fields__ if name != "local")


def _add_ends(t: np.ndarray, motions: Motions, found: np.ndarray, final: np.ndarray) -> None:
    """The end of a run that an event ended, as the sample after its last one; in place."""
    ended = np.flatnonzero(motions.codes == ENDED)
    place = np.argmax(np.isnan(motions.states[:, 0, ended]), axis=0)
    t[place, ended], motions.states[place, :, ended] = motions.ends[ended], motions.last[:, ended].T
    found[:, ended, place] = final[:, ended]


def _last(y: np.ndarray) -> np.ndarray:
    """The last finite sample of every run, (runs)."""
    reached = np.maximum((~np.isnan(y)).sum(axis=1) - 1, 0)
    return y[np.arange(len(y)), reached]


def instants(times: np.ndarray, steps: int, sampled: bool) -> np.ndarray:
    """The instants given; if the whole motion is needed and only its ends are given, two for every step of a run."""
    if len(times) > 2 or not sampled:
        return times
    return np.linspace(times[0], times[-1], int(np.clip(2 * steps, 64, 4096)) + 1)
