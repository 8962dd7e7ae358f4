"""Whether a root is critical exactly, for the numbers that were given, and not only within rounding errors.

The entries of A are computed in rational arithmetic, where this is possible: parameters and coordinates are fractions,
and functions have arguments at which they are rational, such as sin 0. Then

    det A = 0:  a zero root,        Δ = 0:  a pair λ, -λ (Orlando),

with Hurwitz's last but one determinant Δ of the characteristic polynomial. No tolerance is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from vinculum.errors import DomainError
from vinculum.graph import Node, jacobian, order

_AT_ZERO = {"sin": 0, "tan": 0, "sinh": 0, "tanh": 0, "asin": 0, "atan": 0, "asinh": 0, "cos": 1, "cosh": 1, "exp": 1}
_LARGEST = 400_000  # bits of a number beyond which the calculation ends

Matrix = list[list[Fraction]]


class NotRational(ArithmeticError):
    """A value is not a fraction."""


def exactly_critical(rates: Sequence[Node], states: Sequence[Node], values: Mapping[Node, float], pair: bool) -> bool:
    """Whether A = ∂rates/∂states has a zero root, or a pair λ, -λ, exactly. False where this is not proved."""
    n = len(states)
    try:
        entries = rational(list(jacobian(list(rates), list(states)).ravel()), values)
    except (NotRational, ZeroDivisionError, DomainError, OverflowError):
        return False
    polynomial = characteristic_polynomial([entries[i * n : (i + 1) * n] for i in range(n)])
    return orlando(polynomial) == 0 if pair else polynomial[-1] == 0


def rational(nodes: Sequence[Node], values: Mapping[Node, float]) -> list[Fraction]:
    """Nodes in rational arithmetic. Raises `NotRational` where a value is not a fraction."""
    found: dict[Node, Fraction] = {}
    for node in order(nodes):
        found[node] = _operation(node, [found[arg] for arg in node.args], values)
        if found[node].denominator.bit_length() > _LARGEST:
            raise NotRational
    return [found[node] for node in nodes]


def _operation(node: Node, args: list[Fraction], values: Mapping[Node, float]) -> Fraction:
    match node.op:
        case "symbol":
            return Fraction(values[node])
        case "constant":
            return Fraction(node.value)
        case "negate":
            return -args[0]
        case "add":
            return args[0] + args[1]
        case "subtract":
            return args[0] - args[1]
        case "multiply":
            return args[0] * args[1]
        case "divide":
            return args[0] / args[1]
        case "power" if args[1].denominator == 1:
            return args[0] ** int(args[1])
        case "sqrt":
            return _root(args[0])
        case "abs":
            return abs(args[0])
    if node.op in _AT_ZERO and args[0] == 0:
        return Fraction(_AT_ZERO[node.op])
    raise NotRational


def _root(a: Fraction) -> Fraction:
    if a < 0 or math.isqrt(a.numerator) ** 2 != a.numerator or math.isqrt(a.denominator) ** 2 != a.denominator:
        raise NotRational
    return Fraction(math.isqrt(a.numerator), math.isqrt(a.denominator))


def characteristic_polynomial(A: Matrix) -> list[Fraction]:
    """det(λ - A) = λⁿ + c₁ λⁿ⁻¹ + ... + c_n (Faddeev, Le Verrier)."""
    n = len(A)
    coefficients, M = [Fraction(1)], [[Fraction(0)] * n for _ in range(n)]
    for k in range(1, n + 1):
        M = [[M[i][j] + (coefficients[-1] if i == j else 0) for j in range(n)] for i in range(n)]
        M = [[sum((A[i][m] * M[m][j] for m in range(n)), Fraction(0)) for j in range(n)] for i in range(n)]
        coefficients.append(-sum((M[i][i] for i in range(n)), Fraction(0)) / k)
    return coefficients


def orlando(polynomial: Sequence[Fraction]) -> Fraction:
    """Hurwitz's determinant Δ of order n - 1, the product of all λ_i + λ_j up to its sign."""
    n = len(polynomial) - 1

    def c(k: int) -> Fraction:
        return polynomial[k] if 0 <= k <= n else Fraction(0)

    return determinant([[c(2 * j - i + 1) for j in range(n - 1)] for i in range(n - 1)])


def determinant(A: Matrix) -> Fraction:
    """By elimination."""
    rows, product = [list(row) for row in A], Fraction(1)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], product = rows[pivot], rows[k], -product
        product *= rows[k][k]
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return product
