"""Walking the graph: order, dependence, substitution, counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from vinculum.graph import node as n
from vinculum.graph.node import Node
from vinculum.graph.place import in_order
from vinculum.graph.splines import TABLES, spline

BUILDERS: dict[str, Callable[..., Node]] = {
    "add": n.add,
    "subtract": n.subtract,
    "multiply": n.multiply,
    "divide": n.divide,
    "negate": n.negate,
    "power": n.power,
    "select": n.select,
}


def order(outputs: Iterable[Node]) -> list[Node]:
    """All nodes of the outputs, operands before results, in an order that depends on the formulas alone."""
    return in_order(_reached(outputs))


def _reached(outputs: Iterable[Node]) -> set[Node]:
    """All nodes of the outputs."""
    seen = set(outputs)
    stack = list(seen)
    while stack:
        for arg in stack.pop().args:
            if arg not in seen:
                seen.add(arg)
                stack.append(arg)
    return seen


def rebuild(node: Node, args: Sequence[Node]) -> Node:
    """The same operation on other operands, folded again."""
    if node.op in BUILDERS:
        return BUILDERS[node.op](*args)
    if node.op in n.COMPARISONS:
        return n.compare(node.op, *args)
    if node.op == "spline":
        return spline(node.value, *args)
    if node.op in TABLES:
        return TABLES[node.op](node.value, *args)
    if node.op in ("call", "component"):
        return n.intern(node.op, node.value, *args)
    return n.apply(node.op, *args)


def substitute(outputs: Sequence[Node], replacements: Mapping[Node, Node]) -> list[Node]:
    """The outputs with nodes replaced, all at once (a replacement is not searched again)."""
    new: dict[Node, Node] = {}
    for node in order(outputs):
        if node in replacements:
            new[node] = replacements[node]
        elif node.args:
            args = tuple([new[arg] for arg in node.args])
            new[node] = node if args == node.args else rebuild(node, args)
        else:
            new[node] = node
    return [new[output] for output in outputs]


def symbols(outputs: Iterable[Node]) -> set[Node]:
    """The symbols the outputs depend on."""
    return {node for node in _reached(outputs) if node.op == "symbol"}


def dependence(outputs: Iterable[Node], leaves: Sequence[Node]) -> dict[Node, int]:
    """A bit mask for every node of the outputs: bit j is set if it depends on ``leaves[j]``."""
    mask = {leaf: 1 << j for j, leaf in enumerate(leaves)}
    bits: dict[Node, int] = {}
    for node in order(outputs):
        own = mask.get(node, 0)
        for arg in node.args:
            own |= bits[arg]
        bits[node] = own
    return bits


def hoistable(outputs: Sequence[Node], fixed: Iterable[Node]) -> list[Node]:
    """The largest subexpressions of fixed symbols and numbers alone, which need to be computed only once."""
    given = set(fixed)
    steady: dict[Node, bool] = {}
    for node in order(outputs):
        steady[node] = all(steady[arg] for arg in node.args) if node.args else node.op == "constant" or node in given
    top = {arg for node, is_steady in steady.items() if not is_steady for arg in node.args}
    top.update(outputs)
    plain = [node for node in top if steady[node] and node.args and symbols([node])]
    return in_order(plain)


def homogeneity(output: Node, leaves: Iterable[Node]) -> float | None:
    """The degree of homogeneity of the output in the leaves, or None if its structure shows none.

    By Euler's theorem a constraint that is homogeneous of degree one in the velocities does no work.
    """
    of = set(leaves)
    degree: dict[Node, float | None] = {}
    for node in order([output]):
        args = [degree[arg] for arg in node.args]
        degree[node] = 1.0 if node in of else _degree(node, args)
    return degree[output]


def _degree(node: Node, args: Sequence[float | None]) -> float | None:
    if all(arg == 0 for arg in args):
        return 0.0
    if None in args:
        return None
    if node.op in ("add", "subtract"):
        return args[0] if args[0] == args[1] else None
    if node.op == "multiply":
        return args[0] + args[1]  # type: ignore[operator]  # None was handled above
    if node.op == "divide":
        return args[0] - args[1]  # type: ignore[operator]  # as above
    if node.op == "sqrt":
        return args[0] / 2  # type: ignore[operator]  # as above
    if node.op == "negate":
        return args[0]
    return None


def operations(outputs: Iterable[Node]) -> Counter[str]:
    """How often each operation occurs when the outputs are computed together."""
    return Counter(node.op for node in order(outputs) if node.args)


def uses(outputs: Sequence[Node]) -> Counter[Node]:
    """How many operations (and outputs) use each node."""
    count: Counter[Node] = Counter(outputs)
    for node in order(outputs):
        count.update(node.args)
    return count


def tree_sizes(outputs: Iterable[Node], limit: float = float("inf")) -> dict[Node, float]:
    """The number of operations of every node if nothing is shared, as in a printed formula."""
    size: dict[Node, float] = {}
    for node in order(outputs):
        size[node] = min(limit, (1 if node.args else 0) + sum(size[arg] for arg in node.args))
    return size


def tree_size(output: Node, limit: float = float("inf")) -> float:
    """The number of operations of one printed formula."""
    return tree_sizes([output], limit)[output]


_INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**",
          "less": "<", "less_equal": "<=", "equal": "==", "both": "and", "either": "or"}  # fmt: skip


def describe(node: Node, depth: int = 6) -> str:
    """A node on one line, for messages; deep parts are shown as ``...``."""
    if node.op == "symbol":
        return _name(node.value)
    if node.op == "constant":
        return str(node.value)
    if depth == 0:
        return "..."
    args = [describe(arg, depth - 1) for arg in node.args]
    if node.op in _INFIX:
        return f"({args[0]} {_INFIX[node.op]} {args[1]})"
    if node.op == "component":
        return f"{args[0]}[{node.value}]"
    if node.op == "spline":
        return f"{node.value}({args[0]})"
    if node.op in TABLES:
        return f"{node.op}({args[0]}; {node.value})"
    return f"-{args[0]}" if node.op == "negate" else f"{node.op}({', '.join(args)})"


def _name(key: object) -> str:
    """A symbol as users write it: ``theta``, ``dot(theta)``."""
    from vinculum.names import name_of

    return name_of(key)
