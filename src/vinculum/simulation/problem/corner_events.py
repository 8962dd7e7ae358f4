"""Events at a corner of the equations, where an event function passes zero, or jumps over it, as the equations change.

With e and ė of an event function before and after the corner, run in the direction d of time:

    side before = sign(e), or -sign(d ė) at e = 0;   side after = sign(e), or sign(d ė) at e = 0.

It is an event where the two differ, and where e comes to zero and stays there (ė = 0 after).
"""

from __future__ import annotations

import math

import numpy as np

from vinculum.graph import ONE, along, evaluate
from vinculum.simulation.problem.events import DIRECTIONS, Happened
from vinculum.simulation.problem.one_run import Run
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.outcome import Outcome, ended_by
from vinculum.simulation.trajectory.recorder import Recorder

SAME = 1e-9  # instants nearer than this, beside one or the time, are one


def taken_at_corner(before: Problem, after: Problem, run: Run, t: float, x: np.ndarray) -> Outcome | None:
    """Record the events at a corner that a Taylor series ended at; the outcome where one of them ends the run."""
    if not before.nodes.events or run.plan.method != "taylor":
        return None
    direction = run.plan.t1 - run.plan.t0
    pairs = zip(before.nodes.events, _growth(before, t, x), _growth(after, t, x), strict=True)
    for event, (e, slope), (later, later_slope) in pairs:
        size = SAME * max(abs(slope), abs(later_slope))
        came = _side(e, -direction * slope, size, t)
        goes = _side(later, direction * later_slope, size, t)
        rising = (goes - came) * direction > 0
        wanted = DIRECTIONS[event.direction] in (0, 1 if rising else -1)
        if came == 0 or goes == came or not wanted or known(run.recorder, event.name, t):
            continue
        run.recorder.events.append(Happened(event.name, t, rising))
        if event.terminal:
            return ended_by(event.name, t)
    return None


def _growth(problem: Problem, t: float, x: np.ndarray) -> list[tuple[float, float]]:
    """e and ė of every event function on the side of a problem."""
    nodes, functions = problem.nodes, problem.nodes.event_functions
    slopes = along(functions, {nodes.time: ONE, **dict(zip(nodes.state, nodes.rates, strict=True))})
    numbers = evaluate(problem.branch.prepared([*functions, *slopes]), problem.numbers(t, x))
    return list(zip(numbers[: len(functions)], numbers[len(functions) :], strict=True))


def _side(e: float, leaving: float, size: float, t: float) -> float:
    """The sign of e, or at zero that of its way from there; 0 where it stays."""
    if abs(e) > size * max(1.0, abs(t)):
        return math.copysign(1.0, e)
    return math.copysign(1.0, leaving) if abs(leaving) > size else 0.0


def known(recorder: Recorder, name: str, t: float) -> bool:
    """Whether an event was recorded already at an instant."""
    return any(event.name == name and abs(event.time - t) <= SAME * max(1.0, abs(t)) for event in recorder.events[-20:])
