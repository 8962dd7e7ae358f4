"""The front door of simulation."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import sympy as sp

from vinculum.derivation import ProgramEquations
from vinculum.derivation.integrable import Equations
from vinculum.describe import AffineSystem, System
from vinculum.errors import Finding, ModelError, VinculumError, Word, call
from vinculum.names import listed
from vinculum.simulation.integrators import Method, method_from
from vinculum.simulation.integrators.segments import run_segments
from vinculum.simulation.problem.events import Event, name_events
from vinculum.simulation.problem.pose import pose
from vinculum.simulation.problem.pulses import stops
from vinculum.simulation.problem.signals import refuse_beyond
from vinculum.simulation.problem.start import derive_if_needed, given_laws, given_parameters, parameter_numbers
from vinculum.simulation.progress import progress_bar
from vinculum.simulation.sampling import Sampler, begin_sampling, run_sampled, start_held, start_of_plant
from vinculum.simulation.stabilization.feedback import choose_stabilization, stabilize_problem
from vinculum.simulation.stabilization.guaranteed_run import GuaranteedRun, run_guaranteed
from vinculum.simulation.stabilization.stabilization import Guaranteed, Stabilization
from vinculum.simulation.trajectory.accuracy import check_accuracy
from vinculum.simulation.trajectory.recorder import Recorder, Run, check_times, make_plan, make_trajectory
from vinculum.simulation.trajectory.trajectory import Trajectory
from vinculum.units.given import duration


def simulate(
    equations: Equations | System | AffineSystem,
    initial: Mapping[sp.Expr, float] | Mapping[str, float] | Trajectory,
    times: Sequence[float] | np.ndarray,
    method: Method | str = "taylor",
    *,
    step: float | None = None,
    tolerance: float | None = None,
    stabilization: Stabilization | Guaranteed | str | None = None,
    inputs: Mapping[sp.Expr, sp.Expr] | Sampler | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[sp.Expr, float] | None = None,
    fixed: Iterable[sp.Expr] | None = None,
    events: Sequence[Event] | Event = (),
    dense: bool = False,
    compact: bool | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Trajectory:
    """The motion from an initial state.

    ``equations`` come from `derive`; a system is derived in its default form. ``initial`` gives the known
    coordinates and velocities; the others start from ``guess`` or zero and are solved from the
    constraints (see `consistent_state`). With a trajectory as ``initial``, the run continues from its last state.
    Where rates of decay are prescribed (``rates`` of a form, gains of a stabilization), the given values may violate
    the constraints: the motion starts there and approaches them.
    ``initial``, ``guess``, ``fixed``, ``parameters`` and ``inputs`` take symbols or their names.
    ``times`` is (start, end) or an array of instants. Numbers are in SI, or have a unit: {theta: "30 deg"},
    (0, "2 min"), or quantities of pint; one of the wrong dimension is refused where the system has units.

    ``method`` is an object or its name: `Taylor` ("taylor", heyoka; the default), `BDF` ("bdf"; stiff),
    "auto", and with a ``step``: `RungeKutta` ("euler", "midpoint", "rk4") and `Adams` ("ab2" to "ab5", "abm2" to
    "abm4"). ``stabilization`` is "none", "baumgarte", "sampled", "projection" or an object with gains or with an
    accuracy, `Guaranteed`; each method has its own default. ``inputs`` are laws {u: expression of t and the state}, or
    a law that acts at sample times, `Digital`.

    Rarely needed: ``tolerance`` of the adaptive methods; other ``parameters`` than the system's; ``events``; ``dense``
    keeps the dense output for ``motion.at(times)``; ``compact=False`` lets "taylor" compile several times longer and
    run about twice as fast; ``progress`` is True, False or a function of the fraction done.

    A run that breaks down or is interrupted also returns a trajectory: see ``motion.outcome``.
    """
    began = clock.perf_counter()
    _check_flags(compact=compact, dense=dense, progress=progress)
    asked = method_from(method, step=duration(step, "step"), tolerance=tolerance, compact=compact)
    equations = derive_if_needed(equations)
    bound = (
        stabilization if isinstance(stabilization, Guaranteed) and _needs_guarantee(stabilization, equations) else None
    )
    asked.refuse_options(step_is_chosen=bound is not None)
    grid, watched = check_times(times), _check_events(asked, events)
    parameters = given_parameters(equations, parameters)
    equations = with_gains(equations, parameters)
    numbers = parameter_numbers(equations, parameters)
    sampling = None
    if isinstance(inputs, Sampler):
        if bound is not None:
            raise VinculumError("Guaranteed promises bounds for continuous inputs only. Use another stabilization.")
        initial = start_of_plant(equations, initial, float(grid[0]))
        equations, sampling = begin_sampling(inputs, equations, grid)
    laws = {**equations.laws, **given_laws(equations, {} if isinstance(inputs, Sampler) else inputs)}
    approached = approached_constraints(equations, stabilization)
    problem, x = pose(equations, initial, float(grid[0]), laws, numbers, watched, guess, fixed, approached)
    refuse_beyond(problem, float(grid[0]), float(grid[-1]))
    x = x if sampling is None else start_held(problem, sampling, float(grid[0]), x)
    posed = clock.perf_counter()
    chosen, why = asked.choose(problem, float(grid[0]), float(grid[-1]), x)
    chosen.refuse(problem)
    with progress_bar(progress, "simulating", float(grid[0]), float(grid[-1])) as report:
        if bound is not None:
            plan_of = partial(make_plan, grid, chosen, dense=dense, why=why)
            return _guaranteed(run_guaranteed(problem, bound, plan_of, x, report), dense, (began, posed))
        plan = make_plan(grid, chosen, chosen.step, dense, why)
        treatment = choose_stabilization(plan, None if isinstance(stabilization, Guaranteed) else stabilization)
        problem, described = stabilize_problem(problem, plan, treatment, x)
        between = stops(problem, plan.t0, plan.t1) if chosen.adaptive else plan.stops
        plan = replace(plan, stops=between) if len(between) else plan
        compiled = clock.perf_counter()
        recorder = Recorder(plan.instants, keep_dense=dense and chosen.keeps_polynomials)
        run = Run(plan, treatment, recorder, report)
        if isinstance(inputs, Sampler) and sampling is not None:
            outcome = run_sampled(problem, run, x, inputs, sampling)
        else:
            outcome = run_segments(problem, run, x)
    outcome = check_accuracy(outcome, plan, recorder)
    seconds = {"start": posed - began, "compile": compiled - posed, "run": clock.perf_counter() - compiled}
    return make_trajectory(plan, recorder, outcome, described, dense, seconds)


def _guaranteed(found: GuaranteedRun, dense: bool, clocks: tuple[float, float]) -> Trajectory:
    """The trajectory of a run with a promised accuracy; it ends where the promise was broken."""
    began, posed = clocks
    seconds = {"start": posed - began, "compile": 0.0, "run": clock.perf_counter() - posed}
    if found.outcome.time < found.plan.t1:
        found.recorder.end(found.outcome.time)
    made = make_trajectory(found.plan, found.recorder, found.outcome, found.described, dense, seconds)
    return replace(made, promised=found.promise.bounds, trajectory_error=found.error)


def approached_constraints(equations: Equations, stabilization: Stabilization | str | None) -> tuple[str, ...]:
    """The constraints off which a run may start: somebody chose the rates with which it approaches them."""
    chosen = isinstance(stabilization, Stabilization) and stabilization.feeds_back and stabilization.given
    prescribed = isinstance(equations, ProgramEquations) and equations.prescribed is not None
    bounded = isinstance(stabilization, Guaranteed)
    return equations.constraint_names if (chosen or prescribed) and not bounded else ()


def with_gains(equations: Equations, parameters: Mapping[sp.Symbol, float] | None) -> Equations:
    """The equations with values for the gains that were left as symbols; raises if one is missing."""
    if not isinstance(equations, ProgramEquations) or not equations.unset:
        return equations
    given = {k: v for k, v in (parameters or {}).items() if k in equations.unset}
    missing = [k for k in equations.unset if k not in given]
    if missing:
        values = call("simulate", parameters={missing[0]: Word("value")})
        raise ModelError(
            "Invalid parameters", [Finding(f"the gain {listed(missing)} has no value.", ["Use ", values, "."])]
        )
    return equations.with_values(given)


def _check_flags(**given: object) -> None:
    """Raise for a flag that is not true or false; progress may be a function."""
    for name, value in given.items():
        if not (value is None or isinstance(value, (bool, np.bool_)) or (name == "progress" and callable(value))):
            also = " or a function of the fraction done" if name == "progress" else ""
            raise VinculumError(f"{name} must be True or False{also}; got {value!r}.")


def _check_events(method: Method, events: Sequence[Event] | Event) -> list[Event]:
    """The events to look for, with distinct names; raises if the method finds none."""
    watched = name_events(events)
    if watched and not method.finds_events:
        raise VinculumError(f"The method {method.name!r} does not look for events. Use another, such as 'taylor'.")
    return watched


def _needs_guarantee(asked: Guaranteed, equations: Equations) -> bool:
    """Whether there is something to promise: constraints, or an accuracy of the trajectory."""
    return bool(equations.constraint_names) or asked.trajectory is not None
