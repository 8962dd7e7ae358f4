"""The front door of simulation."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.derive.interface import Equations
from vinculum.errors import ConstraintError, DomainError, ModelError, SingularError, VinculumError
from vinculum.names import listed, name_of, suggestion
from vinculum.simulate import fixed_step, stiff, taylor
from vinculum.simulate.corners import decided
from vinculum.simulate.diagnosis import diagnosed
from vinculum.simulate.events import Event
from vinculum.simulate.guarantee import Pilot, promised
from vinculum.simulate.methods import METHODS, Adams
from vinculum.simulate.outcome import CORNER, INTERRUPTED, REPIVOT, SINGULAR, STALLED, Outcome
from vinculum.simulate.plan import ADAPTIVE, Plan, automatic, checked_times, planned, refuse_rough, refuse_unusable
from vinculum.simulate.problem import Problem, pose
from vinculum.simulate.progress import progress_bar
from vinculum.simulate.projection import after_step
from vinculum.simulate.rates import motion_rate
from vinculum.simulate.recorder import Recorder, Segment
from vinculum.simulate.stabilization import (
    Baumgarte,
    Guaranteed,
    Projection,
    Sampled,
    Stabilization,
    Unstabilized,
    chosen,
    feedback,
)
from vinculum.simulate.start import consistent
from vinculum.simulate.trajectory import Trajectory

_MOST_REPIVOTS_IN_PLACE = 20
_MOST_CORNERS_IN_PLACE = 200
_PROBES = 400  # states of a pilot run at which defects are measured


def simulate(
    equations: Equations,
    initial: Mapping[sp.Expr, float],
    times: Sequence[float] | np.ndarray,
    method: str = "taylor",
    *,
    step: float | None = None,
    tolerance: float | None = None,
    stabilization: Stabilization | Guaranteed | str | None = None,
    inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[sp.Expr, float] | None = None,
    fixed: Iterable[sp.Expr] | None = None,
    events: Sequence[Event] = (),
    dense: bool = False,
    compact: bool | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Trajectory:
    """The motion from an initial state.

    ``initial`` gives what is known of coordinates and velocities; the rest starts from ``guess`` or zero and is
    solved on the constraints (see `consistent`). ``times`` is (start, end) or an array of instants.

    Methods: "taylor" (heyoka; the default), "bdf" (SUNDIALS; stiff), "auto", and with a ``step``: "euler", "midpoint",
    "rk4", "ab2" to "ab5", "abm2" to "abm4". ``stabilization`` is "none", "baumgarte", "sampled", "projection" or an
    object with gains or with an accuracy, `Guaranteed`; each method has its own default. ``inputs`` are laws
    {u: expression of t and the state}.

    Rarely needed: ``tolerance`` of the adaptive methods; other ``parameters`` than the system's; ``events``; ``dense``
    keeps what ``motion.at(times)`` needs; ``compact=False`` lets "taylor" compile some times longer to run about twice
    as fast; ``progress`` is True, False or a function of the share done.

    A run that breaks down or is interrupted is a result too: look at ``motion.outcome``.
    """
    seconds, began = {}, clock.perf_counter()
    refuse_unusable(method, step, tolerance, step_is_chosen=isinstance(stabilization, Guaranteed) and step is None)
    grid = checked_times(times)
    numbers = _parameters(equations, parameters)
    t0 = float(grid[0])
    extra = {key: float(value) for key, value in initial.items() if key in equations.extra}
    known = {key: value for key, value in initial.items() if key not in extra}
    start = consistent(equations, known, guess=guess, fixed=fixed, parameters=numbers, time=t0)
    laws = {**equations.laws, **(inputs or {})}
    problem, x = pose(equations, start, t0, laws, numbers, _named(events), extra)
    problem = replace(problem, compact=compact)
    seconds["start"] = clock.perf_counter() - began
    why = ""
    if method == "auto":
        method, why = automatic(problem, t0, float(grid[-1]), x)
    refuse_rough(problem, method)
    promise = None
    if isinstance(stabilization, Guaranteed) and problem.equations.corrections:
        promise = promised(problem, stabilization, method, step, *_pilot(problem, method, grid, x))
        step = promise.step
    plan = planned(grid, method, step, dense, why)
    asked = stabilization if not isinstance(stabilization, Guaranteed) else promise.treatment if promise else None
    treatment = _treatment(plan, asked)
    problem, described = _with_feedback(problem, plan, treatment, tolerance, x)
    if promise is not None:
        problem, described = problem.with_feedback(promise.feedback), promise.described
    seconds["compile"] = clock.perf_counter() - began - seconds["start"]
    recorder = Recorder(plan.instants, keep_dense=dense and plan.method == "taylor")
    with progress_bar(progress, plan.t0, plan.t1) as report:
        outcome = _run(problem, plan, treatment, tolerance, x, recorder, report)
    seconds["run"] = clock.perf_counter() - began - seconds["start"] - seconds["compile"]
    motion = _trajectory(plan, recorder, outcome, described, seconds, dense)
    return motion if promise is None else replace(motion, promised=promise.bounds)


def _pilot(problem: Problem, method: str, grid: np.ndarray, x: np.ndarray) -> tuple[float, float, Pilot]:
    """Length of the run, rate of the motion, and a function that runs it with a step to see where it goes."""
    t0, t1 = float(grid[0]), float(grid[-1])

    def run(step: float) -> list[Segment]:
        plan = planned(np.linspace(t0, t1, _PROBES), method, step, False, "")
        tableau = METHODS[method]
        adams = isinstance(tableau, Adams)
        rate = (0.3 * tableau.largest if isinstance(tableau, Adams) else 1.0) / plan.step
        treatment: Stabilization = Baumgarte(rate) if adams else Sampled(rate)
        closed = problem.with_feedback(feedback(treatment, problem.equations, rate, tableau.order))
        recorder = Recorder(plan.instants)
        _run(closed, plan, treatment, None, x, recorder, lambda _: None)
        return recorder.segments

    return t1 - t0, motion_rate(problem, t0, x), run


def _parameters(equations: Equations, parameters: Mapping[sp.Symbol, float] | None) -> dict[sp.Symbol, float]:
    known = equations.parameters
    strangers = [p for p in parameters or {} if p not in known]
    if strangers:
        near = suggestion(name_of(strangers[0]), map(name_of, known))
        raise ModelError("the parameters are not usable", [f"{listed(strangers)} is no parameter.{near}"])
    numbers = dict(known) | {p: float(v) for p, v in (parameters or {}).items()}
    bad = [f"{p} is {v}" for p, v in numbers.items() if not np.isfinite(v)]
    if bad:
        raise ModelError("the parameters are not usable", bad)
    return numbers


def _named(events: Sequence[Event]) -> list[Event]:
    """Events with names of their own."""
    if isinstance(events, Event):
        return [events]
    several = len(events) > 1
    return [
        replace(e, name=f"event_{i}") if e.name == "event" and several else e for i, e in enumerate(events, start=1)
    ]


def _treatment(plan: Plan, asked: Stabilization | str | None) -> Stabilization:
    """The stabilization of a run; combinations that make no sense are refused."""
    runge_kutta = plan.method in METHODS and not isinstance(METHODS[plan.method], Adams)
    treatment = chosen(asked, default=Sampled() if runge_kutta else Baumgarte())
    if isinstance(treatment, Sampled) and not runge_kutta:
        raise VinculumError(
            f"Sampled feedback is held through the stages of a Runge-Kutta step; {plan.method!r} has none. "
            "Use stabilization='baumgarte'."
        )
    if isinstance(treatment, Projection) and plan.method == "bdf":
        raise VinculumError("Projection would break the memory of 'bdf'. Use stabilization='baumgarte'.")
    return treatment


def _with_feedback(
    problem: Problem, plan: Plan, treatment: Stabilization, tolerance: float | None, x: np.ndarray
) -> tuple[Problem, str]:
    """The problem with its gains set, everything compiled, and the treatment in words."""
    problem = _on_sides(problem, plan, plan.t0, x)
    natural = _natural_rate(problem, plan, treatment, tolerance, x)
    order = METHODS[plan.method].order if plan.method in METHODS else math.inf
    direction = math.copysign(1.0, plan.t1 - plan.t0)
    closed = problem.with_feedback(feedback(treatment, problem.equations, natural, order, direction))
    closed = _on_sides(closed, plan, plan.t0, x)
    if plan.method == "taylor":
        taylor.started(closed, tolerance, plan.t0, x)
    if not problem.equations.corrections:
        return closed, "not needed: no constraints"
    if isinstance(treatment, Unstabilized):
        return closed, "none"
    if isinstance(treatment, Projection):
        return closed, "projection after every step"
    name = type(treatment).__name__.lower()
    if not treatment.given and problem.equations.prescribed is not None:
        return closed, f"{name}, as prescribed by the equations"
    return closed, f"{name}, gains as given" if treatment.given else f"{name}, rate {natural:.6g} (chosen)"


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


def _run(
    problem: Problem,
    plan: Plan,
    treatment: Stabilization,
    tolerance: float | None,
    x: np.ndarray,
    recorder: Recorder,
    report: Callable[[float], None],
) -> Outcome:
    """Integrate from corner to corner, choosing new pivots (and dependent coordinates) where the old ones went bad."""
    t, stuck = plan.t0, 0
    while True:
        former = t
        try:
            outcome, t, x = _stretch(problem, plan, treatment, tolerance, t, x, recorder, report)
        except KeyboardInterrupt:
            t = plan.t0 if recorder.last is None else recorder.last
            outcome = Outcome(INTERRUPTED, t, "the run was interrupted; what was computed is kept")
        if outcome.kind not in (REPIVOT, CORNER):
            break
        recorder.close(problem)
        broken = problem.broken(t, x, outcome.beyond) if outcome.kind == REPIVOT else None
        stuck = stuck + 1 if abs(t - former) <= 1e-9 * abs(plan.t1 - plan.t0) else 0
        if outcome.kind == CORNER and stuck > _MOST_CORNERS_IN_PLACE:
            broken = Outcome(STALLED, t, "corners of the equations follow each other without end")
        if broken is not None:
            outcome = broken
            break
        try:
            if outcome.kind == REPIVOT:
                problem, x = _repivoted(problem, outcome, t, x, stuck)
            problem = _on_sides(problem, plan, t, x)
        except (SingularError, ConstraintError, DomainError) as error:
            outcome = Outcome(SINGULAR, t, str(error))
            break
    if recorder.last is None or (t - recorder.last) * (plan.t1 - plan.t0) > 0:
        recorder.add(np.array([t]), np.array(x)[None, :])
    recorder.close(problem)
    return diagnosed(problem, outcome, t, x)


def _on_sides(problem: Problem, plan: Plan, t: float, x: np.ndarray) -> Problem:
    """The problem on the sides of its corners, for methods that look ahead; fixed steps go over corners as they are."""
    return decided(problem, t, x, plan.t1 - plan.t0) if plan.method in ADAPTIVE else problem


def _repivoted(problem: Problem, outcome: Outcome, t: float, x: np.ndarray, stuck: int) -> tuple[Problem, np.ndarray]:
    """The problem with new pivots; next to a singular configuration, or where nothing else helps, an error."""
    changed, y = problem.repivoted(t, x, outcome.beyond)
    reason = changed.equations.singular_at(changed.everything(t, y))
    if not reason and outcome.beyond and changed.explicit.pivots == problem.explicit.pivots:
        reason = f"{outcome.reason}; take a smaller step, or another form"
    if not reason and stuck > _MOST_REPIVOTS_IN_PLACE:
        reason = "the equations stay next to a singular configuration"
    if reason:
        raise SingularError(reason)
    return changed, y


def _stretch(
    problem: Problem,
    plan: Plan,
    treatment: Stabilization,
    tolerance: float | None,
    t: float,
    x: np.ndarray,
    recorder: Recorder,
    report: Callable[[float], None],
) -> tuple[Outcome, float, np.ndarray]:
    """One uninterrupted stretch of the run with the method asked for."""
    if plan.method == "taylor":
        projecting = after_step(problem) if isinstance(treatment, Projection) else None
        return taylor.integrate(problem, tolerance, t, plan.t1, x, recorder, report, projecting)
    if plan.method == "bdf":
        return stiff.integrate(problem, tolerance, t, plan.t1, x, recorder, report)
    left = plan.count - round((t - plan.t0) / plan.step)
    return fixed_step.integrate(problem, plan.method, treatment, t, plan.t1, plan.step, left, x, recorder, report)


def _trajectory(
    plan: Plan,
    recorder: Recorder,
    outcome: Outcome,
    described: str,
    seconds: dict[str, float],
    dense: bool,
) -> Trajectory:
    problem = recorder.segments[0].problem
    fine = tuple(recorder.segments) if dense and plan.method not in ADAPTIVE else ()
    segments = _thinned(recorder.segments, plan) if fine else tuple(recorder.segments)
    largest = recorder.residuals if recorder.residuals is not None else np.zeros(len(problem.residuals))
    how = f"step {abs(plan.step):.6g}" if plan.method not in ADAPTIVE else "adaptive"
    return Trajectory(
        t=np.concatenate([segment.t for segment in segments]),
        outcome=outcome,
        largest_residuals=dict(zip(problem.residual_names, map(float, largest), strict=True)),
        energy_error=recorder.balance_error,
        method=f"{plan.method}, {how}" + (f" (chosen: {plan.why})" if plan.why else ""),
        stabilization=described,
        events=tuple(recorder.events),
        steps=recorder.steps,
        seconds=seconds,
        segments=segments,
        dense=tuple(recorder.dense) if recorder.keep_dense else (fine or (tuple(segments) if dense else ())),
    )


def _thinned(segments: list[Segment], plan: Plan) -> tuple[Segment, ...]:
    """Only the samples that were asked for, and where the run ended."""
    assert plan.asked is not None
    last = segments[-1].t[-1]
    kept = [np.isin(s.t, plan.asked) | (s.t == last) for s in segments]
    return tuple(replace(s, t=s.t[k], states=s.states[k]) for s, k in zip(segments, kept, strict=True) if k.any())
