"""From equations, a start and numbers to an initial value problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.interface import Equations, linear_feedback
from vinculum.derivation.mechanics.singular import refuse_negative_inertia
from vinculum.graph import evaluate, symbol
from vinculum.simulation.problem.events import Event
from vinculum.simulation.problem.input_laws import input_laws
from vinculum.simulation.problem.motion_expressions import MotionNodes
from vinculum.simulation.problem.pivots import repivoted
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.validity import limits


def pose(
    equations: Equations,
    start: Mapping[sp.Expr, float],
    time: float,
    laws: Mapping[sp.Expr, sp.Expr],
    parameters: Mapping[sp.Symbol, float],
    events: Sequence[Event],
    extra: Mapping[sp.Expr, float],
) -> tuple[Problem, np.ndarray]:
    """The problem and its initial x, without feedback."""
    numbers = dict(equations.parameters) | dict(parameters)
    closing = input_laws(equations, laws)
    known = {symbol(key): value for key, value in (dict(start) | numbers | {equations.time: time}).items()}
    known = equations.with_definitions(known) | {symbol(key): float(extra.get(key, 0.0)) for key in equations.extra}
    known |= dict(zip(closing, evaluate(list(closing.values()), known), strict=True))
    if isinstance(equations, EquationsOfMotion):
        refuse_negative_inertia(equations.mechanics, known, numbers)
    none = linear_feedback(equations.chains, [[0.0] * len(chain) for chain in equations.chains])
    equations = equations.adapted(known)
    nodes = MotionNodes(equations, equations.explicit(known), closing, none, tuple(events))
    further = [known[symbol(key)] for key in equations.extra]
    x = np.array([*equations.state_values(known), *further, *np.zeros(len(nodes.powers))])
    problem, x = repivoted(Problem(nodes, np.array(list(numbers.values()), dtype=float)), time, x)
    return replace(problem, at_start=limits(problem, time, x)), x
