"""Values of expressions and operations on them, with bounds that keep SymPy fast and its expressions small.

A number is an integer or fraction of moderate size, a fraction of π, or a floating-point number; everything else
without symbols becomes a floating-point number at once, so a tower such as exp(exp(exp(9))) is never built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from vinculum.errors import Refused
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.splines import Pieces, Spline
from vinculum.model import limits
from vinculum.text_printer import plain


@dataclass(frozen=True)
class Value:
    """An expression and its size. ``dimension`` is None if unknown (a symbol without unit); zero has any dimension."""

    expression: sp.Expr
    size: int = 1
    dimension: Any = None  # a pint UnitsContainer
    number: float | None = None  # of an expression without symbols
    depth: int = 1  # of its tree
    rough: bool = False  # whether it has corners, where the derivative is undefined

    @property
    def is_zero(self) -> bool:
        """Whether it is the number zero."""
        return self.number == 0

    @property
    def text(self) -> str:
        """The expression as text."""
        return plain(self.expression)


_TOO_LARGE = f"the result is larger than {limits.LARGEST:g} or smaller than its inverse. Choose other units."

_INFINITE = (sp.zoo, sp.oo, -sp.oo, sp.nan)


def number(value: float | int) -> Value:
    """A literal; whole numbers are exact."""
    if not abs(value) <= limits.LARGEST:  # also refuses NaN
        raise Refused(_TOO_LARGE)
    exact = isinstance(value, int) and value.bit_length() < limits.BITS
    return Value(sp.Integer(value) if exact else sp.Float(float(value)), number=float(value))


def add(terms: Sequence[Value]) -> Value:
    """A sum of values."""
    if all(term.number is not None for term in terms):
        return _constant(sp.Add(*(t.expression for t in terms)), math.fsum(t.number or 0.0 for t in terms))
    return combine(sp.Add(*(t.expression for t in terms)), terms)


def multiply(factors: Sequence[Value]) -> Value:
    """A product of values."""
    if all(factor.number is not None for factor in factors):
        product = math.prod(f.number or 0.0 for f in factors)
        if product == 0 and not any(f.is_zero for f in factors):
            raise Refused(_TOO_LARGE)
        return _constant(sp.Mul(*(f.expression for f in factors)), product)
    return combine(sp.Mul(*(f.expression for f in factors)), factors)


def negative(value: Value) -> Value:
    """-a."""
    return multiply([number(-1), value])


def inverse(value: Value) -> Value:
    """1/a."""
    if value.is_zero:
        raise Refused("division by zero.")
    return power(value, number(-1))


def power(base: Value, exponent: Value) -> Value:
    """a**b with a bounded exponent."""
    if exponent.number is not None and abs(exponent.number) > limits.EXPONENT:
        raise Refused(f"the exponent {exponent.number:g} is larger than {limits.EXPONENT}. Use a smaller power.")
    if base.number is not None and exponent.number is not None:
        return _power_of_numbers(base, exponent)
    if base.is_zero:
        raise Refused("zero to an unknown power has no definite value.")
    exponent_form = _plain(exponent.expression)
    simple = small(base, exponent) or exponent_form in (sp.S.Zero, sp.S.One)
    return combine(sp.Pow(base.expression, exponent_form, evaluate=simple), (base, exponent))


def small(*parts: Value) -> bool:
    """Whether SymPy may simplify: in a large expression this takes long and finds little."""
    return sum(part.size for part in parts) <= limits.SIMPLIFIED and max(part.depth for part in parts) <= 12


def _plain(exponent: sp.Expr) -> sp.Expr:
    """0.5 as 1/2, 2.0 as 2: the same number, which lets SymPy recognize square roots."""
    if isinstance(exponent, sp.Float) and float(2 * exponent).is_integer():
        return sp.Rational(int(2 * exponent), 2)
    return exponent


def _power_of_numbers(base: Value, exponent: Value) -> Value:
    assert base.number is not None
    assert exponent.number is not None
    try:
        found = math.pow(base.number, exponent.number)
    except (ValueError, OverflowError, ZeroDivisionError):
        shown = f"{base.number:g}^{exponent.number:g}"
        raise Refused(f"{shown} is not a finite number of moderate size.") from None
    whole = isinstance(base.expression, sp.Rational) and isinstance(exponent.expression, sp.Integer)
    exact = whole and 1e-18 < abs(found) < 1e18
    return _constant(base.expression**exponent.expression if exact else sp.Float(found), found)


def function(name: str, make: Callable, numeric: Callable, domain: str, arguments: Sequence[Value]) -> Value:
    """An elementary function; for numbers the result is a number, exact if it is a simple fraction."""
    if all(argument.number is not None for argument in arguments):
        numbers = [argument.number or 0.0 for argument in arguments]
        try:
            found = float(numeric(*numbers))
        except (ValueError, OverflowError, ZeroDivisionError):
            shown = ", ".join(f"{x:g}" for x in numbers)
            wanted = f": its argument must be {domain}" if domain else ""
            raise Refused(f"{name}({shown}) is not a finite number of moderate size{wanted}.") from None
        exact = all(_simple(argument.expression) for argument in arguments)
        return _constant(make(*(a.expression for a in arguments), evaluate=True) if exact else sp.Float(found), found)
    return combine(make(*(a.expression for a in arguments), evaluate=small(*arguments)), arguments)


def spline(pieces: Pieces, argument: Value) -> Value:
    """A spline at its argument; a spline of degree 1 has corners."""
    if argument.number is not None:
        return number(pieces.at(argument.number))
    found = combine(Spline(argument.expression, pieces), [argument])
    return replace(found, rough=found.rough or pieces.degree < 2)


def derivative(value: Value, time: sp.Symbol) -> Value:
    """The total time derivative."""
    if value.size > limits.DIFFERENTIATED:
        raise Refused(
            f"the argument of dot(...) has {value.size} operations, more than {limits.DIFFERENTIATED}. Differentiate "
            "its parts."
        )
    found = value.expression.diff(time)
    return Value(_finite(found), count(found, limits.SIZE), depth=value.depth + 2)


def count(expression: sp.Expr, most: int) -> int:
    """The number of operations and leaves; more than ``most`` is an error."""
    stack, seen = [expression], 0
    while stack:
        top = stack.pop()
        seen += 1
        if seen > most:
            raise Refused(f"the expression has more than {most} operations. Split it with definitions.")
        if not isinstance(top, (sp.Derivative, sp.core.function.AppliedUndef)):
            stack.extend(top.args)
    return seen


def _constant(expression: sp.Expr, found: float) -> Value:
    if not math.isfinite(found) or abs(found) > limits.LARGEST:
        raise Refused(_TOO_LARGE)
    return Value(expression if _simple(expression) else sp.Float(found), number=found)


def _simple(expression: sp.Expr) -> bool:
    """A fraction of moderate size, or such a multiple of π."""
    coefficient, rest = expression.as_coeff_Mul()
    small = isinstance(coefficient, sp.Rational) and _bits(coefficient) < 64
    return small and rest in (sp.S.One, sp.pi)


def _bits(fraction: sp.Rational) -> int:
    return max(int(fraction.p).bit_length(), int(fraction.q).bit_length())


def combine(expression: sp.Expr, parts: Sequence[Value]) -> Value:
    """A value made of several others, within the bounds on size and depth; rough if one of them is."""
    size = sum(part.size for part in parts) + 1
    if size > limits.SIZE:
        raise Refused(f"with its definitions expanded, this has more than {limits.SIZE} operations. Simplify it.")
    depth = max(part.depth for part in parts) + 1
    if depth > limits.TREE:
        raise Refused(
            f"with its definitions expanded, this is nested more than {limits.TREE} levels deep. Simplify it."
        )
    expression = _finite(expression)
    number = float(expression) if expression.is_Number else None
    return Value(expression, size, number=number, depth=depth, rough=any(part.rough for part in parts))


def _finite(expression: sp.Expr) -> sp.Expr:
    """Refuse infinities, numbers out of bounds and powers beyond the bound that SymPy may have produced."""
    for part in (expression, *expression.args):
        if part in _INFINITE:
            raise Refused("division by zero.")
        if part.is_Number:
            _refuse_unbounded(part)
        elif part.is_Pow and part.exp.is_Number and abs(part.exp) > 10 * limits.EXPONENT:
            raise Refused(f"the exponents add up to more than {10 * limits.EXPONENT}. Use a smaller power.")
    return expression


def _refuse_unbounded(part: sp.Number) -> None:
    if isinstance(part, sp.Rational) and _bits(part) < limits.BITS:
        return
    size = abs(float(part)) if _exponent(part) < 1100 else math.inf
    if part != 0 and not 1 / limits.LARGEST < size < limits.LARGEST:
        raise Refused(_TOO_LARGE)
    if isinstance(part, sp.Rational):
        raise Refused("the result is a fraction with too many digits. Use decimal numbers.")


def _exponent(part: sp.Number) -> int:
    """The magnitude of the binary exponent of a number, without evaluating it."""
    if isinstance(part, sp.Float):
        _, mantissa, exponent, bits = part._mpf_
        return abs(exponent) + bits if mantissa else 0
    return _bits(part)


_ROUGH = ("abs", "sign", "min", "max")
_EXTREMES = {"min": (sp.Min, min), "max": (sp.Max, max)}


def elementary(name: str, arguments: Sequence[Value]) -> Value:
    """A function of its arguments, rough if it has corners."""
    wanted = 2 if name == "atan2" else 1
    several = name in _EXTREMES
    if len(arguments) < 2 if several else len(arguments) != wanted:
        takes = "two or more arguments" if several else f"{wanted} argument{'s' * (wanted > 1)}"
        raise Refused(f"{name} takes {takes}, found {len(arguments)}.")
    make, numeric, domain = _makers(name)
    value = function(name, make, numeric, domain, arguments)
    rough = value.rough or (name in _ROUGH and value.number is None)
    return replace(value, rough=rough)


def _makers(name: str) -> tuple[Callable, Callable, str]:
    """The SymPy constructor of a function, its numerical version, and its domain."""
    if name in _EXTREMES:
        return _without_simplifying(_EXTREMES[name][0]), _EXTREMES[name][1], ""
    row = FUNCTIONS[name]
    maker = getattr(sp, row.sympy)
    if name == "sqrt":
        return (lambda a, evaluate: sp.Pow(a, sp.S.Half, evaluate=evaluate)), row.number, row.domain
    return (_without_simplifying(maker) if name in ("abs", "sign", "atan2") else maker), row.number, row.domain


def _without_simplifying(maker: Callable) -> Callable:
    """Evaluate a function only for numbers: SymPy would otherwise determine signs, which takes long."""
    return lambda *a, evaluate: maker(*a, evaluate=all(x.is_Number for x in a))
