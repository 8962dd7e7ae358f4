"""Functions whose Taylor series leaves their range.

√(v²) is |v| ≥ 0, but the series of √(v²) around v > 0 is v, also where it is negative. In the same way the series of
atan2(sin θ, cos θ) is θ, also beyond π, that of arctan(1/x) goes on through x = 0, and that of arcsin(sin t) is t. The
series goes on where the function turns or jumps. A margin is positive inside the range of a function and negative where
its series has left it:

    √u, u^k, arcosh u:      the function itself,
    a value y in [a, b]:    1 - ((2 y - a - b)/(b - a))².
"""

from __future__ import annotations

from collections.abc import Sequence

from vinculum.graph import ONE, Node, order, symbols
from vinculum.graph.functions import FUNCTIONS

SLACK = 1e-14  # of a margin, for rounding at the ends of a range
_UNBOUNDED = {"divide", "tan", "log", "power"}  # operations that make infinite numbers of finite ones


def margins(outputs: Sequence[Node], moving: set[Node]) -> tuple[Node, ...]:
    """The margins of all functions in the outputs that depend on ``moving`` symbols and have a range."""
    nodes = [node for node in order(outputs) if _may_leave(node) and symbols([node]) & moving]
    return tuple(map(_margin, nodes))


def least(margin: Node) -> float:
    """The value of a margin at the end of a range."""
    return 0.0 if _is_ray(margin) else SLACK


def _is_ray(node: Node) -> bool:
    """Whether a function has the range [0, ∞)."""
    return node.op == "power" or (node.op in FUNCTIONS and FUNCTIONS[node.op].range == (0.0, float("inf")))


def _may_leave(node: Node) -> bool:
    """Whether the series of a node may leave its range; that of arctan does so only through infinite arguments."""
    if node.op == "atan":
        return any(below.op in _UNBOUNDED for below in order(node.args))
    return node.op == "power" or (node.op in FUNCTIONS and FUNCTIONS[node.op].range is not None)


def _margin(node: Node) -> Node:
    if _is_ray(node):
        return node
    found = FUNCTIONS[node.op].range
    assert found is not None
    a, b = found
    share = (2 * node - (a + b)) / (b - a)
    return ONE + SLACK - share * share
