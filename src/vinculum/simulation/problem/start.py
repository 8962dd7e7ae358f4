"""A consistent initial state from the values that the user knows.

The free coordinates are solved from the holonomic constraints, then the velocities from the velocity constraints,
each by Newton's method with the smallest change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.derivation import ProgramEquations, derive
from vinculum.derivation.equations import is_number
from vinculum.derivation.integrable import Equations, StartLevel
from vinculum.derivation.mechanics.sample_states import Values, closest, left_over, numbers, solved_for
from vinculum.describe import AffineSystem, System
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ConstraintError, Finding, ModelError, VinculumError, Word, call
from vinculum.expressions import by_symbol
from vinculum.graph import Node, evaluate, symbol, symbols
from vinculum.names import listed, name_of, suggestion, variable_name
from vinculum.units.given import duration, numbers_in_si

_ON_THE_WAY = (0.1, 0.4, 1.0)  # from the first guess to another consistent state, as a share

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory


def derive_if_needed(equations: Any) -> Equations:
    """Equations unchanged; for a system, its equations in the default form."""
    if isinstance(equations, AffineSystem):
        return derive(equations, "program")
    if isinstance(equations, System):
        return derive(equations)
    if not hasattr(equations, "integrable"):
        raise VinculumError(
            f"Equations of motion are needed, as in derive(system, form), or a System; got {type(equations).__name__}."
        )
    return equations


def known_state(equations: Equations, initial: Any, name: str = "initial") -> dict[sp.Expr, float]:
    """The user's ``initial`` or ``guess`` by symbol, from symbols, names, or the end of a trajectory."""
    if hasattr(initial, "last_state"):
        return _last_state(equations, initial, name)
    if not isinstance(initial, Mapping):
        what = "an array" if isinstance(initial, np.ndarray) else type(initial).__name__
        raise VinculumError(
            f"{name} must be {{coordinate or velocity: value}}, or a trajectory; got {what}. The states of "
            f"{equations.name!r} are {listed((*equations.user_symbols, *equations.extra))}."
        )
    names = _by_name(equations) if any(isinstance(key, str) for key in initial) else {}
    keys = {**names, **_states_of_inputs(equations)}
    given = {keys.get(key, key): value for key, value in initial.items()} if keys else initial
    return numbers_in_si(given, dimensions_of(equations), f"Invalid values in {name}=")


def given_parameters(equations: Equations, parameters: Any) -> dict[sp.Symbol, Any]:
    """The user's ``parameters``, in SI."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise VinculumError(f"parameters must be {{symbol: number}}; got {parameters!r}.")
    if not parameters:
        return {}
    if any(isinstance(key, str) for key in parameters):
        known = (*equations.parameters, *getattr(equations, "unset", ()))
        parameters = by_symbol(parameters, {name_of(p): p for p in known}, "parameters")
    return numbers_in_si(parameters, dimensions_of(equations), "Invalid parameters")


def given_laws(equations: Equations, inputs: Any) -> dict[sp.Expr, Any]:
    """The user's ``inputs`` by symbol, from symbols or names."""
    if inputs is not None and not isinstance(inputs, Mapping):
        raise VinculumError(f"inputs must be laws {{input: expression of t and the state}}; got {inputs!r}.")
    if inputs is None or not any(isinstance(key, str) for key in inputs):
        return dict(inputs or {})
    return by_symbol(inputs, {name_of(u): u for u in (*equations.holding.values(), *equations.inputs)}, "inputs")


def given_fixed(equations: Equations, fixed: Any) -> tuple[sp.Expr, ...] | None:
    """The user's ``fixed`` states, from symbols or names."""
    if fixed is None:
        return None
    if not isinstance(fixed, Iterable) or isinstance(fixed, str):
        raise VinculumError(f"fixed must be a list of coordinates and velocities; got {fixed!r}.")
    keys = tuple(fixed)
    if all(isinstance(key, sp.Basic) for key in keys):
        return keys
    names = _by_name(equations)
    problems = [
        f"{key} in fixed is not a coordinate or velocity."
        + (suggestion(str(key), names) or f" Give a list of them; they are {listed(equations.user_symbols)}.")
        for key in keys
        if not isinstance(key, sp.Basic) and not (isinstance(key, str) and key in names)
    ]
    if problems:
        raise ModelError("Invalid initial state", problems)
    return tuple(names.get(key, key) if isinstance(key, str) else key for key in keys)


