"""Stiff integration: backward differentiation formulas (SUNDIALS) with compiled right side and Jacobian."""

from __future__ import annotations

import builtins
import os
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.compile.machine import COMPILING
from vinculum.errors import Finding
from vinculum.simulation.integrators.methods import Method, Reached, out_of_reach, refuse_tolerance, register
from vinculum.simulation.problem.events import DIRECTIONS, Happened
from vinculum.simulation.problem.pivots import JUMPED, WATCH_LIMIT
from vinculum.simulation.stabilization.stabilization import Baumgarte, Stabilization, Unstabilized
from vinculum.simulation.trajectory.outcome import (
    CORNER,
    NON_FINITE,
    REPIVOT,
    STALLED,
    Cause,
    Outcome,
    ended_by,
    finished,
    jumped,
)

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan, Run

_PATIENCE = 200  # steps in a row without any progress in time


@dataclass(frozen=True)
class BDF(Method):
    """SUNDIALS' CVODE: backward differentiation formulas of variable order and step, for stiff equations.

    ``tolerance`` is relative and absolute.
    """

    tolerance: float = 1e-9

    name: ClassVar[str] = "bdf"
    about: ClassVar[str] = "SUNDIALS' backward differentiation formulas, compiled Jacobian"
    options: ClassVar[tuple[str, ...]] = ("tolerance",)
    follows_corners: ClassVar[bool] = True
    stabilizations: ClassVar[tuple[type[Stabilization], ...]] = (
        Baumgarte,
        Unstabilized,
    )  # projection would break its memory

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if the tolerance is not positive."""
        refuse_tolerance(self.tolerance)

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """100 divided by the length of the interval."""
        return 100.0 / abs(plan.t1 - plan.t0)

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Run from (t, x) to the end of the plan, looking at every step the solver takes."""
        stepper, t1, recorder = _Stepper(self, problem, run, t, x), run.plan.t1, run.recorder
        while stepper.t != t1:
            before = recorder.written
            ending = stepper.step()
            if recorder.written > before or recorder.steps % 1000 == 0:
                run.report(stepper.t)
            if ending is None and recorder.steps % 100 == 0:
                ending = out_of_reach(run, stepper.t)
            if ending is not None:
                return ending, stepper.t, stepper.x
        return finished(t1), t1, stepper.x


register(BDF())


class _Stepper:
    """CVODE on one segment of a run, with its present time and state."""

    def __init__(self, method: BDF, problem: Problem, run: Run, t0: float, x: np.ndarray) -> None:
        self.problem, self.recorder, self.t1, self.forward = problem, run.recorder, run.plan.t1, run.plan.t1 > t0
        nodes = problem.nodes
        self.monitor = problem.compiled([nodes.watch.strict, nodes.balance, *nodes.residuals])
        self.solver = _solver(problem, method.tolerance, self.forward)
        self.t, self.x, self.idle = t0, np.array(x, dtype=float), 0
        self.solver.init_step(t0, self.x)
        self.waiting = list(self.recorder.instants[self.recorder.written :])
        self.look(t0, self.x)
        if self.waiting and self.waiting[0] == t0:
            self.recorder.add(np.array([self.waiting.pop(0)]), self.x[None, :])

    def step(self) -> Outcome | None:
        """One internal step; samples inside it are interpolated by the solver."""
        solution = self.solver.step(self.t1, method="onestep", tstop=self.t1)
        t, x = float(solution.t), np.array(solution.y, dtype=float).ravel()
        if not solution.success:
            return Outcome(STALLED, self.t, Cause("solver failed", finding=Finding(str(solution.message))))
        self.idle = self.idle + 1 if abs(t - self.t) <= 4e-16 * max(abs(t), abs(self.t1)) else 0
        if not np.all(np.isfinite(x)) or self.idle > _PATIENCE:
            return Outcome(STALLED if self.idle else NON_FINITE, self.t)
        watch = self.look(t, x)
        if watch >= JUMPED:
            return jumped(self.t, (t, x))
        self.sample(t)
        self.t, self.x = t, x
        self.recorder.steps += 1
        ending = self.events(solution) if solution.status == 2 else None
        if ending is None and watch > WATCH_LIMIT:
            return Outcome(REPIVOT, t)
        return ending

    def sample(self, t: float) -> None:
        """Record the samples up to time t."""
        while self.waiting and (self.waiting[0] <= t if self.forward else self.waiting[0] >= t):
            instant = self.waiting.pop(0)
            inside = self.solver.step(instant, method="normal", tstop=self.t1)
            self.recorder.add(np.array([instant]), np.array(inside.y, dtype=float).reshape(1, -1))

    def look(self, t: float, x: np.ndarray) -> float:
        """Record energy balance and residuals; returns the pivot watch."""
        watch, balance, *residuals = self.monitor(t, x, self.problem.values)
        if watch < JUMPED:
            self.recorder.measure(np.array([balance]), np.array([residuals]))
        return float(watch)

    def known(self, name: str) -> bool:
        """Whether an event was recorded at this very time; CVODE reports a root again after an interpolation."""
        size = 1e-12 * (1.0 + abs(self.t))
        return any(event.name == name and abs(event.time - self.t) <= size for event in self.recorder.events[-8:])

    def events(self, solution: Any) -> Outcome | None:
        """Record the events of this step; a terminal one ends the run."""
        signs, events = solution.i_events[-1], self.problem.nodes.events
        for event, sign in zip(events, signs, strict=False):  # corners come after the events
            if sign and not self.known(event.name):
                self.recorder.events.append(Happened(event.name, self.t, bool((sign > 0) == self.forward)))
                if event.terminal:
                    return ended_by(event.name, self.t)
        return Outcome(CORNER, self.t) if any(signs[len(events) :]) else None


