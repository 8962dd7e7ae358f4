"""The graph as a tape: one row of Taylor coefficients for each node, and the instruction that computes it.

With x(t + τ) = Σ x_k τᵏ, coefficient k of every operation follows from lower ones (Moore 1966):

    y = Σ c a                    y_k = Σ c a_k
    y = Σ c a b                  y_k = Σ c Σ_j a_j b_{k-j}
    y = a / b                    y_k = (a_k - Σ_{j≥1} b_j y_{k-j}) / b_0
    y = √a                       y_k = (a_k - Σ_{0<j<k} y_j y_{k-j}) / 2 y_0
    y = f(a, ...), y' = Σ g a'   y_k = 1/k Σ Σ_{j≥1} j a_j g_{k-j},   g = ∂f/∂a

A sum of products is one instruction, with numbers c that do not change during a run. A tape is data for one program
(`jets`), so a new system needs no compilation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vinculum.graph import ONE, Node, symbols
from vinculum.graph.canonical import digests
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, apply, divide, multiply, negate
from vinculum.graph.place import in_order
from vinculum.graph.routine import expand_calls
from vinculum.graph.splines import TABLES, expand_splines
from vinculum.graph.traverse import order

SUM, QUOTIENT, ROOT, FUNCTION = range(4)
UNIT, TIME = 0, 1  # the first rows: the number 1 and the time


class Term(NamedTuple):
    """c a, or c a b."""

    c: Node
    a: Node
    b: Node | None = None


@dataclass(frozen=True, eq=False)
class Tape:
    """Instructions in order of execution, for given outputs."""

    code: np.ndarray  # int64; see `_Writer`
    instructions: int
    rows: int
    numbers: tuple[Node, ...]  # c: nodes of parameters and constants
    functions: tuple[str, ...]  # called by their place here
    state: np.ndarray  # rows of the state
    outputs: np.ndarray  # rows of the outputs


def is_smooth(outputs: Sequence[Node]) -> bool:
    """Whether all operations have Taylor coefficients: no comparisons, |x| or sign."""
    rough = {name for name, function in FUNCTIONS.items() if not function.smooth} | {*COMPARISONS, *TABLES, "select"}
    return not any(node.op in rough for node in order(outputs))


def tape(
    time: Node,
    state: Sequence[Node],
    parameters: Sequence[Node],
    outputs: Sequence[Node],
    names: Mapping[Node, str] | None = None,
) -> Tape:
    """The tape of outputs of the time, the state and the parameters, which are constant.

    ``names`` are given to symbols that have other ones in other processes: sums are in the order of names.
    """
    outputs = expand_splines(expand_calls(outputs))
    unknown = symbols(outputs) - {time, *state, *parameters}
    if unknown:
        raise KeyError(f"{unknown} are not the time, a state or a parameter of these equations")
    return _Writer(time, state, outputs, names or {}).finish(outputs)


class _Writer:
    """The rows and instructions of a tape.

    Instructions: (SUM, row, terms, products, then (c, a) of each term, (c, a, b) of each product); (QUOTIENT, row, a,
    b); (ROOT, row, a); (FUNCTION, row, place of the function, arguments, then (a, g) of each moving argument).
    """

    def __init__(self, time: Node, state: Sequence[Node], outputs: Sequence[Node], names: Mapping[Node, str]) -> None:
        self.moving: set[Node] = {time, *state}  # nodes that change during a run
        self.slopes: dict[Node, list[tuple[Node, Node]]] = {}  # (a, g) of every moving argument of a function
        self.state, self.code, self.instructions = list(state), list[int](), 0
        self.digest: dict[Node, bytes] = {}  # sums are in the same order in every process
        self.numbers: dict[Node, int] = {}
        self.functions: dict[str, int] = {}
        first = [ONE, time, *state]
        self.rows = {node: i for i, node in enumerate(first)}
        nodes = self._nodes(outputs)
        self.digest = digests(nodes, names)
        for node in self._with_rows(nodes, outputs):
            self.rows.setdefault(node, len(self.rows))

    def finish(self, outputs: Sequence[Node]) -> Tape:
        """All instructions, and where the outputs are."""
        for node in list(self.rows)[2 + len(self.state) :]:
            self._write(node)
        places = ([self.rows[node] for node in nodes] for nodes in (self.state, outputs))
        state, results = (np.array(rows, dtype=np.int64) for rows in places)
        code = np.array(self.code, dtype=np.int64)
        return Tape(code, self.instructions, len(self.rows), tuple(self.numbers), tuple(self.functions), state, results)

    # -- nodes and rows --------------------------------------------------------------------------------------

    def _nodes(self, outputs: Sequence[Node]) -> list[Node]:
        """The nodes of the outputs and of the slopes of all functions in them, operands before results."""
        seen: set[Node] = set()
        waiting = list(outputs)
        while waiting:
            new = [node for node in order(waiting) if node not in seen]
            seen.update(new)
            waiting = []
            for node in new:
                if any(arg in self.moving for arg in node.args):
                    self.moving.add(node)
                    self.slopes |= {node: found} if (found := self._slopes(node)) else {}
                    waiting += [g for _, g in self.slopes.get(node, ())]
        return in_order(seen)

    def _slopes(self, node: Node) -> list[tuple[Node, Node]]:
        """(a, ∂f/∂a) of every moving argument of a function."""
        if node.op == "power":
            a, b = node.args
            slopes = (lambda: b * node / a), (lambda: apply("log", a) * node)
            return [(arg, g()) for arg, g in zip(node.args, slopes, strict=True) if arg in self.moving]
        if node.op not in FUNCTIONS or node.op == "sqrt":
            return []
        partials = FUNCTIONS[node.op].partials(node, *node.args)
        return [(arg, g) for arg, g in zip(node.args, partials, strict=True) if arg in self.moving]

    def _with_rows(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
        """The nodes that need a row: all but sums and products that belong to the only sum that reads them."""
        moving = [node for node in nodes if node in self.moving]
        uses = Counter(arg for node in moving for arg in node.args)
        needed = {*outputs, *(part for pairs in self.slopes.values() for pair in pairs for part in pair)}
        needed.update(arg for node in moving if not self._adds(node) for arg in node.args)
        shared = {node for node in moving if uses[node] > 1 or not (self._adds(node) or node.op == "multiply")}
        return in_order(needed | shared)

    def _adds(self, node: Node) -> bool:
        """Whether a node is a sum of its moving operands with constant factors."""
        if node.op in ("add", "subtract", "negate"):
            return True
        if node.op == "divide":
            return node.args[1] not in self.moving
        return node.op == "multiply" and not all(arg in self.moving for arg in node.args)

    # -- instructions ----------------------------------------------------------------------------------------

    def _write(self, node: Node) -> None:
        row = self.rows[node]
        self.instructions += 1
        if node not in self.moving:
            self.code += [SUM, row, 1, 0, self._number(node), UNIT]
        elif self._adds(node) or node.op == "multiply":
            self._write_sum(row, self._terms(node))
        elif node.op == "divide":
            self.code += [QUOTIENT, row, *(self.rows[arg] for arg in node.args)]
        elif node.op == "sqrt":
            self.code += [ROOT, row, self.rows[node.args[0]]]
        else:
            self._write_function(row, node)

    def _write_sum(self, row: int, terms: Sequence[Term]) -> None:
        products = [term for term in terms if term.b is not None]
        self.code += [SUM, row, len(terms) - len(products), len(products)]
        for c, a, b in terms:
            if b is None:
                self.code += [self._number(c), self.rows[a]]
        for c, a, b in products:
            assert b is not None
            self.code += [self._number(c), self.rows[a], self.rows[b]]

    def _write_function(self, row: int, node: Node) -> None:
        place = self.functions.setdefault(node.op, len(self.functions))
        slopes = dict(self.slopes[node])
        self.code += [FUNCTION, row, place, len(node.args)]
        for arg in node.args:
            self.code += [self.rows[arg], self.rows[slopes[arg]] if arg in slopes else -1]

    def _terms(self, node: Node) -> list[Term]:
        """The node as a sum of terms; operands without a row of their own are sums or products too."""
        found: list[Term] = []
        stack = [*self._parts(ONE, node)]
        while stack:
            term = stack.pop()
            if term.b is not None or term.a in self.rows:
                found.append(term)
            elif term.a not in self.moving:
                found.append(Term(multiply(term.c, term.a), ONE))
            else:
                stack += self._parts(term.c, term.a)
        return sorted(found, key=self._place)

    def _place(self, term: Term) -> tuple[bytes, bytes, float]:
        """The place of a term in its sum; a term that occurs twice has two factors."""
        a = self.digest.get(term.a, b"")
        return (
            a,
            b"" if term.b is None else self.digest[term.b],
            float(term.c.value) if term.c.op == "constant" else 0.0,
        )

    def _parts(self, c: Node, node: Node) -> list[Term]:
        """c times a sum or product, as terms of its operands."""
        a, b = node.args[0], node.args[-1]
        if node.op == "add":
            return [Term(c, a), Term(c, b)]
        if node.op == "subtract":
            return [Term(c, a), Term(negate(c), b)]
        if node.op == "negate":
            return [Term(negate(c), a)]
        if node.op == "divide":
            return [Term(divide(c, b), a)]
        if a in self.moving and b in self.moving:
            return [Term(c, *sorted((a, b), key=self.digest.__getitem__))]
        return [Term(multiply(c, a), b)] if b in self.moving else [Term(multiply(c, b), a)]

    def _number(self, node: Node) -> int:
        return self.numbers.setdefault(node, len(self.numbers))
