"""Taylor integration with heyoka: high order, long steps, errors close to rounding.

An integrator is compiled once for all numbers of a problem. Every run owns a copy of it, so runs in several threads,
or nested runs, are independent. A copy takes about a millisecond; a run that has ended leaves its copy for the next.
"""

from __future__ import annotations

import copy
import time as clock
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.compile.machine import COMPILING
from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import ONE, ZERO, Node, along, operations
from vinculum.simulation.integrators.methods import (
    Method,
    Reached,
    next_chunk,
    out_of_reach,
    refuse_tolerance,
    register,
)
from vinculum.simulation.integrators.taylor_chunks import Chunk, at_instants, with_polynomials
from vinculum.simulation.problem.events import DIRECTIONS, Happened, endless_events, is_recorded
from vinculum.simulation.problem.pivots import WATCH_LIMIT
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
_FIRST_CHUNK, _SHORTEST_CHUNK = 200, 50  # steps
_LONGEST_CHUNK = 20_000  # steps, which bounds the memory of the dense output
_MISSED = 1e-10  # a margin below -_MISSED means that the motion is on the other side of a corner
_MOST_IDLE = 16  # copies of an integrator that wait for a run
_SMALL = 1e-6  # heyoka measures its tolerance on states and event functions together; these must not be the larger


@dataclass(frozen=True)
class Taylor(Method):
    """heyoka's Taylor series of high order, with adaptive steps.

    ``tolerance`` is relative (default: rounding); ``compact=False`` takes several times longer to compile and runs
    about twice as fast (default: by the size of the equations).
    """

    tolerance: float | None = None
    compact: bool | None = None

    name: ClassVar[str] = "taylor"
    about: ClassVar[str] = "heyoka's Taylor series of high order, adaptive"
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
        """Compile the integrator."""
        _compile_for(self, problem)

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """Half the inverse of the first Taylor step: the motion's own time scale."""
        t, direction = plan.t0, plan.t1 - plan.t0
        if problem.nodes.events and _past_zeros(problem, t, t + direction, x) != t + direction:
            problem = problem.without_events()  # an event at the start would cut the step short
        with _compile_for(self, problem).owned(t, x, problem.values) as integrator:
            taylor = integrator.taylor
            step = abs((taylor.step() if direction > 0 else taylor.step_backward())[1])
        return 0.5 / step if np.isfinite(step) and step > 0 else problem.motion_rate(t, x)

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Run from (t, x) to the end of the plan, in chunks of steps. Returns the outcome, time and state reached."""
        return _integrate(self, problem, run, t, x)


register(Taylor())

# -- the integrator of heyoka ------------------------------------------------------------------------------------


@dataclass
class Hits:
    """Receives the non-terminal events of one integrator; a copy of the integrator gets its own."""

    found: list[tuple[float, int]] = field(default_factory=list)

    def __deepcopy__(self, memo: dict) -> Hits:
        return Hits()

    def __call__(self, integrator: Any, time: float, sign: int) -> None:
        """Called by heyoka."""
        self.found.append((float(time), int(sign)))


@dataclass
class Integrator:
    """heyoka's integrator of one problem."""

    taylor: Any
    plain: list[int]  # numbers of the non-terminal events, in heyoka's order
    terminal: list[int]  # of the terminal events, in heyoka's order; corners come next, then the pivot watch
    corners: int
    idle: deque[Integrator] = field(default_factory=lambda: deque(maxlen=_MOST_IDLE))  # copies that no run owns

    @property
    def hits(self) -> dict[int, Hits]:
        """The receivers of the non-terminal events, by the number of the event."""
        events = self.taylor.nt_events if self.plain else ()
        return {j: event.callback for j, event in zip(self.plain, events, strict=True)}

    @contextmanager
    def owned(self, t: float, x: np.ndarray, p: np.ndarray) -> Iterator[Integrator]:
        """A copy for one run: the same compiled code with a separate state and separate receivers."""
        try:
            copied = self.idle.pop()
        except IndexError:
            copied = Integrator(copy.deepcopy(self.taylor), self.plain, self.terminal, self.corners)
        copied.start(t, x, p)
        yield copied
        self.idle.append(copied)  # not after an error: its state may be anything

    def start(self, t: float, x: np.ndarray, p: np.ndarray) -> None:
        """Put it at a time and state."""
        taylor = self.taylor
        taylor.time = t
        taylor.state[:] = x
        taylor.pars[:] = p[: len(taylor.pars)]
        if taylor.with_events:
            taylor.reset_cooldowns()
        for hits in self.hits.values():
            hits.found.clear()


