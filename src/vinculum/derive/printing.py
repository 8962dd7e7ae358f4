r"""Equations of motion as LaTeX, in the user's own symbols.

A small model is printed whole, one line per equation, accelerations collected. A large one is printed with named
intermediates z_1, z_2, ..., each defined once, so that the text grows with the graph and not with the expanded formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import sympy as sp

from vinculum.derive.mechanics import product
from vinculum.graph import ZERO, Node, intermediates, symbol, to_sympy, tree_size, vector
from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.derive.equations import EquationsOfMotion

_SMALL_LINE, _SMALL_MODEL = 120, 500  # operations of one printed line and of all of them


def latex(equations: EquationsOfMotion, named: bool | None = None) -> str:
    """The equations of a form, and the definitions of intermediates where there are any."""
    if equations.lines is not None:
        lines = equations.lines(equations)
    else:
        lines = multiplier_lines(equations) if equations.form == "multipliers" else lyapunov_lines(equations)
    if named is None:
        sizes = [tree_size(side, 10 * _SMALL_MODEL) for line in lines for side in line]
        named = max(sizes) > _SMALL_LINE or sum(sizes) > _SMALL_MODEL
    rows = _with_names(equations, lines) if named else _whole(equations, lines)
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


Line = tuple[Node, Node]  # left = right


def multiplier_lines(equations: EquationsOfMotion) -> list[Line]:
    """M q̈ + h + V_q = forces + Jᵀλ, then J q̈ + γ = 0."""
    mechanics = equations.mechanics
    accelerations = vector([symbol(a) for a in equations.acceleration_symbols])
    second = product(mechanics.J, accelerations) + mechanics.gamma
    return balance_lines(equations) + [(row, ZERO) for row in second]


def lyapunov_lines(equations: EquationsOfMotion) -> list[Line]:
    """λ(q, q̇), then M q̈ + h + V_q = forces + Jᵀλ."""
    explicit = equations.explicit()
    reactions = equations.mechanics.without_corrections(explicit.reactions)
    return [*zip(_multipliers(equations), reactions, strict=True), *balance_lines(equations)]


def balance_lines(equations: EquationsOfMotion) -> list[Line]:
    """M q̈ + h + V_q = forces + Jᵀλ for every coordinate."""
    mechanics = equations.mechanics
    accelerations = vector([symbol(a) for a in equations.acceleration_symbols])
    left = product(mechanics.M, accelerations) + mechanics.h - (mechanics.Q - mechanics.applied)
    right = mechanics.applied + product(mechanics.J.T, vector(_multipliers(equations)))
    return list(zip(left, right, strict=True))


def _multipliers(equations: EquationsOfMotion) -> list[Node]:
    return [symbol(sp.Symbol(f"lambda_{c.name}")) for c in equations.system.constraints]


def _whole(equations: EquationsOfMotion, lines: Sequence[Line]) -> list[str]:
    accelerations = [*equations.acceleration_symbols, *(e.diff(equations.system.time) for e in equations.definitions)]
    return [f"{_tidy(left, accelerations)} &= {_tidy(right, accelerations)}" for left, right in lines]


def _tidy(node: Node, accelerations: Sequence[sp.Expr]) -> str:
    """A small expression with its trigonometry simplified, ordered by accelerations."""
    collected = sp.collect(sp.expand(sp.trigsimp(sp.expand(to_sympy(node)))), accelerations, evaluate=False)
    return _print(sp.Add(*(sp.factor_terms(c) * a for a, c in collected.items()), evaluate=True))


def _with_names(equations: EquationsOfMotion, lines: Sequence[Line]) -> list[str]:
    sides = [side for line in lines for side in line]
    system = equations.system
    taken = [name_of(key) for key in (*system.coordinates, *system.inputs, *system.parameters)]
    definitions, printed = intermediates(sides, taken)
    rows = [f"{_print(name)} &= {_print(expression)}" for name, expression in definitions]
    pairs = zip(printed[::2], printed[1::2], strict=True)
    return rows + [f"{_print(left)} &= {_print(right)}" for left, right in pairs]


def _print(expression: sp.Expr) -> str:
    from sympy.physics.vector.printing import vlatex

    return vlatex(expression)
