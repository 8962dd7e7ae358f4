"""The plan of a run (times, steps, samples), the recorder of its samples, largest residuals and events, and the
trajectory made from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.errors import Refused, VinculumError
from vinculum.options import real_number
from vinculum.simulation.problem.events import Happened
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.live_run import LiveRun, Segment
from vinculum.simulation.trajectory.outcome import Outcome
from vinculum.simulation.trajectory.trajectory import Trajectory
from vinculum.units.given import times_in_si

if TYPE_CHECKING:
    from vinculum.simulation.integrators.methods import Method
    from vinculum.simulation.stabilization.stabilization import Stabilization

_RECENT = 12  # chunks of steps that are remembered
_SAMPLES = 1000  # samples of a run whose instants were not given
_MOST_STEPS = 1e15  # of a fixed-step method: years of computing
_FEW = 30  # instants that are too few to judge the accuracy of a run by
_OTHERS = np.sort(np.arange(1, 14) * (math.sqrt(5) - 1) / 2 % 1)  # of a run: by the golden section they hit no period
_SHORTEST_RUN = 1e-3  # steps; a step that is a little longer than the interval is shortened
_MOST_KEPT = 1e8  # steps of a dense output: gigabytes


# -- the plan of a run -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """Times and method of a run."""

    method: Method
    t0: float
    t1: float
    instants: np.ndarray
    step: float = 0.0  # fixed-step methods: the step that fits the interval
    count: int = 0  # fixed-step methods: the number of steps
    why: str = ""  # why the method was chosen, when Vinculum chose it
    asked: np.ndarray | None = None  # the requested instants, if there are more
    stops: np.ndarray = field(default_factory=lambda: np.empty(0))  # adaptive methods: instants that end a step

    @property
    def requested(self) -> np.ndarray:
        """The instants at which samples are returned."""
        return self.instants if self.asked is None else self.asked

    def target(self, t: float) -> float:
        """Where the steps from t lead at most: the next stop, or the end."""
        sign = 1.0 if self.t1 > self.t0 else -1.0
        k = int(np.searchsorted(sign * self.stops, sign * t, side="right")) if len(self.stops) else 0
        return float(self.stops[k]) if k < len(self.stops) and sign * (self.t1 - self.stops[k]) > 0 else self.t1


@dataclass(frozen=True, eq=False)
class Run:
    """A plan, the stabilization of the constraints, the recorder, and the function that reports progress."""

    plan: Plan
    stabilization: Stabilization
    recorder: Recorder
    report: Callable[[float], None]  # called with the time reached
    bounds: Mapping[tuple[str, str], float] | None = None  # (constraint, level) -> |residual| that ends the run


def make_plan(grid: np.ndarray, method: Method, step: float | None, dense: bool, why: str) -> Plan:
    """Lay out the steps and samples of a run over checked times; adaptive methods have no ``step``."""
    t0, t1 = float(grid[0]), float(grid[-1])
    if step is None:
        even = np.linspace(t0, t1, _SAMPLES + 1)
        if len(grid) == 2:
            return Plan(method, t0, t1, even, why=why)
        fine = dense and not method.keeps_polynomials  # it is interpolated between the samples
        instants = _union(grid, even) if fine else _with_others(grid, t0 + _OTHERS * (t1 - t0))
        return Plan(method, t0, t1, instants, why=why, asked=None if instants is grid else grid)
    count = _count_steps(t0, t1, float(step), dense)
    every = 1 if dense else max(1, math.ceil(count / _SAMPLES))
    marks = np.append(np.arange(0, count, every), count)
    marked = np.append(t0 + marks[:-1] * ((t1 - t0) / count), t1)
    step, asked = (t1 - t0) / count, grid if len(grid) > 2 else marked
    if dense:
        return Plan(method, t0, t1, _union(marked, grid), step, count, why, asked)
    instants = asked if asked is marked else _with_others(grid, marked[(_OTHERS * len(marked)).astype(int)])
    return Plan(method, t0, t1, instants, step, count, why, None if instants is asked else asked)


def _with_others(grid: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A few instants with others between them: the motion may be at rest at all that were asked for."""
    return grid if len(grid) > _FEW else _union(grid, others)


def _union(grid: np.ndarray, others: np.ndarray) -> np.ndarray:
    """All instants in the order of the first."""
    return np.unique(np.append(grid, others))[:: 1 if grid[-1] > grid[0] else -1]


