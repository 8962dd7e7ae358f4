"""The runs of a study: prepared once, then computed in blocks of any size, on any thread or machine.

An `Ensemble` has no machine code and pickles; every process compiles it once. Smooth equations under the Taylor method
run in lanes, and methods with a fixed step and BDF in compiled loops over the runs of a block. A run that these cannot
finish (its pivots must change, or it lost its energy), and every run from corner to corner, is made by `simulate`, one
by one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.ensembles.alone import OUTCOMES, REFUSED, fill_alone, run_alone
from vinculum.ensembles.block import Block
from vinculum.ensembles.doubts import is_accurate
from vinculum.ensembles.lanes import DONE, ENDED, NOT_FINITE, STUCK, UNDECIDED, Lanes, Motions, check_stop
from vinculum.ensembles.measures import (
    INTEGRAL,
    Measure,
    last_places,
    zero_at_event,
)
from vinculum.ensembles.quadrature import has_corners
from vinculum.ensembles.starts import Starts
from vinculum.ensembles.steps import FixedSteps, Steps, StiffSteps
from vinculum.errors import VinculumError
from vinculum.graph import Node, jacobian, symbol
from vinculum.names import variable_name
from vinculum.simulation.integrators.bdf import BDF
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.problem.events import DIRECTIONS, Event
from vinculum.simulation.problem.pivots import WATCH_LIMIT
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.pulses import stops
from vinculum.simulation.problem.ranges import margins
from vinculum.simulation.problem.time_cells import narrow_functions
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS, Stabilization
from vinculum.simulation.trajectory.outcome import EVENT, FINISHED, NON_FINITE, STALLED

_KINDS = (FINISHED, NON_FINITE, NON_FINITE, EVENT, STALLED)  # of the codes of lanes; small pivots are run again
_LOST = 1e-6  # a larger relative energy error is judged by `simulate`
_BLOCK, _MOST_BLOCKS = 64, 16  # registers full of runs that are computed together; more if runs have few samples


class Idle:
    """Integrators that no thread uses now, and how fast they were. Copies of a study make their own."""

    def __init__(self) -> None:
        self.integrators: list[Lanes | Steps] = []
        self.rate = 0.0  # runs in a second of one thread, in the last part; 0 before it

    def __repr__(self) -> str:
        return "Idle()"


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
    treatment: Stabilization
    instants: np.ndarray  # of the samples of a run; more than the grid if only its ends are given
    until: tuple[Event, ...] = ()  # events that end a run
    idle: Idle = field(default_factory=Idle)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, idle=Idle())

    # -- what a block gives ------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """{variable: its dimensions beyond the run}."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(self.measures, ())
        if self.keep != "measures":
            dims = ("time",) if self.keep == "motion" else ()
            found |= dict.fromkeys(self.kept_names, dims)
        return found | {"outcome": (), "end_time": (), "energy_error": (), "largest_residual": ()}

    @cached_property
    def kept_names(self) -> tuple[str, ...]:
        """The names of the quantities of which the end or the motion is kept."""
        return tuple(map(variable_name, self.shown))

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
            with self.borrowed() as lanes:
                size = max(_BLOCK, _BLOCK * _MOST_BLOCKS // len(self.instants)) * lanes.width
                parts = [alone[k : k + size] for k in range(0, len(alone), size)]
                left = [self._block(lanes, part, columns, values, results, stop) for part in parts]
            alone = np.concatenate([alone[:0], *left])
        for run in alone:
            check_stop(stop)
            self._alone(int(run), {key: float(column[run]) for key, column in columns.items()}, values[run], results)
        return results

    # -- in lanes ----------------------------------------------------------------------------------------------

    @cached_property
    def in_lanes(self) -> bool:
        """Whether runs are computed in blocks: without corners at which the method would stop.

        In lanes of the Taylor method, the stabilization must be feedback.
        """
        method, acts = self.method, self.treatment.acts
        if self.problem.sides is not None or (method.follows_corners and self.problem.nodes.corners):
            return False
        if isinstance(method, Taylor):
            return acts != AFTER_STEPS or not self.problem.integrable.constraints
        return isinstance(method, BDF) or type(method).integrate is FixedStep.integrate

    @cached_property
    def integrals(self) -> dict[Node, Node]:
        """{symbol of an integral: its rate}."""
        nodes = self.problem.nodes
        return {
            symbol(("integral", name)): nodes.node(one.expression, f"the measure {name!r}")
            for name, one in self.measures.items()
            if one.kind == INTEGRAL and name not in self.pieced
        }

    @cached_property
    def pieced(self) -> frozenset[str]:
        """The integrals that Taylor's method cannot integrate along with the motion: their integrands have corners."""
        return pieced_integrals(self.problem, self.method, self.measures)

    @cached_property
    def state(self) -> tuple[Node, ...]:
        """x, works, and integrals."""
        return (*self.problem.nodes.state, *self.integrals)

    @contextmanager
    def borrowed(self) -> Iterator[Lanes | Steps]:
        """An integrator that no other thread uses; threads come and go, integrators stay."""
        try:
            lanes = self.idle.integrators.pop()
        except IndexError:
            lanes = self._integrator()
        yield lanes
        self.idle.integrators.append(lanes)  # not after an error: its state may be anything

    @cached_property
    def _edges(self) -> tuple[Node, ...]:
        """The margins of functions, in integrals too, whose series leave their ranges."""
        nodes = self.problem.nodes
        functions = [*nodes.rates, *nodes.event_functions, *self.integrals.values()]
        return tuple(margins(functions, {nodes.time, *self.state}))

    def _integrator(self) -> Lanes | Steps:
        method, problem = self.method, self.problem
        if isinstance(method, FixedStep):
            return FixedSteps(method, problem, self.treatment, self.integrals)
        if isinstance(method, BDF):
            return StiffSteps(method, problem, self.integrals)
        nodes, branch = problem.nodes, problem.branch
        rates = branch.prepared([*nodes.rates, *self.integrals.values()])
        watch, *ends = branch.prepared([nodes.watch.plain, *nodes.event_functions])
        until = [(node, DIRECTIONS[event.direction]) for node, event in zip(ends, self.until, strict=True)]
        edges = branch.prepared(self._edges)
        return Lanes(
            nodes.time, self.state, branch.parameters, rates, watch, edges, until, method.tolerance, method.compact
        )

    def stops_of(self, p: np.ndarray, times: np.ndarray | None = None) -> list[np.ndarray]:
        """The instants of every run at which its steps end, because a function of time is narrow there."""
        times = self.grid if times is None else times
        t0, t1, also = float(times[0]), float(times[-1]), tuple(self.integrals.values())
        if not narrow_functions(self.problem, also):
            return []
        return [stops(self.problem, t0, t1, column, also) for column in p.T]

    @cached_property
    def outputs(self) -> list[Node]:
        """Kept quantities, energy balance, kinetic energy, residuals and measured expressions."""
        nodes = self.problem.nodes
        energy = nodes.integrable.energy
        kinetic = nodes.energy if energy is None or energy.kinetic is None else energy.kinetic
        kept = [nodes.node(key, "keep") for key in self.shown]
        measured = [nodes.node(m.expression, f"the measure {name!r}") for name, m in self.measures.items()]
        return [*kept, nodes.balance, kinetic, *nodes.residuals, *measured]

    @cached_property
    def watched(self) -> Function:
        """The outputs, of (t, x, p)."""
        prepared = self.problem.branch.prepared(self.outputs)
        return function(self.problem.nodes.time, (*self.state, *self.problem.branch.parameters), (), prepared)

    @cached_property
    def first_state(self) -> Function:
        """x at the start, of the user's symbols and parameters."""
        keys = tuple(map(symbol, self.starts.keys))
        return function(self.problem.integrable.time, keys, (), self._first_nodes)

    @property
    def _first_nodes(self) -> list[Node]:
        record = self.problem.integrable
        own = [node for node in record.states if node.value not in record.equations.extra]
        return [record.definitions.get(node, node) for node in own]

    def initial_slopes(self, columns: Mapping[Any, np.ndarray], values: np.ndarray) -> np.ndarray | None:
        """dx/d(columns) at one start, (states, columns); None where the constraints do not determine it."""
        D, record = self.starts.slopes(columns, values), self.problem.integrable
        if D is None:
            return None
        keys, nodes = tuple(map(symbol, self.starts.keys)), self._first_nodes
        rates = function(record.time, keys, (), list(jacobian(nodes, keys).ravel()))
        slopes = np.zeros((len(self.state), len(columns)))
        slopes[: len(nodes)] = rates(float(self.grid[0]), values, np.empty(0)).reshape(len(nodes), -1) @ D
        for k, node in enumerate(record.states):
            if node.value in record.equations.extra:
                slopes[k] = [float(node.value == column) for column in columns]
        return slopes

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
        known, system = len(nodes.settings), len(nodes.integrable.parameters)
        p = np.zeros((known + len(nodes.hoisted) + len(nodes.integrable.corrections), count))
        p[:known] = self.problem.values[:known, None]
        p[:system] = values[:, len(values[0]) - system :].T
        if nodes.hoisted:
            p[known : known + len(nodes.hoisted)] = self.computed.rows(np.zeros(count), p[:known].T, np.empty(0)).T
        return p

    def rates_of(self, keys: Sequence[sp.Expr]) -> Function:
        """The rates of states, of the state of a run and its parameters; where they have corners, on either side."""
        nodes = self.problem.nodes
        branch = nodes.on(None)
        own = dict(zip(nodes.state, nodes.rates, strict=True))
        rates = [own.get(symbol(key)) or nodes.node(key.diff(nodes.time.value), "rates") for key in keys]
        return function(nodes.time, (*self.state, *branch.parameters), (), branch.prepared(rates))

    def at_start(self, outputs: Function, columns: Mapping[Any, np.ndarray]) -> tuple[np.ndarray, dict[int, str]]:
        """Outputs of the state and the parameters at the start of every run, (runs, outputs), and starts not found."""
        count = len(next(iter(columns.values())))
        values, refusals = self.starts.solve(columns, count, doubts=False)
        rows = np.hstack([self.initial_states(columns, values).T, self.settings_of(values).T])
        return outputs.rows(np.full(count, self.grid[0]), rows, np.empty(0)), refusals

    def values_at(self, t: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(outputs, runs, instants) of ``watched``; x is (instants, states, runs), t is (instants, runs)."""
        instants, _, runs = x.shape
        rows = np.empty((instants, runs, len(self.state) + len(p)))
        for k in range(len(self.state)):  # three times as fast as all at once
            rows[:, :, k] = x[:, k]
        rows[:, :, len(self.state) :] = p.T
        found = self.watched.rows(t.ravel(), rows.reshape(instants * runs, -1), np.empty(0))
        return found.reshape(instants, runs, -1).transpose(2, 1, 0)

    def _has_no_event_value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Whether the expression of an event is not finite at the start of a run."""
        nodes, branch = self.problem.nodes, self.problem.branch
        if not self.until:
            return np.zeros(x.shape[1], dtype=bool)
        ends = function(nodes.time, (*self.state, *branch.parameters), (), branch.prepared(nodes.event_functions))
        found = ends.rows(np.full(x.shape[1], self.grid[0]), np.vstack([x, p]).T.copy(), np.empty(0))
        return ~np.isfinite(found).all(axis=1)

    def _has_small_pivots(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Whether the pivots of the equations have to change at the start of a run already."""
        nodes, branch = self.problem.nodes, self.problem.branch
        watch = function(nodes.time, (*self.state, *branch.parameters), (), branch.prepared([nodes.watch.plain]))
        found = watch.rows(np.full(x.shape[1], self.grid[0]), np.vstack([x, p]).T.copy(), np.empty(0))[:, 0]
        return np.asarray(~(found <= WATCH_LIMIT))

    def _finals(self, motions: Motions, p: np.ndarray, found: np.ndarray) -> np.ndarray:
        """(outputs, runs) at the end of every run; of a run that broke down, at its last sample with values."""
        final = self.values_at(motions.ends[None, :], motions.last[None], p)[:, :, 0]
        known = np.isfinite(final) | np.isin(motions.codes, (DONE, ENDED))
        return np.where(known, final, np.array([_last(samples) for samples in found]))

    def _block(
        self,
        lanes: Lanes | Steps,
        runs: np.ndarray,
        columns: Mapping[Any, np.ndarray],
        values: np.ndarray,
        results: dict[str, np.ndarray],
        stop: threading.Event | None,
    ) -> np.ndarray:
        """Compute some runs in lanes; returns those that lanes could not finish."""
        x = self.initial_states({key: column[runs] for key, column in columns.items()}, values[runs])
        p = self.settings_of(values[runs])
        t = np.repeat(self.instants[:, None], len(runs), axis=1)
        motions = lanes.run(t, x, p, stop, self.stops_of(p))
        states, codes = motions.states, motions.codes
        at_edge = bool(self._edges) & (codes == NOT_FINITE)
        codes[self._has_no_event_value(x, p) | (bool(self.until) & (codes == STUCK)) | at_edge] = UNDECIDED
        broken = np.flatnonzero(codes == NOT_FINITE)
        if len(broken):
            codes[broken[self._has_small_pivots(x[:, broken], p[:, broken])]] = UNDECIDED
        found = self.values_at(t, states, p)
        final = found[:, :, -1].copy() if (codes == DONE).all() else self._finals(motions, p, found)
        kept, balance, kinetic = found[: len(self.shown)], found[len(self.shown)], found[len(self.shown) + 1]
        residuals = found[len(self.shown) + 2 : self.first_measure]
        with np.errstate(invalid="ignore"):
            error = np.nanmax(np.abs(balance - balance[:, :1]), axis=1)
            scale = np.nanmax(np.abs(kinetic), axis=1) + np.nanmax(np.abs(balance), axis=1)
            lost = (codes == DONE) & ~(error <= _LOST * scale + 1e-300)
        results["energy_error"][runs] = error
        results["largest_residual"][runs] = np.nanmax(np.abs(residuals), axis=(0, 2), initial=0.0)
        if motions.balance_errors is not None and motions.residuals is not None:  # of all steps, as `simulate` has them
            lost = (codes == DONE) & ~is_accurate(self.method, self.problem, motions, p, kinetic)
            results["energy_error"][runs] = motions.balance_errors
            results["largest_residual"][runs] = motions.residuals.max(axis=1, initial=0.0)
        results["end_time"][runs] = motions.ends
        results["outcome"][runs] = np.array([OUTCOMES.index(kind) for kind in _KINDS])[codes]
        if self.keep != "measures":
            for name, samples, end in zip(self.kept_names, kept, final, strict=False):
                results[name][runs] = samples if self.keep == "motion" else end
        if self.measures:
            _add_ends(t, motions, found, final)
            y, ends = found[self.first_measure :], final[self.first_measure :]
            ended = motions.codes == ENDED
            for k, measure in enumerate(self.measures.values()):
                y[k, ended] = zero_at_event(measure, y[k, ended])
            found_of = Block(self, lanes, t, motions, p).measures(y, ends)
            for name, values in found_of.items():
                results[name][runs] = values
        return runs[lost | (codes == UNDECIDED)]

    @property
    def first_measure(self) -> int:
        """The place of the first measured expression among the outputs of ``watched``."""
        return len(self.shown) + 2 + len(self.problem.nodes.residuals)

    # -- one by one --------------------------------------------------------------------------------------------

    def _alone(self, run: int, varied: Mapping[Any, float], values: np.ndarray, results: dict[str, np.ndarray]) -> None:
        """One run by `simulate`; a refusal is its outcome."""
        try:
            fill_alone(self, run, varied, values, results)
        except VinculumError:
            results["outcome"][run] = OUTCOMES.index(REFUSED)

    def one(self, varied: Mapping[Any, float], values: np.ndarray, times: np.ndarray) -> Any:
        """The trajectory of one run."""
        return run_alone(self, varied, values, times)


_FIELDS = tuple(name for name in Ensemble.__dataclass_fields__ if name != "idle")


def _add_ends(t: np.ndarray, motions: Motions, found: np.ndarray, final: np.ndarray) -> None:
    """The end of a run that an event ended, as the sample after its last one; in place."""
    ended = np.flatnonzero(motions.codes == ENDED)
    place = np.argmax(np.isnan(motions.states[:, 0, ended]), axis=0)
    t[place, ended], motions.states[place, :, ended] = motions.ends[ended], motions.last[:, ended].T
    found[:, ended, place] = final[:, ended]


def _last(y: np.ndarray) -> np.ndarray:
    """The last finite sample of every run, (runs)."""
    return y[np.arange(len(y)), last_places(y)]


def pieced_integrals(problem: Problem, method: Any, measures: Mapping[str, Measure]) -> frozenset[str]:
    """The names of integrals with corners in their integrands, of a method that follows smooth ones only."""
    if not isinstance(method, Taylor):
        return frozenset()
    integrals = {name: one for name, one in measures.items() if one.kind == INTEGRAL}
    return frozenset(
        name
        for name, one in integrals.items()
        if has_corners(problem.nodes.node(one.expression, f"the measure {name!r}"))
    )


def instants(times: np.ndarray, steps: int, sampled: bool) -> np.ndarray:
    """The instants given; if the whole motion is needed and only its ends are given, two for every step of a run."""
    if len(times) > 2 or not sampled:
        return times
    return np.linspace(times[0], times[-1], int(np.clip(2 * steps, 64, 4096)) + 1)
