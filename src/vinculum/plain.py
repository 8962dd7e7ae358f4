"""Expressions as plain text, in the words of a model file: ``m*dot(x)^2/2``."""

from __future__ import annotations

import sympy as sp
from sympy.printing.str import StrPrinter

from vinculum.names import name_of


class _Plain(StrPrinter):
    """SymPy's own text with dots for time derivatives and ^ for powers."""

    def _print_Function(self, expr: sp.Expr) -> str:
        named = isinstance(expr, sp.core.function.AppliedUndef)
        return name_of(expr) if named else str(super()._print_Function(expr)).replace("Abs(", "abs(", 1)

    def _print_Derivative(self, expr: sp.Expr) -> str:
        inner = self._print(expr.expr)
        return f"{'dot(' * expr.derivative_count}{inner}{')' * expr.derivative_count}"

    def _print_Pow(self, expr: sp.Expr, rational: bool = False) -> str:
        return str(super()._print_Pow(expr, rational)).replace("**", "^")


def plain(expression: sp.Expr) -> str:
    """An expression as text.

    >>> x = sp.Function("x")(sp.Symbol("t"))
    >>> plain(sp.Symbol("m") * x.diff() ** 2 / 2 + sp.sin(x))
    'm*dot(x)^2/2 + sin(x)'
    """
    return str(_Plain({"order": None}).doprint(expression))
