"""One run of Taylor's method: chunks of steps, and what ends them."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.graph import ONE, along
from vinculum.simulation.integrators.defects import allowed_defect, before, longer, lost_step, shorter, within
from vinculum.simulation.integrators.edges import Passed, at_edge, clear_of, events_at_edge, past_edge, stays_at_edge
from vinculum.simulation.integrators.methods import Reached, next_chunk, out_of_reach
from vinculum.simulation.integrators.taylor_steps import (
    CORNERED,
    ENDED,
    ENOUGH,
    NOT_FINITE,
    REACHED,
    TIPPED,
    Advance,
    Steps,
)
from vinculum.simulation.problem.events import Happened, endless_events, event_values, is_recorded, no_value
from vinculum.simulation.stabilization.feedback import project_after_step
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS
from vinculum.simulation.trajectory.outcome import (
    CORNER,
    FINISHED,
    NON_FINITE,
    REPIVOT,
    STALLED,
    Outcome,
    ended_by,
    finished,
)

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Recorder, Run

_CHUNK_SECONDS = 0.3  # the integrator returns to Python (progress, Ctrl-C) about this often
_SHORTEST_CHUNK = 50  # steps
_LONGEST_CHUNK = 20_000  # steps, which bounds the memory of the dense output
_MISSED = 1e-10  # a margin below -_MISSED means that the motion is on the other side of a corner
_NEAR = 1e-7  # smaller margins of bounded ranges, next to a step that failed, are zero: arcsin loses half of its digits
_LONG = 100_000  # steps after which heyoka's optimized code has paid for its compilation


@dataclass
class TaylorRun:
    """A run from (t0, x0), and how far it is."""

    problem: Problem
    run: Run
    steps: Steps
    tolerance: float | None
    for_long_runs: Callable[[Steps, tuple[float, np.ndarray]], Steps]  # other code that continues a run that is long
    t0: float
    good: tuple[float, np.ndarray]  # the last time and state that were reached
    done: int = 0  # steps
    most: int = field(init=False)  # steps of the next chunk
    first: float = field(init=False)  # the first target, or the end of the run
    longest: float = 0.0  # step so far
    bound: float = math.inf  # of the next step
    failed: str = ""  # why the steps ended of which the first did not follow the motion
    passed: Passed = field(default_factory=Passed)

    def to_end(self) -> Reached:
        """The outcome, time and state reached."""
        ending = self._begin()
        while ending is None:
            ending = self._chunk()
        return ending, *self.good

    @property
    def t1(self) -> float:
        """The end of the run."""
        return self.run.plan.t1

    @cached_property
    def _project(self) -> Callable[[Any], bool] | None:
        return project_after_step(self.problem) if self.run.stabilization.acts == AFTER_STEPS else None

    def _begin(self) -> Outcome | None:
        """Leave the end of a range, if the run starts there."""
        problem, (t0, x) = self.problem, self.good
        undefined = ~np.isfinite(event_values(problem, t0, x))
        if undefined.any():
            return no_value(problem.nodes.events[int(np.argmax(undefined))], t0)
        self.most, self.first = self.steps.first_chunk, past_zeros(problem, t0, self.t1, x)
        if at_edge(problem, t0, x):
            self.longest = min(1.0 / problem.motion_rate(t0, x), abs(self.t1 - t0))
            begun = past_edge(problem, self.run, t0, x, self.longest, self.passed)
            if begun is not None:
                self.good, self.first = begun, self.t1
                self.steps.place(*begun)
        return None

    def _chunk(self) -> Outcome | None:
        """Some steps; returns the outcome if they end the run."""
        began, reached, recorder = clock.perf_counter(), self.steps.time, self.run.recorder
        made = self._advance()
        if made is None:
            return self._out_of_steps()
        self.first = self.t1
        self.good, missed = _collect(self.problem, made, recorder, self.good)
        recorder.steps += made.steps
        self.longest = max(np.abs(np.diff(made.knots)).max(initial=0.0), self.longest)
        seen = len(recorder.events)
        _take_events(self.problem, self.steps, recorder, self.t0, self.good[0])
        self.run.report(self.good[0])
        if made.why == TIPPED or (made.why == NOT_FINITE and at_edge(self.problem, *self.good, near=_NEAR)):
            return self._pass_edge(made)
        ending = self._ending(made, reached, missed)
        endless = endless_events(recorder, seen, self.t1 - self.run.plan.t0)
        if endless is not None:
            self.good = _cut_short(made, recorder, endless.time, reached, self.t1)
            return endless
        if ending is None:
            self._continue(made, began)
        return ending

    def _advance(self) -> Advance | None:
        """Steps that followed the motion; None if the first one did not, and has to be shorter."""
        reached = self.steps.time
        target = self.run.plan.target(reached) if self.first == self.t1 else self.first
        target = within(self.bound, reached, clear_of(self.passed.last, reached, target, self.longest))
        most = min(self.most, _LONG - self.done) if self.done < _LONG else self.most
        made = self.steps.advance(target, most, self.run.recorder, self._project)
        if not self.problem.nodes.edges:
            return made
        lost = lost_step(self.problem, self.steps, made, allowed_defect(self.tolerance), _NEAR)
        if lost is None:
            self.bound = longer(self.bound, made)
            return made
        self.bound, self.failed, made = shorter(made, lost), made.why, before(made, lost)
        self.steps.place(float(made.knots[-1]), made.states[-1])
        if lost > 0:
            return made
        self.steps.take_events()  # of the lost steps
        return None

    def _out_of_steps(self) -> Outcome | None:
        """The outcome if no step can be short enough."""
        if self.bound > np.spacing(abs(self.steps.time)):
            return None
        return Outcome(NON_FINITE if self.failed == NOT_FINITE else STALLED, self.good[0])

    def _pass_edge(self, made: Advance) -> Outcome | None:
        """Go on behind the end of a range."""
        beyond = past_edge(self.problem, self.run, *self.good, self.longest, self.passed, made)
        if beyond is None:
            return stays_at_edge(self.problem, *self.good)
        ending = events_at_edge(self.problem, self.run, made, self.good, beyond)
        if ending is not None:
            return ending
        self.good = beyond
        self.steps.place(*beyond)
        return finished(self.t1) if beyond[0] == self.t1 else None

    def _ending(self, made: Advance, reached: float, missed: bool) -> Outcome | None:
        """The outcome of a chunk from a time, or None if the run continues."""
        ending = _ending(self.problem, made, self.good, reached, self.t0, self.t1, self.run.recorder)
        if missed and (ending is None or ending.kind == FINISHED):
            ending = Outcome(CORNER, self.good[0])
        if ending is None or ending.kind == STALLED:
            far = out_of_reach(self.run, self.good[0])
            ending = ending if far is None else far
        return ending

    def _continue(self, made: Advance, began: float) -> None:
        """Choose the code and the number of steps of the next chunk."""
        if self.done < _LONG <= self.done + made.steps:
            self.steps = self.for_long_runs(self.steps, self.good)
        self.done += made.steps
        if made.why != REACHED:
            spent = clock.perf_counter() - began
            self.most = next_chunk(self.most, spent, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)


def _cut_short(made: Advance, recorder: Recorder, end: float, start: float, t1: float) -> tuple[float, np.ndarray]:
    """Time and state of the last step of a chunk before the end of the run; later samples are dropped."""
    recorder.cut(end, t1 - start)
    last = max(int(np.searchsorted((made.knots - start) * (t1 - start), (end - start) * (t1 - start), "right")) - 1, 0)
    return float(made.knots[last]), made.states[last].copy()


def _missed_corner(problem: Problem, dense: Any, knots: np.ndarray, states: np.ndarray) -> float | None:
    """The time of the first corner that the motion passed unnoticed between its steps; None if there is none."""
    margins = problem.branch.margins
    if not margins:
        return None
    functions = problem.compiled(margins)
    values = functions.rows(knots, states, problem.values)
    passed = (values < -_MISSED * (1.0 + np.abs(states).max(axis=1, keepdims=True))).any(axis=1)
    if not passed.any():
        return None
    late = int(np.argmax(passed))
    k = int(values[late].argmin())
    early = max((i for i in range(late) if values[i, k] >= 0), default=0)
    low, high = knots[early], knots[late]
    while (middle := (low + high) / 2) not in (low, high):
        here = functions(middle, np.array(dense(np.array([middle])))[0], problem.values)[k]
        low, high = (middle, high) if here >= 0 else (low, middle)
    return float(low)


def past_zeros(problem: Problem, t0: float, t1: float, x: np.ndarray) -> float:
    """The first target: just after the start if an event function is zero there; heyoka would see only that zero."""
    events, margins = problem.nodes.event_functions, problem.branch.margins
    if not events and not margins:
        return t1
    values = problem.compiled([*events, *margins])(t0, x, problem.values)
    zero = np.any(values[: len(events)] == 0)
    on_corner = np.any(np.abs(values[len(events) :]) < 1e-12)
    return t0 + 1e-9 * (t1 - t0) if zero else t0 + 1e-12 * (t1 - t0) if on_corner else t1


def _collect(
    problem: Problem, chunk: Advance, recorder: Recorder, good: tuple[float, np.ndarray]
) -> tuple[tuple[float, np.ndarray], bool]:
    """Record samples and maxima of a chunk; returns its last good state, and whether a missed corner is there."""
    knots, states = chunk.knots, chunk.states
    finite = np.all(np.isfinite(states), axis=1)
    if not finite.all():
        first_bad = int(np.argmin(finite))
        knots, states = knots[:first_bad], states[:first_bad]
    if not len(knots):
        return good, False
    corner = _missed_corner(problem, chunk.dense, knots, states)
    if corner is not None:
        knots = np.append(knots[(knots - corner) * (knots[-1] - knots[0]) < 0], corner)
        states = np.array(chunk.dense(knots))
    values = problem.compiled(problem.nodes.monitor).rows(knots, states, problem.values)
    recorder.measure(values[:, 0], values[:, 1:])
    _sample(chunk, recorder, knots)
    if chunk.dense is not None:
        recorder.remember(chunk.dense)
    if recorder.keep_dense and chunk.dense is not None:
        recorder.dense.append(chunk.dense)
    return (float(knots[-1]), states[-1].copy()), corner is not None


def _sample(chunk: Advance, recorder: Recorder, knots: np.ndarray) -> None:
    """Record the requested samples between the first and the last knot."""
    low, high = sorted((knots[0], knots[-1]))
    waiting = recorder.instants[recorder.written :]
    inside = (waiting >= low) & (waiting <= high)
    ready = waiting[: int(np.argmin(inside)) if not inside.all() else len(waiting)]
    if len(ready):
        recorder.add(ready, np.array(chunk.samples(ready)))


def _take_events(problem: Problem, steps: Steps, recorder: Recorder, t0: float, t: float) -> None:
    """Record the non-terminal events of a chunk up to t, in the order of the run; zeros at the start do not count."""
    after = [event for event in steps.take_events() if abs(event[0] - t0) > 1e-12 * max(1.0, abs(t0))]
    found = [event for event in after if abs(event[0] - t0) <= abs(t - t0)]
    for time, j, sign in sorted(found, reverse=steps.time < t0):
        name = problem.nodes.events[j].name
        if not (
            is_recorded(recorder, name, t0) and is_recorded(recorder, name, time)
        ):  # otherwise it is the event at the last corner
            recorder.events.append(Happened(name, time, sign > 0))


def _ending(
    problem: Problem,
    made: Advance,
    good: tuple[float, np.ndarray],
    before: float,
    start: float,
    t1: float,
    recorder: Recorder,
) -> Outcome | None:
    """The outcome of a chunk, or None if the run continues."""
    time = good[0]
    if made.why == REACHED:
        return finished(t1) if time == t1 else None
    if made.why == NOT_FINITE:
        return Outcome(NON_FINITE, time)
    if made.why == ENOUGH:
        stuck = abs(time - before) <= 1e-12 * max(abs(t1 - before), abs(time))
        return Outcome(STALLED, time) if stuck else None
    if made.why == ENDED:
        if time == start:
            return None  # zero at the start is not an event
        name = problem.nodes.events[made.event].name
        recorder.events.append(Happened(name, time, _rising(problem, made.event, *good)))
        return ended_by(name, time)
    return Outcome(CORNER if made.why == CORNERED else REPIVOT, time)


def _rising(problem: Problem, j: int, t: float, x: np.ndarray) -> bool:
    """Whether an event function grows along the motion at a state."""
    nodes = problem.nodes
    motion = {nodes.time: ONE, **dict(zip(nodes.state, nodes.rates, strict=True))}
    slope = along([nodes.event_functions[j]], motion)
    return bool(problem.compiled(slope)(t, x, problem.values)[0] > 0)
