"""The graph back into SymPy: whole, or with named intermediates where the whole would swell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import count

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, Node, Number
from vinculum.graph.splines import Spline
from vinculum.graph.targets import ARITHMETIC, Target
from vinculum.graph.traverse import order, tree_sizes, uses


def to_sympy(node: Node) -> sp.Expr:
    """One node as a plain SymPy expression. Where much is shared, `intermediates` is shorter."""
    target = SymPyTarget({})
    (output,) = target.prepare([node])
    return target.value(output)


def intermediates(
    outputs: Sequence[Node], taken: Iterable[str] = (), smallest: int = 2
) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
    """Names for shared subexpressions and the outputs in terms of them, as ``sympy.cse`` would give.

    Every node that is used more than once and has at least ``smallest`` operations is named z1, z2, ... Work and result
    are linear in the size of the graph. ``taken`` are names that must not be used.
    """
    target = SymPyTarget({})
    outputs = target.prepare(outputs)
    count_of = uses(outputs)
    fresh = _fresh_names({str(name) for name in taken})
    size = tree_sizes(outputs, smallest)
    definitions = []
    for node in order(outputs):
        if node.args and count_of[node] > 1 and size[node] >= smallest and node.op not in COMPARISONS:
            definition, name = target.value(node), next(fresh)
            definitions.append((name, definition))
            target.values[node] = name
    return definitions, [target.value(output) for output in outputs]


def _fresh_names(taken: set[str]) -> Iterator[sp.Symbol]:
    return (sp.Symbol(f"z_{i}") for i in count(1) if f"z_{i}" not in taken and f"z{i}" not in taken)


class SymPyTarget(Target[sp.Basic]):
    """The graph as SymPy expressions, truth values as SymPy's booleans."""

    splines = True

    def constant(self, value: Number) -> sp.Expr:
        """An exact number where it is one."""
        if isinstance(value, Fraction):
            return sp.Rational(value.numerator, value.denominator)
        return sp.Integer(value) if isinstance(value, int) else sp.Float(value)

    def symbol(self, node: Node) -> sp.Expr:
        """The user's symbol."""
        return node.value

    def operation(self, node: Node, args: Sequence[sp.Basic]) -> sp.Basic:
        """SymPy's operators, relations and functions."""
        if node.op == "spline":
            return Spline(*args, node.value)
        return TABLE[node.op](*args) if node.op in TABLE else getattr(sp, FUNCTIONS[node.op].sympy)(*args)

    def as_number(self, truth: sp.Basic) -> sp.Expr:
        """1 where it holds, else 0."""
        return _piecewise(truth, sp.S.One, sp.S.Zero)

    def as_truth(self, number: sp.Basic) -> sp.Basic:
        """Not zero; a negation (0 where a condition holds, else 1) is undone."""
        if number.is_Number:
            return sp.true if number else sp.false
        if isinstance(number, sp.Piecewise) and [case.expr for case in number.args] == [0, 1]:
            return sp.Not(number.args[0].cond, evaluate=False)
        return sp.Ne(number, 0, evaluate=False)


def _piecewise(condition: sp.Basic, value: sp.Expr, otherwise: sp.Expr) -> sp.Expr:
    """Cases in one row, built without SymPy's checks, which try to determine signs and may take forever."""
    rest = otherwise.args if isinstance(otherwise, sp.Piecewise) else (_case(otherwise, sp.true),)
    return sp.Basic.__new__(sp.Piecewise, _case(value, condition), *rest)


def _case(value: sp.Expr, condition: sp.Basic) -> sp.Basic:
    return sp.Basic.__new__(ExprCondPair, value, condition)


def _relation(kind: Callable[..., sp.Basic]) -> Callable[..., sp.Basic]:
    """A relation without evaluation: SymPy would try to determine signs."""
    return partial(kind, evaluate=False)


TABLE: dict[str, Callable[..., sp.Basic]] = {
    **ARITHMETIC,
    "less": _relation(sp.Lt),
    "less_equal": _relation(sp.Le),
    "equal": _relation(sp.Eq),
    "both": _relation(sp.And),
    "either": _relation(sp.Or),
    "select": _piecewise,
}
