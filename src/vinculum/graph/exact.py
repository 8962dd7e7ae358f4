"""Exact identities: whether a node is zero for all values of its symbols.

A node is evaluated in integers modulo a prime of 61 bits, at random points. A node that vanishes there at three points
is identically zero (Schwartz and Zippel: otherwise it would do so with probability (degree/2⁶¹)³). No tolerance is
involved: parameters that differ by 1e-15 are different.

- Numbers are exact: integers, fractions, floats as the binary fractions that they are.
- Angles: sin, cos, tan of Σ c_k x_k, with rational c_k and products x_k of other nodes, are points of the circle,
  (cos, sin) = ((1 - w²)/(1 + w²), 2w/(1 + w²)) with a random w for each x_k, added by the addition theorems. An angle
  outside of these functions is independent of its sine and cosine. exp, sinh, cosh, tanh likewise, as powers.
- Square roots: of points where the radicand is a square modulo the prime. Such a root has no sign, √(x²) - x vanishes
  at every second point, so 64 points are required.
- Everything else (log, atan2, splines, abs, select, ...) is a function of which only one thing is known: equal
  arguments have equal values.

What is found to vanish is zero; what is not found to vanish is only *not proved* if it contains functions of the last
two kinds. Give ``branch``, values of the symbols, to replace abs, sign and conditions by what they are near these
values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from functools import reduce
from operator import mul
from random import Random
from typing import Any

import numpy as np

from vinculum.errors import DomainError
from vinculum.graph.differentiate import dependents
from vinculum.graph.evaluate import evaluate
from vinculum.graph.node import COMPARISONS, Node, constant
from vinculum.graph.place import in_order
from vinculum.graph.routine import expand_calls
from vinculum.graph.traverse import order, rebuild

PRIMES = tuple(2**61 - k for k in (1, 45, 229, 465, 829, 985, 1153, 1281))  # 3 modulo 4: roots are powers
_POINTS, _POINTS_WITH_ROOTS = 3, 64
_DRAWS = 400  # points without a value (division by zero, root of no square) before the search ends
_SUBDIVISION = 5040  # angles that occur with a coefficient c may also occur with c/2, c/3, ..., c/10
_LARGEST_MULTIPLE = 10**7
_TERMS, _FACTORS = 12, 8  # longer sums and products are not taken apart

_CIRCULAR = frozenset({"sin", "cos", "tan"})
_HYPERBOLIC = frozenset({"exp", "sinh", "cosh", "tanh"})
_RATIONAL = frozenset({"add", "subtract", "negate", "multiply", "divide"})
_CORNERED = frozenset({"abs", "sign", "select", *COMPARISONS})

Monomial = tuple[tuple[Node, int], ...]  # a product of powers of nodes
Form = dict[Monomial, Fraction]  # Σ c_k x_k
Circle = tuple[int, int]  # (cos, sin)


class NotDefined(ArithmeticError):
    """A node has no value at a point."""


def vanishes(node: Node, branch: Mapping[Node, float] | None = None) -> bool:
    """Whether a node is proved to be identically zero."""
    return vanishing([node], branch)[0]


def vanishing(nodes: Sequence[Node], branch: Mapping[Node, float] | None = None) -> list[bool]:
    """Which nodes are proved to be identically zero, tested together.

    Square roots have the signs that make identities true: check also that the value in floating point is about zero.
    """
    nodes = expand_calls(nodes)
    plan = _Plan(nodes if branch is None else on_branch(nodes, branch))
    rng, zero = Random(0), [True] * len(nodes)
    for _ in range(_POINTS_WITH_ROOTS if plan.has_roots else _POINTS):
        if not any(zero):
            break
        try:
            values = plan.draw(rng)
        except NotDefined:
            return [False] * len(nodes)
        zero = [before and value == 0 for before, value in zip(zero, values, strict=True)]
    return zero


def independent(
    nodes: Sequence[Node], variables: Sequence[Node], branch: Mapping[Node, float] | None = None
) -> dict[Node, list[bool]]:
    """For each variable, which nodes are proved not to depend on it: f(x) - f(x') vanishes identically."""
    nodes = expand_calls(nodes)
    plan = _Plan(nodes if branch is None else on_branch(nodes, branch))
    rng, same = Random(0), {x: [True] * len(nodes) for x in variables}
    touched = dict(zip(variables, dependents(plan.outputs, variables), strict=True))
    for _ in range(_POINTS_WITH_ROOTS if plan.has_roots else _POINTS):
        waiting = [x for x in variables if any(same[x])]
        try:
            unchanged = plan.compare(rng, {x: touched[x] for x in waiting})
        except NotDefined:
            return {x: [False] * len(nodes) for x in variables}
        for x in waiting:
            same[x] = [a and b for a, b in zip(same[x], unchanged[x], strict=True)]
    return same


def residues(nodes: Sequence[Node], rng: Random) -> list[int]:
    """The nodes at one random point, modulo one of `PRIMES`. Raises `NotDefined` if no point is found."""
    return _Plan(expand_calls(nodes)).draw(rng)


def common_rank(matrix: np.ndarray, rng: Random, branch: Mapping[Node, float], fixed: Mapping[Node, Fraction]) -> int:
    """The rank of the matrix at many random points, stacked: n minus the constant X with M(x) X = 0 for all x.

    Symbols in ``fixed`` have the same value at all points.
    """
    nodes = on_branch(expand_calls(list(matrix.ravel())), branch)
    plan, p = _Plan(nodes), PRIMES[0]
    count = max(_POINTS, -(-(matrix.shape[1] + 2) // matrix.shape[0]))
    rows: list[list[int]] = []
    for _ in range(_POINTS_WITH_ROOTS if plan.has_roots else count):
        values = plan.draw(rng, p, fixed)
        rows = _reduced([*rows, *(values[i : i + matrix.shape[1]] for i in range(0, len(values), matrix.shape[1]))], p)
    return len(rows)


def _reduced(rows: Sequence[Sequence[int]], p: int) -> list[list[int]]:
    """Independent rows modulo a prime, in echelon form."""
    kept: list[list[int]] = []
    for row in rows:
        rest = list(row)
        for other in kept:
            j = next(i for i, x in enumerate(other) if x)
            rest = [(x - rest[j] * y) % p for x, y in zip(rest, other, strict=True)] if rest[j] else rest
        j = next((i for i, x in enumerate(rest) if x % p), -1)
        if j >= 0:
            inverse = pow(rest[j], -1, p)
            kept.append([x * inverse % p for x in rest])
    return kept


# -- corners ----------------------------------------------------------------------------------------------------


def on_branch(nodes: Sequence[Node], branch: Mapping[Node, float]) -> list[Node]:
    """The nodes with abs, sign and conditions replaced by what they are near given values; on a corner they remain."""
    new: dict[Node, Node] = {}
    values = _corner_values(nodes, branch)
    for node in order(nodes):
        args = tuple([new[arg] for arg in node.args])
        new[node] = _taken(node, args, values) or (node if args == node.args else rebuild(node, args))
    return [new[node] for node in nodes]


def _corner_values(nodes: Sequence[Node], branch: Mapping[Node, float]) -> dict[Node, float]:
    """The values of the operands of all corners that have values."""
    values: dict[Node, float] = {}
    for arg in {arg for node in order(nodes) if node.op in _CORNERED for arg in node.args}:
        try:
            values[arg] = evaluate([arg], branch)[0]
        except (DomainError, KeyError):
            continue
    return values


def _taken(node: Node, args: Sequence[Node], values: Mapping[Node, float]) -> Node | None:
    if node.op in ("abs", "sign") and values.get(node.args[0]):
        sign = constant(1 if values[node.args[0]] > 0 else -1)
        return sign if node.op == "sign" else sign * args[0]
    if node.op in ("less", "less_equal", "equal"):
        a, b = (values.get(arg, math.nan) for arg in node.args)
        return None if a == b or math.isnan(a - b) else constant(int(COMPARISONS[node.op](a, b)))
    if node.op in ("both", "either") and all(arg.op == "constant" for arg in args):
        return constant(int(COMPARISONS[node.op](args[0].value, args[1].value)))
    return None


# -- sums of products ---------------------------------------------------------------------------------------------


def forms(nodes: Sequence[Node]) -> dict[Node, Form]:
    """Σ c_k x_k of the given nodes and of their sums, products and quotients."""
    found: dict[Node, Form] = {}
    for node in _polynomial(nodes):
        form = _form(node, [found[arg] for arg in node.args]) if node.op in _RATIONAL or not node.args else None
        found[node] = {((node, 1),): Fraction(1)} if form is None or _long(form) else form
    return found


def _polynomial(nodes: Sequence[Node]) -> list[Node]:
    """The nodes that are reached through rational operations."""
    seen, stack = set(nodes), list(nodes)
    while stack:
        node = stack.pop()
        new = [arg for arg in node.args if arg not in seen] if node.op in _RATIONAL else []
        seen.update(new)
        stack.extend(new)
    return in_order(seen)


def _long(form: Form) -> bool:
    return len(form) > _TERMS or any(len(x) > _FACTORS for x in form)


def _form(node: Node, args: Sequence[Form]) -> Form | None:
    if node.op == "constant" and math.isfinite(node.value):
        return {(): Fraction(node.value)}
    if node.op == "negate":
        return _combine({}, args[0], -1)
    if node.op in ("add", "subtract"):
        return _combine(args[0], args[1], 1 if node.op == "add" else -1)
    if node.op == "multiply" and len(args[0]) * len(args[1]) <= _TERMS:
        return _product(args[0], args[1])
    if node.op == "divide" and len(args[1]) == 1:
        ((below, c),) = args[1].items()
        return _product(args[0], {tuple((x, -e) for x, e in below): 1 / c})
    return None


def _combine(a: Form, b: Form, sign: int) -> Form:
    total = dict(a)
    for x, c in b.items():
        total[x] = total.get(x, Fraction(0)) + sign * c
    return {x: c for x, c in total.items() if c}


def _product(a: Form, b: Form) -> Form:
    total: Form = {}
    for x, c in a.items():
        total = _combine(total, {_monomial(x, y): c * d for y, d in b.items()}, 1)
    return total


def _monomial(x: Monomial, y: Monomial) -> Monomial:
    powers = dict(x)
    for node, e in y:
        powers[node] = powers.get(node, 0) + e
    return tuple((node, powers[node]) for node in in_order(powers) if powers[node])


# -- points -------------------------------------------------------------------------------------------------------


class _Plan:
    """What is the same at all points: the order of the operations and the forms of the angles."""

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.outputs = outputs
        self.nodes = order(outputs)
        self.forms = forms([node.args[0] for node in self.nodes if node.op in _CIRCULAR | _HYPERBOLIC])
        self.has_roots = any(node.op == "sqrt" or _half(node) for node in self.nodes)

    def draw(self, rng: Random, p: int | None = None, fixed: Mapping[Node, Fraction] | None = None) -> list[int]:
        """The outputs at a random point at which all operations are defined."""
        for _ in range(_DRAWS):
            try:
                return _Point(rng, self.forms, p, fixed).at(self.nodes, self.outputs)
            except (ZeroDivisionError, NotDefined, OverflowError, ValueError):  # the last: 1/0 in pow, nan
                continue
        raise NotDefined("no point was found at which all operations are defined")

    def compare(self, rng: Random, touched: Mapping[Node, Sequence[Node]]) -> dict[Node, list[bool]]:
        """Which outputs keep their value at a random point when one variable changes: {variable: nodes that change}."""
        for _ in range(_DRAWS):
            try:
                point = _Point(rng, self.forms)
                before = point.at(self.nodes, self.outputs)
                after = {x: point.changed(x, nodes, self.outputs) for x, nodes in touched.items()}
            except (ZeroDivisionError, NotDefined, OverflowError, ValueError):
                continue
            return {x: [a == b for a, b in zip(before, values, strict=True)] for x, values in after.items()}
        raise NotDefined("no point was found at which all operations are defined")


def _half(node: Node) -> bool:
    return node.op == "power" and node.args[1].op == "constant" and Fraction(node.args[1].value).denominator == 2


class _Point:
    """Random residues of the symbols, random points of the circle for angles, random values of unknown functions."""

    def __init__(
        self,
        rng: Random,
        forms: Mapping[Node, Form],
        p: int | None = None,
        fixed: Mapping[Node, Fraction] | None = None,
    ) -> None:
        self.rng, self.forms, self.fixed = rng, forms, fixed or {}
        self.p = rng.choice(PRIMES) if p is None else p
        self.value: dict[Node, int] = {}
        self.unknown: dict[tuple, int] = {}
        self.units: dict[tuple[str, int], list[tuple[Fraction, Any]]] = {}
        self.angles: dict[Node, Circle] = {}
        self.powers: dict[tuple[int, Fraction], Circle] = {}

    def at(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> list[int]:
        """All nodes, operands before results."""
        value, p = self.value, self.p
        for node in nodes:
            op = node.op
            if op == "multiply":
                a, b = node.args
                value[node] = value[a] * value[b] % p
            elif op == "add":
                a, b = node.args
                value[node] = (value[a] + value[b]) % p
            elif op == "subtract":
                a, b = node.args
                value[node] = (value[a] - value[b]) % p
            else:
                value[node] = self.operation(node) % p
        return [value[node] for node in outputs]

    def changed(self, x: Node, nodes: Sequence[Node], outputs: Sequence[Node]) -> list[int]:
        """The outputs with another value of one symbol, on which ``nodes`` depend, and the same of everything else."""
        other = copy(self)
        other.value, other.angles = dict(self.value), {}
        other.value[x] = self.rng.randrange(1, self.p)
        for node in nodes:
            if node is not x:
                other.value[node] = other.result(node)
        return [other.value[node] for node in outputs]

    def result(self, node: Node) -> int:
        """One operation."""
        op, value = node.op, self.value
        if op == "multiply":
            return value[node.args[0]] * value[node.args[1]] % self.p
        if op == "add":
            return (value[node.args[0]] + value[node.args[1]]) % self.p
        return self.operation(node) % self.p

    def operation(self, node: Node) -> int:
        """An operation other than sums and products."""
        op, args = node.op, [self.value[arg] for arg in node.args]
        if op == "symbol":
            return self.rational(self.fixed[node]) if node in self.fixed else self.rng.randrange(1, self.p)
        if op == "constant":
            return self.rational(Fraction(node.value))
        if op == "negate":
            return -args[0]
        if op == "subtract":
            return args[0] - args[1]
        if op == "divide":
            return args[0] * pow(args[1], -1, self.p)
        if op == "sqrt":
            return self.root(args[0])
        if op == "power":
            return self.real_power(node.args[1], *args)
        if op in _CIRCULAR:
            return self.circular(node)
        if op in _HYPERBOLIC:
            return self.hyperbolic(node)
        if op == "select" and args[1] == args[2]:
            return args[1]
        if op in ("abs", "sign") and args[0] == 0:
            return 0
        return self.function(op, node.value, *args)

    def rational(self, number: Fraction) -> int:
        """A fraction."""
        return number.numerator * pow(number.denominator, -1, self.p)

    def root(self, a: int) -> int:
        """√a = a^((p + 1)/4), which is a square itself, so √a √b = √(a b)."""
        root = pow(a, (self.p + 1) // 4, self.p)
        if root * root % self.p != a:
            raise NotDefined
        return root

    def real_power(self, exponent: Node, a: int, b: int) -> int:
        """a^(n + f) = aⁿ a^f with 0 <= f < 1: a root or an unknown function."""
        if exponent.op != "constant":
            return self.function("power", None, a, b)
        whole, rest = divmod(Fraction(exponent.value), 1)
        fractional = self.root(a) if rest == Fraction(1, 2) else self.function("power", rest, a) if rest else 1
        return pow(a, whole, self.p) * fractional

    def function(self, *key: Any) -> int:
        """A function of which nothing is known."""
        if key not in self.unknown:
            self.unknown[key] = self.rng.randrange(1, self.p)
        return self.unknown[key]

    def circular(self, node: Node) -> int:
        """sin, cos or tan."""
        c, s = self.angle(node.args[0])
        return {"sin": s, "cos": c}[node.op] if node.op != "tan" else s * pow(c, -1, self.p)

    def angle(self, argument: Node) -> Circle:
        """(cos, sin) of Σ c_k x_k."""
        if argument not in self.angles:
            terms = [self.turn(x, c) for x, c in self.forms[argument].items()]
            self.angles[argument] = reduce(self.turned, terms, (1, 0))
        return self.angles[argument]

    def turn(self, x: Monomial, c: Fraction) -> Circle:
        """(cos, sin) of c x; multiples of π/2 are recognized."""
        quarters = None if x else _quarter_turns(float(c))
        if quarters is not None:
            return ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters % 4]
        key = self.monomial(x), c
        if key not in self.powers:
            unit, n = self.unit("circle", *key)
            self.powers[key] = self.multiple(unit, n)
        return self.powers[key]

    def turned(self, a: Circle, b: Circle) -> Circle:
        """The addition theorems."""
        return (a[0] * b[0] - a[1] * b[1]) % self.p, (a[0] * b[1] + a[1] * b[0]) % self.p

    def multiple(self, unit: Circle, n: int) -> Circle:
        """(cos nα, sin nα) by doubling."""
        result, double = (1, 0), (unit if n > 0 else (unit[0], -unit[1]))
        n = abs(n)
        while n:
            if n & 1:
                result = self.turned(result, double)
            double, n = self.turned(double, double), n >> 1
        return result

    def hyperbolic(self, node: Node) -> int:
        """exp Σ c_k x_k = Π exp(c_k x_k), and what is made of it."""
        factors = [self.growth(x, c) for x, c in self.forms[node.args[0]].items()]
        e = reduce(mul, factors, 1) % self.p
        inverse, half = pow(e, -1, self.p), (self.p + 1) // 2
        sinh, cosh = (e - inverse) * half, (e + inverse) * half
        if node.op == "tanh":
            return sinh * pow(cosh, -1, self.p)
        return {"exp": e, "sinh": sinh, "cosh": cosh}[node.op]

    def growth(self, x: Monomial, c: Fraction) -> int:
        """exp(c x)."""
        unit, n = self.unit("exp", self.monomial(x), c)
        return pow(unit, n, self.p)

    def monomial(self, x: Monomial) -> int:
        """The value of a product, by which products are compared."""
        return reduce(lambda product, factor: product * pow(self.value[factor[0]], factor[1], self.p) % self.p, x, 1)

    def unit(self, kind: str, x: int, c: Fraction) -> tuple[Any, int]:
        """The unit, a random point for x/n with a rational n, and the multiple of it that c x is.

        Coefficients without a ratio of small numbers (0.1 and 1: the first is a binary fraction) have their own units.
        """
        known = self.units.setdefault((kind, x), [])
        for size, unit in known:
            multiple = c / size
            if multiple.denominator == 1 and abs(multiple) <= _LARGEST_MULTIPLE:
                return unit, int(multiple)
        known.append((c / _SUBDIVISION, self.circle() if kind == "circle" else self.rng.randrange(1, self.p)))
        return known[-1][1], _SUBDIVISION

    def circle(self) -> Circle:
        """(1 - w², 2w)/(1 + w²) with a random w."""
        w = self.rng.randrange(1, self.p)
        scale = pow(1 + w * w, -1, self.p)
        return (1 - w * w) * scale % self.p, 2 * w * scale % self.p


def _quarter_turns(angle: float) -> int | None:
    """The k of a float that is kπ/2."""
    k = round(angle / (math.pi / 2))
    return k if angle in (k * (math.pi / 2), k * math.pi / 2) else None
