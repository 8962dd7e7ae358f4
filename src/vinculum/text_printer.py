"""Expressions as plain text, in the words of a model file: ``m*dot(x)^2/2``."""

from __future__ import annotations

import re

import sympy as sp
from sympy.printing.str import StrPrinter

from vinculum.names import name_of


class _Plain(StrPrinter):
    """SymPy's own text with dots for time derivatives and ^ for powers."""

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        """A multiplier as one word, also where the constraint is called by several: lambda_pin_x."""
        name = str(super()._print_Symbol(expr))
        return re.sub(r"\W+", "_", name) if name.startswith("lambda_") else name

    def _print_Function(self, expr: sp.Expr) -> str:
        named = isinstance(expr, sp.core.function.AppliedUndef)
        return name_of(expr) if named else str(super()._print_Function(expr)).replace("Abs(", "abs(", 1)

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        parts = [self._print(part) for value, condition in expr.args[:-1] for part in (condition, value)]
        return f"piecewise({', '.join([*parts, self._print(expr.args[-1][0])])})"

    def _print_And(self, expr: sp.Expr) -> str:
        return " and ".join(self._condition(part) for part in expr.args)

    def _print_Or(self, expr: sp.Expr) -> str:
        return " or ".join(self._condition(part) for part in expr.args)

    def _print_Not(self, expr: sp.Expr) -> str:
        return f"not {self._condition(expr.args[0])}"

    def _condition(self, part: sp.Expr) -> str:
        written = str(self._print(part))
        return f"({written})" if isinstance(part, (sp.And, sp.Or, sp.Not)) else written

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