def parameter_numbers(equations: Equations, parameters: Mapping[sp.Symbol, float] | None) -> dict[sp.Symbol, float]:
    """The parameters of the system, updated by the user's; names and numbers are checked."""
    given, known = given_parameters(equations, parameters), equations.parameters
    unknown = [p for p in given if p not in known]
    if unknown:
        near = suggestion(name_of(unknown[0]), map(name_of, known))
        raise ModelError("Invalid parameters", [f"{listed(unknown)} is not a parameter.{near}"])
    numbers = {**known, **given}
    bad = [f"{p} is {v}. Give it a finite value." for p, v in numbers.items() if not is_number(v)]
    if bad:
        raise ModelError("Invalid parameters", bad)
    return {**known, **{p: float(v) for p, v in given.items()}}


def _states_of_inputs(equations: Equations) -> Mapping[sp.Expr, sp.Expr]:
    """The states that a dynamic extension made of inputs, by input."""
    extension = equations.extension if isinstance(equations, ProgramEquations) else None
    return {} if extension is None else extension.aliases


def _by_name(equations: Equations) -> dict[str, sp.Expr]:
    """The states by their names, dot(x) and x_dot."""
    keys = (*equations.user_symbols, *equations.states, *equations.extra)
    return {name(key): key for name in (name_of, variable_name) for key in keys}


def _last_state(equations: Equations, motion: Trajectory, name: str) -> dict[sp.Expr, float]:
    """The user's symbols at the end of a motion, by their names."""
    last = motion.last_state
    keys = {variable_name(key): key for key in (*equations.user_symbols, *equations.extra)}
    missing = [name for name in keys if name not in last]
    if missing:
        raise VinculumError(
            f"The trajectory given as {name} has no {', '.join(missing)}; it is the motion of another system. Give "
            "{coordinate: value, ...} instead."
        )
    return {key: last[name] for name, key in keys.items()}


