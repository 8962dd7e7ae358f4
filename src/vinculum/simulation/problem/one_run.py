"""What stays the same from the first stretch of a run to the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vinculum.simulation.problem.plan import Plan
from vinculum.simulation.stabilization.stabilization import Stabilization
from vinculum.simulation.trajectory.recorder import Recorder


@dataclass(frozen=True, eq=False)
class Run:
    """A plan, how constraints are kept and how accurate the steps are, who writes it all down and who is told.

    Every method has the verb ``integrate(problem, run, t, x)``: from a state to the end of the plan, or to where
    something else has to be done first; it returns the outcome, the time and the state reached.
    """

    plan: Plan
    treatment: Stabilization
    tolerance: float | None  # of the adaptive methods; None: their default
    recorder: Recorder
    report: Callable[[float], None]  # called with the time reached
