"""What all runs of a study share: checked options, and the problem of the first run with its stabilization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Equations
from vinculum.ensembles.ensemble import Ensemble, instants, pieced_integrals
from vinculum.ensembles.measures import KEEP, Measure
from vinculum.ensembles.starts import Starts
from vinculum.ensembles.vary import Variation
from vinculum.errors import ModelError, VinculumError
from vinculum.names import name_of, suggestion, variable_name
from vinculum.simulation.integrators import Method
from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.problem.events import Event, name_events
from vinculum.simulation.problem.problem import Problem, build_problem
from vinculum.simulation.problem.signals import refuse_beyond
from vinculum.simulation.problem.start import (
    derive_if_needed,
    given_fixed,
    given_parameters,
    known_state,
    parameter_numbers,
)
from vinculum.simulation.run import approached_constraints, with_gains
from vinculum.simulation.stabilization.feedback import choose_stabilization, stabilize_problem
from vinculum.simulation.stabilization.stabilization import Guaranteed, Stabilization
from vinculum.simulation.trajectory.recorder import Plan, check_times, make_plan

_JUDGED = 64  # instants at which a run is judged, if only its ends are given
_TRIED = 64  # runs in which a consistent start is looked for


def prepare(
    equations: Any,
    initial: Mapping[Any, float] | None,
    times: Sequence[float] | np.ndarray,
    variation: Variation,
    measures: Mapping[str, Measure],
    keep: str | None,
    method: Method,
    options: Mapping[str, Any],
    parameters: Mapping[sp.Symbol, float] | None,
    guess: Mapping[Any, float] | None,
    fixed: Sequence[sp.Expr] | None,
    until: Sequence[Event] | Event = (),
) -> Ensemble:
    """The ensemble of a study; raises for whatever is wrong with it. ``options`` go to `simulate` unchanged."""
    first = {key: float(column[0]) for key, column in variation.columns.items() if len(column)}
    equations = derive_if_needed(equations)
    parameters = given_parameters(equations, parameters)
    equations = with_gains(equations, {**first, **parameters})
    method.refuse_options()
    if isinstance(options["stabilization"], Guaranteed):
        raise VinculumError("A study does not choose steps run by run. Use another stabilization than Guaranteed.")
    keep, numbers = _check_keep(keep, measures), parameter_numbers(equations, parameters)
    given, near = known_state(equations, initial or {}), known_state(equations, guess or {}, "guess")
    _refuse_unknown(equations, variation.columns, given)
    extra = {key: float(given.pop(key, 0.0)) for key in equations.extra}
    grid = check_times(times)
    approached = approached_constraints(equations, options["stabilization"])
    fixed = given_fixed(equations, fixed)
    starts = Starts(equations, given, near, fixed, numbers, float(grid[0]), approached)
    ends = tuple(replace(event, terminal=True) for event in name_events(until))
    problem, plan, treatment, rate = _first_problem(starts, variation, extra, method, grid, options, ends)
    sampled = keep == "motion" or any(one.sampled for one in measures.values())
    sampled |= bool(pieced_integrals(problem, method, measures))
    steps = int(abs(grid[-1] - grid[0]) * rate) + 1
    shown = (*equations.user_symbols, *equations.extra)
    if keep == "motion" and "time" in variation.coordinates:
        raise VinculumError('A varied parameter is called time, as the instants of keep="motion". Rename it.')
    _refuse_names(measures, shown if keep != "measures" else (), variation)
    grid = instants(grid, steps, sampled)
    own = grid if len(grid) > 2 or isinstance(method, Taylor) else _some(plan.instants)
    return Ensemble(problem, starts, grid, measures, keep, shown, method, options, extra, treatment, own, ends)


def _some(marks: np.ndarray) -> np.ndarray:
    """Some of the instants at which `simulate` would judge the accuracy of a run."""
    return np.append(marks[: -1 : -(-len(marks) // _JUDGED)], marks[-1])


def _first_problem(
    starts: Starts,
    variation: Variation,
    extra: Mapping[sp.Expr, float],
    method: Method,
    grid: np.ndarray,
    options: Mapping[str, Any],
    ends: Sequence[Event],
) -> tuple[Problem, Plan, Stabilization, float]:
    """The problem of the first run with a consistent start, its plan and stabilization, and about how many steps it
    takes per time.
    """
    equations, columns, values = starts.equations, *_first_start(starts, variation)
    known = dict(zip(starts.keys, map(float, values), strict=True))
    start = {key: known[key] for key in equations.user_symbols}
    start |= {key: float(columns[key][0]) if key in columns else extra[key] for key in equations.extra}
    numbers = {key: known[key] for key in starts.parameters}
    laws = {**equations.laws, **options["inputs"]}
    problem, x = build_problem(equations, start, float(grid[0]), laws, numbers, ends)
    refuse_beyond(problem, float(grid[0]), float(grid[-1]))
    chosen, why = method.choose(problem, float(grid[0]), float(grid[-1]), x)
    chosen.refuse(problem)
    plan = make_plan(grid, chosen, chosen.step, False, why)
    treatment = choose_stabilization(plan, options["stabilization"])
    problem, _ = stabilize_problem(problem, plan, treatment, x)
    rate = 2 * chosen.feedback_rate(problem, plan, treatment, x)  # half the inverse of a step
    return problem, plan, treatment, rate


def _first_start(starts: Starts, variation: Variation) -> tuple[dict[Any, np.ndarray], np.ndarray]:
    """Columns and values of the first run with a consistent start."""
    refusal = ""
    for number in range(min(variation.runs, _TRIED)):
        columns = {key: column[number : number + 1] for key, column in variation.columns.items()}
        values, refusals = starts.solve(columns, 1)
        if not refusals:
            return columns, values[0]
        refusal = refusal or refusals[0]
    raise VinculumError(f"The first {min(variation.runs, _TRIED)} runs have no consistent start. {refusal}")


# -- checks ----------------------------------------------------------------------------------------------------------


def _check_keep(keep: str | None, measures: Mapping[str, Measure]) -> str:
    if keep is None:
        return "measures" if measures else "end"
    if keep not in KEEP:
        raise VinculumError(f"keep={keep!r} is not known. Use {', '.join(map(repr, KEEP))}.")
    if keep == "measures" and not measures:
        raise VinculumError('keep="measures" needs measures, as in measure={"peak": measure.maximum(x)}.')
    return keep


def _refuse_names(measures: Mapping[str, Measure], shown: Sequence[Any], variation: Variation) -> None:
    """Raise for measures and parameters with the name of another variable or coordinate of the result."""
    taken = dict.fromkeys(("outcome", "end_time", "energy_error", "largest_residual"), "every run has one")
    taken |= dict.fromkeys(map(variable_name, shown), "the states have their names")
    same = [f"{name} varies, but every run has a result of this name. Rename the parameter."
            for name in variation.coordinates if name in taken]  # fmt: skip
    if same:
        raise ModelError("Invalid study", same)
    taken |= dict.fromkeys((*variation.dimensions, *variation.coordinates, "time"), "it is a coordinate of the result")
    bad = [
        f"A measure is called {name!r}, but {taken[name]}. Choose another name." for name in measures if name in taken
    ]
    if bad:
        raise ModelError("Invalid measures", bad)


def _refuse_unknown(equations: Equations, columns: Mapping[Any, Any], given: Mapping[Any, Any]) -> None:
    """Raise for varied quantities that the equations do not have, or that have a value already."""
    known = (*equations.user_symbols, *equations.extra, *equations.parameters)
    problems = []
    for key in columns:
        if key not in known:
            near = suggestion(name_of(key), map(name_of, known))
            problems.append(f"{name_of(key)} is not a coordinate, velocity, state or parameter.{near}")
        elif key in given:
            problems.append(f"{name_of(key)} is both in initial and in over. Leave it out of initial.")
    if problems:
        raise ModelError("Invalid study", problems)
