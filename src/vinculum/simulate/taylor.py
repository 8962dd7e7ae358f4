"""Taylor integration with heyoka: the order is high, the steps are long, the errors near rounding."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.graph import ONE, ZERO, Node, along, operations
from vinculum.graph.traverse import describe
from vinculum.simulate.events import DIRECTIONS, Happened
from vinculum.simulate.outcome import CORNER, EVENT, FINISHED, NON_FINITE, REPIVOT, STALLED, Outcome, finished
from vinculum.simulate.problem import WATCH_LIMIT, Problem
from vinculum.simulate.rates import motion_rate
from vinculum.simulate.recorder import Recorder

_CHUNK_SECONDS = 0.3  # the integrator comes up for air (progress, Ctrl-C) about this often
_SMALL = 1e-6  # heyoka measures its tolerance on states and event functions together; these must not be the larger
_SEEN = 1e-10  # a margin below minus this means that the motion is on the other side of a corner
_LONGEST_CHUNK = 20_000  # steps, which bounds the memory of the dense output


@dataclass
class Hits:
    """Receives the non-terminal events of one run."""

    found: list[tuple[float, int]] = field(default_factory=list)

    def __deepcopy__(self, memo: dict) -> Hits:
        return self  # heyoka copies its callbacks; the hits must arrive here

    def __call__(self, integrator: Any, time: float, sign: int) -> None:
        """Called by heyoka."""
        self.found.append((float(time), int(sign)))


@dataclass
class Integrator:
    """heyoka's integrator of one problem, compiled once, with the receivers of its events."""

    taylor: Any
    hits: dict[int, Hits]  # by number of the event, non-terminal ones
    terminal: list[int]  # numbers of the terminal events, in heyoka's order; corners come next, then the pivot watch
    corners: int


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
    sides = {0: hy.event_direction.any, 1: hy.event_direction.positive, -1: hy.event_direction.negative}
    functions = [_SMALL * function for function in outputs[len(rates) : -1]]
    hits, plain, ending, terminal = {}, [], [], []
    for j, (function, (_, direction, ends)) in enumerate(zip(functions[: len(events)], events, strict=True)):
        if ends:
            ending.append(hy.t_event(function, direction=sides[direction]))
            terminal.append(j)
        else:
            hits[j] = Hits()
            plain.append(hy.nt_event(function, callback=hits[j], direction=sides[direction]))
    ending += [hy.t_event(margin, direction=sides[-1 if forward else 1]) for margin in functions[len(events) :]]
    if watch is not ZERO:
        ending.append(hy.t_event(_SMALL * outputs[-1]))
    options: dict[str, Any] = {"compact_mode": operations(rates).total() > COMPACT_FROM if compact is None else compact}
    if tolerance is not None:
        options["tol"] = tolerance
    equations = list(zip(variables, outputs[: len(rates)], strict=True))
    taylor = hy.taylor_adaptive(equations, np.zeros(len(state)), t_events=ending, nt_events=plain, **options)
    return Integrator(taylor, hits, terminal, len(margins))


def integrate(
    problem: Problem,
    tolerance: float | None,
    t0: float,
    t1: float,
    x: np.ndarray,
    recorder: Recorder,
    progress: Callable[[float], None],
    after_step: Callable[[Any], bool] | None = None,
) -> tuple[Outcome, float, np.ndarray]:
    """Run from (t0, x) to t1. Returns the outcome and where it stopped."""
    integrator = started(problem, tolerance, t0, x)
    monitor = problem.compiled([problem.balance, *problem.residuals])
    steps, good = 200, (t0, np.array(x))
    target = _past_zeros(problem, t0, t1, x)
    while True:
        began = clock.perf_counter()
        reached = integrator.taylor.time
        result = integrator.taylor.propagate_until(
            target, max_steps=steps, c_output=True, **({"callback": after_step} if after_step else {})
        )
        target = t1
        outcome, dense = result[0], result[4]
        good = _collect(problem, monitor, dense, recorder, good)
        recorder.steps += int(result[3])
        _take_events(problem, integrator, recorder, t0)
        progress(good[0])
        ending = _ending(problem, integrator, outcome, good, reached, t0, t1, recorder)
        if ending is None or ending.kind == FINISHED:
            missed = _passed(problem, good)
            ending = ending if missed is None else missed
        if ending is not None:
            return ending, *good
        spent = clock.perf_counter() - began
        steps = int(min(max(steps * min(4.0, _CHUNK_SECONDS / max(spent, 1e-6)), 50), _LONGEST_CHUNK))


