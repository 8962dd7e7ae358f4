"""Text output: expressions (plain and LaTeX), numbers, records as labeled rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from vinculum.expressions import as_expression
from vinculum.names import TIME, name_of
from vinculum.visible import visible


class _Plain(StrPrinter):
    """SymPy's string printer with dot(...) for time derivatives and ^ for powers."""

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        """A multiplier as one word, even if the constraint's name has several: lambda_pin_x."""
        name = str(super()._print_Symbol(expr))
        return re.sub(r"\W+", "_", name) if name.startswith("lambda_") else name

    def _print_Function(self, expr: sp.Expr) -> str:
        named = isinstance(expr, AppliedUndef)
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
    """An expression in the syntax of model files.

    >>> x = sp.Function("x")(sp.Symbol("t"))
    >>> plain(sp.Symbol("m") * x.diff() ** 2 / 2 + sp.sin(x))
    'm*dot(x)^2/2 + sin(x)'
    """
    return str(_Plain({"order": None}).doprint(expression))


_DOTS = {1: r"\dot", 2: r"\ddot", 3: r"\dddot", 4: r"\ddddot"}


class _Dotted(LatexPrinter):
    """SymPy's LaTeX with dots for time derivatives and without the (t) of functions of time.

    It writes what ``sympy.physics.vector.vlatex`` writes, which takes a quarter of a second to import.
    """

    def _print_Function(self, expr: sp.Expr, exp: str | None = None) -> str:
        if not _of_time(expr):
            return str(super()._print_Function(expr, exp))
        symbol = sp.Symbol(expr.func.__name__)
        if exp is None:
            return str(self._print(symbol))
        return f"{self.parenthesize_super(self.parenthesize(symbol, PRECEDENCE['Pow']))}^{{{exp}}}"

    def _print_Derivative(self, expr: sp.Expr) -> str:
        found = expr if _of_time(expr.expr) else expr.doit()
        if not isinstance(found, sp.Derivative):
            return rf"\left({self.doprint(found)}\right)"
        dot = _DOTS.get(len(found.variables))
        if dot is None or not _of_time(found.expr) or {*found.variables} != {TIME}:
            return str(super()._print_Derivative(found))
        letter, low, index = self._print_Function(found.expr).partition("_")
        return f"{dot}{{{letter}}}{low}{index}"


def _of_time(expr: sp.Expr) -> bool:
    """Whether an expression is a function of time without a formula, such as a coordinate."""
    return isinstance(expr, AppliedUndef) and expr.args == (TIME,)


def vlatex(expression: sp.Expr | float) -> str:
    """An expression as LaTeX, with dots for time derivatives."""
    value = as_expression(expression)
    return _electrical(str(_Dotted({"symbol_names": _multiplier_names(value)}).doprint(value)))


_CHARGES = ((r"\ddot{charge}_{", r"\frac{d}{dt} i_{"), (r"\dot{charge}_{", "i_{"), ("charge_{", "q_{"))


def _electrical(latex: str) -> str:
    r"""The coordinate charge_u of a motor as q_u, its velocity, the current, as i_u.

    >>> _electrical(r"L \dot{charge}_{u} + charge_{u}")
    'L i_{u} + q_{u}'
    """
    for name, letter in _CHARGES:
        latex = latex.replace(name, letter)
    return latex


def _multiplier_names(expression: sp.Expr) -> dict[sp.Symbol, str]:
    """λ of constraints whose names are more than one word: SymPy would read "platform norm" as ‖platform‖."""
    names = {s: s.name.removeprefix("lambda_") for s in expression.free_symbols if s.name.startswith("lambda_")}
    return {s: rf"\lambda_{{\text{{{name}}}}}" for s, name in names.items() if not name.isalnum()}


def number(value: complex, digits: int = 6) -> str:
    """Format a real or complex number; zero has no sign.

    >>> number(-0.0), number(0.1 + 0.2), number(1.5 - 2j)
    ('0', '0.3', '1.5-2i')
    """
    real = f"{value.real + 0.0:.{digits}g}"
    return f"{real}{value.imag:+.{digits}g}i" if value.imag else real


def numbers(values: Iterable[complex], digits: int = 6) -> str:
    """Numbers separated by commas."""
    return ", ".join(number(value, digits) for value in values)


def labelled_rows(title: str, rows: Mapping[str, object] | Iterable[tuple[str, object]]) -> str:
    """A title and rows of label and value, with the values aligned.

    >>> print(labelled_rows("Equilibrium", {"theta": 0.5, "wrist_1_joint": -1}))
    Equilibrium
      theta          0.5
      wrist_1_joint  -1
    """
    pairs = list(rows.items() if isinstance(rows, Mapping) else rows)
    width = max((len(label) for label, _ in pairs), default=0)
    return visible("\n".join([title, *(f"  {label:<{width}}  {value}" for label, value in pairs)]))
