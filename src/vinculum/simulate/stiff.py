"""Stiff integration: backward differentiation formulas (SUNDIALS) with compiled right side and Jacobian."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from vinculum.simulate.events import DIRECTIONS, Happened
from vinculum.simulate.outcome import CORNER, EVENT, NON_FINITE, REPIVOT, STALLED, Outcome, finished
from vinculum.simulate.problem import JUMPED, WATCH_LIMIT, Problem
from vinculum.simulate.recorder import Recorder

DEFAULT_TOLERANCE = 1e-9
_PATIENCE = 200  # steps that may bring the time no further


def integrate(
    problem: Problem,
    tolerance: float | None,
    t0: float,
    t1: float,
    x: np.ndarray,
    recorder: Recorder,
    progress: Callable[[float], None],
) -> tuple[Outcome, float, np.ndarray]:
    """Run from (t0, x) to t1, looking at every step the solver takes."""
    run = _Run(problem, DEFAULT_TOLERANCE if tolerance is None else tolerance, t0, t1, x, recorder)
    while run.t != t1:
        before = recorder.written
        ending = run.step()
        if recorder.written > before or recorder.steps % 1000 == 0:
            progress(run.t)
        if ending is not None:
            return ending, run.t, run.x
    return finished(t1), t1, run.x


class _Run:
    """One run of CVODE: where it is, and what is watched."""

    def __init__(
        self, problem: Problem, tolerance: float, t0: float, t1: float, x: np.ndarray, recorder: Recorder
    ) -> None:
        self.problem, self.recorder, self.t1, self.forward = problem, recorder, t1, t1 > t0
        self.monitor = problem.compiled([problem.strict_watch, problem.balance, *problem.residuals])
        self.solver = _solver(problem, tolerance, self.forward)
        self.t, self.x, self.idle = t0, np.array(x, dtype=float), 0
        self.solver.init_step(t0, self.x)
        self.waiting = list(recorder.instants[recorder.written :])
        self.look(t0, self.x)
        if self.waiting and self.waiting[0] == t0:
            recorder.add(np.array([self.waiting.pop(0)]), self.x[None, :])

    def step(self) -> Outcome | None:
        """One internal step; samples inside it are interpolated by the solver."""
        solution = self.solver.step(self.t1, method="onestep", tstop=self.t1)
        t, x = float(solution.t), np.array(solution.y, dtype=float).ravel()
        if not solution.success:
            return Outcome(STALLED, self.t, str(solution.message))
        self.idle = self.idle + 1 if abs(t - self.t) <= 4e-16 * max(abs(t), abs(self.t1)) else 0
        if not np.all(np.isfinite(x)) or self.idle > _PATIENCE:
            return Outcome(STALLED if self.idle else NON_FINITE, self.t, "")
        watch = self.look(t, x)
        if watch >= JUMPED:
            return Outcome(REPIVOT, self.t, "a pivot changed its sign within one step", beyond=(t, x))
        self.sample(t)
        self.t, self.x = t, x
        self.recorder.steps += 1
        ending = self.events(solution) if solution.status == 2 else None
        if ending is None and watch > WATCH_LIMIT:
            return Outcome(REPIVOT, t, "")
        return ending

    def sample(self, t: float) -> None:
        """The samples up to the time reached."""
        while self.waiting and (self.waiting[0] <= t if self.forward else self.waiting[0] >= t):
            instant = self.waiting.pop(0)
            inside = self.solver.step(instant, method="normal", tstop=self.t1)
            self.recorder.add(np.array([instant]), np.array(inside.y, dtype=float).reshape(1, -1))

    def look(self, t: float, x: np.ndarray) -> float:
        """Take balance and residuals into account; returns the pivot watch."""
        watch, balance, *residuals = self.monitor(t, x, self.problem.values)
        if watch < JUMPED:
            if np.isnan(self.recorder.balance_start):
                self.recorder.balance_start = float(balance)
            self.recorder.observe(np.array(residuals), abs(balance - self.recorder.balance_start))
        return float(watch)

    def known(self, name: str) -> bool:
        """Whether an event was recorded at this very time; CVODE reports a root again after an interpolation."""
        size = 1e-12 * (1.0 + abs(self.t))
        return any(event.name == name and abs(event.time - self.t) <= size for event in self.recorder.events[-8:])

    def events(self, solution: Any) -> Outcome | None:
        """Record the events of this step; a terminal one ends the run."""
        signs = solution.i_events[-1]
        for event, sign in zip(self.problem.events, signs, strict=False):  # corners come after the events
            if sign and not self.known(event.name):
                self.recorder.events.append(Happened(event.name, self.t, bool((sign > 0) == self.forward)))
                if event.terminal:
                    return Outcome(EVENT, self.t, f"the event {event.name!r} ended the run")
        return Outcome(CORNER, self.t, "") if any(signs[len(self.problem.events) :]) else None


def _solver(problem: Problem, tolerance: float, forward: bool) -> Any:
    for level in ("WARNING", "ERROR"):  # what SUNDIALS would print becomes an outcome
        os.environ.setdefault(f"SUNLOGGER_{level}_FILENAME", os.devnull)
    from sksundae.cvode import CVODE

    n, p = len(problem.state), problem.values
    rates, slopes = problem.compiled(problem.rates), problem.slopes

    def right_side(t: float, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = rates(t, x, p)

    def jacobian(t: float, x: np.ndarray, _: np.ndarray, out: np.ndarray) -> None:
        assert slopes is not None
        out[:] = slopes(t, x, p).reshape(n, n)

    return CVODE(
        right_side,
        jacfn=None if slopes is None else jacobian,  # CVODE's own differences
        rtol=tolerance,
        atol=tolerance,
        max_num_steps=200_000,
        **_event_options(problem, forward),
    )


def _event_options(problem: Problem, forward: bool) -> dict[str, Any]:
    """Directions are meant in time; CVODE takes them along the run."""
    nodes = [*problem.event_nodes, *problem.margins]
    if not nodes:
        return {}
    functions, p = problem.compiled(nodes), problem.values

    def values(t: float, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = functions(t, x, p)

    sign = 1 if forward else -1
    asked = [sign * DIRECTIONS[event.direction] for event in problem.events]
    values.terminal = [True] * len(nodes)  # type: ignore[attr-defined]  # read by CVODE
    values.direction = [*asked, *[-1] * len(problem.margins)]  # type: ignore[attr-defined]  # as above
    return {"eventsfn": values, "num_events": len(nodes)}