def _count_steps(t0: float, t1: float, step: float, dense: bool) -> int:
    """The number of steps over an interval; raises if they are shorter than the resolution of the time."""
    far, count = max(abs(t0), abs(t1)), abs(t1 - t0) / step
    if step < np.spacing(far) or count >= _MOST_STEPS:
        raise VinculumError(
            f"The step {step:.6g} is too short for the interval from {t0:.6g} to {t1:.6g}: near t = {far:.6g}, "
            f"double precision resolves {np.spacing(far):.2g}, and a run has at most {_MOST_STEPS:.0g} steps. Use a "
            "longer step or a shorter interval."
        )
    if count < _SHORTEST_RUN:
        raise VinculumError(f"The step {step:.6g} is far longer than the interval from {t0:.6g} to {t1:.6g}.")
    if dense and count > _MOST_KEPT:
        raise VinculumError(
            f"dense=True would keep all {count:.3g} steps, more than {_MOST_KEPT:.0g}. Leave it out, or use a longer "
            "step."
        )
    return max(1, math.ceil(count - 1e-9))


def check_times(times: Sequence[float] | np.ndarray) -> np.ndarray:
    """The times in seconds as an array of at least two finite numbers in order."""
    try:
        grid = _real_numbers(times_in_si(times))
    except Refused as refusal:
        raise VinculumError(f"Invalid times: {refusal}") from None
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all():
        raise VinculumError(f"times must be (start, end) or an array of finite instants; got {times!r}.")
    before, after = grid[:-1], grid[1:]
    if not ((after > before).all() or (after < before).all()):
        raise VinculumError("times must increase from first to last (or decrease, for a run backwards).")
    resolved = np.spacing(max(abs(grid[0]), abs(grid[-1])))
    if abs(grid[-1] - grid[0]) < _SAMPLES * resolved:
        raise VinculumError(
            f"The times from {grid[0]:.17g} to {grid[-1]:.17g} are too close: double precision resolves only "
            f"{resolved:.2g} there. Measure time from an instant near the start of the run."
        )
    return grid


def _real_numbers(times: object) -> np.ndarray:
    """The times as numbers; an empty array if they are something else, such as text."""
    try:
        given = np.asarray(times)
        numbers = [real_number(value) for value in given] if given.dtype == object else given
        return np.asarray(numbers, dtype=float) if given.dtype.kind in "iufO" else np.empty(0)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


# -- samples, and the trajectory made from them ------------------------------------------------------------------


