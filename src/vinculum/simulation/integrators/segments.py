"""A run as a row of segments: from corner to corner, with new pivots where the old ones went bad."""

from __future__ import annotations

import numpy as np

from vinculum.errors import ConstraintError, DomainError, SingularError
from vinculum.simulation.integrators.methods import Reached
from vinculum.simulation.problem.discontinuities import place_on_sides
from vinculum.simulation.problem.events import record_events_at_corner
from vinculum.simulation.problem.pivots import choose_pivots_after, violated_condition
from vinculum.simulation.problem.plan import Run
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.diagnosis import explain
from vinculum.simulation.trajectory.outcome import CORNER, INTERRUPTED, REPIVOT, SINGULAR, STALLED, Outcome

_MOST_CORNERS_IN_PLACE = 200


def run_segments(problem: Problem, run: Run, x: np.ndarray) -> Outcome:
    """Integrate segment after segment to the end of the plan, or to where the run breaks down."""
    plan, recorder = run.plan, run.recorder
    t, stuck = plan.t0, 0
    while True:
        former = t
        outcome, t, x = _run_segment(problem, run, t, x)
        if outcome.kind not in (REPIVOT, CORNER):
            break
        recorder.close(problem)
        stuck = stuck + 1 if abs(t - former) <= 1e-9 * abs(plan.t1 - plan.t0) else 0
        further = _continue(problem, run, outcome, t, x, stuck)
        if isinstance(further, Outcome):
            outcome = further
            break
        problem, x = further
    if recorder.last is None or (t - recorder.last) * (plan.t1 - plan.t0) > 0:
        recorder.add(np.array([t]), np.array(x)[None, :])
    recorder.close(problem)
    return explain(problem, outcome, t, x)


def _run_segment(problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
    """One uninterrupted segment of the run."""
    try:
        return run.plan.method.integrate(problem, run, t, x)
    except KeyboardInterrupt:
        reached = run.plan.t0 if run.recorder.last is None else run.recorder.last
        return Outcome(INTERRUPTED, reached, "the run was interrupted; what was computed is kept"), reached, x


def _continue(
    problem: Problem, run: Run, outcome: Outcome, t: float, x: np.ndarray, stuck: int
) -> tuple[Problem, np.ndarray] | Outcome:
    """The problem and the state with which the run goes on after a segment, or why it does not."""
    if outcome.kind == CORNER and stuck > _MOST_CORNERS_IN_PLACE:
        return Outcome(STALLED, t, "corners of the equations follow each other without end")
    ended = violated_condition(problem, t, x, outcome.beyond) if outcome.kind == REPIVOT else None
    if ended is not None:
        return ended
    try:
        if outcome.kind == REPIVOT:
            problem, x = choose_pivots_after(problem, outcome, t, x, stuck)
        after = place_on_sides(problem, run.plan, t, x)
        ended = record_events_at_corner(problem, after, run, t, x) if outcome.kind == CORNER else None
        return (after, x) if ended is None else ended
    except (SingularError, ConstraintError, DomainError) as error:
        return Outcome(SINGULAR, t, str(error))
