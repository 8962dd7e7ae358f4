"""Why a run broke down: the operation that left its domain, or the equations that became singular."""

from __future__ import annotations

import numpy as np

from vinculum.derive import EquationsOfMotion
from vinculum.derive.partition import badly_divided, partition_complaint
from vinculum.derive.reference import numbers
from vinculum.errors import DomainError
from vinculum.graph import Node, evaluate
from vinculum.graph.traverse import describe, order
from vinculum.names import name_of
from vinculum.simulate.outcome import NON_FINITE, SINGULAR, STALLED, Outcome
from vinculum.simulate.problem import Problem

_EDGE = ("sqrt", "log")
_HUGE = 1e30  # a state beyond this has run away
_SINGULAR = 1e-7  # relative size at which equations count as singular


def diagnosed(problem: Problem, outcome: Outcome, t: float, x: np.ndarray) -> Outcome:
    """The outcome with its reason filled in, from the last good state and from where the next step would have led."""
    if outcome.kind not in (NON_FINITE, STALLED):
        return outcome
    try:
        known = problem.everything(t, x)
        singular = near_singular(problem, known)
        rates = evaluate(problem.rates, known)
        _look_ahead(problem, outcome, t, x, np.array(rates))
    except DomainError as error:
        return Outcome(NON_FINITE, t, str(error))
    if singular:
        return Outcome(SINGULAR, t, singular)
    where = near_edge(problem, known)
    if where:
        return Outcome(NON_FINITE, t, where)
    if outcome.kind == STALLED:
        reason = outcome.reason or "the motion has a singularity here"
        return Outcome(STALLED, t, f"the step size went to zero; {reason}")
    own = len(problem.equations.states)
    fastest = int(np.argmax(np.abs(rates[:own])))
    grown = f"the state grew beyond all bounds, {describe(problem.state[fastest])} fastest of all"
    return Outcome(NON_FINITE, t, grown)


def _look_ahead(problem: Problem, outcome: Outcome, t: float, x: np.ndarray, rates: np.ndarray) -> None:
    """Evaluate where a step would have led, so that the operation that fails there is named (as a `DomainError`)."""
    if outcome.beyond is None or np.abs(x).max(initial=0.0) > _HUGE:
        return
    step = outcome.beyond[0] - t
    for share in (0.5, 1.0, 2.0):
        evaluate(problem.rates, problem.numbers(t + share * step, x + share * step * rates))


def near_singular(problem: Problem, known: dict[Node, float]) -> str:
    """What the equations no longer determine at a state, or nothing."""
    equations, mechanics = problem.equations, problem.equations.mechanics
    if equations.redundant == "least_squares":
        return ""
    if equations.partition is not None and badly_divided(mechanics, equations.partition, known):
        return partition_complaint(mechanics, equations.partition, known)
    vanishing = vanishing_constraints(equations, known)
    if vanishing:
        return f"The constraint {', '.join(vanishing)} does not act here: its gradient vanishes."
    if mechanics.actuators is not None:
        return ""  # servo constraints have a condition of their own, the realizability determinant
    M, J = numbers(mechanics.M, known), numbers(mechanics.J, known)
    m = len(J)
    bordered = np.block([[M, J.T], [J, np.zeros((m, m))]])
    scale = np.sqrt(np.maximum(np.abs(bordered).max(axis=1, initial=0.0), 1e-300))
    _, singular, vectors = np.linalg.svd(bordered / np.outer(scale, scale))
    if singular[-1] > _SINGULAR * singular[0]:
        return ""
    return _blamed(equations, vectors[-1], known)


def _blamed(equations: EquationsOfMotion, direction: np.ndarray, known: dict[Node, float]) -> str:
    """Name what takes part in the direction (q̈, -λ) that the equations do not determine."""
    system = equations.system
    names = [*map(name_of, system.coordinates), *(c.name for c in system.constraints)]
    n, part = len(system.coordinates), np.abs(direction) > 0.1 * np.abs(direction).max()
    constraints = [name for name, p in zip(names[n:], part[n:], strict=True) if p]
    q = numbers(system.nodes.q, known)
    point = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, q, strict=False))
    if len(constraints) == 1:
        return f"The constraint `{constraints[0]}` loses its hold at {point}: its reaction is no longer determined."
    if constraints:
        quoted = ", ".join(f"`{name}`" for name in constraints)
        return f"The constraints {quoted} become dependent at {point}: their reactions are no longer determined."
    moving = ", ".join(name for name, p in zip(names[:n], part[:n], strict=True) if p)
    return f"The acceleration of {moving} is fixed neither by inertia nor by a constraint at {point}."


def vanishing_constraints(equations: EquationsOfMotion, known: dict[Node, float]) -> list[str]:
    """Constraints whose gradient is next to nothing beside what it is at generic states."""
    J = numbers(equations.mechanics.J, known)
    usual = [np.linalg.norm(rows, axis=1) for rows in _generic_gradients(equations)]
    if not usual or not len(J):
        return []
    small = np.linalg.norm(J, axis=1) < _SINGULAR * np.median(usual, axis=0)
    return [c.name for c, is_small in zip(equations.system.constraints, small, strict=True) if is_small]


def _generic_gradients(equations: EquationsOfMotion) -> list[np.ndarray]:
    found = []
    for values in equations.generic:
        try:
            found.append(numbers(equations.mechanics.J, values))
        except DomainError:
            continue
    return found


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
