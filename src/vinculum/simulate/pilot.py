"""Pilot runs: where a motion goes, seen with the method and a step that are being considered."""

from __future__ import annotations

import numpy as np

from vinculum.simulate.gains import feedback
from vinculum.simulate.guarantee import Pilot
from vinculum.simulate.methods import METHODS, Adams
from vinculum.simulate.one_run import Run
from vinculum.simulate.plan import planned
from vinculum.simulate.problem import Problem
from vinculum.simulate.rates import motion_rate
from vinculum.simulate.recorder import Recorder, Segment
from vinculum.simulate.stabilization import Baumgarte, Sampled, Stabilization
from vinculum.simulate.stretches import carried_out

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
