"""The front door of simulation."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.derivation.interface import Equations
from vinculum.errors import ModelError
from vinculum.names import listed, name_of, suggestion
from vinculum.simulation.integrators.progress import progress_bar
from vinculum.simulation.integrators.segments import carried_out
from vinculum.simulation.problem.build_problem import pose
from vinculum.simulation.problem.events import Event
from vinculum.simulation.problem.one_run import Run
from vinculum.simulation.problem.plan import automatic, checked_times, planned, refuse_rough, refuse_unusable
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.start import consistent_state
from vinculum.simulation.stabilization.guarantee import promised
from vinculum.simulation.stabilization.pilot import pilot
from vinculum.simulation.stabilization.promise import Promise
from vinculum.simulation.stabilization.stabilization import Guaranteed, Stabilization
from vinculum.simulation.stabilization.treatment import checked_treatment, stabilized
from vinculum.simulation.trajectory.recorder import Recorder
from vinculum.simulation.trajectory.result import trajectory
from vinculum.simulation.trajectory.trajectory import Trajectory


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
    solved on the constraints (see `consistent_state`). ``times`` is (start, end) or an array of instants.

    Methods: "taylor" (heyoka; the default), "bdf" (SUNDIALS; stiff), "auto", and with a ``step``: "euler", "midpoint",
    "rk4", "ab2" to "ab5", "abm2" to "abm4". ``stabilization`` is "none", "baumgarte", "sampled", "projection" or an
    object with gains or with an accuracy, `Guaranteed`; each method has its own default. ``inputs`` are laws
    {u: expression of t and the state}.

    Rarely needed: ``tolerance`` of the adaptive methods; other ``parameters`` than the system's; ``events``; ``dense``
    keeps what ``motion.at(times)`` needs; ``compact=False`` lets "taylor" compile some times longer to run about twice
    as fast; ``progress`` is True, False or a function of the share done.

    A run that breaks down or is interrupted is a result too: look at ``motion.outcome``.
    """
    began = clock.perf_counter()
    chosen = isinstance(stabilization, Guaranteed) and step is None and bool(equations.corrections)
    refuse_unusable(method, step, tolerance, step_is_chosen=chosen)
    grid = checked_times(times)
    numbers = _parameters(equations, parameters)
    extra = {key: float(value) for key, value in initial.items() if key in equations.extra}
    known = {key: value for key, value in initial.items() if key not in extra}
    t0 = float(grid[0])
    start = consistent_state(equations, known, guess=guess, fixed=fixed, parameters=numbers, time=t0)
    problem, x = pose(equations, start, t0, {**equations.laws, **(inputs or {})}, numbers, _named(events), extra)
    problem = replace(problem, compact=compact)
    posed = clock.perf_counter()
    method, why = automatic(problem, t0, float(grid[-1]), x) if method == "auto" else (method, "")
    refuse_rough(problem, method)
    promise = _promise(problem, stabilization, method, step, grid, x)
    plan = planned(grid, method, step if promise is None else promise.step, dense, why)
    treatment = checked_treatment(plan, _asked(stabilization, promise))
    if promise is None:
        problem, described = stabilized(problem, plan, treatment, tolerance, x)
    else:
        problem, described = problem.with_feedback(promise.feedback), promise.described
    compiled = clock.perf_counter()
    recorder = Recorder(plan.instants, keep_dense=dense and plan.method == "taylor")
    with progress_bar(progress, plan.t0, plan.t1) as report:
        outcome = carried_out(problem, Run(plan, treatment, tolerance, recorder, report), x)
    seconds = {"start": posed - began, "compile": compiled - posed, "run": clock.perf_counter() - compiled}
    motion = trajectory(plan, recorder, outcome, described, dense)
    return replace(motion, seconds=seconds, promised={} if promise is None else promise.bounds)


def _parameters(equations: Equations, parameters: Mapping[sp.Symbol, float] | None) -> dict[sp.Symbol, float]:
    """The system's parameters with those of the user put in; names and numbers are checked."""
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


def _promise(
    problem: Problem,
    asked: Stabilization | Guaranteed | str | None,
    method: str,
    step: float | None,
    grid: np.ndarray,
    x: np.ndarray,
) -> Promise | None:
    """The promise of a run with `Guaranteed` accuracy; None where none was asked for or there is nothing to hold."""
    if not isinstance(asked, Guaranteed) or not problem.equations.corrections:
        return None
    return promised(problem, asked, method, step, *pilot(problem, method, grid, x))


def _asked(
    stabilization: Stabilization | Guaranteed | str | None, promise: Promise | None
) -> Stabilization | str | None:
    """The stabilization that was asked for, or that a promise needs; None for the default of the method."""
    if not isinstance(stabilization, Guaranteed):
        return stabilization
    return None if promise is None else promise.treatment
