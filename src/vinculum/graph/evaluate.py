"""Numbers from the graph without compiling, one node at a time.

Used for states that are visited once (to choose pivots), and to find the operation whose result is not finite.

`magnitudes` also gives the size of the terms of a number: what it would be without cancellation. A computed number is
zero if it is small relative to these terms, not relative to one. A sum a + b has the size |a| + |b|, the sizes of
products and quotients multiply, and a function of an argument that canceled has at least the size of that argument's
terms (at most one).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vinculum.errors import About, DomainError, Finding
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, Node
from vinculum.graph.routine import Routine
from vinculum.graph.splines import piece_number
from vinculum.graph.targets import ARITHMETIC
from vinculum.graph.traverse import describe, order
from vinculum.hooks import call

_ARITHMETIC = ARITHMETIC | {"power": math.pow}


def evaluate(
    outputs: Sequence[Node], values: Mapping[Node, float], ordered: Sequence[Node] | None = None
) -> list[float]:
    """The outputs at given values of the symbols; ``ordered`` is ``order(outputs)``, if it is known already.

    Raises `DomainError` naming the operation that left an output without a finite value, for instance
    ``log of a number that is not positive: log(r) at r = -0.2``. Branches that are not taken may have any value.
    """
    known: dict[Node, Any] = {}  # a number, for a call the list of its results
    for node in order(outputs) if ordered is None else ordered:
        known[node] = _leaf(node, values) if not node.args else operation_value(node, [known[a] for a in node.args])
    for output in outputs:
        if not math.isfinite(known[output]):
            culprit = _culprit(output, known)
            if not culprit.args:
                continue  # a given value that is not finite
            problem = _complaint(culprit, [known[arg] for arg in culprit.args])
            raise DomainError(Finding(problem, about=About("expression", describe(culprit))))
    return [known[output] for output in outputs]


def _leaf(node: Node, values: Mapping[Node, float]) -> float:
    if node.op == "constant":
        return float(node.value)
    if node not in values:
        raise KeyError(f"no value for {node!r}")
    return float(values[node])


def operation_value(node: Node, args: list[Any]) -> Any:
    """The value of an operation; NaN where it has none."""
    if node.op in _ARITHMETIC:
        return _number(_ARITHMETIC[node.op], args)
    if node.op == "call":
        return _results(node.value, args)
    if node.op == "component":
        return args[0][node.value]
    if node.op == "spline":
        return node.value.at(args[0])
    if node.op == "piece":
        return piece_number(node.value.values, args[0])
    if node.op == "entry":
        return node.value.values[int(args[0])]
    if node.op == "select":
        return args[1] if args[0] else args[2]
    if node.op in COMPARISONS:
        return float(COMPARISONS[node.op](*args))
    return _number(FUNCTIONS[node.op].number, args)


def _number(function: Callable[..., float], args: list[float]) -> float:
    """The value of a function; NaN where it is not finite."""
    try:
        result = function(*args)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan
    return result if math.isfinite(result) else math.nan


def _results(routine: Routine, args: list[float]) -> list[float]:
    """The results of a call, from its machine code; written out where they are not finite, to find the operation."""
    if routine.machine is not None:
        found = call("run routine", routine, args)
        if all(map(math.isfinite, found)):
            return found
    return evaluate(routine.outputs, dict(zip(routine.formals, args, strict=True)))


def _culprit(node: Node, known: Mapping[Node, Any]) -> Node:
    """The operation below a node that made a result that is not finite from finite operands."""
    while True:
        taken = node.args
        if node.op == "select":
            taken = (node.args[1] if known[node.args[0]] else node.args[2],)
        spoiled = [arg for arg in taken if not _finite(known[arg])]
        if not spoiled:
            return node
        node = spoiled[0]


def _finite(value: Any) -> bool:
    return all(map(math.isfinite, value)) if isinstance(value, list) else math.isfinite(value)


def _complaint(node: Node, args: list[float]) -> str:
    if node.op == "divide" and args[1] == 0:
        return f"division by zero: {describe(node.args[1])} = 0 in {describe(node)}"
    at = ", ".join(f"{describe(arg)} = {value:.6g}" for arg, value in zip(node.args, args, strict=True))
    domain = FUNCTIONS[node.op].domain if node.op in FUNCTIONS else ""
    if domain:
        return f"{node.op} of a number that is not {domain}: {describe(node)} at {at}"
    return f"{describe(node)} has no finite value at {at}"


def magnitudes(outputs: Sequence[Node], values: Mapping[Node, float]) -> list[tuple[float, float]]:
    """(value, size of the terms) of every output."""
    nodes = order(outputs)
    exact = dict(zip(nodes, evaluate(nodes, values, nodes), strict=True))
    found = {node: abs(value) for node, value in exact.items()}
    size: dict[Node, float] = {}
    for node in nodes:
        args = [size[arg] for arg in node.args]
        whole = operation_size(node.op, found[node], args)
        size[node] = args[0] / found[node.args[1]] if node.op == "divide" else whole
    return [(exact[output], size[output]) for output in outputs]


def operation_size(op: str, found: float, args: Sequence[float]) -> float:
    """The size of an operation, other than a quotient, from its absolute value and the sizes of its operands."""
    if not args or op in ("select", "power"):
        return found
    if op in ("add", "subtract"):
        return args[0] + args[1]
    if op == "multiply":
        return args[0] * args[1]
    if op == "negate":
        return args[0]
    return max(found, min(1.0, max(args)))
