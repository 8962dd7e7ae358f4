"""Taylor integration: high order, long steps, errors close to rounding.

Smooth equations without events run on a tape, which needs no compilation (`series`). heyoka makes the steps if there
are events or corners, if the user asks for its code, and, with optimized code, if a run proves long (`heyoka_steps`).
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import ONE, along, operations
from vinculum.simulation.integrators.defects import allowed_defect, before, longer, lost_step, shorter, within
from vinculum.simulation.integrators.edges import Passed, at_edge, clear_of, events_at_edge, past_edge, stays_at_edge
from vinculum.simulation.integrators.heyoka_steps import compile_heyoka
from vinculum.simulation.integrators.methods import (
    Method,
    Reached,
    next_chunk,
    out_of_reach,
    refuse_tolerance,
    register,
)
from vinculum.simulation.integrators.series import Series, compile_series, start_series
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
from vinculum.simulation.stabilization.stabilization import (
    AFTER_STEPS,
    Baumgarte,
    Projection,
    Stabilization,
    Unstabilized,
)
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
    from vinculum.simulation.trajectory.recorder import Plan, Recorder, Run

_CHUNK_SECONDS = 0.3  # the integrator returns to Python (progress, Ctrl-C) about this often
_SHORTEST_CHUNK = 50  # steps
_LONGEST_CHUNK = 20_000  # steps, which bounds the memory of the dense output
_MISSED = 1e-10  # a margin below -_MISSED means that the motion is on the other side of a corner
_RESTING = 4  # derivatives that are zero where a function stays at zero
_NEAR = 1e-7  # smaller margins of bounded ranges, next to a step that failed, are zero: arcsin loses half of its digits
_LONG = 100_000  # steps after which heyoka's optimized code has paid for its compilation
_COMPILED_UP_TO = 500  # operations; beyond, heyoka's optimized code takes a minute to compile


@dataclass(frozen=True)
class Taylor(Method):
    """Taylor series of high order, with adaptive steps.

    ``tolerance`` is relative (default: rounding). By default nothing is compiled before a run without events or
    corners, and heyoka's optimized code takes over after 100 000 steps. ``compact=False`` compiles it at once, which
    takes seconds to minutes; ``compact=True`` compiles heyoka's compact code.
    """

    tolerance: float | None = None
    compact: bool | None = None

    name: ClassVar[str] = "taylor"
    about: ClassVar[str] = "Taylor series of high order, adaptive"
    options: ClassVar[tuple[str, ...]] = ("tolerance", "compact")
    follows_corners: ClassVar[bool] = True
    misses_events_at_corners: ClassVar[bool] = True
    keeps_polynomials: ClassVar[bool] = True
    stabilizations: ClassVar[tuple[type[Stabilization], ...]] = (Baumgarte, Projection, Unstabilized)

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if the tolerance is not positive."""
        refuse_tolerance(self.tolerance)

    def refuse(self, problem: Problem) -> None:
        """Raise if the equations have a corner at an unknown place: a series would step over it."""
        kinks = problem.nodes.rough
        if kinks:
            names = ", ".join(kinks)
            found = f"The equations contain {names}, which are not smooth: a Taylor series would not see the corner."
            advice = ("Use ", call("simulate", method="bdf"), ", or write the corner with sign, Abs or Piecewise.")
            raise VinculumError(Finding(found, advice))

    def prepare(self, problem: Problem, t: float, x: np.ndarray) -> None:
        """Compile the integrator, or write the tape."""
        if not _runs_on_tape(self, problem):
            compile_heyoka(problem, self.tolerance, self.compact)

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """Half the inverse of the first Taylor step: the motion's own time scale."""
        t, direction = plan.t0, plan.t1 - plan.t0
        key = "rate", self, t, direction, x.tobytes()
        return problem.kept.get(key, lambda: self._time_scale(problem, t, direction, x))

    def _time_scale(self, problem: Problem, t: float, direction: float, x: np.ndarray) -> float:
        """Half the inverse of a first step that no event cuts short."""
        if problem.nodes.events and _past_zeros(problem, t, t + direction, x) != t + direction:
            everything = frozenset(range(len(problem.nodes.events)))
            problem = replace(problem, resting=everything)  # an event at the start would cut the step short
        with _owned(self, problem, t, x) as steps:
            step = steps.first_step(direction > 0)
        return 0.5 / step if np.isfinite(step) and step > 0 else problem.motion_rate(t, x)

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Run from (t, x) to the end of the plan, in chunks of steps. Returns the outcome, time and state reached."""
        return _integrate(self, _without_resting_events(problem, t, x), run, t, x)


register(Taylor())

# -- a run -------------------------------------------------------------------------------------------------------


def _runs_on_tape(method: Taylor, problem: Problem) -> bool:
    """Whether a problem needs no compilation: smooth, without events, and heyoka's code was not asked for."""
    if method.compact is not None or problem.nodes.events or problem.branch.margins:
        return False
    return compile_series(problem) is not None


@contextmanager
def _owned(method: Taylor, problem: Problem, t: float, x: np.ndarray) -> Iterator[Steps]:
    """What makes the steps of a run, at a given time and state."""
    if _runs_on_tape(method, problem):
        yield start_series(problem, t, x, method.tolerance)
        return
    with compile_heyoka(problem, method.tolerance, method.compact).owned(t, x, problem.values) as steps:
        yield steps


