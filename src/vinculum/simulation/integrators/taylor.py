"""Taylor integration with heyoka: the order is high, the steps are long, the errors near rounding."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from vinculum.graph import ONE, along
from vinculum.graph.traverse import describe
from vinculum.simulation.integrators.progress import next_chunk
from vinculum.simulation.integrators.taylor_integrator import Integrator, started
from vinculum.simulation.problem.corner_events import known
from vinculum.simulation.problem.events import Happened
from vinculum.simulation.problem.one_run import Run
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.projection import after_step
from vinculum.simulation.stabilization.stabilization import Projection
from vinculum.simulation.stabilization.time_scale import motion_rate
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
from vinculum.simulation.trajectory.recorder import Recorder

_CHUNK_SECONDS = 0.3  # the integrator comes up for air (progress, Ctrl-C) about this often
_FIRST_CHUNK, _SHORTEST_CHUNK = 200, 50  # steps
_LONGEST_CHUNK = 20_000  # steps, which bounds the memory of the dense output
_SEEN = 1e-10  # a margin below minus this means that the motion is on the other side of a corner


def integrate(problem: Problem, run: Run, t0: float, x: np.ndarray) -> tuple[Outcome, float, np.ndarray]:
    """Run from (t0, x) to the end of the plan. Returns the outcome and where it stopped."""
    t1, recorder = run.plan.t1, run.recorder
    integrator = started(problem, run.tolerance, t0, x)
    monitor = problem.compiled([problem.nodes.balance, *problem.nodes.residuals])
    options = {"callback": after_step(problem)} if isinstance(run.treatment, Projection) else {}
    steps, good = _FIRST_CHUNK, (t0, np.array(x))
    target = _past_zeros(problem, t0, t1, x)
    while True:
        began, reached = clock.perf_counter(), integrator.taylor.time
        result = integrator.taylor.propagate_until(target, max_steps=steps, c_output=True, **options)
        target = t1
        good = _collect(problem, monitor, result[4], recorder, good)
        recorder.steps += int(result[3])
        _take_events(problem, integrator, recorder, t0)
        run.report(good[0])
        ending = _ending(problem, integrator, result[0], good, reached, t0, t1, recorder)
        if ending is None or ending.kind == FINISHED:
            missed = _passed(problem, good)
            ending = ending if missed is None else missed
        if ending is not None:
            return ending, *good
        steps = next_chunk(steps, clock.perf_counter() - began, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)


def _passed(problem: Problem, good: tuple[float, np.ndarray]) -> Outcome | None:
    """A corner that was passed unseen ends the run."""
    margins, surfaces = problem.branch.margins, problem.nodes.corners.surfaces
    if not margins:
        return None
    values = problem.compiled(margins)(*good, problem.values)
    if values.min() >= -_SEEN * (1.0 + np.abs(good[1]).max()):
        return None
    return Outcome(STALLED, good[0], f"the corner {describe(surfaces[values.argmin()])} = 0 was missed")


def _past_zeros(problem: Problem, t0: float, t1: float, x: np.ndarray) -> float:
    """Where to go first: with an event function at zero, a little further, since heyoka would see nothing else."""
    events, margins = problem.nodes.event_functions, problem.branch.margins
    if not events and not margins:
        return t1
    values = problem.compiled([*events, *margins])(t0, x, problem.values)
    zero = np.any(values[: len(events)] == 0)
    on_corner = np.any(np.abs(values[len(events) :]) < 1e-12)
    return t0 + 1e-9 * (t1 - t0) if zero else t0 + 1e-12 * (t1 - t0) if on_corner else t1


def natural_rate(problem: Problem, tolerance: float | None, t: float, x: np.ndarray, direction: float) -> float:
    """Half the inverse of the first Taylor step: the motion's own time scale, as a rate for the feedback."""
    if problem.nodes.events and _past_zeros(problem, t, t + direction, x) != t + direction:
        problem = problem.with_nodes(events=())  # an event at the start would cut the step short
    taylor = started(problem, tolerance, t, x).taylor
    step = abs((taylor.step() if direction > 0 else taylor.step_backward())[1])
    return 0.5 / step if np.isfinite(step) and step > 0 else motion_rate(problem, t, x)


def _collect(
    problem: Problem, monitor: Any, dense: Any, recorder: Recorder, good: tuple[float, np.ndarray]
) -> tuple[float, np.ndarray]:
    """Samples and maxima of a stretch; returns the last finite state in it."""
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
    if recorder.keep_dense:
        recorder.dense.append(dense)
    return float(knots[-1]), states[-1].copy()


def _sample(dense: Any, recorder: Recorder, knots: np.ndarray) -> None:
    """Write the samples asked for between the first and the last knot."""
    low, high = sorted((knots[0], knots[-1]))
    waiting = recorder.instants[recorder.written :]
    inside = (waiting >= low) & (waiting <= high)
    ready = waiting[: int(np.argmin(inside)) if not inside.all() else len(waiting)]
    if len(ready):
        recorder.add(ready, np.array(dense(ready)))


def _take_events(problem: Problem, integrator: Integrator, recorder: Recorder, t0: float) -> None:
    """Record the non-terminal events of a chunk of steps, in the order of the run; a zero at the start is none."""
    found = []
    for j, hits in integrator.hits.items():
        found += [(time, j, sign) for time, sign in hits.found if abs(time - t0) > 1e-12 * max(1.0, abs(t0))]
        hits.found.clear()
    for time, j, sign in sorted(found, reverse=integrator.taylor.time < t0):
        name = problem.nodes.events[j].name
        if not (known(recorder, name, t0) and known(recorder, name, time)):  # else the one at the corner behind
            recorder.events.append(Happened(name, time, sign > 0))


def _ending(
    problem: Problem,
    integrator: Integrator,
    outcome: Any,
    good: tuple[float, np.ndarray],
    before: float,
    start: float,
    t1: float,
    recorder: Recorder,
) -> Outcome | None:
    """The outcome of a stretch, or None when the run goes on."""
    import heyoka as hy

    time = good[0]
    if outcome == hy.taylor_outcome.time_limit:
        return finished(t1) if time == t1 else None
    if outcome == hy.taylor_outcome.err_nf_state:
        return Outcome(NON_FINITE, time, "")
    if outcome == hy.taylor_outcome.step_limit:
        stuck = abs(time - before) <= 1e-12 * max(abs(t1 - before), abs(time))
        return Outcome(STALLED, time, "") if stuck else None
    number = -int(outcome) - 1
    if 0 <= number < len(integrator.terminal):
        if time == start:
            return None  # zero at the start is not an event
        j = integrator.terminal[number]
        name = problem.nodes.events[j].name
        recorder.events.append(Happened(name, time, _rising(problem, j, *good)))
        return ended_by(name, time)
    corner = len(integrator.terminal) <= number < len(integrator.terminal) + integrator.corners
    return Outcome(CORNER if corner else REPIVOT, time, "")


def _rising(problem: Problem, j: int, t: float, x: np.ndarray) -> bool:
    """Whether an event function grows along the motion at a state."""
    nodes = problem.nodes
    motion = {nodes.time: ONE, **dict(zip(nodes.state, nodes.rates, strict=True))}
    slope = along([nodes.event_functions[j]], motion)
    return bool(problem.compiled(slope)(t, x, problem.values)[0] > 0)
