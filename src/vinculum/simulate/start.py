"""A consistent initial state from what the user knows.

The coordinates that may move are solved on the holonomic constraints, then the velocities on the velocity
constraints, each by Newton's method of least change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import sympy as sp

from vinculum.derive import EquationsOfMotion
from vinculum.derive.redundancy import refuse_dependent
from vinculum.derive.reference import numbers, solved_for
from vinculum.errors import ConstraintError, ModelError
from vinculum.graph import Node, evaluate, symbol
from vinculum.names import listed, name_of, suggestion


def consistent(
    equations: EquationsOfMotion,
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
    system = equations.system
    full = (*system.coordinates, *system.velocities)
    held = _held(equations, initial, fixed)
    values = {symbol(key): float(initial.get(key, 0.0)) for key in full}
    values |= {symbol(p): float(v) for p, v in (dict(system.parameters) | dict(parameters or {})).items()}
    values[symbol(system.time)] = float(time)
    mechanics = equations.mechanics
    exact = [c.name not in mechanics.approach for c in system.constraints]
    position = [(c.name, f) for c, f, met in zip(system.constraints, mechanics.position, exact, strict=True)
                if met and f is not None]  # fmt: skip
    velocity = [(c.name, f) for c, f, met in zip(system.constraints, mechanics.velocity, exact, strict=True) if met]
    hidden = [(name, z) for name, z in mechanics.hidden if name not in mechanics.approach]
    chosen = _chosen(equations, initial, values)
    free_q = [q for q in system.coordinates if q not in held]
    free_v = [v for v in system.velocities if v not in held]
    _solve(position, free_q, values, "coordinates")
    _solve(velocity + chosen, free_v, values, "velocities")
    if hidden:
        _solve(position + velocity + hidden, free_q + free_v, values, "coordinates and velocities")
    if equations.redundant == "refuse":
        J, q = numbers(mechanics.J, values), numbers(system.nodes.q, values)
        refuse_dependent(J, [c.name for c in system.constraints], system.coordinates, q)
    if equations.definitions:
        _refuse_other_branch(equations, equations.with_definitions(values))
    return {key: values[symbol(key)] for key in full}


def _chosen(
    equations: EquationsOfMotion, initial: Mapping[sp.Expr, float], values: dict[Node, float]
) -> list[tuple[str, Node]]:
    """Conditions from states that the user gave in place of velocities: definition(q, q̇, t) - value = 0.

    Velocities that are to be found start from where the form puts them (exactly right when all such states are
    given), or from a state in general position, since a definition may be singular at rest.
    """
    given = {key: float(initial[key]) for key in equations.definitions if key in initial}
    if not given:
        return []
    system = equations.system
    start = {v: equations.reference()[v] for v in system.nodes.v}
    if len(given) == len(equations.definitions):
        known = {**equations.reference(), **values, **{symbol(key): x for key, x in given.items()}}
        guess = {v: x for v, x in start.items() if v.value not in initial}
        found = equations.explicit(known | guess).velocities
        exact = equations.mechanics.without_corrections(found)
        start = dict(zip(system.nodes.v, evaluate(exact, known | guess), strict=True))
    values.update({v: x for v, x in start.items() if v.value not in initial})
    return [(name_of(key), equations.definitions[key] - value) for key, value in given.items()]


def _refuse_other_branch(equations: EquationsOfMotion, values: dict[Node, float]) -> None:
    """The states must give back the velocities they came from; on another branch of a nonlinear chart they do not."""
    system = equations.system
    found = evaluate(equations.mechanics.without_corrections(equations.explicit(values).velocities), values)
    wrong = [
        v for v, x in zip(system.velocities, found, strict=True) if abs(x - values[symbol(v)]) > 1e-8 * (1 + abs(x))
    ]
    if wrong:
        limits = "; ".join(condition.meaning for condition in equations.conditions)
        raise ConstraintError(
            f"The initial state is outside the chart: from the states of the form, {listed(wrong)} "
            f"comes out with another "
            f"value ({limits}). Start on the other side, or pass derive(..., at={{...}}) a state on this side."
        )


def _held(
    equations: EquationsOfMotion, initial: Mapping[sp.Expr, float], fixed: Iterable[sp.Expr] | None
) -> set[sp.Expr]:
    """The states that must not be moved; names and numbers are checked here."""
    known = (*equations.system.coordinates, *equations.system.velocities, *equations.definitions)
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
    found = evaluate([f for _, f in residuals], values)
    table = ", ".join(f"{name} = {f:.6g}" for (name, _), f in zip(residuals, found, strict=True))
    if free:
        start = ", ".join(f"{name_of(key)} = {values[symbol(key)]:.6g}" for key in free)
        advice = f"Free to move were {start}. Give better starting values, or let more move: fixed=[...]."
    else:
        advice = f"All {what} were given, so none may move. Leave some out, or name the ones to keep: fixed=[...]."
    raise ConstraintError(f"The {what} cannot be put on the constraints; residuals at the start: {table}. {advice}")
