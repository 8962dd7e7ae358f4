"""A run with a promised accuracy, which is checked while it runs.

The bounds come from the defects of a pilot run. Larger defects make them larger in proportion, which is harmless up
to the required ε. The residuals are compared with those limits at every step and between the steps. If one is larger,
or the energy balance is lost, the motion starts again with a smaller step; where the user gave the step, or none is
small enough, the run ends with the reason. What a run that ended as requested says about its accuracy was measured on
that very run.

With a ``trajectory`` accuracy δ the run is compared with two others, of half and of a quarter of its step. With e₁ and
e₂ the largest differences between consecutive ones in any coordinate, its error is at most e₁ + 3 e₂ for a method that
converges at least with the first order; e₂ > 0.7 e₁ tells that it does not yet. Equations with corners (dry friction,
sudden forces) break the order, and errors of several corners can cancel in such differences; their run is compared
with Taylor's method, which stops at every corner.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vinculum.errors import Finding
from vinculum.simulation.integrators.segments import run_segments
from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.feedback import choose_stabilization, stabilize_problem
from vinculum.simulation.stabilization.guarantee import MOST_STEPS, Promise, make_promise
from vinculum.simulation.stabilization.residual_bounds import fixed_step
from vinculum.simulation.stabilization.stabilization import Guaranteed, Stabilization
from vinculum.simulation.trajectory.accuracy import check_accuracy
from vinculum.simulation.trajectory.live_run import LiveRun
from vinculum.simulation.trajectory.outcome import INACCURATE, Cause, Outcome
from vinculum.simulation.trajectory.recorder import Plan, Recorder, Run, make_plan

_MOST_ATTEMPTS = 12
_COMPARED = 4000  # steps at which runs are compared, and as many points between them
_STALLED = 0.7  # e₂/e₁ of a method that does not converge
_SLACK = 0.1  # share of the accuracy below which convergence is not asked for: rounding


@dataclass(frozen=True, eq=False)
class GuaranteedRun:
    """A finished attempt."""

    problem: Problem
    promise: Promise
    plan: Plan
    recorder: Recorder
    outcome: Outcome
    error: float | None = None  # bound of the error of every coordinate; None if no trajectory accuracy was asked for
    order: float = 1.0  # with which the error falls

    @property
    def described(self) -> str:
        """The stabilization in words."""
        return self.promise.described + ("" if self.error is None else f"; trajectory within {self.error:.3g}")


def run_guaranteed(
    problem: Problem,
    asked: Guaranteed,
    plan_of: Callable[[float], Plan],
    x: np.ndarray,
    report: Callable[[float], None],
    keep_dense: bool = False,
) -> GuaranteedRun:
    """The motion with the promised accuracy, or the last attempt; ``plan_of`` makes the plan for a step."""
    given = plan_of(1.0).method.step
    longest = math.inf
    for attempt in range(_MOST_ATTEMPTS):
        found = _attempt(problem, asked, plan_of, x, report, keep_dense, longest)
        longest = _next_step(found, asked)
        span = abs(found.plan.t1 - found.plan.t0)
        last = attempt == _MOST_ATTEMPTS - 1 or span > longest * MOST_STEPS
        if found.outcome.kind != INACCURATE or given is not None or last:
            return _ended(found, asked, given)
    raise AssertionError("unreachable")


def _attempt(
    problem: Problem,
    asked: Guaranteed,
    plan_of: Callable[[float], Plan],
    x: np.ndarray,
    report: Callable[[float], None],
    keep_dense: bool,
    longest: float,
) -> GuaranteedRun:
    """One run with steps up to the longest, and what is known of its accuracy."""
    whole = plan_of(1.0)
    promise = make_promise(problem, asked, whole.method, np.array([whole.t0, whole.t1]), x, longest)
    plan = plan_of(promise.step)
    closed = problem.with_feedback(promise.feedback)
    recorder = Recorder(plan.instants, keep_dense=keep_dense)
    limit = promise.scaled(asked.epsilon / promise.worst if promise.worst else 1.0)
    outcome = run_segments(closed, Run(plan, promise.stabilization, recorder, report, limit.bounds), x)
    promise = promise.scaled(min(_exceeded(promise, closed, recorder), limit.worst / max(promise.worst, 1e-300)))
    found = GuaranteedRun(closed, promise, plan, recorder, check_accuracy(outcome, plan, recorder))
    return found if asked.trajectory is None or not found.outcome else _compared(found, problem, asked.trajectory, x)


def _exceeded(promise: Promise, problem: Problem, recorder: Recorder) -> float:
    """By how much the residuals of a run exceed the bounds from its pilot run; 1 if they do not."""
    found = dict(
        zip(problem.nodes.residual_names, recorder.residuals if recorder.residuals is not None else (), strict=False)
    )
    return max((found.get(key, 0.0) / bound for key, bound in promise.bounds.items()), default=1.0)


def _next_step(found: GuaranteedRun, asked: Guaranteed) -> float:
    """A step for the next attempt."""
    if found.error is None or asked.trajectory is None:
        return found.promise.step / 2
    factor = (0.5 * asked.trajectory / max(found.error, 1e-300)) ** (1 / found.order)
    return found.promise.step * float(np.clip(factor, 1e-3, 0.7))


def _ended(found: GuaranteedRun, asked: Guaranteed, given: float | None) -> GuaranteedRun:
    """The last attempt; a broken promise has advice."""
    if found.outcome.kind != INACCURATE or found.outcome.cause.name == "energy lost":
        return found
    shorter = f"{_next_step(found, asked):.2g}"
    advice = f"Use a smaller step, such as {shorter}, or leave step out." if given is not None else (
        "No step was small enough: ask for less accuracy, a shorter time, or a method of higher order."
    )  # fmt: skip
    cause = replace(found.outcome.cause, finding=Finding("", [advice]))
    return replace(found, outcome=replace(found.outcome, cause=cause))


# -- the trajectory ----------------------------------------------------------------------------------------------


def _compared(found: GuaranteedRun, problem: Problem, accuracy: float, x: np.ndarray) -> GuaranteedRun:
    """The run with the error of its coordinates; it ends where the accuracy is lost."""
    instants = _instants(found)
    own = _coordinates(found, problem, 1, instants, x)
    if problem.nodes.corners:
        errors, order = _from_reference(own, _reference(problem, instants, x)), 1.0
    else:
        half, quarter = (_coordinates(found, problem, factor, instants, x) for factor in (2, 4))
        errors, order = _from_halves(own, half, quarter, fixed_step(found.plan.method).order, accuracy)
    errors = np.append(errors, np.full(len(instants) - len(errors), np.inf))
    found = replace(found, error=float(errors[-1]), order=order)
    if errors[-1] <= accuracy:
        return found
    lost = int(np.argmax(errors > accuracy))
    cause = Cause("trajectory lost", numbers={"error": float(errors[lost]), "accuracy": accuracy})
    cause = replace(cause, finding=Finding("", ["Use a smaller step."]))
    return replace(found, outcome=Outcome(INACCURATE, float(instants[max(lost - 1, 0)]), cause))


def _instants(found: GuaranteedRun) -> np.ndarray:
    """Steps at which runs are compared, and points in the middle of a step after them."""
    plan = found.plan
    end = round((found.outcome.time - plan.t0) / plan.step)
    every = max(1, math.ceil(end / _COMPARED))
    marks = plan.t0 + plan.step * np.unique(np.append(np.arange(0, end, every), [max(end - 1, 0), end]))
    return np.unique(np.append(marks, marks[:-1] + plan.step / 2))


def _from_halves(
    own: np.ndarray, half: np.ndarray, quarter: np.ndarray, most: float, accuracy: float
) -> tuple[np.ndarray, float]:
    """The largest error up to each instant, from runs with a half and a quarter of the step, and its order."""
    length = min(len(own), len(half), len(quarter))
    first, second = (
        np.abs(a[:length] - b[:length]).max(axis=1, initial=0.0) for a, b in pairwise((own, half, quarter))
    )
    errors = np.maximum.accumulate(first + 3 * second)
    ratio = float(first.max() / max(second.max(), 1e-300))
    if ratio * _STALLED < 1 and errors[-1] > _SLACK * accuracy:
        errors = np.where(errors > _SLACK * accuracy, np.inf, errors)
    return errors, float(np.clip(np.log2(max(ratio, 1.0)), 0.7, most))


def _from_reference(own: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The largest error up to each instant, from an accurate motion."""
    length = min(len(own), len(exact))
    return 1.01 * np.maximum.accumulate(np.abs(own[:length] - exact[:length]).max(axis=1, initial=0.0))


