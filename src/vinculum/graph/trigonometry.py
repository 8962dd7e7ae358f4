"""Shorter formulas by trigonometric identities, exactly.

A sum of products is written in waves,  Σ c m e^{i k·θ},  with numbers c, monomials m and integer combinations k·θ of
angles. Waves are linearly independent, so sin² + cos² = 1, the sums and the double angles of sin and cos come out by
themselves. Then two waves of one size become a product again,  cos p - cos q = -2 sin((p + q)/2) sin((p - q)/2), ...,
which also gives sin² and cos².
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import prod

from vinculum.graph.node import ONE, ZERO, Node, Number, apply, constant, divide
from vinculum.graph.place import in_order
from vinculum.graph.traverse import order, tree_size

Powers = tuple[tuple[Node, int], ...]  # of a monomial, or the angles of a wave with their factors
Coefficient = tuple[Number, Number]  # real and imaginary part
Sum = dict[tuple[Powers, Powers], Coefficient]  # {(monomial, wave): coefficient}

_MOST = 600  # terms of a sum; longer ones are not simplified
_HIGHEST = 6  # power that is multiplied out
_SAME = 1e-12  # relative difference of two sizes that count as one
_HALF = Fraction(1, 2)


class _TooLong(Exception):
    """A sum with too many terms."""


def shortened(node: Node) -> Node:
    """The same function with fewer operations, or the node itself.

    >>> from vinculum.graph import from_sympy, to_sympy
    >>> import sympy as sp
    >>> a, b, m = sp.symbols("a b m")
    >>> to_sympy(shortened(from_sympy(m*(sp.sin(a)*sp.cos(b) + sp.cos(a)*sp.sin(b))**2 + m*sp.cos(a + b)**2)))
    m
    """
    try:
        found = _rebuilt(_expanded(node))
    except _TooLong:
        return node
    return found if tree_size(found) < tree_size(node, 10 * _MOST * _MOST) else node


# -- into waves ---------------------------------------------------------------------------------------------------


def _expanded(output: Node) -> Sum:
    known: dict[Node, Sum] = {}
    for node in order([output]):
        known[node] = _terms(node, [known[a] for a in node.args])
    return known[output]


def _terms(node: Node, args: list[Sum]) -> Sum:
    if node.op == "constant":
        return {((), ()): (node.value, 0)} if node.value != 0 else {}
    if node.op == "add":
        return _added(args)
    if node.op == "subtract":
        return _added([args[0], _scaled(args[1], (-1, 0))])
    if node.op == "negate":
        return _scaled(args[0], (-1, 0))
    if node.op == "multiply":
        return _multiplied(*args)
    if node.op == "divide":
        return _multiplied(args[0], _inverse(args[1], node.args[1]))
    if node.op == "power":
        return _power(node, args[0])
    if node.op in ("sin", "cos"):
        return _wave(node)
    return _atom(node)


def _atom(node: Node, exponent: int = 1) -> Sum:
    return {(((node, exponent),), ()): (1, 0)}


def _added(sums: Iterable[Sum]) -> Sum:
    found: Sum = {}
    for part in sums:
        for key, (a, b) in part.items():
            c, d = found.get(key, (0, 0))
            found[key] = a + c, b + d
    return _clean(found)


def _clean(found: Sum) -> Sum:
    kept = {key: c for key, c in found.items() if c != (0, 0)}
    if len(kept) > _MOST:
        raise _TooLong
    return kept


def _scaled(part: Sum, factor: Coefficient) -> Sum:
    return {key: _times(c, factor) for key, c in part.items()}


def _times(x: Coefficient, y: Coefficient) -> Coefficient:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _multiplied(one: Sum, other: Sum) -> Sum:
    if len(one) * len(other) > 4 * _MOST:
        raise _TooLong
    products = (
        {(_joined(m, n), _joined(k, l)): _times(c, d)} for (m, k), c in one.items() for (n, l), d in other.items()
    )
    return _added(products)


def _joined(one: Powers, other: Powers) -> Powers:
    """Exponents, or factors of angles, added."""
    if not one or not other:
        return one or other
    found = dict(one)
    for node, exponent in other:
        found[node] = found.get(node, 0) + exponent
    return tuple((n, found[n]) for n in in_order(found) if found[n])


def _inverse(part: Sum, node: Node) -> Sum:
    """1/x of a single term without waves; of anything else as it stands."""
    if len(part) == 1:
        (((monomial, wave), (real, imaginary)),) = part.items()
        if not wave and not imaginary:
            inverse = Fraction(1, real) if isinstance(real, (int, Fraction)) else 1 / real
            return {(tuple((n, -e) for n, e in monomial), ()): (inverse, 0)}
    return _atom(node, -1)


def _power(node: Node, base: Sum) -> Sum:
    exponent = node.args[1].value if node.args[1].op == "constant" else None
    if not isinstance(exponent, int) or not 0 < abs(exponent) <= _HIGHEST:
        return _atom(node)
    factor = base if exponent > 0 else _inverse(base, node.args[0])
    found = factor
    for _ in range(abs(exponent) - 1):
        found = _multiplied(found, factor)
    return found


def _wave(node: Node) -> Sum:
    """cos x = (e^{ix} + e^{-ix})/2, sin x = (e^{ix} - e^{-ix})/2i, x an integer combination of angles."""
    angles = _combination(node.args[0])
    back = tuple((n, -e) for n, e in angles)
    if node.op == "cos":
        return {((), angles): (_HALF, 0), ((), back): (_HALF, 0)}
    return {((), angles): (0, -_HALF), ((), back): (0, _HALF)}


def _combination(angle: Node) -> Powers:
    """The angle as an integer combination of others; the angle itself if it is none."""
    linear: dict[Node, int] = {}
    for (monomial, wave), (real, _) in _expanded(angle).items():
        single = len(monomial) == 1 and monomial[0][1] == 1 and not wave
        if not single or not isinstance(real, int):
            return ((angle, 1),)
        linear[monomial[0][0]] = real
    return tuple((n, linear[n]) for n in in_order(linear)) or ((angle, 1),)


# -- and back -----------------------------------------------------------------------------------------------------


def _rebuilt(found: Sum) -> Node:
    """A sum over monomials, each with its waves."""
    by_monomial: dict[Powers, dict[tuple[str, Powers], Number]] = {}
    for (monomial, wave), (real, imaginary) in found.items():
        waves = by_monomial.setdefault(monomial, {})
        if not wave:
            waves["cos", wave] = real
        elif wave[0][1] > 0:  # with its conjugate: 2 Re c cos - 2 Im c sin
            waves["cos", wave] = 2 * real
            waves["sin", wave] = -2 * imaginary
    total = ZERO
    for monomial, waves in by_monomial.items():
        for number, factors in _paired(waves):
            total = total + _product(number, monomial, factors)
    return total


Factor = tuple[str, Powers]  # ("sin", angles)


def _paired(waves: dict[Factor, Number]) -> list[tuple[Number, list[Factor]]]:
    """Waves as numbers times factors; two of one size as a product."""
    left: list[tuple[str, Powers, Number]] = [(kind, wave, size) for (kind, wave), size in waves.items() if size]
    found: list[tuple[Number, list[Factor]]] = []
    while left:
        kind, wave, size = left.pop()
        for i, (other_kind, other, other_size) in enumerate(left):
            halves = _halves(wave, other)
            if (
                kind == other_kind
                and halves
                and abs(abs(float(size)) - abs(float(other_size))) <= _SAME * abs(float(size))
            ):
                found.append(_as_product(kind, *halves, size, equal=(size > 0) == (other_size > 0)))
                del left[i]
                break
        else:
            found.append((size, [(kind, wave)] if wave else []))
    return found


def _halves(p: Powers, q: Powers) -> tuple[Powers, Powers] | None:
    """(p + q)/2 and (p - q)/2, if they are integer combinations."""
    both = [_joined(p, q), _joined(p, tuple((n, -e) for n, e in q))]
    if any(e % 2 for wave in both for _, e in wave):
        return None
    plus, minus = (tuple((n, e // 2) for n, e in wave) for wave in both)
    return plus, minus


def _as_product(kind: str, plus: Powers, minus: Powers, size: Number, equal: bool) -> tuple[Number, list[Factor]]:
    """size (cos p ± cos q) or size (sin p ± sin q)."""
    if kind == "cos":
        return (2 * size, [("cos", plus), ("cos", minus)]) if equal else (-2 * size, [("sin", plus), ("sin", minus)])
    return 2 * size, [("sin", plus), ("cos", minus)] if equal else [("cos", plus), ("sin", minus)]


def _product(number: Number, monomial: Powers, factors: list[Factor]) -> Node:
    nodes = [apply(kind, _angle(wave)) for kind, wave in factors]
    if len(nodes) == 2 and nodes[0] is nodes[1]:
        nodes = [nodes[0] ** 2]
    over = [node**e for node, e in monomial if e > 0]
    under = [node**-e for node, e in monomial if e < 0]
    top = constant(number) * prod([*over, *nodes], start=ONE)
    return divide(top, prod(under, start=ONE)) if under else top


def _angle(wave: Powers) -> Node:
    total = ZERO
    for node, factor in sorted(wave, key=lambda pair: pair[1] < 0):
        total = total + constant(factor) * node
    return total
