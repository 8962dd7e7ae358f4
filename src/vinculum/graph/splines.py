"""Splines: one operation of the graph, one function in SymPy.

Machine code and the search for corners work on the polynomial pieces (`expand_splines`), made of two operations:

    piece(s; knots) = k for s_k <= s < s_k+1, below the first knot 0,   entry(k; numbers) = numbers[k].

Their size does not depend on the number of points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import perm
from typing import Any

import sympy as sp

from vinculum.graph import node as n
from vinculum.graph.node import Node

STATED = ("hold", "zero")  # values beyond the points that somebody chose


class Pieces(sp.Atom):
    """Polynomials between knots: p = Σ_j c_jk (s - s_k)ʲ for s_k <= s < s_k+1; the first and last extend beyond."""

    is_number = False
    name: str
    knots: tuple[float, ...]  # s_k, where the pieces begin
    rows: tuple[tuple[float, ...], ...]  # (degree + 1, pieces) c_jk
    end: float  # of the last piece; beyond it the curve is an extrapolation
    order: int  # of the derivative that this stands for
    beyond: str  # what was asked for beyond the points: "extrapolate", "hold", "zero" or "refuse"

    def __new__(
        cls, name: str, knots: Sequence[float], rows: Sequence[Sequence[float]], end: float, order: int = 0,
        beyond: str = "extrapolate",
    ) -> Pieces:  # fmt: skip
        made = sp.Atom.__new__(cls)
        made.name, made.end, made.order, made.beyond = name, float(end), order, beyond
        made.knots = tuple(map(float, knots))
        made.rows = tuple(tuple(map(float, row)) for row in rows)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.name, self.knots, self.rows, self.end, self.order, self.beyond

    def _hashable_content(self) -> tuple[Hashable, ...]:
        return self.__getnewargs__()

    def __str__(self) -> str:
        return self.name + "'" * self.order

    @property
    def degree(self) -> int:
        """The degree of the polynomials after differentiation."""
        return len(self.rows) - 1 - self.order

    @property
    def jumps(self) -> bool:
        """Whether the values may jump at a knot."""
        return self.degree < 1 or self.beyond == "zero"

    @property
    def points(self) -> tuple[float, float]:
        """The first and last point; with values stated beyond them, the first piece comes before the points."""
        return self.knots[1 if self.beyond in STATED else 0], self.end

    @property
    def slope(self) -> Pieces:
        """dp/ds."""
        return Pieces(self.name, self.knots, self.rows, self.end, self.order + 1, self.beyond)

    @property
    def integral(self) -> Pieces:
        """∫ p ds, continuous across the knots and zero at the first one."""
        rows = [[perm(j + self.order, self.order) * c for c in row] for j, row in enumerate(self.rows[self.order :])]
        higher = [[0.0] * len(self.knots), *([c / (j + 1) for c in row] for j, row in enumerate(rows))]
        for k in range(1, len(self.knots)):
            width = self.knots[k] - self.knots[k - 1]
            higher[0][k] = sum(row[k - 1] * width**j for j, row in enumerate(higher))
        return Pieces(f"∫{self}", self.knots, higher, self.end, 0, self.beyond)

    def at(self, s: float) -> float:
        """The value at a point."""
        k = piece_number(self.knots, s)
        return float(self.built(s, lambda numbers: numbers[k]))

    def built(self, s: Any, choose: Callable[[Sequence[float]], Any]) -> Any:
        """Σ_j j!/(j - i)! c_j (s - s_k)ʲ⁻ⁱ, the i-th derivative; ``choose`` selects the numbers of the piece of s."""
        offset, total = s - choose(self.knots), 0 * s
        for j in range(len(self.rows) - 1, self.order - 1, -1):
            total = total * offset + perm(j, self.order) * choose(self.rows[j])
        return total


class Spline(sp.Function):
    """p(s) for `Pieces` p, in SymPy."""

    nargs = 2
    is_real = True

    @classmethod
    def eval(cls, s: sp.Expr, pieces: Pieces) -> sp.Expr | None:
        """A number, if s is one."""
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
        return f"{pieces}({printer._print(s)})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        s, pieces = self.args
        name = printer._print(sp.Symbol(pieces.name)) + "'" * pieces.order
        value = rf"{name}\left({printer._print(s)}\right)"
        return value if exp is None else rf"\left({value}\right)^{{{exp}}}"

    def _code(self, printer: Any) -> str:
        return f"({printer._print(self.rewrite(sp.Piecewise))})"

    _pythoncode = _mpmathcode = _numpycode = _ccode = _code  # for SymPy's lambdify and its printers of code


def spline(pieces: Pieces, s: Node) -> Node:
    """p(s) in the graph."""
    if pieces.degree < 0:
        return n.ZERO
    if s.op == "constant":
        return n.constant(pieces.at(float(s.value)))
    return n.intern("spline", pieces, s)


def expand_splines(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with polynomials in place of splines; the interval of the argument selects the coefficients."""
    from vinculum.graph.traverse import order, rebuild  # they import this module

    nodes = order(outputs)
    if not any(node.op == "spline" for node in nodes):
        return list(outputs)
    new: dict[Node, Node] = {}
    for node in nodes:
        args = [new[arg] for arg in node.args]
        new[node] = (
            node if not args else _choose_piece(node.value, *args) if node.op == "spline" else rebuild(node, args)
        )
    return [new[output] for output in outputs]


def without_tables(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with comparisons in place of tables, one for every knot: for targets that have no tables."""
    from vinculum.graph.traverse import order, substitute

    entries = [node for node in order(outputs) if node.op == "entry"]
    for node in entries:
        outputs = substitute(outputs, {node: _compared(node.value.values, node.args[0])})
    return list(outputs)


def _compared(numbers: Sequence[float], k: Node) -> Node:
    """The last number whose knot is not above s."""
    chosen = n.constant(numbers[-1])
    for number, knot in zip(reversed(numbers[:-1]), reversed(k.value.values[1:]), strict=True):
        chosen = n.select(n.compare("less", k.args[0], n.constant(knot)), n.constant(number), chosen)
    return chosen


def _choose_piece(pieces: Pieces, s: Node) -> Node:
    """One spline: the polynomial of the piece in which s is."""
    k = piece(Numbers(pieces.knots), s)
    return n.lift(pieces.built(s, lambda numbers: entry(Numbers(tuple(numbers)), k)))


# -- tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """A row of numbers that hashes once."""

    values: tuple[float, ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.values)

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash."""
        return {"values": self.values}

    def __str__(self) -> str:
        return f"[{len(self.values)} numbers]"


def piece(knots: Numbers, s: Node) -> Node:
    """The number of the piece in which s is."""
    if s.op == "constant" or len(knots.values) == 1:
        return n.constant(piece_number(knots.values, 0.0 if s.op != "constant" else float(s.value)))
    return n.intern("piece", knots, s)


def entry(numbers: Numbers, k: Node) -> Node:
    """Number k of a row."""
    if k.op == "constant":
        return n.constant(numbers.values[int(k.value)])
    if len(set(numbers.values)) == 1:
        return n.constant(numbers.values[0])
    return n.intern("entry", numbers, k)


def piece_number(knots: Sequence[float], s: float) -> int:
    """k for s_k <= s < s_k+1; the first and last pieces extend beyond."""
    return max(bisect_right(knots, s) - 1, 0)


TABLES = {"piece": piece, "entry": entry}