def _integrate(method: Taylor, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    with _owned(method, problem, t0, x) as steps:
        return _run(method, steps, problem, run, t0, x)


def _run(method: Taylor, steps: Steps, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    """Chunks of steps, until one of them has an ending."""
    t1, recorder = run.plan.t1, run.recorder
    monitor = problem.compiled(problem.nodes.monitor)
    project = project_after_step(problem) if run.stabilization.acts == AFTER_STEPS else None
    most, done, good = steps.first_chunk, 0, (t0, np.array(x))
    longest, passed = 0.0, Passed()
    bound, allowed = math.inf, allowed_defect(method.tolerance)
    undefined = ~np.isfinite(event_values(problem, t0, x))
    if undefined.any():
        return no_value(problem.nodes.events[int(np.argmax(undefined))], t0), *good
    first = _past_zeros(problem, t0, t1, x)
    if at_edge(problem, t0, x):
        longest = min(1.0 / problem.motion_rate(t0, x), abs(t1 - t0))
        begun = past_edge(problem, run, t0, x, longest, passed)
        if begun is not None:
            good, first = begun, t1
            steps.place(*good)
    while True:
        began, reached = clock.perf_counter(), steps.time
        target = clear_of(passed.last, reached, run.plan.target(reached) if first == t1 else first, longest)
        target = within(bound, reached, target)
        made = steps.advance(target, min(most, _LONG - done) if done < _LONG else most, recorder, project)
        lost = lost_step(problem, steps, made, allowed, _NEAR)
        if lost is None:
            bound = longer(bound, made)
        else:
            why, bound, made = made.why, shorter(made, lost), before(made, lost)
            steps.place(float(made.knots[-1]), made.states[-1])
            if bound <= np.spacing(abs(steps.time)):
                return Outcome(NON_FINITE if why == NOT_FINITE else STALLED, good[0]), *good
            if lost == 0:
                steps.take_events()  # of the lost steps
                continue
        first = t1
        good, missed = _collect(problem, monitor, made, recorder, good)
        recorder.steps += made.steps
        longest = max(np.abs(np.diff(made.knots)).max(initial=0.0), longest)
        seen = len(recorder.events)
        _take_events(problem, steps, recorder, t0, good[0])
        run.report(good[0])
        if made.why == TIPPED or (made.why == NOT_FINITE and at_edge(problem, *good, near=_NEAR)):
            beyond = past_edge(problem, run, *good, longest, passed, made)
            if beyond is None:
                return stays_at_edge(problem, *good), *good
            ending = events_at_edge(problem, run, made, good, beyond)
            if ending is not None:
                return ending, *good
            good = beyond
            steps.place(*good)
            if good[0] == t1:
                return finished(t1), *good
            continue
        ending = _ending(problem, made, good, reached, t0, t1, recorder)
        if missed and (ending is None or ending.kind == FINISHED):
            ending = Outcome(CORNER, good[0])
        endless = endless_events(recorder, seen, t1 - run.plan.t0)
        if endless is not None:
            return endless, *_cut_short(made, recorder, endless.time, reached, t1)
        if ending is None or ending.kind == STALLED:
            far = out_of_reach(run, good[0])
            ending = ending if far is None else far
        if ending is not None:
            return ending, *good
        if done < _LONG <= done + made.steps:
            steps = _optimized(method, problem, steps, good)
        done += made.steps
        if made.why == REACHED:
            continue
        most = next_chunk(most, clock.perf_counter() - began, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)


def _cut_short(made: Advance, recorder: Recorder, end: float, start: float, t1: float) -> tuple[float, np.ndarray]:
    """Time and state of the last step of a chunk before the end of the run; later samples are dropped."""
    recorder.cut(end, t1 - start)
    last = max(int(np.searchsorted((made.knots - start) * (t1 - start), (end - start) * (t1 - start), "right")) - 1, 0)
    return float(made.knots[last]), made.states[last].copy()


def _optimized(method: Taylor, problem: Problem, steps: Steps, good: tuple[float, np.ndarray]) -> Steps:
    """Optimized code for a run that proves long. The number of steps decides: the same run gives the same numbers."""
    if not isinstance(steps, Series) or operations(problem.nodes.rates).total() > _COMPILED_UP_TO:
        return steps
    return compile_heyoka(problem, method.tolerance, False).copy().start(*good, problem.values)


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


def _without_resting_events(problem: Problem, t: float, x: np.ndarray) -> Problem:
    """The problem that leaves out events whose functions stay at zero, at which heyoka would stop again and again.

    Along a smooth motion, up to its next corner, a function stays at zero if it is zero with its first derivatives.
    """
    nodes, functions = problem.nodes, list(problem.nodes.event_functions)
    if not functions or problem.compiled(functions)(t, x, problem.values).all():
        return problem
    motion = {nodes.time: ONE, **dict(zip(nodes.state, nodes.rates, strict=True))}
    rows = [functions]
    for _ in range(_RESTING):
        rows.append(along(rows[-1], motion))
    values = problem.compiled([node for row in rows for node in row])(t, x, problem.values)
    moving = values.reshape(len(rows), -1)
    return replace(problem, resting=frozenset(j for j, row in enumerate(moving.T) if not row.any()))


def _past_zeros(problem: Problem, t0: float, t1: float, x: np.ndarray) -> float:
    """The first target: just after the start if an event function is zero there; heyoka would see only that zero."""
    events, margins = problem.nodes.event_functions, problem.branch.margins
    if not events and not margins:
        return t1
    values = problem.compiled([*events, *margins])(t0, x, problem.values)
    zero = np.any(values[: len(events)] == 0)
    on_corner = np.any(np.abs(values[len(events) :]) < 1e-12)
    return t0 + 1e-9 * (t1 - t0) if zero else t0 + 1e-12 * (t1 - t0) if on_corner else t1


def _collect(
    problem: Problem, monitor: Any, chunk: Advance, recorder: Recorder, good: tuple[float, np.ndarray]
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
    values = monitor.rows(knots, states, problem.values)
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
