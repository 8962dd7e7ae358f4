"""Paths with corners: where a prescribed motion asks a servo for an infinite input.

An input that appears in the r-th derivative of a constraint contains the r-th time derivative of the path. A jump in
any derivative before that would need an impulse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy as sp

from vinculum.describe import Servo, System
from vinculum.errors import ConstraintError
from vinculum.graph.splines import Spline

_ROUGH = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min)
_BESIDE = sp.Rational(1, 10**6)


def refuse_corners(system: System, degrees: Mapping[str, int]) -> None:
    """Raise a `ConstraintError` that names the instant and the derivative that jumps."""
    for servo in (c for c in system.constraints if isinstance(c, Servo)):
        r = degrees[servo.name]
        for instant, order, jump in corners(system, servo.expression, r):
            raise ConstraintError(
                f"The servo constraint `{servo.name}` asks for an infinite input at {system.time} = "
                f"{float(instant):.6g}: "
                f"the time derivative of order {order} of its path jumps by {jump:.4g} there, but the input appears in "
                f"the derivative of order {r}, so all before must be continuous. Use a smoother path, for "
                f"instance a polynomial that rests up to order {r - 1} at its ends."
            )


def corners(system: System, expression: sp.Expr, r: int) -> Iterator[tuple[sp.Expr, int, float]]:
    """(instant, order, jump) of every derivative of order below r that jumps."""
    t = sp.Dummy("t", real=True)
    still = _still(system, sp.sympify(expression)).xreplace({system.time: t})
    curves = {curve for curve in still.atoms(Spline) if curve.args[1].degree < r}  # of those above, all are continuous
    rough = [part for part in still.atoms(*_ROUGH) | curves if part.free_symbols <= {t} and t in part.free_symbols]
    still = still.xreplace({part: part.rewrite(sp.Piecewise) for part in rough})
    pieces = [p for p in still.atoms(sp.Piecewise) if p.free_symbols <= {t}]
    for instant in sorted({root for piece in pieces for root in _breaks(piece, t)}, key=float):
        before, after = (
            still.xreplace({p: _branch(p, t, instant + side) for p in pieces}) for side in (-_BESIDE, _BESIDE)
        )
        for order in range(r):
            jump = (after - before).diff(t, order).subs(t, instant)
            if abs(complex(sp.N(jump))) > 1e-9:
                yield instant, order, float(jump)


def _still(system: System, expression: sp.Expr) -> sp.Expr:
    """The expression with numbers for parameters and, since only jumps matter, a fixed state."""
    functions = expression.atoms(sp.Derivative) | expression.atoms(sp.core.function.AppliedUndef)
    states = {key: sp.Rational(3 + 2 * i, 7) for i, key in enumerate(sorted(functions, key=str))}
    return expression.xreplace(states).xreplace({p: sp.nsimplify(x) for p, x in system.parameters.items()})


def _breaks(piece: sp.Piecewise, t: sp.Symbol) -> set[sp.Expr]:
    """The instants at which conditions of a piecewise function change."""
    relations = {r for _, condition in piece.args for r in condition.atoms(sp.core.relational.Relational)}
    roots = {root for r in relations for root in sp.solve(r.lhs - r.rhs, t)}
    return {root for root in roots if root.is_real}


def _branch(piece: sp.Piecewise, t: sp.Symbol, instant: sp.Expr) -> sp.Expr:
    """The branch that holds at an instant."""
    return next(value for value, condition in piece.args if condition.subs(t, instant) == True)  # noqa: E712  # SymPy's true
