"""The same outputs at many states, without compiling: all operations of one kind and level in one call of numpy.

The level of a node is one more than the largest level of its operands. The operations of a level do not depend on each
other, so those of one kind are a single array operation; the Jacobian of a bicycle has 26 000 nodes on 73 levels. Sums,
products and quotients round as in `evaluate`; functions are evaluated one by one, as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from vinculum.graph.evaluate import evaluate, magnitudes, operation_size, operation_value
from vinculum.graph.node import Node
from vinculum.graph.traverse import order

_TOGETHER = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negate": np.negative,
}
_LISTS = frozenset({"call", "component"})  # values that are not numbers


class Levels:
    """Outputs whose operations are in order, ready to be evaluated again and again."""

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.outputs = list(outputs)
        self.nodes, levels = _by_level(order(self.outputs))
        self.place = {node: i for i, node in enumerate(self.nodes)}
        self.wanted = np.array([self.place[node] for node in self.outputs], dtype=np.intp)
        self.constants = np.array([float(x.value) if x.op == "constant" else 0.0 for x in self.nodes])
        self.symbols = [(i, x) for i, x in enumerate(self.nodes) if x.op == "symbol"]
        self.plain = not any(x.op in _LISTS for x in self.nodes)
        self.steps = [self._step(op, list(nodes)) for (_, op), nodes in groupby(self.nodes, levels.__getitem__)]

    def _step(self, op: str, nodes: Sequence[Node]) -> tuple[str, slice, list[np.ndarray], Sequence[Node]]:
        """Operations of one kind and level: the places of the results and of the operands."""
        start, columns = self.place[nodes[0]], zip(*(x.args for x in nodes), strict=True) if op in _TOGETHER else ()
        operands = [np.array([self.place[a] for a in column], dtype=np.intp) for column in columns]
        return op, slice(start, start + len(nodes)), operands, nodes

    def numbers(self, values: Mapping[Node, float]) -> np.ndarray:
        """The outputs, as `evaluate` gives them."""
        found = self._values(values)
        return np.array(evaluate(self.outputs, values)) if found is None else found[self.wanted]

    def magnitudes(self, values: Mapping[Node, float]) -> np.ndarray:
        """(value, size of the terms) of every output, as `magnitudes` gives them: (outputs, 2)."""
        found = self._values(values)
        if found is None:
            return np.array(magnitudes(self.outputs, values), dtype=float).reshape(-1, 2)
        return np.column_stack([found[self.wanted], self._sizes(np.abs(found))[self.wanted]])

    def _values(self, values: Mapping[Node, float]) -> np.ndarray | None:
        """The values of all nodes; None where one has none, which is then explained by `evaluate`."""
        if not self.plain:
            return None
        V = self.constants.copy()
        for i, x in self.symbols:
            V[i] = values[x]
        with np.errstate(all="ignore"):
            for op, place, operands, nodes in self.steps:
                if operands:
                    _TOGETHER[op](*[V.take(a) for a in operands], out=V[place])
                elif nodes[0].args:
                    V[place] = [operation_value(x, [float(V[self.place[a]]) for a in x.args]) for x in nodes]
        return V if np.all(np.isfinite(V)) else None

    def _sizes(self, V: np.ndarray) -> np.ndarray:
        """The sizes of the terms of all nodes with the absolute values V."""
        S = V.copy()
        with np.errstate(all="ignore"):
            for op, place, operands, nodes in self.steps:
                if op in ("add", "subtract"):
                    S[place] = S[operands[0]] + S[operands[1]]
                elif op == "multiply":
                    S[place] = S[operands[0]] * S[operands[1]]
                elif op == "divide":
                    S[place] = S[operands[0]] / V[operands[1]]
                elif op == "negate":
                    S[place] = S[operands[0]]
                elif nodes[0].args:
                    S[place] = [operation_size(x.op, float(V[self.place[x]]), [float(S[self.place[a]]) for a in x.args])
                                for x in nodes]  # fmt: skip
        return S


def _by_level(nodes: Sequence[Node]) -> tuple[list[Node], dict[Node, tuple[int, str]]]:
    """The nodes sorted by level and kind, and both of every node."""
    level: dict[Node, int] = {}
    for node in nodes:
        level[node] = max((level[arg] for arg in node.args), default=-1) + 1
    keys = {node: (k, node.op) for node, k in level.items()}
    return sorted(nodes, key=keys.__getitem__), keys
