"""A spline as a SymPy function: it is differentiated, printed and evaluated whole; the graph takes it apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.graph import node as n
from vinculum.graph.node import Node


class Pieces(sp.Atom):
    """Polynomials between knots: p = Σ_j c_jk (s - s_k)ʲ for s_k <= s < s_k+1, the first and last going on beyond."""

    is_number = False
    name: str
    knots: tuple[float, ...]  # s_k, where the pieces begin
    rows: tuple[tuple[float, ...], ...]  # (degree + 1, pieces) c_jk
    order: int  # how often the spline was differentiated

    def __new__(
        cls, name: str, knots: Sequence[float], rows: Sequence[Sequence[float]], order: int = 0
    ) -> Pieces:  # fmt: skip
        made = sp.Atom.__new__(cls)
        made.name, made.order = name, order
        made.knots = tuple(map(float, knots))
        made.rows = tuple(tuple(map(float, row)) for row in rows)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.name, self.knots, self.rows, self.order

    def _hashable_content(self) -> tuple[Hashable, ...]:
        return self.__getnewargs__()

    @cached_property
    def slope(self) -> Pieces:
        """dp/ds = Σ_j (j + 1) c_(j+1)k (s - s_k)ʲ."""
        rows = [[j * c for c in row] for j, row in enumerate(self.rows)][1:]
        return Pieces(self.name, self.knots, rows or [[0.0] * len(self.knots)], self.order + 1)

    def at(self, s: float) -> float:
        """The value at a point."""
        k = max(int(np.searchsorted(self.knots, s, side="right")) - 1, 0)
        return float(np.polynomial.polynomial.polyval(s - self.knots[k], [row[k] for row in self.rows]))

    def built(self, s: Any, choose: Callable[[Sequence[float]], Any]) -> Any:
        """The sum over powers, where ``choose`` takes the number of the piece in which s lies."""
        offset = s - choose(self.knots)
        total = choose(self.rows[-1])
        for row in reversed(self.rows[:-1]):
            total = total * offset + choose(row)
        return total


class Spline(sp.Function):
    """p(s) for `Pieces` p."""

    nargs = 2
    is_real = True

    @classmethod
    def eval(cls, s: sp.Expr, pieces: Pieces) -> sp.Expr | None:
        """A number, of a number."""
        return sp.Float(pieces.at(float(s))) if s.is_Number else None

    def _eval_derivative(self, variable: sp.Expr) -> sp.Expr:
        s, pieces = self.args
        return Spline(s, pieces.slope) * s.diff(variable)

    def _eval_rewrite_as_Piecewise(self, s: sp.Expr, pieces: Pieces, **_: Any) -> sp.Expr:
        def choose(numbers: Sequence[float]) -> sp.Expr:
            pairs = zip(numbers[:-1], pieces.knots[1:], strict=True)
            return sp.Piecewise(*((sp.Float(x), s < knot) for x, knot in pairs), (sp.Float(numbers[-1]), True))

        return pieces.built(s, choose)

    def _sympystr(self, printer: Any) -> str:
        s, pieces = self.args
        return f"{pieces.name}{chr(39) * pieces.order}({printer._print(s)})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        s, pieces = self.args
        name = printer._print(sp.Symbol(pieces.name)) + "'" * pieces.order
        value = rf"{name}\left({printer._print(s)}\right)"
        return value if exp is None else rf"\left({value}\right)^{{{exp}}}"


def spline_node(pieces: Pieces, s: Node) -> Node:
    """The spline in the graph, each coefficient chosen by where s lies."""

    def choose(numbers: Sequence[float]) -> Node:
        chosen = n.constant(numbers[-1])
        for number, knot in zip(reversed(numbers[:-1]), reversed(pieces.knots[1:]), strict=True):
            chosen = n.select(n.compare("less", s, n.constant(knot)), n.constant(number), chosen)
        return chosen

    return pieces.built(s, choose)