def _passed(problem: Problem, good: tuple[float, np.ndarray]) -> Outcome | None:
    """A corner that was passed unseen ends the run."""
    if not problem.margins:
        return None
    values = problem.compiled(problem.margins)(*good, problem.values)
    if values.min() >= -_SEEN * (1.0 + np.abs(good[1]).max()):
        return None
    return Outcome(STALLED, good[0], f"the corner {describe(problem.corners.surfaces[values.argmin()])} = 0 was missed")


def _past_zeros(problem: Problem, t0: float, t1: float, x: np.ndarray) -> float:
    """Where to go first: with an event function at zero, a little further, since heyoka would see nothing else."""
    if not problem.events and not problem.margins:
        return t1
    values = problem.compiled([*problem.event_nodes, *problem.margins])(t0, x, problem.values)
    zero = np.any(values[: len(problem.events)] == 0)
    on_corner = np.any(np.abs(values[len(problem.events) :]) < 1e-12)
    return t0 + 1e-9 * (t1 - t0) if zero else t0 + 1e-12 * (t1 - t0) if on_corner else t1


def started(problem: Problem, tolerance: float | None, t: float, x: np.ndarray) -> Integrator:
    """The compiled integrator, set to a state."""
    events = tuple(
        (node, DIRECTIONS[event.direction], event.terminal)
        for node, event in zip(problem.prepared(problem.event_nodes), problem.events, strict=True)
    )
    rates, watch = problem.prepared(problem.rates), problem.prepared([problem.watch])[0]
    integrator = compiled(
        problem.time, problem.state, problem.parameters, rates, watch, events, problem.prepared(problem.margins),
        problem.sides is None or problem.sides.forward, tolerance, problem.compact,
    )  # fmt: skip
    taylor = integrator.taylor
    taylor.time = t
    taylor.state[:] = x
    taylor.pars[:] = problem.values[: len(taylor.pars)]
    if taylor.with_events:
        taylor.reset_cooldowns()
    for hits in integrator.hits.values():
        hits.found.clear()
    return integrator


def natural_rate(problem: Problem, tolerance: float | None, t: float, x: np.ndarray, direction: float) -> float:
    """Half the inverse of the first Taylor step: the motion's own time scale, as a rate for the feedback."""
    if problem.events and _past_zeros(problem, t, t + direction, x) != t + direction:
        problem = replace(problem, events=())  # an event at the start would cut the step short
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
    if np.isnan(recorder.balance_start):
        recorder.balance_start = float(values[0, 0])
    recorder.observe(
        np.abs(values[:, 1:]).max(axis=0, initial=0.0), np.abs(values[:, 0] - recorder.balance_start).max()
    )
    _sample(dense, recorder, knots)
    if recorder.keep_dense:
        recorder.dense.append(dense)
    return float(knots[-1]), states[-1].copy()


def _sample(dense: Any, recorder: Recorder, knots: np.ndarray) -> None:
    low, high = sorted((knots[0], knots[-1]))
    waiting = recorder.instants[recorder.written :]
    inside = (waiting >= low) & (waiting <= high)
    ready = waiting[: int(np.argmin(inside)) if not inside.all() else len(waiting)]
    if len(ready):
        recorder.add(ready, np.array(dense(ready)))


def _take_events(problem: Problem, integrator: Integrator, recorder: Recorder, t0: float) -> None:
    found = []
    for j, hits in integrator.hits.items():
        found += [(time, j, sign) for time, sign in hits.found if abs(time - t0) > 1e-12 * max(1.0, abs(t0))]
        hits.found.clear()
    for time, j, sign in sorted(found, reverse=integrator.taylor.time < t0):
        recorder.events.append(Happened(problem.events[j].name, time, sign > 0))


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
    if 0 <= number < len(integrator.terminal) and time == start:
        return None  # zero at the start is not an event
    if 0 <= number < len(integrator.terminal):
        j = integrator.terminal[number]
        recorder.events.append(Happened(problem.events[j].name, time, _rising(problem, j, *good)))
        return Outcome(EVENT, time, f"the event {problem.events[j].name!r} ended the run")
    corner = len(integrator.terminal) <= number < len(integrator.terminal) + integrator.corners
    return Outcome(CORNER if corner else REPIVOT, time, "")


def _rising(problem: Problem, j: int, t: float, x: np.ndarray) -> bool:
    """Whether an event function grows along the motion at a state."""
    slope = along([problem.event_nodes[j]], {problem.time: ONE, **dict(zip(problem.state, problem.rates, strict=True))})
    return bool(problem.compiled(slope)(t, x, problem.values)[0] > 0)
