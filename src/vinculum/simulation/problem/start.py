"""A consistent initial state from what the user knows.

The coordinates that may move are solved on the holonomic constraints, then the velocities on the velocity
constraints, each by Newton's method of least change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import sympy as sp

from vinculum.derivation.interface import Equations
from vinculum.derivation.mechanics.sample_states import left_over, solved_for
from vinculum.errors import ConstraintError, Finding, ModelError, Word, call
from vinculum.graph import Node, evaluate, symbol
from vinculum.names import listed, name_of, suggestion


def consistent_state(
    equations: Equations,
    initial: Mapping[sp.Expr, float],
    *,
    guess: Mapping[sp.Expr, float] | None = None,
    fixed: Iterable[sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    time: float = 0.0,
) -> dict[sp.Expr, float]:
    """All coordinates and velocities, on the constraints, from the values that are known.

    Values in ``initial`` stay as they are; all others start from ``guess``, or from zero, and are moved as little as
    possible. With ``fixed`` only the values named there stay, and the rest of ``initial`` is a first guess too. What
    cannot be met is refused with the residual of each constraint.
    """
    fixed = initial if fixed is None and guess else fixed
    initial = {**(guess or {}), **initial}
    held = _held(equations, initial, fixed)
    values = {symbol(key): float(initial.get(key, 0.0)) for key in equations.user_symbols}
    values |= {symbol(p): float(v) for p, v in (dict(equations.parameters) | dict(parameters or {})).items()}
    values[symbol(equations.time)] = float(time)
    chosen = equations.start_conditions(initial, values)
    for level in equations.start_levels:
        residuals = (*level.residuals, *chosen) if level.what == "velocities" else level.residuals
        _solve(residuals, [key for key in level.movable if key not in held], values, level.what)
    equations.refuse_start(values)
    return {key: values[symbol(key)] for key in equations.user_symbols}


def _held(equations: Equations, initial: Mapping[sp.Expr, float], fixed: Iterable[sp.Expr] | None) -> set[sp.Expr]:
    """The states that must not be moved; names and numbers are checked here."""
    known = (*equations.user_symbols, *equations.definitions)
    problems = []
    for key, value in initial.items():
        if key not in known:
            near = suggestion(name_of(key), map(name_of, known))
            problems.append(f"{name_of(key)} is no coordinate or velocity.{near}")
        elif not math.isfinite(float(value)):
            problems.append(f"{name_of(key)} is {value}. Give it a finite value.")
    held = set(initial) if fixed is None else set(fixed)
    loose = [key for key in held if key not in initial]
    if loose:
        problems.append(f"{listed(loose)} is to stay fixed but has no value in initial.")
    if problems:
        raise ModelError("the initial state is not usable", problems)
    return held


def _solve(
    residuals: Sequence[tuple[str, Node]], free: Sequence[sp.Expr], values: dict[Node, float], what: str
) -> None:
    """Solve the residuals for the free states and put them into ``values``."""
    if not residuals:
        return
    variables = [symbol(key) for key in free]
    x, reached = solved_for([f for _, f in residuals], variables, values)
    if not reached:
        _refuse(residuals, free, values, what)
    values.update(zip(variables, x, strict=True))


def _refuse(
    residuals: Sequence[tuple[str, Node]], free: Sequence[sp.Expr], values: Mapping[Node, float], what: str
) -> None:
    """Say how far the start is from the constraints, and what could be let go."""
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
