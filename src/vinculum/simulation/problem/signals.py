"""Measured signals whose user did not state what they are beyond their points."""

from __future__ import annotations

from collections.abc import Iterable

from vinculum.errors import ModelError
from vinculum.graph import Node, evaluate, order, symbols
from vinculum.simulation.problem.problem import Problem

_SLACK = 1e-9  # of the range of the points


def refuse_beyond(problem: Problem, begin: float, end: float) -> None:
    """Raise if a run would use a signal of the time alone beyond its points."""
    nodes, problems = problem.nodes, dict[str, None]()
    for node in problem.branch.known.get(("unstated signals",), lambda: unstated(nodes.rates)):
        if not symbols(node.args) <= {nodes.time}:
            continue
        low, high = sorted(evaluate(node.args, {nodes.time: t})[0] for t in (begin, end))
        first, last = node.value.points
        slack = _SLACK * (last - first)
        if low < first - slack or high > last + slack:
            problems[
                f"{node.value.name} has points from {first:.6g} to {last:.6g}, but the run uses it from {low:.6g} to "
                f"{high:.6g}. State beyond='hold' or beyond='zero', or shorten the run."
            ] = None
    if problems:
        raise ModelError("Invalid signals", list(problems))


def unstated(outputs: Iterable[Node]) -> list[Node]:
    """The signals that are refused beyond their points."""
    return [node for node in order(outputs) if node.op == "spline" and node.value.beyond == "refuse"]
