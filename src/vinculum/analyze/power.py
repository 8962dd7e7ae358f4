"""Whether the power of forces is never positive near a point, by proof and not by samples.

The power is a sum of products. Its products c_ij v_i v_j with constant coefficients form a quadratic form, which is
decided in rational arithmetic; every other product must have a definite sign: even powers, factors that are not zero at
the point, a function such as tanh(a) times a. Samples would miss a positive power in a thin cone of velocities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np

from vinculum.errors import DomainError
from vinculum.graph import ZERO, Node, constant, evaluate, gradient
from vinculum.graph.evaluate import magnitudes
from vinculum.graph.exact import Form, Monomial, forms, vanishing

_ODD = frozenset({"tanh", "sinh", "atan", "asinh", "asin", "sin", "tan"})  # of the sign of a small argument
_CERTAIN = 1e-9  # of the terms of a factor, beyond which its sign at the point is certain


class Signs:
    """Signs of expressions near a point."""

    def __init__(self, values: Mapping[Node, float], parameters: Collection[Node]) -> None:
        self.values, self.parameters = values, parameters

    def never_positive(self, power: Node, velocities: Sequence[Node]) -> bool:
        """Whether the power is at most zero for all states near the point."""
        return self.sign(power) < 0 or self._by_products(power, velocities)

    def sign(self, node: Node) -> int:
        """1 if a node is proved to be ≥ 0 near the point, -1 if it is ≤ 0, else 0."""
        if node.op in ("add", "subtract", "negate"):
            signs = {s * self.sign(part) for s, part in _summands(node)}
            return signs.pop() if len(signs) == 1 else 0
        return self._sign_of_product(self._factors(node))

    def dissipates(self, dissipation: Node, velocities: Sequence[Node]) -> bool:
        """Whether v·D_v ≥ 0: by Euler's theorem it is k D, if D is homogeneous of degree k in the velocities."""
        slopes = gradient(dissipation, velocities)
        power = sum((v * s for v, s in zip(velocities, slopes, strict=True)), ZERO)
        degrees = (k for k in (2, 4, 3, 6) if vanishing([power - constant(k) * dissipation], self.values)[0])
        return self.sign(dissipation) > 0 and next(degrees, None) is not None

    # -- products -----------------------------------------------------------------------------------------------

    def _factors(self, node: Node, exponent: int = 1) -> list[tuple[Node, int]]:
        """A product as powers of factors; an odd function of a small argument counts as its argument."""
        if node.op in ("multiply", "divide"):
            below = -exponent if node.op == "divide" else exponent
            return [*self._factors(node.args[0], exponent), *self._factors(node.args[1], below)]
        if node.op == "negate":
            return [(constant(-1), exponent), *self._factors(node.args[0], exponent)]
        if node.op == "power" and node.args[1].op == "constant" and float(node.args[1].value).is_integer():
            return self._factors(node.args[0], exponent * int(node.args[1].value))
        if node.op in _ODD and self._small(node.args[0]):
            return self._factors(node.args[0], exponent)
        return [(node, exponent)]

    def _sign_of_product(self, factors: Sequence[tuple[Node, int]]) -> int:
        exponents: dict[Node, int] = {}
        for node, exponent in factors:
            exponents[node] = exponents.get(node, 0) + exponent
        sign = 1
        for node, exponent in exponents.items():
            sign *= self._sign_of_factor(node) if exponent % 2 else 1
        return sign

    def _sign_of_factor(self, node: Node) -> int:
        if node.op in ("add", "subtract"):
            signs = {s * self.sign(part) for s, part in _summands(node)}
            if len(signs) == 1 and 0 not in signs:
                return signs.pop()
        if node.op in ("abs", "exp", "cosh", "sqrt"):
            return 1
        try:
            ((value, size),) = magnitudes([node], self.values)
        except (DomainError, KeyError):
            return 0
        return int(np.sign(value)) if abs(value) > _CERTAIN * size else 0

    def _small(self, node: Node) -> bool:
        try:
            return abs(evaluate([node], self.values)[0]) < 1.0
        except (DomainError, KeyError):
            return False

    # -- sums of products ---------------------------------------------------------------------------------------

    def _by_products(self, power: Node, velocities: Sequence[Node]) -> bool:
        """A quadratic form with constant coefficients, and products with definite signs."""
        odd = self._odd_functions(power)
        found = forms([power, *(node.args[0] for node in odd)])
        n = len(velocities)
        C = [[Fraction(0)] * n for _ in range(n)]
        cofactors: dict[Node, Form] = {}
        for product, number in found[power].items():
            pair = [velocities.index(x) for x, e in product for _ in range(e) if e > 0 and x in velocities]
            rest = [(x, e) for x, e in product if x not in velocities]
            atom = next((x for x, e in rest if x in odd and e == 1), None)
            if len(pair) == 2 and all(x in self.parameters for x, _ in rest):
                share = number * self._constant(rest) / 2
                C[pair[0]][pair[1]] -= share
                C[pair[1]][pair[0]] -= share
            elif self._sign_of_term(product, number) < 0:
                continue
            elif atom is not None:
                others = tuple(factor for factor in product if factor[0] is not atom)
                cofactors.setdefault(atom, {})[others] = number
            else:
                return False
        return positive_semidefinite(C) and all(self._opposes(found[f.args[0]], part) for f, part in cofactors.items())

    def _odd_functions(self, node: Node) -> set[Node]:
        from vinculum.graph import order

        return {f for f in order([node]) if f.op in _ODD and self._small(f.args[0])}

    def _constant(self, factors: Sequence[tuple[Node, int]]) -> Fraction:
        product = Fraction(1)
        for x, exponent in factors:
            product *= Fraction(self.values[x]) ** exponent
        return product

    def _sign_of_term(self, product: Monomial, number: Fraction) -> int:
        factors = [factor for x, e in product for factor in self._factors(x, e)]
        return self._sign_of_product(factors) * (1 if number > 0 else -1)

    def _opposes(self, argument: Form, cofactor: Form) -> bool:
        """Whether the cofactor of an odd function is its argument times a negative factor."""
        a, b = self._numeric(argument), self._numeric(cofactor)
        if set(a) != set(b):
            return False
        ratios = {b[x] / a[x] for x in a}
        return len(ratios) == 1 and ratios.pop() < 0

    def _numeric(self, form: Form) -> dict[Monomial, Fraction]:
        """The form with the values of the parameters."""
        result: dict[Monomial, Fraction] = {}
        for product, number in form.items():
            known = [(x, e) for x, e in product if x in self.parameters]
            rest = tuple((x, e) for x, e in product if x not in self.parameters)
            result[rest] = result.get(rest, Fraction(0)) + number * self._constant(known)
        return {x: c for x, c in result.items() if c}


def _summands(node: Node, sign: int = 1) -> list[tuple[int, Node]]:
    if node.op == "negate":
        return _summands(node.args[0], -sign)
    if node.op in ("add", "subtract"):
        second = sign if node.op == "add" else -sign
        return [*_summands(node.args[0], sign), *_summands(node.args[1], second)]
    return [(sign, node)]


def positive_semidefinite(C: Sequence[Sequence[Fraction]]) -> bool:
    """Whether a symmetric matrix of fractions is positive semidefinite: elimination with diagonal pivots."""
    rows = [list(row) for row in C]
    left = list(range(len(rows)))
    while left:
        pivot = next((i for i in left if rows[i][i] > 0), None)
        if pivot is None:
            return all(rows[i][j] == 0 for i in left for j in left)
        left.remove(pivot)
        if any(rows[i][i] < 0 for i in left):
            return False
        for i in left:
            for j in left:
                rows[i][j] -= rows[i][pivot] * rows[pivot][j] / rows[pivot][pivot]
    return True