@dataclass
class Recorder:
    """Collects samples at the requested instants, and maxima over all steps."""

    instants: np.ndarray
    keep_dense: bool = False
    segments: list[Segment] = field(default_factory=list)  # finished ones
    times: list[np.ndarray] = field(default_factory=list)  # of the present segment
    states: list[np.ndarray] = field(default_factory=list)
    unclosed: int = 0  # samples of the present segment
    dense: list[Any] = field(default_factory=list)  # heyoka's polynomials of every chunk of steps
    recent: list[Any] = field(default_factory=list)  # polynomials of the last steps, in the present variables
    events: list[Happened] = field(default_factory=list)
    closed_events: int = 0  # those before the present segment
    residuals: np.ndarray | None = None  # the largest of each
    balance_start: float = float("nan")  # E - w at the start
    balance_error: float = 0.0  # the largest |E - w - balance_start|
    steps: int = 0
    parts: list[tuple[Problem, float, float]] = field(default_factory=list)  # what was integrated, from when to when

    @property
    def written(self) -> int:
        """The number of samples."""
        return self.unclosed + sum(len(segment.t) for segment in self.segments)

    @property
    def last(self) -> float | None:
        """The time of the last sample."""
        if self.times:
            return float(self.times[-1][-1])
        return float(self.segments[-1].t[-1]) if self.segments else None

    def add(self, times: np.ndarray, states: np.ndarray) -> None:
        """Append samples, in arrays that do not change any more."""
        if len(times):
            self.times.append(times)
            self.states.append(states)
            self.unclosed += len(times)

    def grow(self, times: np.ndarray, states: np.ndarray, known: int) -> None:
        """Append samples; the first ``known`` are those of the last piece, so that a long run is one piece."""
        if known:
            self.times.pop()
            self.states.pop()
            self.unclosed -= known
        self.add(times, states)

    def close(self, problem: Problem) -> None:
        """End a segment; the variables may change after it."""
        if self.times:
            self.segments.append(Segment(problem, np.concatenate(self.times), _stacked(self.states)))
        self.times, self.states, self.unclosed, self.closed_events = [], [], 0, len(self.events)

    def used(self) -> list[tuple[Problem, np.ndarray]]:
        """The problems of the run, each with the intervals in which it was integrated, (N, 2)."""
        found: dict[int, tuple[Problem, list[tuple[float, float]]]] = {}
        for problem, begin, end in self.parts:
            key = id(problem.nodes.on(None))
            _, intervals = found.get(key, (problem, []))
            intervals.append((begin, end))
            found[key] = problem, intervals
        return [(problem, np.array(intervals)) for problem, intervals in found.values()]

    def remember(self, dense: Any) -> None:
        """Keep the polynomials of the last chunks of steps."""
        self.recent = [*self.recent[1 - _RECENT :], dense]

    def observe(self, residuals: np.ndarray, balance_error: float) -> None:
        """Update the maxima with the largest residuals and balance error of a part of the run."""
        residuals = np.abs(residuals)
        self.residuals = residuals if self.residuals is None else np.maximum(self.residuals, residuals)
        self.balance_error = max(self.balance_error, float(balance_error))

    def measure(self, balances: np.ndarray, residuals: np.ndarray) -> None:
        """Observe E - w, (N), and residuals, (N, r), at some steps; the first E - w of the run is its reference."""
        if np.isnan(self.balance_start):
            self.balance_start = float(balances[0])
        self.observe(np.abs(residuals).max(axis=0, initial=0.0), np.abs(balances - self.balance_start).max())

    def end(self, time: float) -> None:
        """Drop what was recorded after the time at which the run is no longer the motion."""
        kept = [replace(s, t=s.t[s.t <= time], states=s.states[s.t <= time]) for s in self.segments]
        self.segments = [segment for segment in kept if len(segment.t)]
        self.events = [event for event in self.events if event.time <= time]

    def cut(self, time: float, direction: float) -> None:
        """Drop the samples beyond a time; used when a terminal event ends the run inside a step."""
        if not self.times:
            return
        times, states = np.concatenate(self.times), np.vstack(self.states)
        keep = (times - time) * direction <= 0
        self.times, self.states = ([times[keep]], [states[keep]]) if keep.any() else ([], [])
        self.unclosed = int(keep.sum())


def _stacked(pieces: list[np.ndarray]) -> np.ndarray:
    """All samples in one array; a single piece that fills its memory stays where it is."""
    whole = len(pieces) == 1 and (pieces[0].base is None or len(pieces[0]) == len(pieces[0].base))
    return pieces[0] if whole else np.concatenate(pieces)


def make_trajectory(
    plan: Plan,
    recorder: Recorder,
    outcome: Outcome,
    described: str,
    dense: bool,
    seconds: dict[str, float],
) -> Trajectory:
    """The trajectory of a finished run; ``described`` is its stabilization in words."""
    nodes = recorder.segments[0].problem.nodes
    fine = tuple(recorder.segments)
    segments = fine if plan.asked is None else _thin(fine, plan.asked)
    kept = tuple(recorder.dense) if recorder.keep_dense else fine if dense else ()
    largest = recorder.residuals if recorder.residuals is not None else np.zeros(len(nodes.residuals))
    return Trajectory(
        t=np.concatenate([segment.t for segment in segments]),
        outcome=outcome,
        run=LiveRun(segments, kept),
        largest_residuals=dict(zip(nodes.residual_names, largest.tolist(), strict=True)),
        energy_error=recorder.balance_error,
        method=plan.method.described(plan.step) + (f" (chosen: {plan.why})" if plan.why else ""),
        stabilization=described,
        events=tuple(recorder.events),
        steps=recorder.steps,
        seconds=seconds,
    )


def _thin(segments: Sequence[Segment], asked: np.ndarray) -> tuple[Segment, ...]:
    """Only the requested samples and the last one."""
    last = segments[-1].t[-1]
    kept = [np.isin(s.t, asked) | (s.t == last) for s in segments]
    return tuple(replace(s, t=s.t[k], states=s.states[k]) for s, k in zip(segments, kept, strict=True) if k.any())