@lru_cache(maxsize=64)
def compiled(
    time: Node, state: tuple[Node, ...], parameters: tuple[Node, ...], rates: tuple[Node, ...], watch: Node,
    events: tuple[tuple[Node, int, bool], ...], margins: tuple[Node, ...], forward: bool,
    tolerance: float | None, compact: bool | None = None,
) -> Integrator:  # fmt: skip
    """Compile the integrator of ẋ = rates with events (node, direction, terminal), corners and the pivot watch."""
    import heyoka as hy

    nodes = [*rates, *(node for node, _, _ in events), *margins, watch / WATCH_LIMIT - 1]
    variables, outputs = expressions(time, state, parameters, nodes)
    functions = [_SMALL * function for function in outputs[len(rates) :]]
    ends = [bool(terminal) for _, _, terminal in events]
    directions = [event_direction(direction) for _, direction, _ in events]
    plain, terminal = ([j for j, ends_run in enumerate(ends) if ends_run is kind] for kind in (False, True))
    watched = [hy.nt_event(functions[j], callback=Hits(), direction=directions[j]) for j in plain]
    ending = [hy.t_event(functions[j], direction=directions[j]) for j in terminal]
    leaving = event_direction(-1 if forward else 1)
    ending += [hy.t_event(margin, direction=leaving) for margin in functions[len(events) : -1]]
    ending += [hy.t_event(functions[-1])] if watch is not ZERO else []
    equations = list(zip(variables, outputs[: len(rates)], strict=True))
    options = _options(rates, tolerance, compact)
    taylor = hy.taylor_adaptive(equations, np.zeros(len(state)), t_events=ending, nt_events=watched, **options)
    return Integrator(taylor, plain, terminal, len(margins))


def event_direction(sign: int) -> Any:
    """heyoka's direction: +1 rising, -1 falling, 0 any."""
    import heyoka as hy

    return {0: hy.event_direction.any, 1: hy.event_direction.positive, -1: hy.event_direction.negative}[sign]


def _options(rates: tuple[Node, ...], tolerance: float | None, compact: bool | None) -> dict[str, Any]:
    """heyoka's default tolerance if none is given; compact code for large systems by default."""
    small_code = operations(rates).total() > COMPACT_FROM if compact is None else compact
    return {"compact_mode": small_code} | ({} if tolerance is None else {"tol": tolerance})


def _compile_for(method: Taylor, problem: Problem) -> Integrator:
    """The compiled integrator of a problem; runs own copies of it."""
    forward = problem.sides is None or problem.sides.forward
    key = "taylor", forward, method.tolerance, method.compact
    return problem.branch.known.get(key, lambda: _compile(method, problem, forward))


def _compile(method: Taylor, problem: Problem, forward: bool) -> Integrator:
    nodes, branch = problem.nodes, problem.branch
    events = tuple(
        (node, DIRECTIONS[event.direction], event.terminal)
        for node, event in zip(branch.prepared(nodes.event_functions), nodes.events, strict=True)
    )
    with COMPILING:
        return compiled(
            nodes.time, nodes.state, branch.parameters, branch.prepared(nodes.rates),
            branch.prepared([nodes.watch.plain])[0], events, branch.prepared(branch.margins),
            forward, method.tolerance, method.compact,
        )  # fmt: skip


# -- a run -------------------------------------------------------------------------------------------------------