def _solver(problem: Problem, tolerance: float, forward: bool) -> Any:
    """SUNDIALS' CVODE with the compiled right side, its Jacobian, and events."""
    n, p = len(problem.nodes.state), problem.values
    rates, slopes = problem.compiled(problem.nodes.rates), problem.slopes

    def right_side(t: float, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = rates(t, x, p)

    def jacobian(t: float, x: np.ndarray, _: np.ndarray, out: np.ndarray) -> None:
        assert slopes is not None
        out[:] = slopes(t, x, p).reshape(n, n)

    return _cvode()(
        right_side,
        jacfn=None if slopes is None else jacobian,  # CVODE's own differences
        rtol=tolerance,
        atol=tolerance,
        max_num_steps=200_000,
        **_event_options(problem, forward),
    )


@cache
def _cvode() -> Any:
    """The class of SUNDIALS' solver. What SUNDIALS and its wrapper would print becomes an outcome instead.

    The wrapper keeps the ``print`` that it finds when it is imported, and writes its errors to standard output with it.
    """
    for level in ("WARNING", "ERROR"):
        os.environ.setdefault(f"SUNLOGGER_{level}_FILENAME", os.devnull)
    known = builtins.print
    with COMPILING:
        builtins.print = _without_errors
        try:
            from sksundae.cvode import CVODE
        finally:
            builtins.print = known
    return CVODE


def _without_errors(*words: Any, _print: Any = print, **options: Any) -> None:
    """Print anything but an error of SUNDIALS."""
    if not (words and re.match(r"\n\[\w+, Error: -?\d+\] ", str(words[0]))):
        _print(*words, **options)


def _event_options(problem: Problem, forward: bool) -> dict[str, Any]:
    """Event functions and their directions, which are in time for us and along the run for CVODE."""
    events, margins = problem.nodes.events, problem.branch.margins
    if not events and not margins:
        return {}
    functions, p = problem.compiled([*problem.nodes.event_functions, *margins]), problem.values

    def values(t: float, x: np.ndarray, out: np.ndarray) -> None:
        out[:] = functions(t, x, p)

    sign = 1 if forward else -1
    directions = [*(sign * DIRECTIONS[event.direction] for event in events), *[-1] * len(margins)]
    values.terminal = [True] * len(directions)  # type: ignore[attr-defined]  # read by CVODE
    values.direction = directions  # type: ignore[attr-defined]  # as above
    return {"eventsfn": values, "num_events": len(directions)}
