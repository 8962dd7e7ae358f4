"""Fixed-step integration: Euler, midpoint, Runge-Kutta, Adams, as compiled loops over compiled functions."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vinculum.simulate.events import DIRECTIONS, Happened
from vinculum.simulate.methods import METHODS, STARTER, Adams, RungeKutta
from vinculum.simulate.outcome import EVENT, NON_FINITE, REPIVOT, Outcome, finished
from vinculum.simulate.problem import JUMPED, WATCH_LIMIT, Problem
from vinculum.simulate.projection import projection
from vinculum.simulate.recorder import Recorder
from vinculum.simulate.stabilization import Projection, Sampled, Stabilization

if TYPE_CHECKING:
    from vinculum.simulate.loops import Work  # Numba is imported only when a loop runs

_CHUNK_SECONDS = 0.2  # a loop comes up for air (progress, Ctrl-C) about this often


def integrate(
    problem: Problem,
    name: str,
    stabilization: Stabilization,
    t0: float,
    t1: float,
    step: float,
    count: int,
    x: np.ndarray,
    recorder: Recorder,
    progress: Callable[[float], None],
) -> tuple[Outcome, float, np.ndarray]:
    """Run ``count`` steps from (t0, x) to t1. Returns the outcome and where it stopped."""
    from vinculum.simulate import loops

    method = METHODS[name]
    work = _work(problem, method, stabilization, t0, step, count, x, recorder)
    advance = _loop(work, method)
    i, chunk = 0, 256
    while i <= count:
        started = clock.perf_counter()
        before = int(work.cursor[0])
        last = min(i + chunk, count + 1)
        code, reached = advance(i, last)
        recorder.steps += int(min(reached, count) - min(i, count))
        i = reached
        _collect(work, recorder, before)
        progress(t0 + min(i, count) * step)
        if code == loops.HAPPENED:
            ending = _take_events(problem, work, recorder)
            if ending is not None:
                return ending, ending.time, work.x
            continue
        if code != loops.DONE:
            return _stopped(code, work, i)
        spent = clock.perf_counter() - started
        chunk = int(min(max(chunk * min(4.0, _CHUNK_SECONDS / max(spent, 1e-6)), 256), 10**8))
    return finished(t1), t1, work.x


def _work(
    problem: Problem,
    method: RungeKutta | Adams,
    stabilization: Stabilization,
    t0: float,
    step: float,
    count: int,
    x: np.ndarray,
    recorder: Recorder,
) -> Work:
    from vinculum.simulate.loops import Work

    sampled = isinstance(stabilization, Sampled) or isinstance(method, Adams)  # the starter must not excite feedback
    full = problem.compiled(problem.monitored(problem.rates))
    stage = full
    if isinstance(method, Adams) or len(method.b) > 1:
        stage = problem.compiled(problem.held_rates if sampled else problem.rates)
    constraint, levels = _projection(problem, stabilization)
    n, e, m = len(problem.state), len(problem.events), len(problem.equations.corrections)
    q = method.order if isinstance(method, Adams) else 1
    remaining = recorder.instants[recorder.written :]
    return Work(
        full=full.address, stage=stage.address, constraint=constraint, levels=levels, held=m if sampled else 0,
        t0=float(t0), h=float(step), final=count, limit=WATCH_LIMIT,
        x=np.array(x, dtype=float), p=problem.values.copy(), out=np.empty(full.size), spare=np.empty(full.size),
        point=np.empty(n), K=np.empty((4, n)),
        maxima=np.append(np.zeros(len(problem.residuals) + 1), recorder.balance_start),
        instants=remaining, samples=np.empty((len(remaining), n)), cursor=np.array([0, -1, 0]),
        directions=np.array([DIRECTIONS[event.direction] for event in problem.events], dtype=np.int64),
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


def _loop(work: Work, method: RungeKutta | Adams) -> Callable[[int, int], tuple[int, int]]:
    from vinculum.simulate import loops

    if isinstance(method, RungeKutta):
        return lambda first, last: loops.runge_kutta(work, method.A, method.b, first, last)
    return lambda first, last: loops.adams(work, STARTER.A, STARTER.b, method.predictor, method.corrector, first, last)


def _collect(work: Work, recorder: Recorder, before: int) -> None:
    after = int(work.cursor[0])
    recorder.add(work.instants[before:after], work.samples[before:after])
    recorder.observe(work.maxima[:-2], work.maxima[-2])
    recorder.balance_start = float(work.maxima[-1])


def _take_events(problem: Problem, work: Work, recorder: Recorder) -> Outcome | None:
    """Record the events of this step; a terminal one ends the run at its time."""
    direction = float(np.sign(work.h))
    hits = sorted((time * direction, j) for j, time in enumerate(work.hits) if np.isfinite(time))
    for _, j in hits:
        event, time = problem.events[j], float(work.hits[j])
        recorder.events.append(Happened(event.name, time, bool(work.rising[j])))
        if event.terminal:
            recorder.cut(time, direction)
            recorder.add(np.array([time]), work.at[j : j + 1])
            return Outcome(EVENT, time, f"the event {event.name!r} ended the run")
    return None


def _stopped(code: int, work: Work, i: int) -> tuple[Outcome, float, np.ndarray]:
    """A pivot that shrank (go on from here) or a number that is not finite (explain from the last good state)."""
    from vinculum.simulate import loops

    t, last = work.t0 + i * work.h, work.t0 + max(i - 1, 0) * work.h
    if code == loops.PIVOT and work.out[work.x.size] < JUMPED:
        return Outcome(REPIVOT, t, ""), t, work.x.copy()
    if code == loops.PIVOT:
        reason, beyond = "a pivot changed its sign within one step", (t, work.x.copy())
        return Outcome(REPIVOT, last, reason, beyond), last, work.before[0].copy()
    return Outcome(NON_FINITE, last, "", (t, work.x.copy())), last, work.before[0].copy()
