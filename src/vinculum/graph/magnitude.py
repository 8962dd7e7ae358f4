"""The size of the terms of a number: what it would be without cancellation.

A computed number is zero if it is small relative to these terms, not relative to one. A sum a + b has the size
|a| + |b|, the sizes of products and quotients multiply, and a function of an argument that canceled has at least the
size of that argument's terms (at most one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vinculum.graph.evaluate import evaluate
from vinculum.graph.node import Node
from vinculum.graph.traverse import order


def magnitudes(outputs: Sequence[Node], values: Mapping[Node, float]) -> list[tuple[float, float]]:
    """(value, size of the terms) of every output."""
    nodes = order(outputs)
    exact = dict(zip(nodes, evaluate(nodes, values), strict=True))
    found = {node: abs(value) for node, value in exact.items()}
    size: dict[Node, float] = {}
    for node in nodes:
        size[node] = _size(node, found, [size[arg] for arg in node.args])
    return [(exact[output], size[output]) for output in outputs]


def _size(node: Node, found: Mapping[Node, float], args: Sequence[float]) -> float:
    if not args or node.op in ("select", "power"):
        return found[node]
    if node.op in ("add", "subtract"):
        return args[0] + args[1]
    if node.op == "multiply":
        return args[0] * args[1]
    if node.op == "divide":
        return args[0] / found[node.args[1]]
    if node.op == "negate":
        return args[0]
    return max(found[node], min(1.0, max(args)))
