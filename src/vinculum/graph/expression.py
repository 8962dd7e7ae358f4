"""A node of the graph as a SymPy expression that is not expanded.

Energies, loop conditions and control laws of a large tree of bodies are nodes of the graph, which stores a shared
subexpression once. As a `GraphExpression` a node can be used like any SymPy expression: in sums, ``diff``, ``subs``,
`System`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any
from uuid import uuid4

import sympy as sp

from vinculum.expressions import as_expression
from vinculum.graph.differentiate import along
from vinculum.graph.node import ONE, Node, symbol
from vinculum.graph.place import in_order
from vinculum.graph.to_sympy import to_sympy
from vinculum.graph.traverse import order, substitute, symbols, tree_size

_made = count()  # SymPy sorts the terms of a sum by their keys
_WHOLE_UP_TO = 400  # operations of the largest formula that becomes a plain SymPy expression


class GraphExpression(sp.AtomicExpr):
    """A SymPy expression that holds a node; ``doit()`` gives the plain expression."""

    is_commutative = True
    is_number = False
    _diff_wrt = False
    node: Node

    def __new__(cls, node: Node) -> GraphExpression:
        made = sp.AtomicExpr.__new__(cls)
        made.node = node
        return made

    def _hashable_content(self) -> tuple[Hashable, ...]:
        return self.node.place, self.node.serial

    def __reduce_ex__(self, protocol: Any) -> Any:
        return GraphExpression, (self.node,)

    @property
    def free_symbols(self) -> set[sp.Basic]:
        """The SymPy symbols it depends on, including the time of functions of time."""
        return {s for leaf in self.leaves for s in leaf.free_symbols}

    @property
    def leaves(self) -> list[sp.Expr]:
        """Symbols, functions of time and their derivatives that the node depends on."""
        return [node.value for node in in_order(symbols([self.node]))]

    def doit(self, **hints: Any) -> sp.Expr:
        """The plain SymPy expression."""
        return to_sympy(self.node)

    def has(self, *patterns: Any) -> bool:
        """Whether a symbol, function of time or derivative occurs."""
        return any(leaf.has(pattern) for leaf in self.leaves for pattern in patterns)

    def _eval_derivative(self, s: sp.Expr) -> sp.Expr:
        direction = {}
        for leaf in self.leaves:
            rate = leaf.diff(s)
            if rate != 0:
                direction[symbol(leaf)] = ONE if rate == 1 else _leaf(rate)
        return as_sympy(along([self.node], direction)[0])

    def _eval_derivative_n_times(self, s: sp.Expr, n: int) -> sp.Expr:
        result: sp.Expr = self
        for _ in range(int(n)):
            result = result._eval_derivative(s) if isinstance(result, GraphExpression) else result.diff(s)
        return result

    def _xreplace(self, rule: Mapping[sp.Basic, sp.Basic]) -> tuple[sp.Basic, bool]:
        from vinculum.graph.from_sympy import from_sympy

        if self in rule:
            return rule[self], True
        given = {symbol(leaf): from_sympy(rule[leaf]) for leaf in self.leaves if leaf in rule}
        if not given:
            return self, False
        return as_sympy(substitute([self.node], given)[0]), True

    def xreplace(self, rule: Mapping[sp.Basic, sp.Basic], hack2: bool = False) -> sp.Basic:
        """The expression with symbols, functions of time or derivatives replaced."""
        return self._xreplace(rule)[0]

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        changed, found = self._xreplace({old: as_expression(new)})
        return changed if found else None

    def _sympystr(self, printer: Any) -> str:
        number = sum(bool(node.args) for node in order([self.node]))
        return f"<expression of {number} operations>"

    def _latex(self, printer: Any) -> str:
        return rf"\left\langle\text{{{self._sympystr(printer)[1:-1]}}}\right\rangle"

    _sympyrepr = _sympystr


class DeferredExpression(GraphExpression):
    """An expression whose node is built when it is first needed, as the energies of a large tree of bodies.

    ``make`` builds the node; ``leaves`` are the symbols it may depend on. To pickle, ``make`` must pickle.
    """

    def __new__(cls, make: Callable[[], Node], leaves: Sequence[sp.Expr], key: str = "") -> DeferredExpression:
        made = sp.AtomicExpr.__new__(cls)
        made.make, made.known, made.key = make, tuple(leaves), key or f"{next(_made):012} {uuid4().hex}"
        return made

    @cached_property
    def node(self) -> Node:  # type: ignore[override]  # built on first use
        """The node."""
        return self.make()

    @property
    def leaves(self) -> list[sp.Expr]:
        """The symbols that the node may depend on."""
        return list(self.known)

    def _hashable_content(self) -> tuple[Hashable, ...]:
        return (self.key,)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return DeferredExpression, (self.make, self.known, self.key)


def _leaf(rate: sp.Expr) -> Node:
    from vinculum.graph.from_sympy import from_sympy

    return from_sympy(rate)


def as_sympy(node: Node, whole_up_to: float = _WHOLE_UP_TO) -> sp.Expr:
    """A node in SymPy: a plain expression if it is small, a `GraphExpression` if it is large."""
    if not node.args or tree_size(node, whole_up_to + 1) <= whole_up_to:
        return to_sympy(node)
    return GraphExpression(node)
