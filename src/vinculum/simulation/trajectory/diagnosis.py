"""Why a run broke down: the operation that left its domain, or the equations that became singular."""

from __future__ import annotations

import numpy as np

from vinculum.errors import DomainError
from vinculum.graph import Node, evaluate, symbols
from vinculum.graph.traverse import describe, order
from vinculum.simulation.problem.pivots import violated_condition
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.outcome import NON_FINITE, SINGULAR, STALLED, Outcome

_EDGE = ("sqrt", "log")
_HUGE = 1e30  # a state beyond this has run away


def explain(problem: Problem, outcome: Outcome, t: float, x: np.ndarray) -> Outcome:
    """The outcome with its reason filled in, from the last good state and from where the next step would have led."""
    if outcome.kind not in (NON_FINITE, STALLED):
        return outcome
    try:
        ended = violated_condition(problem, t, x, None)
        if ended is not None:
            return ended
        known = problem.everything(t, x)
        singular = problem.integrable.equations.singular_at(known)
        rates = evaluate(problem.nodes.rates, known)
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
    return Outcome(NON_FINITE, t, _grown(problem, np.array(rates)))


def _grown(problem: Problem, rates: np.ndarray) -> str:
    """A state that ran away, by the name of what ran fastest."""
    fastest = int(np.argmax(np.abs(rates[: len(problem.integrable.states)])))
    return f"the state grew beyond all bounds, {describe(problem.nodes.state[fastest])} fastest of all"


def _look_ahead(problem: Problem, outcome: Outcome, t: float, x: np.ndarray, rates: np.ndarray) -> None:
    """Evaluate where a step would have led, so that the operation that fails there is named (as a `DomainError`)."""
    if outcome.beyond is None or np.abs(x).max(initial=0.0) > _HUGE:
        return
    step = outcome.beyond[0] - t
    for share in (0.5, 1.0, 2.0):
        evaluate(problem.nodes.rates, problem.numbers(t + share * step, x + share * step * rates))


def near_edge(problem: Problem, known: dict[Node, float]) -> str:
    """An operation at the edge of its domain: a divisor, root or logarithm next to zero."""
    nodes = order(problem.nodes.rates)
    values = dict(zip(nodes, evaluate(nodes, known), strict=True))
    for node in nodes:
        if node.op == "divide" and abs(values[node.args[1]]) < 1e-6 * max(1.0, abs(values[node.args[0]])):
            what = f"division by a number that goes to zero: {describe(node.args[1])} = {values[node.args[1]]:.3g}"
            return what + asked_by(problem, node.args[1])
        if node.op in _EDGE and abs(values[node.args[0]]) < 1e-6:
            what = f"{node.op} of a number at the edge of its domain: {describe(node)} at {values[node.args[0]]:.3g}"
            return what + asked_by(problem, node)
    return ""


def asked_by(problem: Problem, node: Node) -> str:
    """The constraints whose given motion contains an expression of time alone, which comes to its end."""
    if symbols([node]) - {problem.nodes.time, *problem.nodes.settings}:
        return ""
    held = [r.constraint for r in problem.integrable.residuals if node in order([r.node])]
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(held))
    return f"; what {names} asks for needs an infinite input or reaction there" if names else ""
