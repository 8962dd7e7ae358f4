"""SymPy expressions into the graph, each distinct subexpression once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

import sympy as sp
from sympy.core.function import Application, AppliedUndef
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from vinculum.errors import VinculumError
from vinculum.expressions import as_expression
from vinculum.graph import node as n
from vinculum.graph.expression import GraphExpression
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import Node
from vinculum.graph.splines import Spline, spline

_REWRITTEN = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh", "sech": "cosh", "csch": "sinh"}


_LARGE = sp.Float("1e100")  # a factor c of this size or its inverse is joined with an exponential

_EXACT = 10**300  # no quotient of integers up to this size overflows; larger ones are tried

_COMPOSED = (sp.Add, sp.Mul, sp.Pow, Application, sp.core.relational.Relational)


class UnknownFunction(VinculumError):
    """A SymPy expression for which the graph has no operation."""


class Converter:
    """Converts expressions, each subexpression once."""

    def __init__(self) -> None:
        self.known: dict[sp.Basic, Node] = {}

    def __call__(self, expression: sp.Basic | float) -> Node:
        """The node of an expression; deep expressions need no recursion."""
        root = as_expression(expression)
        stack = [root]
        while stack:
            top = stack[-1]
            missing = [arg for arg in operands(top) if arg not in self.known]
            if top not in self.known and missing:
                stack.extend(missing)
                continue
            if top not in self.known:
                self.known[top] = self.convert(top)
            stack.pop()
        return self.known[root]

    def convert(self, expression: sp.Basic) -> Node:
        if not operands(expression):
            return leaf(expression)
        args = [self.known[arg] for arg in operands(expression)]
        for kind, build in _BUILDERS:
            if isinstance(expression, kind):
                return build(expression, args)
        return _function(expression, args)


def operands(expression: sp.Basic) -> tuple[sp.Basic, ...]:
    """The subexpressions to convert first. A function of time and its derivatives are leaves."""
    if isinstance(expression, (AppliedUndef, sp.Derivative)) or not isinstance(expression, _COMPOSED):
        return ()
    if (joined := _joined(expression)) is not None:
        return (joined,)
    if isinstance(expression, sp.Piecewise):
        return tuple(part for pair in expression.args for part in pair.args)
    return expression.args[:1] if isinstance(expression, Spline) else expression.args


def leaf(expression: sp.Basic) -> Node:
    """A number or a symbol."""
    if isinstance(expression, GraphExpression):
        return expression.node
    if isinstance(expression, (BooleanTrue, BooleanFalse)):
        return n.ONE if expression else n.ZERO
    if isinstance(expression, sp.Rational) and max(abs(expression.p), expression.q) > _EXACT:
        return n.constant(_number(expression))
    if isinstance(expression, sp.Integer):
        return n.constant(int(expression))
    if isinstance(expression, sp.Rational):
        return n.constant(Fraction(int(expression.p), int(expression.q)))
    if isinstance(expression, (sp.Number, sp.NumberSymbol)) and expression.is_finite:
        return n.constant(_number(expression))
    if isinstance(expression, (sp.Symbol, AppliedUndef, sp.Derivative)):
        return n.symbol(expression)
    raise UnknownFunction(f"{expression} ({type(expression).__name__}) is not a finite real number or a symbol")


def _number(expression: sp.Expr) -> float:
    """A number in double precision; raises if it would become zero or infinite."""
    try:
        value = float(expression)
    except OverflowError:
        value = float("inf")
    if (value == 0 and not expression.is_zero) or abs(value) == float("inf"):
        raise UnknownFunction(
            f"the number {sp.N(expression, 6)} is outside the range of double precision, 1e-308 to 1e308"
        )
    return value


def _sum(_: sp.Basic, args: list[Node]) -> Node:
    return reduce(n.add, args)


def _joined(expression: sp.Basic) -> sp.Expr | None:
    """c exp(u) with a huge or tiny number c as exp(u + log c); SymPy writes exp(t - 5000.0) as 1e-2172 exp(t)."""
    c = expression.args[0] if isinstance(expression, sp.Mul) else None
    if not isinstance(c, sp.Float) or c.is_zero or 1 / _LARGE < abs(c) < _LARGE:
        return None
    power = next((factor for factor in expression.args if isinstance(factor, sp.exp)), None)
    if power is None:
        return None
    others = [factor for factor in expression.args[1:] if factor is not power]
    whole = sp.exp(sp.Add(power.args[0], sp.log(abs(c))), evaluate=False)
    return sp.Mul(-1 if c.is_negative else 1, whole, *others, evaluate=False)


def _product(expression: sp.Basic, args: list[Node]) -> Node:
    """A product; all factors with a negative whole power go under one fraction line."""
    if len(args) == 1:  # joined
        return args[0]
    above, below = n.ONE, n.ONE
    for factor, node in zip(expression.args, args, strict=True):
        if node.op == "divide" and node.args[0] is n.ONE and factor.is_Pow:
            below = below * node.args[1]
        else:
            above = above * node
    return n.divide(above, below)


def _power(expression: sp.Basic, args: list[Node]) -> Node:
    if expression.base == sp.E:
        return n.apply("exp", args[1])
    return n.power(*args)


def _choice(_: sp.Basic, args: list[Node]) -> Node:
    """Piecewise((a, A), (b, B), ...): the first branch whose condition holds."""
    pairs = list(zip(args[::2], args[1::2], strict=True))
    value, condition = pairs[-1]
    if condition is not n.ONE:
        raise UnknownFunction("a Piecewise has no value where none of its conditions holds. End it with (value, True)")
    return reduce(lambda rest, pair: n.select(pair[1], pair[0], rest), reversed(pairs[:-1]), value)


def _extreme(sign: int) -> Callable[[sp.Basic, list[Node]], Node]:
    def build(_: sp.Basic, args: list[Node]) -> Node:
        return reduce(lambda a, b: n.select(n.compare("less", *((a, b) if sign < 0 else (b, a))), a, b), args)

    return build


def _step(_: sp.Basic, args: list[Node]) -> Node:
    """Heaviside(x, value at 0)."""
    return n.select(
        n.compare("less", n.ZERO, args[0]), n.ONE, n.select(n.compare("less", args[0], n.ZERO), n.ZERO, args[1])
    )


def _relation(name: str, swap: bool = False) -> Callable[[sp.Basic, list[Node]], Node]:
    return lambda _, args: n.compare(name, *(reversed(args) if swap else args))


def _logic(name: str) -> Callable[[sp.Basic, list[Node]], Node]:
    return lambda _, args: reduce(lambda a, b: n.compare(name, a, b), args)


_BUILDERS: list[tuple[type, Callable[[sp.Basic, list[Node]], Node]]] = [
    (sp.Add, _sum),
    (sp.Mul, _product),
    (sp.exp, lambda _, args: n.apply("exp", args[0])),
    (sp.Pow, _power),
    (sp.Piecewise, _choice),
    (Spline, lambda expression, args: spline(expression.args[1], args[0])),
    (sp.Min, _extreme(-1)),
    (sp.Max, _extreme(1)),
    (sp.Heaviside, _step),
    (sp.StrictLessThan, _relation("less")),
    (sp.LessThan, _relation("less_equal")),
    (sp.StrictGreaterThan, _relation("less", swap=True)),
    (sp.GreaterThan, _relation("less_equal", swap=True)),
    (sp.Equality, _relation("equal")),
    (sp.Unequality, lambda _, args: n.select(n.compare("equal", *args), n.ZERO, n.ONE)),
    (sp.And, _logic("both")),
    (sp.Or, _logic("either")),
    (sp.ITE, lambda _, args: n.select(*args)),
    (sp.Not, lambda _, args: n.select(args[0], n.ZERO, n.ONE)),
]


def _function(expression: sp.Basic, args: list[Node]) -> Node:
    name = type(expression).__name__
    if name in _REWRITTEN:
        return n.divide(n.ONE, n.apply(_REWRITTEN[name], *args))
    known = {function.sympy: ours for ours, function in FUNCTIONS.items()}
    if name not in known or (name == "log" and len(args) > 1):
        raise UnknownFunction(
            f"the function {name} in {expression} is unknown to Vinculum, which cannot differentiate it"
        )
    return n.apply(known[name], *args)


def from_sympy(expression: sp.Basic | float) -> Node:
    """The node of one SymPy expression."""
    return Converter()(expression)