def _integrate(method: Taylor, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    with _compile_for(method, problem).owned(t0, x, problem.values) as integrator:
        return _run(integrator, problem, run, t0, x)


def _run(integrator: Integrator, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    """Chunks of steps, until one of them has an ending."""
    t1, recorder = run.plan.t1, run.recorder
    monitor = problem.compiled([problem.nodes.balance, *problem.nodes.residuals])
    options = {"callback": project_after_step(problem)} if run.stabilization.acts == AFTER_STEPS else {}
    steps, good = _FIRST_CHUNK, (t0, np.array(x))
    target = _past_zeros(problem, t0, t1, x)
    while True:
        began, reached = clock.perf_counter(), integrator.taylor.time
        if options or recorder.keep_dense or target != t1 or problem.branch.margins:
            chunk = with_polynomials(integrator.taylor, target, steps, options)
        else:
            chunk = at_instants(integrator.taylor, steps, recorder)
        target = t1
        good, missed = _collect(problem, monitor, chunk, recorder, good)
        recorder.steps += chunk.steps
        _take_events(problem, integrator, recorder, t0, good[0])
        run.report(good[0])
        ending = _ending(problem, integrator, chunk.outcome, good, reached, t0, t1, recorder)
        if missed and (ending is None or ending.kind == FINISHED):
            ending = Outcome(CORNER, good[0])
        if ending is None:
            ending = endless_events(recorder, t1 - run.plan.t0)
        if ending is None or ending.kind == STALLED:
            far = out_of_reach(run, good[0])
            ending = ending if far is None else far
        if ending is not None:
            return ending, *good
        steps = next_chunk(steps, clock.perf_counter() - began, _CHUNK_SECONDS, _SHORTEST_CHUNK, _LONGEST_CHUNK)


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
        here = functions(middle, np.array(dense(middle)), problem.values)[k]
        low, high = (middle, high) if here >= 0 else (low, middle)
    return float(low)


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
    problem: Problem, monitor: Any, chunk: Chunk, recorder: Recorder, good: tuple[float, np.ndarray]
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
    if recorder.keep_dense and chunk.dense is not None:
        recorder.dense.append(chunk.dense)
    return (float(knots[-1]), states[-1].copy()), corner is not None


def _sample(chunk: Chunk, recorder: Recorder, knots: np.ndarray) -> None:
    """Record the requested samples between the first and the last knot."""
    low, high = sorted((knots[0], knots[-1]))
    waiting = recorder.instants[recorder.written :]
    inside = (waiting >= low) & (waiting <= high)
    ready = waiting[: int(np.argmin(inside)) if not inside.all() else len(waiting)]
    if len(ready):
        recorder.add(ready, chunk.samples(ready))


def _take_events(problem: Problem, integrator: Integrator, recorder: Recorder, t0: float, t: float) -> None:
    """Record the non-terminal events of a chunk up to t, in the order of the run; zeros at the start do not count."""
    found = []
    for j, hits in integrator.hits.items():
        after = [(time, sign) for time, sign in hits.found if abs(time - t0) > 1e-12 * max(1.0, abs(t0))]
        found += [(time, j, sign) for time, sign in after if abs(time - t0) <= abs(t - t0)]
        hits.found.clear()
    for time, j, sign in sorted(found, reverse=integrator.taylor.time < t0):
        name = problem.nodes.events[j].name
        if not (
            is_recorded(recorder, name, t0) and is_recorded(recorder, name, time)
        ):  # otherwise it is the event at the last corner
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
    """The outcome of a chunk, or None if the run continues."""
    import heyoka as hy

    time = good[0]
    if outcome == hy.taylor_outcome.time_limit:
        return finished(t1) if time == t1 else None
    if outcome == hy.taylor_outcome.err_nf_state:
        return Outcome(NON_FINITE, time)
    if outcome == hy.taylor_outcome.step_limit:
        stuck = abs(time - before) <= 1e-12 * max(abs(t1 - before), abs(time))
        return Outcome(STALLED, time) if stuck else None
    number = -int(outcome) - 1
    if 0 <= number < len(integrator.terminal):
        if time == start:
            return None  # zero at the start is not an event
        j = integrator.terminal[number]
        name = problem.nodes.events[j].name
        recorder.events.append(Happened(name, time, _rising(problem, j, *good)))
        return ended_by(name, time)
    corner = len(integrator.terminal) <= number < len(integrator.terminal) + integrator.corners
    return Outcome(CORNER if corner else REPIVOT, time)


def _rising(problem: Problem, j: int, t: float, x: np.ndarray) -> bool:
    """Whether an event function grows along the motion at a state."""
    nodes = problem.nodes
    motion = {nodes.time: ONE, **dict(zip(nodes.state, nodes.rates, strict=True))}
    slope = along([nodes.event_functions[j]], motion)
    return bool(problem.compiled(slope)(t, x, problem.values)[0] > 0)
