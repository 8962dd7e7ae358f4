"""Taylor integration: high order, long steps, errors close to rounding.

Smooth equations without events run on a tape, which needs no compilation (`series`). heyoka makes the steps if there
are events or corners, if the user asks for its code, and, with optimized code, if a run proves long (`heyoka_steps`).
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.errors import About, Finding, VinculumError, call
from vinculum.graph import ONE, along, operations
from vinculum.graph.traverse import describe
from vinculum.simulation.integrators.heyoka_steps import compile_heyoka, start_heyoka
from vinculum.simulation.integrators.methods import Method, Reached, next_chunk, refuse_tolerance, register
from vinculum.simulation.integrators.series import Series, compile_series, start_series
from vinculum.simulation.integrators.taylor_steps import CORNERED, ENDED, ENOUGH, NOT_FINITE, REACHED, Advance, Steps
from vinculum.simulation.problem.discontinuities import rough_functions
from vinculum.simulation.problem.events import Happened, is_recorded
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
    Cause,
    Outcome,
    ended_by,
    finished,
)

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan, Recorder, Run

_CHUNK_SECONDS = 0.3  # the integrator returns to Python (progress, Ctrl-C) about this often
_FIRST_CHUNK, _SHORTEST_CHUNK = 200, 50  # steps
_LONGEST_CHUNK = 20_000  # steps, which bounds the memory of the dense output
_MISSED = 1e-10  # a margin below -_MISSED means that the motion is on the other side of a corner
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
        kinks = rough_functions(problem.nodes.rates)
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
        if problem.nodes.events and _past_zeros(problem, t, t + direction, x) != t + direction:
            problem = problem.with_nodes(events=())  # an event at the start would cut the step short
        step = _start(self, problem, t, x).first_step(direction > 0)
        return 0.5 / step if np.isfinite(step) and step > 0 else problem.motion_rate(t, x)

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Run from (t, x) to the end of the plan, in chunks of steps. Returns the outcome, time and state reached."""
        return _integrate(self, problem, run, t, x)


register(Taylor())

# -- a run -------------------------------------------------------------------------------------------------------


def _runs_on_tape(method: Taylor, problem: Problem) -> bool:
    """Whether a problem needs no compilation: smooth, without events, and heyoka's code was not asked for."""
    if method.compact is not None or problem.nodes.events or problem.branch.margins:
        return False
    return compile_series(problem) is not None


def _start(method: Taylor, problem: Problem, t: float, x: np.ndarray) -> Steps:
    """What makes the steps of a run, at a given time and state."""
    if _runs_on_tape(method, problem):
        return start_series(problem, t, x, method.tolerance)
    return start_heyoka(problem, t, x, method.tolerance, method.compact)


def _integrate(method: Taylor, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    t1, recorder = run.plan.t1, run.recorder
    steps = _start(method, problem, t0, x)
    monitor = problem.compiled([problem.nodes.balance, *problem.nodes.residuals])
    project = project_after_step(problem) if run.stabilization.acts == AFTER_STEPS else None
    most, done, good = _FIRST_CHUNK, 0, (t0, np.array(x))
    target = _past_zeros(problem, t0, t1, x)
    while True:
        began, reached = clock.perf_counter(), steps.time
        made = steps.advance(target, min(most, _LONG - done) if done < _LONG else most, project)
        target = t1
        good = _collect(problem, monitor, made.dense, recorder, good)
        recorder.steps += made.steps
        _take_events(problem, steps, recorder, t0)
        run.report(good[0])
        ending = _ending(problem, made, good, reached, t0, t1, recorder)
        if ending is None or ending.kind == FINISHED:
            missed = _missed_corner(problem, good)
            ending = ending if missed is None else missed
        if ending is not None:
            return ending, *good
        if done < _LONG <= done + made.steps:
            steps = _optimized(method, problem, steps, good)
        done += made.steps
        most = next_chunk(most, clock.perf_counter() - began, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)


def _optimized(method: Taylor, problem: Problem, steps: Steps, good: tuple[float, np.ndarray]) -> Steps:
    """Optimized code for a run that proves long. The number of steps decides: the same run gives the same numbers."""
    if not isinstance(steps, Series) or operations(problem.nodes.rates).total() > _COMPILED_UP_TO:
        return steps
    return start_heyoka(problem, *good, method.tolerance, compact=False)


def _missed_corner(problem: Problem, good: tuple[float, np.ndarray]) -> Outcome | None:
    """The outcome if the motion passed a corner that was not detected."""
    margins, surfaces = problem.branch.margins, problem.nodes.corners.surfaces
    if not margins:
        return None
    values = problem.compiled(margins)(*good, problem.values)
    if values.min() >= -_MISSED * (1.0 + np.abs(good[1]).max()):
        return None
    corner = About("expression", describe(surfaces[values.argmin()]))
    return Outcome(STALLED, good[0], Cause("missed corner", [corner]))


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
    problem: Problem, monitor: Any, dense: Any, recorder: Recorder, good: tuple[float, np.ndarray]
) -> tuple[float, np.ndarray]:
    """Record samples and maxima of a chunk; returns its last finite state."""
    if dense is None:
        return good
    knots = np.array(dense.times)
    states = np.array(dense(knots))
    finite = np.all(np.isfinite(states), axis=1)
    if not finite.all():
        first_bad = int(np.argmin(finite))
        knots, states = knots[:first_bad], states[:first_bad]
    if not len(knots):
        return good
    values = monitor.rows(knots, states, problem.values)
    recorder.measure(values[:, 0], values[:, 1:])
    _sample(dense, recorder, knots)
    recorder.remember(dense)
    if recorder.keep_dense:
        recorder.dense.append(dense)
    return float(knots[-1]), states[-1].copy()


def _sample(dense: Any, recorder: Recorder, knots: np.ndarray) -> None:
    """Record the requested samples between the first and the last knot."""
    low, high = sorted((knots[0], knots[-1]))
    waiting = recorder.instants[recorder.written :]
    inside = (waiting >= low) & (waiting <= high)
    ready = waiting[: int(np.argmin(inside)) if not inside.all() else len(waiting)]
    if len(ready):
        recorder.add(ready, np.array(dense(ready)))


def _take_events(problem: Problem, steps: Steps, recorder: Recorder, t0: float) -> None:
    """Record the non-terminal events of a chunk, in the order of the run; a zero at the start does not count."""
    found = [event for event in steps.take_events() if abs(event[0] - t0) > 1e-12 * max(1.0, abs(t0))]
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
