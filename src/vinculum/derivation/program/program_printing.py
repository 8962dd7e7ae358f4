"""Program equations as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vinculum.derivation.mechanics.lagrange import product
from vinculum.derivation.printing import Printed, Write, shared
from vinculum.graph import Node, symbol, vector
from vinculum.names import name_of
from vinculum.text_printer import vlatex

if TYPE_CHECKING:
    from vinculum.derivation.program.program_equations import ProgramEquations


def latex(equations: ProgramEquations) -> str:
    """ẋ = F + B N, then P N = -a (the exact motion), with named intermediates where expressions are shared."""
    return printed(equations).aligned


def printed(equations: ProgramEquations, write: Write = vlatex) -> Printed:
    """The same, line by line."""
    nodes, system = equations.system.nodes, equations.system
    N = vector(nodes.inputs)
    rates = nodes.F + product(nodes.B, N) if len(N) else nodes.F
    left: list[Node] = [symbol(x.diff(system.time)) for x in system.states]
    left += list(product(equations.P, N)) if len(N) else []
    right = [*rates, *(-chain.a for chain in equations.chains_found)]
    taken = [name_of(key) for key in (*system.states, *system.inputs, *system.parameters)]
    lines = [(a, b) for a, b in zip(left, right, strict=True) if a is not b]  # ẋ = ẋ says nothing
    return shared([side for line in lines for side in line], taken, write)
