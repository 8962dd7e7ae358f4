"""A run as a row of stretches: from corner to corner, with new pivots where the old ones went bad."""

from __future__ import annotations

import numpy as np

from vinculum.errors import ConstraintError, DomainError, SingularError
from vinculum.simulation.integrators import bdf as stiff
from vinculum.simulation.integrators import fixed_step, taylor
from vinculum.simulation.problem.corner_events import taken_at_corner
from vinculum.simulation.problem.one_run import Run
from vinculum.simulation.problem.pivots import repivoted_after
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.sides import placed
from vinculum.simulation.problem.validity import broken
from vinculum.simulation.trajectory.diagnosis import diagnosed
from vinculum.simulation.trajectory.outcome import CORNER, INTERRUPTED, REPIVOT, SINGULAR, STALLED, Outcome

_MOST_CORNERS_IN_PLACE = 200


def carried_out(problem: Problem, run: Run, x: np.ndarray) -> Outcome:
    """Integrate stretch after stretch to the end of the plan, or to where the run breaks down."""
    plan, recorder = run.plan, run.recorder
    t, stuck = plan.t0, 0
    while True:
        former = t
        outcome, t, x = _stretch(problem, run, t, x)
        if outcome.kind not in (REPIVOT, CORNER):
            break
        recorder.close(problem)
        stuck = stuck + 1 if abs(t - former) <= 1e-9 * abs(plan.t1 - plan.t0) else 0
        further = _further(problem, run, outcome, t, x, stuck)
        if isinstance(further, Outcome):
            outcome = further
            break
        problem, x = further
    if recorder.last is None or (t - recorder.last) * (plan.t1 - plan.t0) > 0:
        recorder.add(np.array([t]), np.array(x)[None, :])
    recorder.close(problem)
    return diagnosed(problem, outcome, t, x)


def _stretch(problem: Problem, run: Run, t: float, x: np.ndarray) -> tuple[Outcome, float, np.ndarray]:
    """One uninterrupted stretch of the run with the method asked for."""
    method = {"taylor": taylor.integrate, "bdf": stiff.integrate}.get(run.plan.method, fixed_step.integrate)
    try:
        return method(problem, run, t, x)
    except KeyboardInterrupt:
        reached = run.plan.t0 if run.recorder.last is None else run.recorder.last
        return Outcome(INTERRUPTED, reached, "the run was interrupted; what was computed is kept"), reached, x


def _further(
    problem: Problem, run: Run, outcome: Outcome, t: float, x: np.ndarray, stuck: int
) -> tuple[Problem, np.ndarray] | Outcome:
    """The problem and the state with which the run goes on after a stretch, or why it does not."""
    if outcome.kind == CORNER and stuck > _MOST_CORNERS_IN_PLACE:
        return Outcome(STALLED, t, "corners of the equations follow each other without end")
    ended = broken(problem, t, x, outcome.beyond) if outcome.kind == REPIVOT else None
    if ended is not None:
        return ended
    try:
        if outcome.kind == REPIVOT:
            problem, x = repivoted_after(problem, outcome, t, x, stuck)
        after = placed(problem, run.plan, t, x)
        ended = taken_at_corner(problem, after, run, t, x) if outcome.kind == CORNER else None
        return (after, x) if ended is None else ended
    except (SingularError, ConstraintError, DomainError) as error:
        return Outcome(SINGULAR, t, str(error))
