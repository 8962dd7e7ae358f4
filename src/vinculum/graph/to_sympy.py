"""The graph back into SymPy: whole, or with named intermediates where the whole would swell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, ONE, ZERO, Node
from vinculum.graph.routine import written_out
from vinculum.graph.splines import Spline
from vinculum.graph.traverse import order, tree_sizes, uses

_RELATIONS = {"less": sp.Lt, "less_equal": sp.Le, "equal": sp.Eq}
_LOGIC = {"both": sp.And, "either": sp.Or}


def to_sympy(node: Node) -> sp.Expr:
    """One node as a plain SymPy expression. A node with much sharing is better read through `intermediates`."""
    return _convert(written_out([node]), {})[0]


def intermediates(
    outputs: Sequence[Node], taken: Iterable[str] = (), smallest: int = 2
) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
    """Names for shared subexpressions and the outputs in terms of them, as ``sympy.cse`` would give.

    Every node used more than once and of at least ``smallest`` operations is named z1, z2, ... The work and the
    result are linear in the size of the graph. ``taken`` are names that must not be used.
    """
    outputs = written_out(outputs)
    count_of = uses(outputs)
    fresh = _fresh_names({str(name) for name in taken})
    size = tree_sizes(outputs, smallest)
    named: dict[Node, sp.Symbol] = {}
    definitions = []
    for node in order(outputs):
        if node.args and count_of[node] > 1 and size[node] >= smallest and node.op not in COMPARISONS:
            definition = _convert([node], named)[0]
            named[node] = next(fresh)
            definitions.append((named[node], definition))
    return definitions, _convert(outputs, named)


def _fresh_names(taken: set[str]) -> Iterator[sp.Symbol]:
    return (sp.Symbol(f"z_{i}") for i in count(1) if f"z_{i}" not in taken and f"z{i}" not in taken)


def _convert(outputs: Sequence[Node], named: Mapping[Node, sp.Expr]) -> list[sp.Expr]:
    known: dict[Node, sp.Expr] = {}
    for node in _below(outputs, named):
        known[node] = named[node] if node in named else _expression(node, known)
    return [known[output] for output in outputs]


def _below(outputs: Sequence[Node], stops: Mapping[Node, sp.Expr]) -> list[Node]:
    """The nodes below the outputs, not looking under the named ones."""
    seen, stack = set(outputs), list(outputs)
    while stack:
        node = stack.pop()
        for arg in () if node in stops else node.args:
            if arg not in seen:
                seen.add(arg)
                stack.append(arg)
    return sorted(seen, key=lambda node: node.serial)


def _expression(node: Node, known: Mapping[Node, sp.Expr]) -> sp.Expr:
    if node.op == "symbol":
        return node.value
    if node.op == "constant":
        return _number(node.value)
    if node.op in _LOGIC:
        return _LOGIC[node.op](*(_truth(arg, known) for arg in node.args), evaluate=False)
    a = [known[arg] for arg in node.args]
    if node.op == "select":
        return _piecewise(a[1], _truth(node.args[0], known), a[2])
    if node.op in _RELATIONS:
        return _RELATIONS[node.op](*a, evaluate=False)
    if node.op == "spline":
        return Spline(a[0], node.value)
    return _ARITHMETIC[node.op](*a) if node.op in _ARITHMETIC else getattr(sp, FUNCTIONS[node.op].sympy)(*a)


def _piecewise(value: sp.Expr, condition: sp.Basic, otherwise: sp.Expr) -> sp.Expr:
    """Cases in one row. They are put together as they are: SymPy would look for signs, which may take for ever."""
    rest = otherwise.args if isinstance(otherwise, sp.Piecewise) else (_case(otherwise, sp.true),)
    return sp.Basic.__new__(sp.Piecewise, _case(value, condition), *rest)


def _case(value: sp.Expr, condition: sp.Basic) -> sp.Basic:
    return sp.Basic.__new__(ExprCondPair, value, condition)


def _truth(node: Node, known: Mapping[Node, sp.Expr]) -> sp.Basic:
    """A node as a condition: a comparison as it is, a negation (0 where it holds, else 1) undone."""
    if node.op in _RELATIONS or node.op in _LOGIC:
        return known[node]
    if node.op == "constant":
        return sp.true if node.value else sp.false
    if node.op == "select" and node.args[1:] == (ZERO, ONE):
        return sp.Not(_truth(node.args[0], known), evaluate=False)
    return sp.Ne(known[node], 0, evaluate=False)


def _number(value: object) -> sp.Expr:
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.Integer(value) if isinstance(value, int) else sp.Float(value)


_ARITHMETIC: dict[str, Callable[..., sp.Expr]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "power": lambda a, b: a**b,
}
