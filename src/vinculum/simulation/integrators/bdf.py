"""Stiff integration: backward differentiation formulas of variable order and step, in compiled loops."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from vinculum.compile.machine import COMPILING
from vinculum.graph import ZERO
from vinculum.simulation.integrators.methods import (
    Method,
    Reached,
    next_chunk,
    out_of_reach,
    refuse_tolerance,
    register,
)
from vinculum.simulation.problem.events import DIRECTIONS, Happened, endless_events, no_value
from vinculum.simulation.problem.pivots import JUMPED, WATCH_LIMIT
from vinculum.simulation.stabilization.stabilization import Baumgarte, Stabilization, Unstabilized
from vinculum.simulation.trajectory.outcome import (
    CORNER,
    NON_FINITE,
    REPIVOT,
    STALLED,
    Outcome,
    ended_by,
    finished,
    jumped,
)

if TYPE_CHECKING:
    from vinculum.compile.function import Function
    from vinculum.graph import Node
    from vinculum.simulation.integrators.bdf_loops import Stiff  # Numba is imported only when a loop runs
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan, Recorder, Run

_CHUNK_SECONDS = 0.2  # the loop returns to Python (progress, Ctrl-C) about this often
_SHORTEST_CHUNK, _LONGEST_CHUNK = 256, 10**7  # steps
_AT_CORNER = 1e-10  # distance of an event that is at a corner


@dataclass(frozen=True)
class BDF(Method):
    """Backward differentiation formulas of variable order and step, for stiff equations.

    These are the formulas with Klopfenstein's coefficients of "The MATLAB ODE Suite" (Shampine, Reichelt 1997), orders
    1 to 5. The Jacobian is found by differences, when Newton's method needs a new one. ``tolerance`` is relative and
    absolute.
    """

    tolerance: float = 1e-9

    name: ClassVar[str] = "bdf"
    about: ClassVar[str] = "backward differentiation formulas of order 1 to 5, adaptive, compiled"
    options: ClassVar[tuple[str, ...]] = ("tolerance",)
    follows_corners: ClassVar[bool] = True
    misses_events_at_corners: ClassVar[bool] = True
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
        """Run from (t, x) to the end of the plan, in chunks of steps."""
        with COMPILING:  # Numba compiles the loop at its first call
            from vinculum.simulation.integrators import bdf_loops as loops

            functions, recorder = compile_functions(problem), run.recorder  # kept alive during the run
            work = make_work(
                self, problem, functions, x, recorder.instants[recorder.written :],
                start=t, end=run.plan.t1, balance=recorder.balance_start,
            )  # fmt: skip
            code = loops.advance(work, 0)
        return _run(work, problem, run, code, t)


register(BDF())


def _run(work: Stiff, problem: Problem, run: Run, code: int, start: float) -> Reached:
    """Chunks of steps, until one of them has an ending."""
    from vinculum.simulation.integrators import bdf_loops as loops

    recorder, before, chunk = run.recorder, 0, _SHORTEST_CHUNK
    while True:
        if code == loops.DONE:
            began, taken = clock.perf_counter(), int(work.counts[4])
            work = work._replace(t1=run.plan.target(float(work.now[0])))
            code = loops.advance(work, chunk)
            recorder.steps += int(work.counts[4]) - taken
            if work.now[0] != work.t1:
                chunk = next_chunk(chunk, clock.perf_counter() - began, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)
        before = _collect(work, recorder, before)
        ending = _ending(work, problem, run, code, start)
        run.report(float(work.now[0]) if ending is None else ending[1])
        if ending is not None:
            return ending
        code = loops.DONE


Functions = tuple["Function", "Function", "Function | None"]


def compile_functions(problem: Problem, further: Mapping[Node, Node] | None = None) -> Functions:
    """Rates, what is watched at every step, and the event functions with the margins of the corners.

    ``further`` = {state: rate} is integrated along with the problem.
    """
    nodes, margins, added = problem.nodes, problem.branch.margins, further or {}
    compiled = partial(problem.compiled, further=tuple(added))
    watched = compiled([nodes.watch.strict, nodes.balance, *nodes.residuals])
    watched_for = [*nodes.event_functions, *margins, *nodes.event_sizes, *(ZERO for _ in margins)]
    events = compiled(watched_for) if watched_for else None
    return compiled([*nodes.rates, *added.values()]), watched, events


def make_work(
    method: BDF,
    problem: Problem,
    functions: Functions,
    x: np.ndarray,
    instants: np.ndarray,
    *,
    start: float = 0.0,
    end: float = 1.0,
    balance: float = math.nan,
) -> Stiff:
    """The addresses of functions and the arrays in which steps are made."""
    from vinculum.simulation.integrators.bdf_loops import MOST, Stiff
    from vinculum.simulation.integrators.step_events import make_search

    rates, monitor, events = functions
    n, forward = len(x), end > start
    directions = [DIRECTIONS[event.direction] for event in problem.nodes.events]
    directions += [-1 if forward else 1] * len(problem.branch.margins)
    f, y, d, psi, scale, spare, last = np.empty((7, n))
    return Stiff(
        rates=rates.address, monitor=monitor.address,
        t1=float(end), tolerance=float(method.tolerance), limit=WATCH_LIMIT, jumped=JUMPED,
        now=np.array([start, 0.0, 0.0, 1.0, start]), counts=np.zeros(5, dtype=np.int64), p=problem.values.copy(),
        x=np.array(x, dtype=float), last=last, D=np.zeros((MOST + 3, n)), R=np.zeros((3, MOST + 1, MOST + 1)),
        f=f, y=y, d=d, psi=psi, scale=scale, spare=spare, J=np.zeros((n, n)), LU=np.zeros((n, n)),
        rows=np.zeros(n, dtype=np.int64), out=np.empty(monitor.size),
        maxima=np.append(np.zeros(monitor.size - 1), balance),
        instants=instants, samples=np.empty((len(instants), n)), cursor=np.zeros(1, dtype=np.int64),
        search=make_search(events.address if events else 0, directions, n), step=np.zeros(5),
    )  # fmt: skip


def _collect(work: Stiff, recorder: Recorder, before: int) -> int:
    """Hand over the samples written since ``before``, and the maxima; returns the number of samples."""
    after = int(work.cursor[0])
    recorder.add(work.instants[before:after], work.samples[before:after])
    recorder.observe(work.maxima[:-2], work.maxima[-2])
    recorder.balance_start = float(work.maxima[-1])
    return after


def _ending(work: Stiff, problem: Problem, run: Run, code: int, start: float) -> Reached | None:
    """How a chunk ended, with the time and state there; None if the run continues."""
    from vinculum.simulation.integrators import bdf_loops as loops

    t, x = float(work.now[0]), work.x.copy()
    if code == loops.HAPPENED:
        seen = len(run.recorder.events)
        cornered = start if problem.sides is not None and start != run.plan.t0 else np.nan
        ending = _take_events(work, problem, run.recorder, cornered)
        return ending or _cut_short(work, run, endless_events(run.recorder, seen, run.plan.t1 - run.plan.t0))
    if code == loops.UNDEFINED:
        number, time = int(work.search.place[2]), float(work.search.place[3])
        events = problem.nodes.events
        return _cut_short(work, run, no_value(events[number], time) if number < len(events) else Outcome(NON_FINITE, t))
    if code == loops.JUMPED:
        last = float(work.now[4])
        return jumped(last, (t, x)), last, work.last.copy()
    if code in (loops.NOT_FINITE, loops.STALLED):
        return Outcome(NON_FINITE if code == loops.NOT_FINITE else STALLED, t), t, x
    if code == loops.PIVOT or work.out[0] > WATCH_LIMIT:
        return Outcome(REPIVOT, t), t, x
    if t == run.plan.t1:
        return finished(t), t, x
    outcome = out_of_reach(run, t)
    return None if outcome is None else (outcome, t, x)


def _cut_short(work: Stiff, run: Run, outcome: Outcome | None) -> Reached | None:
    """A run that ends inside its last step: time and state at the beginning of that step."""
    if outcome is None:
        return None
    run.recorder.cut(outcome.time, float(np.sign(work.now[1])))
    return outcome, float(work.now[4]), work.last.copy()


def _take_events(work: Stiff, problem: Problem, recorder: Recorder, cornered: float) -> Reached | None:
    """Record the events of a step in the order of the run; a terminal one and a corner end it.

    Events at a corner, also at the one where the segment began, are found where the equations change.
    """
    direction, events, search = float(np.sign(work.now[1])), problem.nodes.events, work.search
    corners = np.append(search.hits[len(events) :], cornered)
    for _, i in sorted((time * direction, i) for i, time in enumerate(search.hits) if np.isfinite(time)):
        time, x = float(search.hits[i]), search.at[i].copy()
        if i < len(events) and not np.any(np.abs(corners - time) <= _AT_CORNER * max(1.0, abs(time))):
            if not _known(recorder, events[i].name, time):
                recorder.events.append(Happened(events[i].name, time, bool(search.rising[i])))
            if not events[i].terminal:
                continue
        elif i < len(events):
            continue
        recorder.cut(time, direction)
        return ended_by(events[i].name, time) if i < len(events) else Outcome(CORNER, time), time, x
    return None


def _known(recorder: Recorder, name: str, t: float) -> bool:
    """Whether an event was recorded at this very time, at the end of the last segment."""
    size = 1e-12 * (1.0 + abs(t))
    return any(event.name == name and abs(event.time - t) <= size for event in recorder.events[-8:])
