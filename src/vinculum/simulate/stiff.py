"""Stiff integration: backward differentiation formulas (SUNDIALS) with compiled right side and Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vinculum.simulate.events import DIRECTIONS, Happened
from vinculum.simulate.outcome import EVENT, REPIVOT, STALLED, Outcome, finished
from vinculum.simulate.problem import WATCH_LIMIT, Problem
from vinculum.simulate.recorder import Recorder

DEFAULT_TOLERANCE = 1e-9


def integrate(
    problem: Problem,
    tolerance: float | None,
    t0: float,
    t1: float,
    x: np.ndarray,
    recorder: Recorder,
    progress: Callable[[float], None],
) -> tuple[Outcome, float, np.ndarray]:
    """Run from (t0, x) to t1, sample by sample."""
    forward = t1 > t0
    solver = _solver(problem, DEFAULT_TOLERANCE if tolerance is None else tolerance, forward)
    look = _Monitor(problem, recorder)
    solver.init_step(t0, np.array(x, dtype=float))
    t, state = t0, np.array(x, dtype=float)
    look(t, state)
    for target in _targets(recorder, t0, t1):
        while t != target:
            solution = solver.step(target, method="normal")
            if not solution.success:
                return Outcome(STALLED, t, str(solution.message)), t, state
            t, state = float(solution.t), np.array(solution.y, dtype=float).ravel()
            ending = look(t, state) or (
                _take_events(problem, solution, recorder, forward) if solution.status == 2 else None
            )
            if ending is not None:
                return ending, t, state
        if target in recorder.instants:
            recorder.add(np.array([t]), state[None, :])
        progress(t)
    return finished(t1), t, state


def _targets(recorder: Recorder, t0: float, t1: float) -> list[float]:
    """The instants still to be sampled, and the end."""
    waiting = [float(t) for t in recorder.instants[recorder.written :]]
    return waiting if waiting and waiting[-1] == t1 else [*waiting, t1]


def _solver(problem: Problem, tolerance: float, forward: bool) -> Any:
    from sksundae.cvode import CVODE

    n, p = len(problem.state), problem.values
    rates, slopes = problem.compiled(problem.rates), problem.compiled(list(problem.jacobian().ravel()))

    def right_side(t: float, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = rates(t, x, p)

    def jacobian(t: float, x: np.ndarray, _: np.ndarray, out: np.ndarray) -> None:
        out[:] = slopes(t, x, p).reshape(n, n)

    return CVODE(
        right_side, jacfn=jacobian, rtol=tolerance, atol=tolerance, max_num_steps=200_000,
        **_event_options(problem, forward),
    )  # fmt: skip


def _event_options(problem: Problem, forward: bool) -> dict[str, Any]:
    """Directions are meant in time; CVODE takes them along the run."""
    if not problem.events:
        return {}
    functions, p = problem.compiled(problem.event_nodes), problem.values

    def values(t: float, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = functions(t, x, p)

    values.terminal = [True] * len(problem.events)  # type: ignore[attr-defined]  # read by CVODE
    sign = 1 if forward else -1
    values.direction = [sign * DIRECTIONS[event.direction] for event in problem.events]  # type: ignore[attr-defined]
    return {"eventsfn": values, "num_events": len(problem.events)}


class _Monitor:
    """Looks at every state reached: pivots, balance, residuals."""

    def __init__(self, problem: Problem, recorder: Recorder) -> None:
        self.values = problem.compiled([problem.watch, problem.balance, *problem.residuals])
        self.p, self.recorder = problem.values, recorder

    def __call__(self, t: float, x: np.ndarray) -> Outcome | None:
        watch, balance, *residuals = self.values(t, x, self.p)
        if np.isnan(self.recorder.balance_start):
            self.recorder.balance_start = float(balance)
        self.recorder.observe(np.array(residuals), abs(balance - self.recorder.balance_start))
        self.recorder.steps += 1
        return Outcome(REPIVOT, t, "") if watch > WATCH_LIMIT else None


def _take_events(problem: Problem, solution: Any, recorder: Recorder, forward: bool) -> Outcome | None:
    time = float(solution.t)
    for event, sign in zip(problem.events, solution.i_events[-1], strict=True):
        if sign:
            recorder.events.append(Happened(event.name, time, bool((sign > 0) == forward)))
            if event.terminal:
                return Outcome(EVENT, time, f"the event {event.name!r} ended the run")
    return None
