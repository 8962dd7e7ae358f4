"""Numbers from the graph without compiling, one node at a time.

Used where a state is visited once (choosing pivots) and where a number went wrong and the operation that
spoiled it must be named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from vinculum.errors import DomainError
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, Node
from vinculum.graph.traverse import describe, order

_ARITHMETIC: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "power": lambda a, b: math.pow(a, b),
}


def evaluate(outputs: Sequence[Node], values: Mapping[Node, float]) -> list[float]:
    """The outputs at given values of the symbols.

    Raises `DomainError` naming the first operation without a finite result, for instance
    ``log(r - 1) at r - 1 = -0.2: the argument must be positive``.
    """
    known: dict[Node, float] = {}
    for node in order(outputs):
        known[node] = _leaf(node, values) if not node.args else _number(node, [known[a] for a in node.args])
    return [known[output] for output in outputs]


def _leaf(node: Node, values: Mapping[Node, float]) -> float:
    if node.op == "constant":
        return float(node.value)
    if node not in values:
        raise KeyError(f"no value for {node!r}")
    return float(values[node])


def _number(node: Node, args: list[float]) -> float:
    if node.op == "select":
        return args[1] if args[0] else args[2]
    if node.op in COMPARISONS:
        return float(COMPARISONS[node.op](*args))
    try:
        result = _ARITHMETIC[node.op](*args) if node.op in _ARITHMETIC else FUNCTIONS[node.op].number(*args)
    except (ValueError, ZeroDivisionError, OverflowError):
        result = math.nan
    if not math.isfinite(result) and all(map(math.isfinite, args)):
        raise DomainError(_complaint(node, args))
    return result


def _complaint(node: Node, args: list[float]) -> str:
    if node.op == "divide" and args[1] == 0:
        return f"division by zero: {describe(node.args[1])} = 0 in {describe(node)}"
    at = ", ".join(f"{describe(arg)} = {value:.6g}" for arg, value in zip(node.args, args, strict=True))
    domain = FUNCTIONS[node.op].domain if node.op in FUNCTIONS else ""
    if domain:
        return f"{node.op} of a number that is not {domain}: {describe(node)} at {at}"
    return f"{describe(node)} has no finite value at {at}"