def _reference(problem: Problem, instants: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The coordinates by Taylor's method: (N, coordinates), as far as it comes."""
    plan = make_plan(instants, Taylor(), None, False, "")
    treatment = choose_stabilization(plan, None)
    closed, _ = stabilize_problem(problem, plan, treatment, x)
    return _run(closed, plan, treatment, x)


def _coordinates(
    found: GuaranteedRun, problem: Problem, factor: int, instants: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """The coordinates from a run with a step that is shorter by a factor: (N, coordinates), as far as it comes."""
    step, feedback = found.promise.refined(problem, factor)
    count = round((instants[-1] - found.plan.t0) / found.plan.step) * factor
    plan = make_plan(instants, found.plan.method, step, False, "")
    plan = replace(plan, step=found.plan.step / factor, count=count)
    return _run(problem.with_feedback(feedback), plan, found.promise.stabilization, x)


def _run(problem: Problem, plan: Plan, treatment: Stabilization, x: np.ndarray) -> np.ndarray:
    """The coordinates at the requested instants of a plan."""
    recorder = Recorder(plan.instants)
    run_segments(problem, Run(plan, treatment, recorder, lambda _: None), x)
    live = LiveRun(tuple(recorder.segments))
    times = np.concatenate([segment.t for segment in recorder.segments])
    columns = np.column_stack([live.states[name] for name in live.shown])
    return columns[np.isin(times, plan.requested)]
