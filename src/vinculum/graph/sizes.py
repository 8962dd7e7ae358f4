"""The size of the terms of a number as a node: what `magnitudes` computes at one state, for compiled code."""

from __future__ import annotations

from collections.abc import Sequence

from vinculum.graph.node import Node, apply
from vinculum.graph.traverse import order


def term_sizes(outputs: Sequence[Node]) -> list[Node]:
    """For every output what it would be without cancellation; its rounding error is a small multiple of it.

    |a ± b| counts as |a| + |b|, a product as the product of the sizes, anything else by its own value.
    """
    size: dict[Node, Node] = {}
    for node in order(outputs):
        args = [size[arg] for arg in node.args]
        if node.op in ("add", "subtract"):
            size[node] = args[0] + args[1]
        elif node.op == "multiply":
            size[node] = args[0] * args[1]
        elif node.op == "divide":
            size[node] = args[0] / apply("abs", node.args[1])
        elif node.op == "negate":
            size[node] = args[0]
        else:
            size[node] = apply("abs", node)
    return [size[output] for output in outputs]
