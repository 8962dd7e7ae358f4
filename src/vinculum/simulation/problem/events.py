"""Events: instants at which an expression passes zero during a run.

At a corner of the equations an event function may pass zero, or jump over it, as the equations change. With e and ė
before and after the corner, in a run in the direction d of time:

    side before = sign(e), or -sign(d ė) at e = 0;   side after = sign(e), or sign(d ė) at e = 0.

It is an event where the two differ, and where e comes to zero and stays there (ė = 0 after).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.errors import About, VinculumError
from vinculum.expressions import refuse_arrays
from vinculum.graph import ONE, Node, along, apply, evaluate
from vinculum.names import reaction
from vinculum.notebook_repr import html
from vinculum.simulation.trajectory.outcome import NON_FINITE, STALLED, Cause, Outcome, ended_by

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Recorder, Run


__all__ = ["DIRECTIONS", "Event", "Happened", "reaction"]

DIRECTIONS = {"any": 0, "rising": 1, "falling": -1}
_SAME = 1e-9  # instants closer than this, relative to one or to the time, are the same
_MANY = 1000  # events in a row that may accumulate
_NEAR = 64  # of these, so many are examined at every event
_SHORTER = 0.7  # ratio of the gaps of events that accumulate as a geometric series


@dataclass(frozen=True)
class Event:
    """The zero of an expression of time, coordinates, velocities, accelerations, inputs and reactions.

    ``direction`` is "rising", "falling" or "any"; a ``terminal`` event ends the run.

    >>> Event(reaction("contact"), name="lift-off", direction="falling", terminal=True)
    Event(lift-off: reaction(contact) = 0, falling, terminal)
    """

    expression: sp.Expr
    name: str = "event"
    direction: str = "any"
    terminal: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise VinculumError(
                f'The name of the event {self.expression} = 0 is {self.name!r}; it must be text, as name="contact".'
            )
        if not isinstance(self.direction, str) or self.direction not in DIRECTIONS:
            raise VinculumError(
                f"The direction of the event {self.name!r} is {self.direction!r}; use any, rising or falling."
            )
        refuse_arrays(self.expression)

    def __repr__(self) -> str:
        end = ", terminal" if self.terminal else ""
        return f"Event({self.name}: {self.expression} = 0, {self.direction}{end})"

    _repr_html_ = html


@dataclass(frozen=True)
class Happened:
    """An event that occurred: its name, the time, and whether the expression was rising."""

    name: str
    time: float
    rising: bool

    _repr_html_ = html


def name_events(events: Event | Sequence[Event]) -> list[Event]:
    """Events with distinct names; raises for anything that is not an event."""
    given: Sequence[Any] = events if isinstance(events, (list, tuple)) else [events]
    strange = [event for event in given if not isinstance(event, Event)]
    if strange:
        raise VinculumError(f"events must be a list of Event(expression, ...); found {strange[0]!r}.")
    several = len(given) > 1
    return [replace(e, name=f"event_{i}") if e.name == "event" and several else e for i, e in enumerate(given, 1)]


def record_events_at_corner(before: Problem, after: Problem, run: Run, t: float, x: np.ndarray) -> Outcome | None:
    """Record the events at the instant of a corner; returns the outcome if one of them ends the run."""
    if not before.nodes.events or not run.plan.method.misses_events_at_corners:
        return None
    direction = math.copysign(1.0, run.plan.t1 - run.plan.t0)
    pairs = zip(before.nodes.events, _growth(before, t, x), _growth(after, t, x), strict=True)
    for event, (e, slope), (later, later_slope) in pairs:
        size = _SAME * max(abs(slope), abs(later_slope))
        came = _side(e, -direction * slope, size, t)
        goes = _side(later, direction * later_slope, size, t)
        rising = (goes - came) * direction > 0
        wanted = DIRECTIONS[event.direction] in (0, 1 if rising else -1)
        if came == 0 or goes == came or not wanted or is_recorded(run.recorder, event.name, t):
            continue
        run.recorder.events.append(Happened(event.name, t, rising))
        if event.terminal:
            return ended_by(event.name, t)
    return None


def record_events_at_jump(
    before: Problem, after: Problem, run: Run, t: float, x: np.ndarray, later: np.ndarray
) -> Outcome | None:
    """Record the events whose functions pass zero because the state jumps; returns the outcome if one ends the run."""
    nodes = before.nodes
    if not nodes.events:
        return None
    came = before.compiled(nodes.event_functions)(t, x, before.values)
    goes = after.compiled(after.nodes.event_functions)(t, later, after.values)
    sides = [
        np.where(np.abs(e) > _SAME * np.maximum(np.abs(came), np.abs(goes)), np.sign(e), 0.0) for e in (came, goes)
    ]
    for event, side, next_side in zip(nodes.events, *sides, strict=True):
        rising = bool(next_side > side)
        wanted = DIRECTIONS[event.direction] in (0, 1 if rising else -1)
        if side == 0 or next_side == side or not wanted or is_recorded(run.recorder, event.name, t):
            continue
        run.recorder.events.append(Happened(event.name, t, rising))
        if event.terminal:
            return ended_by(event.name, t)
    return None


def endless_events(recorder: Recorder, seen: int, span: float) -> Outcome | None:
    """The outcome if events accumulate within smooth equations: ever closer, down to the resolution of the run.

    The first ``seen`` events were examined before. Events after the one that shows it are dropped.
    """
    for last in range(seen, len(recorder.events)):
        name, late = recorder.events[last].name, recorder.events[last].time
        if _accumulate(recorder.events, name, recorder.closed_events, last + 1, _SAME * abs(span)):
            del recorder.events[last + 1 :]
            return Outcome(STALLED, late, Cause("endless events", [About("event", name)]))
    return None


def event_values(problem: Problem, t: float, x: np.ndarray) -> np.ndarray:
    """The event functions at a state."""
    functions = problem.nodes.event_functions
    return problem.compiled(functions)(t, x, problem.values) if functions else np.empty(0)


def no_value(event: Event, time: float) -> Outcome:
    """The outcome if the expression of an event is not finite."""
    return Outcome(NON_FINITE, time, Cause("event undefined", [About("event", event.name)]))


def _accumulate(events: Sequence[Happened], name: str, first: int, end: int, close: float) -> bool:
    """Whether the events of a name up to ``end`` accumulate; most are far apart, which costs little to see."""
    near = [event.time for event in events[max(first, end - _NEAR) : end] if event.name == name]
    if len(near) < 7 or abs(near[-1] - near[-3]) >= 2 * close:
        return False
    if any(_shrink(np.array(near), width) for width in (2, 10)):
        return True
    if (end - first) % _NEAR:
        return False
    times = np.array([event.time for event in events[max(first, end - 4 * _MANY) : end] if event.name == name][-_MANY:])
    gaps = np.abs(np.diff(times))
    slowly = len(times) == _MANY and gaps[-10:].max() < close and gaps[-100:].mean() < 0.98 * gaps[:100].mean()
    return slowly or _shrink(times, 100)


def _shrink(times: np.ndarray, width: int) -> bool:
    """Whether the last three groups of gaps between instants get shorter, as in a geometric series."""
    gaps = np.abs(np.diff(times[-3 * width - 1 :]))
    if len(gaps) < 3 * width:
        return False
    first, second, third = gaps.reshape(3, width)
    return bool(np.all(second < _SHORTER * first) and np.all(third < _SHORTER * second))


def size_of_terms(node: Node, depth: int = 6) -> Node:
    """Σ |terms| of sums, and of sums in their factors, down to some depth."""
    if depth and node.op in ("add", "subtract"):
        return size_of_terms(node.args[0], depth - 1) + size_of_terms(node.args[1], depth - 1)
    if depth and node.op == "multiply":
        return size_of_terms(node.args[0], depth - 1) * size_of_terms(node.args[1], depth - 1)
    return size_of_terms(node.args[0], depth - 1) if depth and node.op == "negate" else apply("abs", node)


def _growth(problem: Problem, t: float, x: np.ndarray) -> list[tuple[float, float]]:
    """e and ė of every event function on the side of a problem."""
    nodes, functions = problem.nodes, problem.branch.prepared(problem.nodes.event_functions)
    rates = problem.branch.prepared(nodes.rates)
    slopes = along(functions, {nodes.time: ONE, **dict(zip(nodes.state, rates, strict=True))})
    numbers = evaluate([*functions, *slopes], problem.numbers(t, x))
    return list(zip(numbers[: len(functions)], numbers[len(functions) :], strict=True))


def _side(e: float, leaving: float, size: float, t: float) -> float:
    """The sign of e, or at e = 0 the sign of ``leaving``; 0 if e stays at zero."""
    if abs(e) > size * max(1.0, abs(t)):
        return math.copysign(1.0, e)
    return math.copysign(1.0, leaving) if abs(leaving) > size else 0.0


def is_recorded(recorder: Recorder, name: str, t: float) -> bool:
    """Whether an event has already been recorded at an instant."""
    return any(
        event.name == name and abs(event.time - t) <= _SAME * max(1.0, abs(t)) for event in recorder.events[-20:]
    )
