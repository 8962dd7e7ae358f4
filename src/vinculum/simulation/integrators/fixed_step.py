"""What the fixed-step methods share: a step, tables of coefficients, and compiled loops over compiled functions."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from vinculum.compile.machine import COMPILING
from vinculum.errors import About, Finding, VinculumError, Word, call
from vinculum.options import real_number
from vinculum.simulation.integrators.methods import Method, Reached, next_chunk
from vinculum.simulation.problem.events import DIRECTIONS, Happened, endless_events, no_value
from vinculum.simulation.problem.pivots import JUMPED, WATCH_LIMIT
from vinculum.simulation.stabilization.feedback import projection_outputs
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS, Stabilization
from vinculum.simulation.trajectory.outcome import (
    INACCURATE,
    NON_FINITE,
    REPIVOT,
    Cause,
    Outcome,
    ended_by,
    finished,
    jumped,
)

if TYPE_CHECKING:
    from vinculum.compile.function import Function
    from vinculum.graph import Node
    from vinculum.simulation.integrators.loops import Work  # Numba is imported only when a loop runs
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan, Recorder, Run

Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (t, x) of many rows -> ẋ
_CHUNK_SECONDS = 0.2  # a loop returns to Python (progress, Ctrl-C) about this often
_SHORTEST_CHUNK, _LONGEST_CHUNK = 256, 10**8  # steps


class Tables(NamedTuple):
    """Coefficients for the compiled loop: the tableau (A, b) of all or of the first steps, then those of the memory."""

    A: np.ndarray
    b: np.ndarray
    predictor: np.ndarray
    corrector: np.ndarray


class FixedStep(Method):
    """A method with a fixed step. The coefficients in ``tables`` also determine the bounds of the residuals."""

    options: ClassVar[tuple[str, ...]] = ("step",)
    adaptive: ClassVar[bool] = False
    starter: ClassVar[FixedStep | None] = None  # takes the first steps

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, step={self.step})"

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if the step is not positive."""
        if self.step is None and step_is_chosen:
            return
        step = real_number(self.step)
        if step is None or step <= 0:
            found = f"The method {self.name!r} needs a positive step; got {self.step!r}."
            raise VinculumError(Finding(found, ["Use ", call("simulate", step=Word("1e-3")), ", for instance."]))

    @property
    def tables(self) -> Tables:
        """The coefficients."""
        raise NotImplementedError

    def holds_feedback(self, stabilization: Stabilization) -> bool:
        """Whether feedback is held through the stages of a step."""
        raise NotImplementedError

    def pilot_stabilization(self, step: float) -> Stabilization:
        """Safe feedback for a pilot run."""
        raise NotImplementedError

    def step_matrix(self, gains: Sequence[float], step: float, sampled: bool) -> np.ndarray:
        """S of η⁺ = S η + d for one chain of residuals."""
        raise NotImplementedError

    def stability_limit(self, sampled: bool = False) -> float:
        """The largest z = kτ for which η̇ = -kη does not grow."""
        raise NotImplementedError

    def defect_order(self, sampled: bool) -> int:
        """q of the defect O(τ^q) that one step leaves in the constraints."""
        raise NotImplementedError

    def step_rows(
        self, held: Rates, closed: Rates, t: np.ndarray, x: np.ndarray, step: float, sampled: bool
    ) -> np.ndarray:
        """One step of all rows of states, with feedback held or closed."""
        raise NotImplementedError

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Take the remaining steps from (t, x) to the end of the plan."""
        return _integrate(self, problem, run, t, x)


def gentle_rate(problem: Problem, plan: Plan, x: np.ndarray) -> float:
    """The rate of the motion itself, at most 0.2/τ: for feedback that acts on stages."""
    return min(problem.motion_rate(plan.t0, x), 0.2 / abs(plan.step))


def _integrate(method: FixedStep, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    """Run the compiled loop chunk by chunk. Returns the outcome with the time and state reached."""
    t1, step, recorder = run.plan.t1, run.plan.step, run.recorder
    count = run.plan.count - round((t0 - run.plan.t0) / step)
    with COMPILING:  # Numba compiles the loop at its first call
        from vinculum.simulation.integrators import loops

        bounded, tables = run.bounds is not None, method.tables
        functions = compile_functions(method, problem, run.stabilization, bounded)  # kept alive during the run
        work = make_work(
            method, problem, run.stabilization, functions, x, recorder.instants[recorder.written :],
            start=t0, step=step, count=count, balance=recorder.balance_start, bounds=run.bounds,
        )  # fmt: skip
        loops.advance(work, *tables, 0, 0)
    i, chunk = 0, _SHORTEST_CHUNK
    while i <= count:
        began, before, first = clock.perf_counter(), int(work.cursor[0]), i
        code, i = loops.advance(work, *tables, first, min(first + chunk, count + 1))
        recorder.steps += int(min(i, count) - min(first, count))
        _collect(work, recorder, before)
        run.report(t0 + min(i, count) * step)
        if code == loops.HAPPENED:
            seen = len(recorder.events)
            ending = _take_events(problem, work, recorder)
            if ending is not None:
                return ending, ending.time, work.x
            ending = endless_events(recorder, seen, t1 - run.plan.t0)
            if ending is not None:
                return _cut_short(work, recorder, ending, i)
        elif code == loops.UNDEFINED:
            number, time = int(work.search.place[2]), float(work.search.place[3])
            return _cut_short(work, recorder, no_value(problem.nodes.events[number], time), i)
        elif code != loops.DONE:
            return _explain_stop(code, problem, work, i)
        else:
            spent = clock.perf_counter() - began
            chunk = next_chunk(chunk, spent, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)
    return finished(t1), t1, work.x


class Functions(NamedTuple):
    """Machine code that a compiled loop calls by its address."""

    full: Function  # evaluated at the start of a step
    stage: Function  # evaluated in the later stages (rates only)
    constraint: Function | None  # residuals and Jacobians for projection
    levels: np.ndarray  # how to read them
    watch: Function | None  # residuals, for a run with bounds
    events: Function | None  # event functions


def compile_functions(
    method: FixedStep,
    problem: Problem,
    stabilization: Stabilization,
    bounded: bool = False,
    further: Mapping[Node, Node] | None = None,
) -> Functions:
    """The compiled functions of a problem; ``further`` = {state: rate} is integrated along with it."""
    nodes, added = problem.nodes, further or {}
    compiled = partial(problem.compiled, further=tuple(added))
    n = len(nodes.state)
    watch = compiled(nodes.residuals) if bounded else None
    events = compiled([*nodes.event_functions, *nodes.event_sizes]) if nodes.events else None
    later = nodes.held_rates if method.holds_feedback(stabilization) else nodes.rates
    full = compiled((*nodes.rates, *added.values(), *nodes.monitored[n:]) if added else nodes.monitored)
    stage = compiled((*later, *added.values()) if added else later) if len(method.tables.b) > 1 else full
    if stabilization.acts != AFTER_STEPS:
        return Functions(full, stage, None, np.zeros((0, 4), dtype=np.int64), watch, events)
    outputs, levels = projection_outputs(problem)
    rows = np.array(levels, dtype=np.int64).reshape(-1, 4)
    return Functions(full, stage, compiled(outputs), rows, watch, events)


def make_work(
    method: FixedStep,
    problem: Problem,
    stabilization: Stabilization,
    functions: Functions,
    x: np.ndarray,
    instants: np.ndarray,
    *,
    start: float = 0.0,
    step: float = 0.0,
    count: int = 0,
    balance: float = math.nan,
    bounds: Mapping[tuple[str, str], float] | None = None,
) -> Work:
    """The addresses of functions and the arrays in which steps are made."""
    from vinculum.simulation.integrators.loops import Work
    from vinculum.simulation.integrators.step_events import make_search

    nodes, tables = problem.nodes, method.tables
    full, stage, constraint, levels, watch, events = functions
    n, names = len(x), nodes.residual_names
    directions = [DIRECTIONS[event.direction] for event in nodes.events]
    return Work(
        full=full.address, stage=stage.address, constraint=constraint.address if constraint else 0, levels=levels,
        held=len(nodes.corrections) if method.holds_feedback(stabilization) else 0,
        t0=float(start), h=float(step), final=count, limit=WATCH_LIMIT, jumped=JUMPED,
        x=np.array(x, dtype=float), p=problem.values.copy(), out=np.empty(full.size), spare=np.empty(full.size),
        point=np.empty(n), K=np.empty((len(tables.b), n)),
        maxima=np.append(np.zeros(len(nodes.residuals) + 1), balance),
        instants=instants, samples=np.empty((len(instants), n)), cursor=np.array([0, -1, 0]),
        before=np.zeros((2, n)), search=make_search(events.address if events else 0, directions, n),
        history=np.zeros((max(len(tables.predictor), 1), n)), watch=watch.address if watch else 0,
        bounds=np.array([bounds.get(name, np.inf) for name in names]) if bounds else np.full(len(names), np.inf),
        inside=np.empty((5, watch.size if watch else 0)), peaks=np.zeros(len(nodes.residuals)),
    )  # fmt: skip


def _collect(work: Work, recorder: Recorder, before: int) -> None:
    """Hand over the samples written since ``before``, and the maxima."""
    after = int(work.cursor[0])
    if after > before:
        recorder.grow(work.instants[:after], work.samples[:after], before)
    recorder.observe(np.maximum(work.maxima[:-2], work.peaks), work.maxima[-2])
    recorder.balance_start = float(work.maxima[-1])


def _take_events(problem: Problem, work: Work, recorder: Recorder) -> Outcome | None:
    """Record the events of this step; a terminal one ends the run at its time."""
    direction, search = float(np.sign(work.h)), work.search
    hits = sorted((time * direction, j) for j, time in enumerate(search.hits) if np.isfinite(time))
    for _, j in hits:
        event, time = problem.nodes.events[j], float(search.hits[j])
        recorder.events.append(Happened(event.name, time, bool(search.rising[j])))
        if event.terminal:
            recorder.cut(time, direction)
            recorder.add(np.array([time]), search.at[j : j + 1].copy())
            return ended_by(event.name, time)
    return None


def _cut_short(work: Work, recorder: Recorder, outcome: Outcome, i: int) -> Reached:
    """A run that ends inside step i - 1 → i: time and state at the beginning of the step."""
    recorder.cut(outcome.time, float(np.sign(work.h)))
    return outcome, work.t0 + (i - 1) * work.h, work.before[0].copy()


def _explain_stop(code: int, problem: Problem, work: Work, i: int) -> tuple[Outcome, float, np.ndarray]:
    """The outcome if a pivot became small (continue here), a number is not finite or a bound is exceeded (back to the
    last good state).
    """
    from vinculum.simulation.integrators import loops

    t, last = work.t0 + i * work.h, work.t0 + max(i - 1, 0) * work.h
    if code == loops.PIVOT and work.out[work.x.size] < JUMPED:
        return Outcome(REPIVOT, t), t, work.x.copy()
    beyond = (t, work.x.copy())
    if code == loops.EXCEEDED:
        return Outcome(INACCURATE, last, _exceeded(problem, work), beyond), last, work.before[0].copy()
    outcome = jumped(last, beyond) if code == loops.PIVOT else Outcome(NON_FINITE, last, Cause(), beyond)
    return outcome, last, work.before[0].copy()


def _exceeded(problem: Problem, work: Work) -> Cause:
    """The residual that exceeded its bound the most."""
    worst = int(np.argmax(work.peaks / work.bounds))
    constraint, level = problem.nodes.residual_names[worst]
    numbers = {"residual": float(work.peaks[worst]), "bound": float(work.bounds[worst])}
    about = [About("constraint", constraint), About("level", level)]
    return Cause("bound exceeded", about, numbers, Finding("", ["Use a smaller step."]))
