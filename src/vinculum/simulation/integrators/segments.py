"""A run as a row of segments: from corner to corner, with new pivots where the old ones became small; and the reason
why a run broke down: an operation left its domain, or the equations became singular.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vinculum.errors import About, ConstraintError, DomainError, SingularError
from vinculum.graph import Node, evaluate, symbols
from vinculum.graph.traverse import describe, order
from vinculum.simulation.integrators.crossing import approach, tell_crossings
from vinculum.simulation.integrators.methods import Reached
from vinculum.simulation.problem.discontinuities import place_on_sides
from vinculum.simulation.problem.events import Event, event_values, no_value, record_events_at_corner
from vinculum.simulation.problem.pieces import is_at, next_knot
from vinculum.simulation.problem.pivots import refreshed, renew, violated_condition
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.outcome import (
    CORNER,
    FINISHED,
    INTERRUPTED,
    NON_FINITE,
    REPIVOT,
    SINGULAR,
    STALLED,
    Cause,
    Outcome,
    cause_of,
)
from vinculum.simulation.trajectory.recorder import Run

_MOST_CORNERS_IN_PLACE = 200
_EDGE = {"sqrt": (0,), "log": (0,), "asin": (-1, 1), "acos": (-1, 1), "acosh": (1,), "atanh": (-1, 1)}  # of domains
_HUGE = 1e30  # a larger state has diverged
_LARGE = 1e6  # an event function that is larger may be at a pole


def run_segments(problem: Problem, run: Run, x: np.ndarray) -> Outcome:
    """Integrate segment after segment to the end of the plan, or until the run breaks down."""
    return end_run(run, *advance(problem, run, x))


def advance(problem: Problem, run: Run, x: np.ndarray) -> tuple[Problem, Outcome, float, np.ndarray]:
    """The last problem, the outcome, the time and the state at the end of the plan, or where the run breaks down."""
    plan, recorder = run.plan, run.recorder
    t, stuck, clear = plan.t0, 0, plan.t1
    while True:
        former, knot = t, next_knot(problem, t, clear)
        if is_at(knot, t) and knot != clear:
            recorder.close(problem)
            problem = place_on_sides(problem, plan, t, x)
            continue
        outcome, t, x = _run_segment(problem, _until(run, knot), t, x)
        recorder.parts.append((problem, former, t))
        if outcome.kind == FINISHED and t == knot != clear:
            continue
        leaving = outcome.kind == FINISHED and t != plan.t1  # a singular position
        if outcome.kind not in (REPIVOT, CORNER) and not leaving:
            break
        recorder.close(problem)
        stuck, clear = stuck + 1 if abs(t - former) <= 1e-9 * abs(plan.t1 - plan.t0) else 0, plan.t1
        try:
            ahead = approach(problem, run, t, x) if outcome.kind == REPIVOT else None
            beyond = None if ahead is None else ahead.cross()
            if beyond is not None:
                t, x, clear = beyond
                recorder.close(problem)
                recorder.recent.clear()
            if leaving or ahead is not None:
                problem = refreshed(problem, t, x)
                continue
            further = _continue(problem, run, outcome, t, x, stuck)
        except KeyboardInterrupt:
            further = Outcome(INTERRUPTED, t, Cause("interrupted"))
        if isinstance(further, Outcome):
            outcome = further
            break
        if further[0].integrable.states != problem.integrable.states:
            recorder.recent.clear()
        problem, x = further
    return problem, outcome, t, x


def end_run(run: Run, problem: Problem, outcome: Outcome, t: float, x: np.ndarray) -> Outcome:
    """Record the last state, and the outcome with its reason."""
    plan, recorder = run.plan, run.recorder
    if recorder.last is None or (t - recorder.last) * (plan.t1 - plan.t0) > 0:
        recorder.add(np.array([t]), np.array(x)[None, :])
    recorder.close(problem)
    return tell_crossings(_explain(problem, outcome, t, x), recorder)


def _until(run: Run, time: float) -> Run:
    """The run with an earlier end."""
    plan = run.plan
    return replace(run, plan=replace(plan, t1=time)) if (plan.t1 - time) * (plan.t1 - plan.t0) > 0 else run


def _run_segment(problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
    """One uninterrupted segment of the run."""
    try:
        return run.plan.method.integrate(problem, run, t, x)
    except KeyboardInterrupt:
        reached = run.plan.t0 if run.recorder.last is None else run.recorder.last
        return Outcome(INTERRUPTED, reached, Cause("interrupted")), reached, x


def _continue(
    problem: Problem, run: Run, outcome: Outcome, t: float, x: np.ndarray, stuck: int
) -> tuple[Problem, np.ndarray] | Outcome:
    """The problem and state with which the run continues after a segment, or the outcome if it ends."""
    if outcome.kind == CORNER and stuck > _MOST_CORNERS_IN_PLACE:
        return Outcome(STALLED, t, Cause("endless corners"))
    ended = violated_condition(problem, t, x, outcome.beyond) if outcome.kind == REPIVOT else None
    if ended is not None:
        return ended
    try:
        if outcome.kind == REPIVOT:
            problem, x = renew(problem, outcome, t, x, stuck)
        after = place_on_sides(problem, run.plan, t, x)
        ended = record_events_at_corner(problem, after, run, t, x) if outcome.kind == CORNER else None
        return (after, x) if ended is None else ended
    except (SingularError, ConstraintError, DomainError) as error:
        return Outcome(SINGULAR, t, cause_of(error))


# -- why a run broke down ----------------------------------------------------------------------------------------


def _explain(problem: Problem, outcome: Outcome, t: float, x: np.ndarray) -> Outcome:
    """The outcome with its reason, found at the last good state and where the next step would have led."""
    if outcome.kind not in (NON_FINITE, STALLED) or outcome.cause.name in ("endless events", "event undefined"):
        return outcome
    try:
        ended = violated_condition(problem, t, x, None)
        if ended is not None:
            return ended
        known = problem.everything(t, x)
        singular = problem.integrable.equations.singular_at(known)
        rates = evaluate(problem.nodes.rates, known)
        _look_ahead(problem, outcome, t, x, np.array(rates))
    except DomainError as error:
        return Outcome(NON_FINITE, t, cause_of(error))
    if singular:
        return Outcome(SINGULAR, t, cause_of(singular))
    where = _near_edge(problem, known)
    if where is not None:
        return Outcome(NON_FINITE, t, where)
    if not outcome.reason and (event := _lost_event(problem, t, x, np.array(rates))) is not None:
        return no_value(event, t)
    if outcome.kind == STALLED:
        return Outcome(STALLED, t, outcome.cause if outcome.reason else Cause("step size"))
    return Outcome(NON_FINITE, t, outcome.cause if outcome.reason else _growth(problem, np.array(rates)))


def _lost_event(problem: Problem, t: float, x: np.ndarray, rates: np.ndarray) -> Event | None:
    """The event whose expression is next to a pole, or next to the edge of its domain."""
    values = np.abs(event_values(problem, t, x))
    for size in (1e-12, 1e-9, 1e-6):
        for step in (size * max(1.0, abs(t)), -size * max(1.0, abs(t))):
            near = np.abs(event_values(problem, t + step, x + step * rates))
            lost = ~np.isfinite(near) | ((values > _LARGE) & (near < 0.01 * values))
            if lost.any():
                return problem.nodes.events[int(np.argmax(lost))]
    return None


def _growth(problem: Problem, rates: np.ndarray) -> Cause:
    """The fastest growing state as the cause."""
    fastest = int(np.argmax(np.abs(rates[: len(problem.integrable.states)])))
    return Cause("growth", [About("state", describe(problem.nodes.state[fastest]))])


def _look_ahead(problem: Problem, outcome: Outcome, t: float, x: np.ndarray, rates: np.ndarray) -> None:
    """Evaluate the rates where a step would have led; a `DomainError` there names the operation that fails."""
    if outcome.beyond is None or np.abs(x).max(initial=0.0) > _HUGE:
        return
    step = outcome.beyond[0] - t
    for share in (0.5, 1.0, 2.0):
        evaluate(problem.nodes.rates, problem.numbers(t + share * step, x + share * step * rates))


def _near_edge(problem: Problem, known: dict[Node, float]) -> Cause | None:
    """An operation at the edge of its domain: a divisor, root or logarithm next to zero."""
    nodes = order(problem.nodes.rates)
    values = dict(zip(nodes, evaluate(nodes, known), strict=True))
    for node in nodes:
        if node.op == "divide" and abs(values[node.args[1]]) < 1e-6 * max(1.0, abs(values[node.args[0]])):
            divisor = node.args[1]
            about = [About("expression", describe(divisor)), *_asked_by(problem, divisor)]
            return Cause("division", about, {"value": values[divisor]})
        if node.op in _EDGE and min(abs(values[node.args[0]] - edge) for edge in _EDGE[node.op]) < 1e-6:
            about = [About("operation", node.op), About("expression", describe(node)), *_asked_by(problem, node)]
            return Cause("edge of domain", about, {"value": values[node.args[0]]})
    return None


def _asked_by(problem: Problem, node: Node) -> list[About]:
    """The constraints whose prescribed motion contains ``node``, if it is an expression of time alone."""
    if symbols([node]) - {problem.nodes.time, *problem.nodes.settings}:
        return []
    held = [r.constraint for r in problem.integrable.residuals if node in order([r.node])]
    return [About("constraint", name) for name in dict.fromkeys(held)]
