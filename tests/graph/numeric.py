"""Numbers from SymPy with forty digits, to compare the graph with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
import sympy as sp

DIGITS = 40


def numeric(expressions: Sequence[sp.Expr], arguments: Sequence[sp.Expr]) -> Callable[..., list[float]]:
    """A function of numbers that evaluates SymPy expressions with forty digits."""
    zero_away_from_the_jump = {"DiracDelta": lambda *_: 0}
    function = sp.lambdify(arguments, list(expressions), [zero_away_from_the_jump, "mpmath"])

    def at(*values: float) -> list[float]:
        with mpmath.workdps(DIGITS):
            return [float(result) for result in function(*map(mpmath.mpf, values))]

    return at


def without_corners(expression: sp.Expr) -> sp.Expr:
    """|u| and sign(u) written as cases, which SymPy differentiates without asking whether u is real."""
    cases = expression.replace(sp.Abs, lambda u: sp.Piecewise((u, u >= 0), (-u, True)))
    return cases.replace(sp.sign, lambda u: sp.Piecewise((1, u > 0), (-1, u < 0), (0, True)))
