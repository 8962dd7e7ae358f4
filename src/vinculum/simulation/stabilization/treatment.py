"""How the constraints of a run are kept: the treatment that fits its method, and the gains that fit its motion."""

from __future__ import annotations

import math

import numpy as np

from vinculum.errors import Finding, VinculumError, call
from vinculum.simulation.integrators import taylor
from vinculum.simulation.integrators.methods import METHODS, Adams
from vinculum.simulation.integrators.taylor_integrator import started
from vinculum.simulation.problem.plan import Plan
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.sides import placed
from vinculum.simulation.stabilization.gains import feedback
from vinculum.simulation.stabilization.stabilization import (
    Baumgarte,
    Projection,
    Sampled,
    Stabilization,
    Unstabilized,
    chosen,
)
from vinculum.simulation.stabilization.time_scale import motion_rate


def checked_treatment(plan: Plan, asked: Stabilization | str | None) -> Stabilization:
    """The stabilization of a run; combinations that make no sense are refused."""
    runge_kutta = plan.method in METHODS and not isinstance(METHODS[plan.method], Adams)
    treatment = chosen(asked, default=Sampled() if runge_kutta else Baumgarte())
    if isinstance(treatment, Sampled) and not runge_kutta:
        raise VinculumError(
            Finding(
                f"Sampled feedback is held through the stages of a Runge-Kutta step; {plan.method!r} has none.",
                ["Use ", call("simulate", stabilization="baumgarte"), "."],
            )
        )
    if isinstance(treatment, Projection) and plan.method == "bdf":
        advice = ("Use ", call("simulate", stabilization="baumgarte"), ".")
        raise VinculumError(Finding("Projection would break the memory of 'bdf'.", advice))
    return treatment


def stabilized(
    problem: Problem, plan: Plan, treatment: Stabilization, tolerance: float | None, x: np.ndarray
) -> tuple[Problem, str]:
    """The problem with its gains set, everything compiled, and the treatment in words."""
    problem = placed(problem, plan, plan.t0, x)
    natural = _natural_rate(problem, plan, treatment, tolerance, x)
    order = METHODS[plan.method].order if plan.method in METHODS else math.inf
    direction = math.copysign(1.0, plan.t1 - plan.t0)
    closed = problem.with_feedback(feedback(treatment, problem.equations, natural, order, direction))
    closed = placed(closed, plan, plan.t0, x)
    if plan.method == "taylor":
        started(closed, tolerance, plan.t0, x)
    return closed, _described(problem, treatment, natural)


def _described(problem: Problem, treatment: Stabilization, natural: float) -> str:
    """The treatment in words."""
    if not problem.equations.corrections:
        return "not needed: no constraints"
    if isinstance(treatment, Unstabilized):
        return "none"
    if isinstance(treatment, Projection):
        return "projection after every step"
    name = type(treatment).__name__.lower()
    if not treatment.given and problem.equations.prescribed is not None:
        return f"{name}, as prescribed by the equations"
    return f"{name}, gains as given" if treatment.given else f"{name}, rate {natural:.6g} (chosen)"


def _natural_rate(
    problem: Problem, plan: Plan, treatment: Stabilization, tolerance: float | None, x: np.ndarray
) -> float:
    """The rate of the feedback where the user gave none."""
    if not problem.equations.corrections or isinstance(treatment, (Unstabilized, Projection)):
        return 0.0
    if plan.method == "taylor":
        return taylor.natural_rate(problem, tolerance, plan.t0, x, plan.t1 - plan.t0)
    if plan.method == "bdf":
        return 100.0 / abs(plan.t1 - plan.t0)
    method = METHODS[plan.method]
    if isinstance(treatment, Sampled) or method.order == 1:
        return 1.0 / abs(plan.step)
    if isinstance(method, Adams) and not len(method.corrector):
        return 0.6 * method.largest / abs(plan.step)
    return min(motion_rate(problem, plan.t0, x), 0.2 / abs(plan.step))  # feedback acts on stages: keep it gentle
