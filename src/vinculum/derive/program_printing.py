"""Program equations as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from vinculum.derive.mechanics import product
from vinculum.graph import Node, intermediates, symbol, vector
from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.derive.program_equations import ProgramEquations


def latex(equations: ProgramEquations) -> str:
    """ẋ = F + B N, then P N = -a (the exact motion), with named intermediates where expressions are shared."""
    nodes, system = equations.system.nodes, equations.system
    N = vector(nodes.inputs)
    rates = nodes.F + product(nodes.B, N) if len(N) else nodes.F
    left: list[Node] = [symbol(x.diff(system.time)) for x in system.states]
    left += list(product(equations.P, N)) if len(N) else []
    right = [*rates, *(-chain.a for chain in equations.chains_found)]
    taken = [name_of(key) for key in (*system.states, *system.inputs, *system.parameters)]
    definitions, printed = intermediates([*left, *right], taken)
    rows = [f"{_print(name)} &= {_print(expression)}" for name, expression in definitions]
    rows += [f"{_print(a)} &= {_print(b)}" for a, b in zip(printed[: len(left)], printed[len(left) :], strict=True)]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _print(expression: sp.Expr) -> str:
    from sympy.physics.vector.printing import vlatex

    return vlatex(expression)
