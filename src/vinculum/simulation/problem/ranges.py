"""Functions whose Taylor series leaves their range.

√(v²) is |v| ≥ 0, but the series of √(v²) around v > 0 is v, also where it is negative. In the same way the series of
atan2(sin θ, cos θ) is θ, also beyond π, that of arctan(1/x) goes on through x = 0, and that of arcsin(sin t) is t. The
series goes on where the function turns or jumps. A margin is positive inside the range of a function and negative where
its series has left it:

    √u, arcosh u, u^k:      the function itself,
    a value y in [a, b]:    1 - ((2 y - a - b)/(b - a))².

Other functions hide from their series: at u = 100, tanh u is 1 to the last digit, and so is every step that passes over
u = 0. For tanh u, exp u, sinh u and cosh u a margin is added that hides nothing and is never zero:

    2 - ((2/π) arctan u)².

The radius of convergence of its series is about the distance of u = 0, and steps are shorter than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from vinculum.graph import ONE, ZERO, Node, apply, lift, order, select, symbols
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import compare

SLACK = 1e-14  # of a margin, for rounding at the ends of a range
_WHOLE = 1e-20  # sin²(π k) of a whole number k with rounding errors
_STEEP = {"tanh", "exp", "sinh", "cosh"}  # they may be constant, or next to nothing, to the last digit
_UNBOUNDED = {"divide", "tan", "log", "power"}  # operations that make infinite numbers of finite ones


class End(NamedTuple):
    """The end of the range of a function."""

    function: Node
    margin: float  # there


def margins(outputs: Sequence[Node], moving: set[Node]) -> dict[Node, End]:
    """The margins of all functions in the outputs that depend on ``moving`` symbols and have a range or may hide."""
    found = [node for node in order(outputs) if node.op in _STEEP or _may_leave(node)]
    nodes = [node for node in found if symbols([node]) & moving]
    return dict(_steepness(node) if node.op in _STEEP else _margin(node, moving) for node in nodes)


def _may_leave(node: Node) -> bool:
    """Whether the series of a node may leave its range; that of arctan does so only through infinite arguments."""
    if node.op == "atan":
        return any(below.op in _UNBOUNDED for below in order(node.args))
    if node.op == "power" and node.args[1].op == "constant":
        return not float(node.args[1].value).is_integer()
    return node.op == "power" or (node.op in FUNCTIONS and FUNCTIONS[node.op].range is not None)


def _margin(node: Node, moving: set[Node]) -> tuple[Node, End]:
    """The margin of a function, and the end of its range."""
    if node.op == "power":
        return _of_power(node, moving), End(node, 0.0)
    found = FUNCTIONS[node.op].range
    assert found is not None
    a, b = found
    if b == math.inf:
        return node, End(node, 0.0)
    share = (2 * node - (a + b)) / (b - a)
    return ONE + SLACK - share * share, End(node, SLACK)


def _steepness(node: Node) -> tuple[Node, End]:
    """2 - ((2/π) arctan u)² for a function of u, and the end that it never reaches."""
    share = apply("atan", node.args[0]) * (2 / math.pi)
    return 2 - share * share, End(node, 0.0)


def _of_power(node: Node, moving: set[Node]) -> Node:
    """u^k; one where a parameter k is a whole number, whose powers have no range."""
    k = node.args[1]
    if k.op == "constant" or symbols([k]) & moving:
        return node
    off = apply("sin", math.pi * k)
    whole = select(compare("less", off * off, lift(_WHOLE)), ONE, ZERO)
    return whole + (1 - whole) * node
