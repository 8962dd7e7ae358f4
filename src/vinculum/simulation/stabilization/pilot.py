"""Pilot runs: where a motion goes, seen with the method and a step that are being considered."""

from __future__ import annotations

import numpy as np

from vinculum.simulation.integrators.methods import METHODS, Adams
from vinculum.simulation.integrators.segments import carried_out
from vinculum.simulation.problem.one_run import Run
from vinculum.simulation.problem.plan import planned
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.gains import feedback
from vinculum.simulation.stabilization.guarantee import Pilot
from vinculum.simulation.stabilization.stabilization import Baumgarte, Sampled, Stabilization
from vinculum.simulation.stabilization.time_scale import motion_rate
from vinculum.simulation.trajectory.recorder import Recorder, Segment

_PROBES = 400  # states of a pilot run at which defects are measured


def pilot(problem: Problem, method: str, grid: np.ndarray, x: np.ndarray) -> tuple[float, float, Pilot]:
    """Length of the run, rate of the motion, and a function that runs it with a step to see where it goes."""
    t0, t1 = float(grid[0]), float(grid[-1])

    def run(step: float) -> list[Segment]:
        plan = planned(np.linspace(t0, t1, _PROBES), method, step, False, "")
        tableau = METHODS[method]
        rate = (0.3 * tableau.largest if isinstance(tableau, Adams) else 1.0) / plan.step
        treatment: Stabilization = Baumgarte(rate) if isinstance(tableau, Adams) else Sampled(rate)
        closed = problem.with_feedback(feedback(treatment, problem.equations, rate, tableau.order))
        recorder = Recorder(plan.instants)
        carried_out(closed, Run(plan, treatment, None, recorder, lambda _: None), x)
        return recorder.segments

    return t1 - t0, motion_rate(problem, t0, x), run
