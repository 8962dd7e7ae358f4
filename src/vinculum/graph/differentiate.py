"""Differentiation on the graph: forward along a direction, backward from an output.

Forward:  ẏ = Σ_i (∂y/∂a_i) ȧ_i, operands first.  Backward:  ā_i = Σ_y ȳ ∂y/∂a_i, results first.
Both visit only the nodes that depend on the variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vinculum.graph.functions import FUNCTIONS, power_partials
from vinculum.graph.node import COMPARISONS, MINUS_ONE, ONE, ZERO, Node, add, divide, multiply, select
from vinculum.graph.routine import expand_calls
from vinculum.graph.splines import TABLES, spline
from vinculum.graph.traverse import dependence, order


def partials(node: Node) -> tuple[Node, ...]:
    """The derivatives of a node with respect to its operands."""
    a = node.args
    if node.op == "add":
        return ONE, ONE
    if node.op == "subtract":
        return ONE, MINUS_ONE
    if node.op == "multiply":
        return a[1], a[0]
    if node.op == "divide":
        reciprocal = divide(ONE, a[1])
        return reciprocal, -multiply(node, reciprocal)
    if node.op == "negate":
        return (MINUS_ONE,)
    if node.op == "power":
        return power_partials(node, *a)
    if node.op == "select":
        return ZERO, select(a[0], ONE, ZERO), select(a[0], ZERO, ONE)
    if node.op in COMPARISONS:
        return ZERO, ZERO
    if node.op == "spline":
        return (spline(node.value.slope, a[0]),)
    if node.op in TABLES:
        return (ZERO,)
    return FUNCTIONS[node.op].partials(node, *a)


def along(outputs: Sequence[Node], direction: Mapping[Node, Node]) -> list[Node]:
    """The derivatives of the outputs along a direction {variable: rate}: Σ_x (∂y/∂x) ẋ.

    With the direction {q: v, v: a, t: 1} this is the time derivative.
    """
    outputs = expand_calls(outputs)
    bits = dependence(outputs, list(direction))
    rate: dict[Node, Node] = dict(direction)
    for node in order(outputs):
        if bits[node] and node not in direction:
            rate[node] = _rate(node, rate)
    return [rate.get(output, ZERO) for output in outputs]


def _rate(node: Node, rate: Mapping[Node, Node]) -> Node:
    if node.op == "select":  # not by partials: the branch that is not taken may have no finite derivative
        return select(node.args[0], rate.get(node.args[1], ZERO), rate.get(node.args[2], ZERO))
    total = ZERO
    for partial, arg in zip(live_partials(node, rate), node.args, strict=True):
        if arg in rate and partial is not ZERO:
            total = add(total, multiply(partial, rate[arg]))
    return total


def live_partials(node: Node, live: Mapping[Node, object]) -> tuple[Node, ...]:
    """Partials, without building the logarithm of a power whose exponent is constant."""
    if node.op == "power" and node.args[1] not in live:
        return node.args[1] * node.args[0] ** (node.args[1] - 1), ZERO
    return partials(node)


def gradient(output: Node, variables: Sequence[Node]) -> list[Node]:
    """∂y/∂x for every variable x, in one backward sweep (forward where there are branches, see `_rate`)."""
    (output,) = expand_calls([output])
    bits = dependence([output], variables)
    if any(node.op == "select" and bit for node, bit in bits.items()):
        return list(jacobian([output], variables)[0])
    adjoint: dict[Node, Node] = {output: ONE}
    leaves = set(variables)
    for node in reversed(order([output])):
        if node in leaves or not bits[node] or node not in adjoint:
            continue
        active = {arg: True for arg in node.args if bits[arg]}
        for partial, arg in zip(live_partials(node, active), node.args, strict=True):
            if arg in active and partial is not ZERO:
                adjoint[arg] = adjoint.get(arg, ZERO) + adjoint[node] * partial
    return [adjoint.get(x, ZERO) for x in variables]


def jacobian(outputs: Sequence[Node], variables: Sequence[Node]) -> np.ndarray:
    """∂y_i/∂x_j as an array of nodes (len(outputs), len(variables)); entries that vanish identically are ``ZERO``."""
    outputs = expand_calls(outputs)
    result = np.full((len(outputs), len(variables)), ZERO, dtype=object)
    depends = dependents(outputs, variables)
    places: dict[Node, list[int]] = {}
    for i, output in enumerate(outputs):
        places.setdefault(output, []).append(i)
    for j, x in enumerate(variables):
        rate: dict[Node, Node] = {x: ONE}
        for node in depends[j]:
            if node is not x:
                rate[node] = _rate(node, rate)
        for output, rows in places.items():
            if output in rate:
                result[rows, j] = rate[output]
    return result


def dependents(outputs: Sequence[Node], variables: Sequence[Node]) -> list[list[Node]]:
    """The nodes that depend on each variable, operands before results: their number is the cost of a column."""
    bits = dependence(outputs, variables)
    found: list[list[Node]] = [[] for _ in variables]
    for node, left in bits.items():  # in the order of the graph
        while left:
            lowest = left & -left
            found[lowest.bit_length() - 1].append(node)
            left ^= lowest
    return found


def vector(nodes: Sequence[Node] | np.ndarray) -> np.ndarray:
    """A one-dimensional array of nodes, on which ``@``, ``+`` and ``-`` work."""
    result = np.empty(len(nodes), dtype=object)
    result[:] = nodes
    return result
