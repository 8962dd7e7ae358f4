"""Fixed-step integration: Euler, midpoint, Runge-Kutta, Adams, as compiled loops over compiled functions."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING

import numpy as np

from vinculum.simulation.integrators.methods import METHODS, STARTER, Adams, RungeKutta
from vinculum.simulation.integrators.progress import next_chunk
from vinculum.simulation.problem.events import DIRECTIONS, Happened
from vinculum.simulation.problem.one_run import Run
from vinculum.simulation.problem.pivot_watch import JUMPED, WATCH_LIMIT
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.projection import projection
from vinculum.simulation.stabilization.stabilization import Projection, Sampled, Stabilization
from vinculum.simulation.trajectory.outcome import NON_FINITE, REPIVOT, Outcome, ended_by, finished, jumped
from vinculum.simulation.trajectory.recorder import Recorder

if TYPE_CHECKING:
    from vinculum.simulation.integrators.loops import Work  # Numba is imported only when a loop runs

_CHUNK_SECONDS = 0.2  # a loop comes up for air (progress, Ctrl-C) about this often
_SHORTEST_CHUNK, _LONGEST_CHUNK = 256, 10**8  # steps
_EMPTY = np.zeros(0)


def integrate(problem: Problem, run: Run, t0: float, x: np.ndarray) -> tuple[Outcome, float, np.ndarray]:
    """Run the steps that are left from (t0, x) to the end of the plan. Returns the outcome and where it stopped."""
    from vinculum.simulation.integrators import loops

    t1, step, recorder = run.plan.t1, run.plan.step, run.recorder
    count = run.plan.count - round((t0 - run.plan.t0) / step)
    work, table = _work(problem, run, t0, count, x), _table(METHODS[run.plan.method])
    i, chunk = 0, _SHORTEST_CHUNK
    while i <= count:
        began, before, first = clock.perf_counter(), int(work.cursor[0]), i
        code, i = loops.advance(work, *table, first, min(first + chunk, count + 1))
        recorder.steps += int(min(i, count) - min(first, count))
        _collect(work, recorder, before)
        run.report(t0 + min(i, count) * step)
        if code == loops.HAPPENED:
            ending = _take_events(problem, work, recorder)
            if ending is not None:
                return ending, ending.time, work.x
        elif code != loops.DONE:
            return _stopped(code, work, i)
        else:
            chunk = next_chunk(chunk, clock.perf_counter() - began, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)
    return finished(t1), t1, work.x


def _table(method: RungeKutta | Adams) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, b, predictor, corrector; a Runge-Kutta method is all start and has neither of the last two."""
    if isinstance(method, RungeKutta):
        return method.A, method.b, _EMPTY, _EMPTY
    return STARTER.A, STARTER.b, method.predictor, method.corrector


def _work(problem: Problem, run: Run, t0: float, count: int, x: np.ndarray) -> Work:
    """The functions of a problem and the arrays its steps are made in."""
    from vinculum.simulation.integrators.loops import Work

    nodes, recorder, method, stabilization = problem.nodes, run.recorder, METHODS[run.plan.method], run.treatment
    sampled = isinstance(stabilization, Sampled) or isinstance(method, Adams)  # the starter must not excite feedback
    full = problem.compiled(nodes.monitored)
    stage = full
    if isinstance(method, Adams) or len(method.b) > 1:
        stage = problem.compiled(nodes.held_rates if sampled else nodes.rates)
    constraint, levels = _projection(problem, stabilization)
    n, e, m = len(nodes.state), len(nodes.events), len(problem.equations.corrections)
    q = method.order if isinstance(method, Adams) else 1
    remaining = recorder.instants[recorder.written :]
    return Work(
        full=full.address, stage=stage.address, constraint=constraint, levels=levels, held=m if sampled else 0,
        t0=float(t0), h=float(run.plan.step), final=count, limit=WATCH_LIMIT, jumped=JUMPED,
        x=np.array(x, dtype=float), p=problem.values.copy(), out=np.empty(full.size), spare=np.empty(full.size),
        point=np.empty(n), K=np.empty((4, n)),
        maxima=np.append(np.zeros(len(nodes.residuals) + 1), recorder.balance_start),
        instants=remaining, samples=np.empty((len(remaining), n)), cursor=np.array([0, -1, 0]),
        directions=np.array([DIRECTIONS[event.direction] for event in nodes.events], dtype=np.int64),
        before=np.zeros((2, n)), events_before=np.zeros(e), hits=np.full(e, np.nan),
        rising=np.zeros(e, dtype=np.int64), at=np.zeros((e, n)),
        history=np.zeros((q, n)),
    )  # fmt: skip


def _projection(problem: Problem, stabilization: Stabilization) -> tuple[int, np.ndarray]:
    """Address of the function with residuals and Jacobians, and how to read it; 0 without projection."""
    if not isinstance(stabilization, Projection):
        return 0, np.zeros((0, 4), dtype=np.int64)
    outputs, levels = projection(problem)
    return problem.compiled(outputs).address, np.array(levels, dtype=np.int64).reshape(-1, 4)


def _collect(work: Work, recorder: Recorder, before: int) -> None:
    """Hand over the samples written since ``before``, and the maxima."""
    after = int(work.cursor[0])
    recorder.add(work.instants[before:after], work.samples[before:after])
    recorder.observe(work.maxima[:-2], work.maxima[-2])
    recorder.balance_start = float(work.maxima[-1])


def _take_events(problem: Problem, work: Work, recorder: Recorder) -> Outcome | None:
    """Record the events of this step; a terminal one ends the run at its time."""
    direction = float(np.sign(work.h))
    hits = sorted((time * direction, j) for j, time in enumerate(work.hits) if np.isfinite(time))
    for _, j in hits:
        event, time = problem.nodes.events[j], float(work.hits[j])
        recorder.events.append(Happened(event.name, time, bool(work.rising[j])))
        if event.terminal:
            recorder.cut(time, direction)
            recorder.add(np.array([time]), work.at[j : j + 1])
            return ended_by(event.name, time)
    return None


def _stopped(code: int, work: Work, i: int) -> tuple[Outcome, float, np.ndarray]:
    """A pivot that shrank (go on from here) or a number that is not finite (explain from the last good state)."""
    from vinculum.simulation.integrators import loops

    t, last = work.t0 + i * work.h, work.t0 + max(i - 1, 0) * work.h
    if code == loops.PIVOT and work.out[work.x.size] < JUMPED:
        return Outcome(REPIVOT, t, ""), t, work.x.copy()
    beyond = (t, work.x.copy())
    outcome = jumped(last, beyond) if code == loops.PIVOT else Outcome(NON_FINITE, last, "", beyond)
    return outcome, last, work.before[0].copy()
