"""The graph as heyoka expressions, from which heyoka compiles a Taylor integrator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vinculum.graph.node import Node
from vinculum.graph.routine import written_out
from vinculum.graph.splines import in_pieces
from vinculum.graph.traverse import order

COMPACT_FROM = 100  # operations; above, heyoka's compact mode compiles in a fraction of the time

_COMPARISONS = {
    "less": "lt",
    "less_equal": "lte",
    "equal": "eq",
}
_JOINED = {"both": "logical_and", "either": "logical_or"}


def expressions(
    time: Node, state: Sequence[Node], parameters: Sequence[Node], outputs: Sequence[Node]
) -> tuple[list[Any], list[Any]]:
    """heyoka's state variables and the outputs as heyoka expressions; parameters become ``par[i]``."""
    import heyoka as hy

    outputs = in_pieces(written_out(outputs))
    variables = hy.make_vars(*(f"x{i}" for i in range(len(state))))
    variables = [variables] if len(state) == 1 else list(variables)
    known: dict[Node, Any] = {time: hy.time}
    known.update(zip(state, variables, strict=True))
    known.update((p, hy.par[i]) for i, p in enumerate(parameters))
    for node in order(outputs):
        if node not in known:
            known[node] = _emit(hy, node, [known[arg] for arg in node.args])
    return variables, [known[output] for output in outputs]


def _emit(hy: Any, node: Node, a: list[Any]) -> Any:
    if node.op == "constant":
        return hy.expression(float(node.value))
    if node.op == "symbol":
        raise KeyError(f"{node!r} is neither time, state nor parameter of these equations")
    if node.op in _ARITHMETIC:
        return _ARITHMETIC[node.op](*a)
    if node.op in _COMPARISONS:
        return getattr(hy, _COMPARISONS[node.op])(*a)
    if node.op in _JOINED:
        return getattr(hy, _JOINED[node.op])(a)
    if node.op == "select":
        return hy.select(*a)
    if node.op == "abs":
        return hy.select(hy.gte(a[0], 0.0), a[0], -a[0])
    if node.op == "sign":
        return hy.select(hy.gt(a[0], 0.0), 1.0, hy.select(hy.lt(a[0], 0.0), -1.0, 0.0))
    return getattr(hy, node.op)(*a)  # the other functions have the same name there


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "power": lambda a, b: a**b,
}