def consistent_state(
    equations: Equations,
    initial: Mapping[sp.Expr, float],
    *,
    guess: Mapping[sp.Expr, float] | None = None,
    fixed: Iterable[sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    time: float = 0.0,
    approached: Collection[str] = (),
) -> dict[sp.Expr, float]:
    """All coordinates and velocities, on the constraints, from the values that are known.

    Values in ``initial`` do not change; all others start from ``guess``, or from zero, and change as little as
    possible. With ``fixed``, only the values named there do not change, and the rest of ``initial`` is a first guess.
    Raises with the residual of each constraint if the constraints cannot be met. Constraints named in ``approached``
    need not hold where the given values decide: the rates of the run bring the motion to them.
    """
    equations = derive_if_needed(equations)
    initial = known_state(equations, initial)
    near = {} if guess is None else known_state(equations, guess, "guess")
    fixed = given_fixed(equations, fixed)
    bad = [f"{name_of(key)} is {value!r} in guess. Give it a finite value." for key, value in near.items()
           if not is_number(value)]  # fmt: skip
    if bad:
        raise ModelError("Invalid initial state", bad)
    fixed = initial if fixed is None and guess else fixed
    initial = {**near, **initial}
    held = _fixed_states(equations, initial, fixed)
    values = {symbol(key): float(initial.get(key, 0.0)) for key in equations.user_symbols}
    given = given_parameters(equations, parameters)
    values |= {symbol(p): float(v) for p, v in (dict(equations.parameters) | given).items()}
    values[symbol(equations.time)] = float(duration(time, "time"))
    for level in equations.start_levels(initial, values):
        _solve(level, held, values, approached)
    equations.refuse_start(values)
    return {key: values[symbol(key)] for key in equations.user_symbols}


def _fixed_states(
    equations: Equations, initial: Mapping[sp.Expr, float], fixed: Iterable[sp.Expr] | None
) -> set[sp.Expr]:
    """The states that must not change; names and numbers are checked."""
    known = dict.fromkeys((*equations.user_symbols, *equations.states))
    problems = []
    for key, value in initial.items():
        if key not in known:
            near = (
                suggestion(name_of(key), map(name_of, known)) or f" The coordinates and velocities are {listed(known)}."
            )
            problems.append(f"{name_of(key)} is not a coordinate or velocity.{near}")
        elif not is_number(value):
            problems.append(f"{name_of(key)} is {value!r}. Give it a finite value.")
    held = set(initial) if fixed is None else set(fixed)
    loose = [key for key in held if key not in initial]
    if loose:
        problems.append(f"{listed(loose)} must stay fixed but has no value in initial.")
    if problems:
        raise ModelError("Invalid initial state", problems)
    return held


def _solve(level: StartLevel, held: set[sp.Expr], values: dict[Node, float], approached: Collection[str]) -> None:
    """Solve the residuals of a level for the states that are not held, and put them into ``values``."""
    free = [key for key in level.movable if key not in held]
    variables, given = list(map(symbol, free)), [symbol(key) for key in level.movable if key in held]
    undecided = tuple((name, f) for name, f in level.residuals if name not in approached or symbols([f]) & {*variables})
    for residuals in (level.residuals, undecided):
        if not residuals:
            return
        x = _nearest_solution([f for _, f in residuals], variables, values, given, level.elsewhere)
        if x is not None:
            values.update(zip(variables, x, strict=True))
            return
    if approached and level.elsewhere:
        x, _ = closest([f for _, f in undecided], variables, values)
        values.update(zip(variables, x, strict=True))
        return
    _refuse(level.residuals, free, values, level.what)


def _nearest_solution(
    residuals: Sequence[Node],
    variables: Sequence[Node],
    values: Mapping[Node, float],
    given: Sequence[Node],
    elsewhere: Sequence[Values],
) -> np.ndarray | None:
    """The variables at which the residuals vanish, by Newton's method from their values.

    Where that fails, as from a singular guess, the search starts on the way to other consistent states, and the
    solution nearest to the first guess is taken.
    """
    x, reached = solved_for(residuals, variables, values, given)
    if reached:
        return x
    guess = numbers(list(variables), values)
    found = []
    for other in elsewhere if variables else ():
        for share in _ON_THE_WAY:
            start = guess + share * (numbers(list(variables), other) - guess)
            x, reached = solved_for(residuals, variables, {**values, **dict(zip(variables, start, strict=True))}, given)
            found += [x] if reached else []
    return min(found, key=lambda x: float(np.linalg.norm(x - guess)), default=None)


def _refuse(
    residuals: Sequence[tuple[str, Node]], free: Sequence[sp.Expr], values: Mapping[Node, float], what: str
) -> None:
    """Raise with the distance of the start from the constraints and the values that could be freed."""
    found = evaluate([f for _, f in residuals], values)
    table = ", ".join(f"{name} = {f:.6g}" for (name, _), f in zip(residuals, found, strict=True))
    found_text = f"The {what} cannot be put on the constraints; residuals at the start: {table}."
    fixed = call("simulate", fixed=[Word("...")])
    if free:
        start = ", ".join(f"{name_of(key)} = {values[symbol(key)]:.6g}" for key in free)
        _, nearest = left_over(residuals, [symbol(key) for key in free], values)
        guess = call("simulate", guess={free[0]: Word("value")})
        advice = ("Give better starting values with ", guess, ", or let more of them move with ", fixed, ".")
        raise ConstraintError(Finding(f"{found_text} Free to move were {start}.{nearest}", advice))
    keep = ("Leave some out, or name the ones to keep with ", fixed, ".")
    raise ConstraintError(Finding(f"{found_text} All {what} were given, so none may move.", keep))
