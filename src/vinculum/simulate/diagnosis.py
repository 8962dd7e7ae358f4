"""Why a run broke down: the operation that left its domain, or the equations that became singular."""

from __future__ import annotations

import numpy as np

from vinculum.derive.explicit import explain_singular
from vinculum.derive.reference import numbers
from vinculum.errors import DomainError, VinculumError
from vinculum.graph import Node, evaluate
from vinculum.graph.traverse import describe, order
from vinculum.simulate.outcome import NON_FINITE, SINGULAR, STALLED, Outcome
from vinculum.simulate.problem import Problem

_EDGE = {"sqrt": 0.0, "log": 0.0}


def diagnosed(problem: Problem, outcome: Outcome, t: float, x: np.ndarray) -> Outcome:
    """The outcome with its reason filled in from the last good state."""
    if outcome.kind not in (NON_FINITE, STALLED):
        return outcome
    try:
        known = problem.numbers(t, x)
        evaluate(problem.rates, known)
        singular = near_singular(problem, known)
    except DomainError as error:
        return Outcome(NON_FINITE, t, str(error))
    if singular:
        return Outcome(SINGULAR, t, singular)
    where = near_edge(problem, known)
    if where:
        return Outcome(NON_FINITE, t, where)
    if outcome.kind == STALLED:
        return Outcome(
            STALLED, t, f"the step size went to zero; {outcome.reason or 'the motion has a singularity here'}"
        )
    fastest = int(np.argmax(np.abs(evaluate(problem.rates, known))))
    return Outcome(
        NON_FINITE, t, f"the state grew beyond all bounds, {describe(problem.state[fastest])} fastest of all"
    )


def near_singular(problem: Problem, known: dict[Node, float]) -> str:
    """What the equations no longer determine at a state, or nothing."""
    mechanics = problem.equations.mechanics
    known = known | dict(
        zip(mechanics.system.nodes.v, evaluate(problem.lifted(mechanics.system.nodes.v), known), strict=True)
    )
    M, J, R = (numbers(part, known) for part in (mechanics.M, mechanics.J, mechanics.directions))
    m = len(J)
    bordered = np.block([[M, R], [J, np.zeros((m, m))]])
    scale = np.sqrt(np.maximum(np.abs(bordered).max(axis=1), 1e-300))
    singular = np.linalg.svd(bordered / np.outer(scale, scale), compute_uv=False)
    if singular[-1] > 1e-7 * singular[0]:
        return ""
    try:
        explain_singular(mechanics, known)
    except VinculumError as error:
        return str(error)
    return ""


def near_edge(problem: Problem, known: dict[Node, float]) -> str:
    """An operation at the edge of its domain: a divisor, root or logarithm next to zero."""
    nodes = order(problem.rates)
    values = dict(zip(nodes, evaluate(nodes, known), strict=True))
    for node in nodes:
        if node.op == "divide" and abs(values[node.args[1]]) < 1e-6 * max(1.0, abs(values[node.args[0]])):
            return f"division by a number that goes to zero: {describe(node.args[1])} = {values[node.args[1]]:.3g}"
        if node.op in _EDGE and abs(values[node.args[0]]) < 1e-6:
            return f"{node.op} of a number at the edge of its domain: {describe(node)} at {values[node.args[0]]:.3g}"
    return ""
