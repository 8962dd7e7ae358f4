"""Integrals of functions of time in closed form."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from vinculum.errors import DomainError, VinculumError
from vinculum.expressions import as_expression
from vinculum.graph import ONE, Node, along, evaluate, from_sympy, symbol
from vinculum.graph.splines import Spline

_MOST = 12  # operations of a term that SymPy's rules are asked to integrate
_INSTANTS = (0.21, 0.83, 2.7)


def antiderivative(given: Any, time: sp.Symbol) -> sp.Expr | None:
    """∫ f dt from 0 to t, or None where no closed form was found; each found one is differentiated to check it.

    >>> t = sp.Symbol("t")
    >>> antiderivative(3 * sp.sin(2 * t) + t**2, t)
    t**3/3 - 3*cos(2*t)/2 + 3/2
    >>> antiderivative(sp.sin(t**2), t) is None
    True
    """
    F = sp.S.Zero
    for term in sp.Add.make_args(as_expression(given)):
        part = _term(term, time)
        if part is None:
            return None
        F += part
    return F - F.subs(time, 0)


def _term(term: sp.Expr, time: sp.Symbol) -> sp.Expr | None:
    constant, f = term.as_independent(time, as_Add=False)
    if f == 1:
        return constant * time
    if isinstance(f, Spline):
        return _of_spline(constant, f, time)
    if not (simple(f, time) or sp.count_ops(f) <= _MOST) or f.atoms(Spline, AppliedUndef):
        return None
    others = sorted(f.free_symbols - {time}, key=str)
    known = {p: sp.Dummy(str(p), real=True, nonzero=True) for p in others}  # no cases
    F = sp.integrate(f.xreplace(known), time, manual=True).xreplace({dummy: p for p, dummy in known.items()})
    return constant * F if _is_integral(F, f, time) else None


def simple(term: sp.Expr, time: sp.Symbol) -> bool:
    """A power of t times at most one sine, cosine or exponential of a linear function of t."""
    moving = [factor for factor in sp.Mul.make_args(term) if factor.has(time)]
    waves = [factor for factor in moving if isinstance(factor, (sp.sin, sp.cos, sp.exp))]
    powers = [x for x in moving if x == time or (x.is_Pow and x.base == time and x.exp in (2, 3, 4))]
    lines = all(not wave.args[0].diff(time).has(time) and sp.count_ops(wave) < 8 for wave in waves)
    return len(waves) <= 1 and len(powers) <= 1 and len(waves) + len(powers) == len(moving) and lines


def _of_spline(constant: sp.Expr, f: Spline, time: sp.Symbol) -> sp.Expr | None:
    """∫ p(a t + b) dt = P(a t + b)/a, piece by piece."""
    s, pieces = f.args
    a = s.diff(time)
    return None if a.has(time) else constant * Spline(s, pieces.integral) / a


def _is_integral(F: sp.Expr, f: sp.Expr, time: sp.Symbol) -> bool:
    """Whether the graph knows F and dF/dt = f at some instants."""
    others = sorted(f.free_symbols - {time}, key=str)
    known: dict[Node, float] = {symbol(x): 0.4 + 0.3 * i for i, x in enumerate(others)}
    try:
        whole, wanted = from_sympy(F), from_sympy(f)
        slope = along([whole], {symbol(time): ONE})[0]
        rows = [evaluate([slope, wanted, whole], known | {symbol(time): t}) for t in _INSTANTS]
        evaluate([whole], known | {symbol(time): 0.0})
    except (VinculumError, DomainError, ZeroDivisionError, TypeError):
        return False
    return all(abs(a - b) < 1e-9 * (1 + abs(b)) for a, b, _ in rows)
