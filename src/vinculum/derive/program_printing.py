"""Program equations as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from vinculum.derive.mechanics import product
from vinculum.derive.printing import vlatex
from vinculum.graph import Node, intermediates, symbol, vector
from vinculum.names import name_of
from vinculum.plain import plain

if TYPE_CHECKING:
    from vinculum.derive.program_equations import ProgramEquations


def latex(equations: ProgramEquations) -> str:
    """ẋ = F + B N, then P N = -a (the exact motion), with named intermediates where expressions are shared."""
    rows = [f"{vlatex(left)} &= {vlatex(right)}" for left, right in _rows(equations)]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def text(equations: ProgramEquations) -> str:
    """The same as plain text, in the words of a model file."""
    return "\n".join(f"{plain(left)} = {plain(right)}" for left, right in _rows(equations))


def _rows(equations: ProgramEquations) -> list[tuple[sp.Expr, sp.Expr]]:
    nodes, system = equations.system.nodes, equations.system
    N = vector(nodes.inputs)
    rates = nodes.F + product(nodes.B, N) if len(N) else nodes.F
    left: list[Node] = [symbol(x.diff(system.time)) for x in system.states]
    left += list(product(equations.P, N)) if len(N) else []
    right = [*rates, *(-chain.a for chain in equations.chains_found)]
    taken = [name_of(key) for key in (*system.states, *system.inputs, *system.parameters)]
    definitions, printed = intermediates([*left, *right], taken)
    return [*definitions, *zip(printed[: len(left)], printed[len(left) :], strict=True)]
