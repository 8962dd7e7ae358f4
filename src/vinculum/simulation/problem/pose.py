"""The initial value problem of a run, from what a user gave; prepared once and kept by the equations.

The nodes of a problem do not depend on numbers: `motion_nodes` keeps them for all runs of the same equations with the
same laws, events and feedback. The numbers (a consistent start, pivots, conditions) are a function of the arguments, so
a second run with exactly the same arguments gets them from here too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Equations
from vinculum.simulation.problem.events import Event
from vinculum.simulation.problem.problem import Problem, build_problem
from vinculum.simulation.problem.start import consistent_state, known_state

_PLAIN = {int, float, np.float64}  # numbers without units


def pose(
    equations: Equations,
    initial: Any,
    time: float,
    laws: Mapping[sp.Expr, sp.Expr],
    parameters: Mapping[sp.Symbol, float],
    events: Sequence[Event],
    guess: Mapping[sp.Expr, float] | None = None,
    fixed: Iterable[sp.Expr] | None = None,
    approached: Collection[str] = (),
) -> tuple[Problem, np.ndarray]:
    """The problem without feedback, and its x at a consistent start."""
    held: Any = tuple(fixed) if isinstance(fixed, Iterable) and not isinstance(fixed, str) else fixed

    def build() -> tuple[Problem, np.ndarray]:
        given = known_state(equations, initial)
        near = None if guess is None else known_state(equations, guess, "guess")
        extra = {key: float(given.get(key, 0.0)) for key in equations.extra}
        known = {key: value for key, value in given.items() if key not in extra}
        choices: dict[str, Any] = {"guess": near, "fixed": held, "parameters": parameters, "time": time}
        start = consistent_state(equations, known, **choices, approached=approached)
        return build_problem(equations, start | extra, time, laws, parameters, events)

    try:
        near = None if guess is None else _exactly(equations, guess, "guess")
        numbers = _exactly(equations, initial, "initial"), near, _exactly(equations, parameters, "parameters"), time
        key = ("posed", numbers, held, tuple(laws.items()), tuple(events), tuple(approached))
        hash(key)
    except (TypeError, ValueError, OverflowError):  # not numbers or symbols: refused with their names
        return build()
    problem, x = equations.kept.get(key, build)
    return problem, x.copy()


class _Symbols(tuple):
    """Symbols that are compared, not hashed: SymPy computes hashes in Python, and equal symbols are one object."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self)


def _exactly(equations: Equations, values: Any, name: str) -> Hashable:
    """Symbols or names with their numbers, bit by bit."""
    plain = isinstance(values, Mapping) and set(map(type, values.values())) <= _PLAIN
    known = values if plain else known_state(equations, values, name)
    return _Symbols(known), np.array([float(value) for value in known.values()]).tobytes()
