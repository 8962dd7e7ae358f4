"""Taylor runs at the ends of the ranges of functions (`problem.ranges`): how a motion continues past them.

A step ends where the series of a function leaves its range. The motion goes a short way past that end on its tangent,
to where the functions have a series again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vinculum.errors import About
from vinculum.graph import ONE, along
from vinculum.graph.traverse import describe
from vinculum.simulation.integrators.taylor_steps import Advance, Polynomials
from vinculum.simulation.problem.events import record_events_at_jump
from vinculum.simulation.trajectory.outcome import NON_FINITE, Cause, Outcome

if TYPE_CHECKING:
    from vinculum.compile.function import Function
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Run

_BEYOND = 10.0 ** np.arange(-10, -1)  # of a step: ways past an end, of which the first that leads to a series is taken
_RETURNS = 1e3  # of these ways: after a shorter time the motion may have returned to the same end


@dataclass
class Passed:
    """The ends of ranges that a run has passed."""

    last: float = math.nan  # the time of the last one
    returns: int = 0  # how many in a row came right after another

    def stays(self, t: float, way: float, edges: int) -> bool:
        """Whether the motion returns to an end again and again: there are more ends in a row than functions."""
        self.returns = self.returns + 1 if abs(t - self.last) <= _RETURNS * abs(way) else 0
        self.last = t
        return self.returns > edges


def at_edge(problem: Problem, t: float, x: np.ndarray, near: float = 0.0) -> bool:
    """Whether a function is at the end of its range, or ``near`` it if it is bounded: its margin then has no unit."""
    if not problem.nodes.edges:
        return False
    margins = problem.compiled(problem.nodes.edges)(t, x, problem.values)
    ends = np.array([end.margin for end in problem.nodes.ends.values()])
    return bool((margins <= 2 * ends + near * (ends > 0)).any())


def stays_at_edge(problem: Problem, t: float, x: np.ndarray) -> Outcome:
    """The outcome of a motion that cannot leave the end of a range."""
    margins = problem.compiled(problem.nodes.edges)(t, x, problem.values)
    end = list(problem.nodes.ends.values())[int(np.argmin(margins))]
    return Outcome(NON_FINITE, t, Cause("end of range", [About("expression", describe(end.function))]))


def past_edge(
    problem: Problem,
    run: Run,
    t: float,
    x: np.ndarray,
    longest: float,
    passed: Passed,
    made: Advance | None = None,
) -> tuple[float, np.ndarray] | None:
    """Time and state just past the end of a range, on the tangent of the motion that follows.

    ``longest`` is the longest step; ``made`` are the steps up to the end, if it is not the start: a body that falls
    from rest with the drag -c |v| v moves on, though |v| has no derivatives there. None if the motion returns to the
    end again and again: friction μ v/|v| brings a body to rest.
    """
    rates = problem.compiled(problem.nodes.rates)
    here = rates(t, x, problem.values)
    if not np.isfinite(here).all() and (made is None or not len(made.knots)):
        return None

    def slope(way: float) -> np.ndarray:
        """The rates just past the end; where they have no value, those before it."""
        before = here if made is None or np.isfinite(here).all() else (x - _sample(made, t - way)) / way
        behind = rates(t + way, x + way * before, problem.values)
        return behind if np.isfinite(behind).all() else before

    way = _way(problem, run, t, x, longest, slope)
    return None if passed.stays(t, way, len(problem.nodes.edges)) else _on_tangent(run, t, x, slope(way), way)


def events_at_edge(
    problem: Problem, run: Run, made: Advance, edge: tuple[float, np.ndarray], beyond: tuple[float, np.ndarray]
) -> Outcome | None:
    """Record the events whose functions pass zero at the end of a range; returns the outcome if one ends the run."""
    if not problem.nodes.events:
        return None
    t, way = edge[0], beyond[0] - edge[0]
    states = _sample(made, t - way) if len(made.knots) else edge[1], beyond[1]
    first, second = states if way > 0 else states[::-1]
    return record_events_at_jump(problem, problem, run, t, first, second)


def clear_of(edge: float, reached: float, target: float, longest: float) -> float:
    """The next target after an end of a range: steps at most double the distance from it, up to the longest.

    With the distance d, rounding makes errors of order ε/dᵏ in coefficient k.
    """
    if not abs(reached - edge) < longest:
        return target
    doubled = 2 * reached - edge
    return doubled if abs(doubled - reached) < abs(target - reached) else target


def _sample(made: Advance, t: float) -> np.ndarray:
    """The state at an instant in some steps."""
    return np.array(made.samples(np.array([t])))[0]


def _way(
    problem: Problem, run: Run, t: float, x: np.ndarray, longest: float, slope: Callable[[float], np.ndarray]
) -> float:
    """The shortest way past the end of a range to where the motion has a series, as a share of the longest step; if
    no way leads there, the shortest of all.
    """
    ways = np.copysign(np.maximum(_BEYOND * longest, 16 * np.spacing(abs(t))), run.plan.t1 - run.plan.t0)
    margins = problem.compiled(problem.nodes.edges)
    here = margins(t, x, problem.values)
    for way in ways:
        there = t + way, x + way * slope(way)
        if _has_series(problem, *there) and _is_behind(here, margins(*there, problem.values)):
            return float(way)
    return float(ways[0])


def _is_behind(here: np.ndarray, there: np.ndarray) -> bool:
    """Whether the margin whose zero is nearest has grown: an end that is known to few digits may still be ahead."""
    with np.errstate(all="ignore"):
        time = np.abs(here / (there - here))
    k = int(np.argmin(np.where(np.isnan(time), np.inf, time)))
    return bool(there[k] > 2 * here[k])


def _has_series(problem: Problem, t: float, x: np.ndarray) -> bool:
    """Whether the second derivatives of a motion are finite; arcsin u has none where u is rounded to one."""
    second = problem.branch.known.get(("second rates",), lambda: _second_rates(problem))
    return bool(np.isfinite(second(t, x, problem.values)).all())


def _second_rates(problem: Problem) -> Function:
    """Machine code for df/dt along the motion."""
    nodes, rates = problem.nodes, problem.branch.prepared(problem.nodes.rates)
    return problem.compiled(tuple(along(rates, {nodes.time: ONE, **dict(zip(nodes.state, rates, strict=True))})))


def _on_tangent(run: Run, t: float, x: np.ndarray, slope: np.ndarray, way: float) -> tuple[float, np.ndarray]:
    """Go a short way on the tangent of the motion, or to the end of the run."""
    t1, recorder = run.plan.t1, run.recorder
    there = t + way if abs(way) < abs(t1 - t) else t1
    tangent = Polynomials(np.array([t, there]), np.stack([x, slope], axis=1)[None])
    waiting = recorder.instants[recorder.written :]
    passed = waiting[(waiting - t) * way <= (there - t) * way]
    recorder.add(passed, tangent(passed))
    if recorder.keep_dense:
        recorder.dense.append(tangent)
    return there, tangent(np.array([there]))[0]
