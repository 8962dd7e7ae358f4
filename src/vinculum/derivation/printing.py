r"""Equations of motion as LaTeX or text, in the user's symbols.

A small model is printed whole, one line per equation, accelerations collected. A large one is printed with named
intermediates z_1, z_2, ..., each defined once: the text grows with the graph and not with the expanded formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.lagrange import product
from vinculum.graph import ZERO, Node, intermediates, operations, symbol, to_sympy, tree_size, vector
from vinculum.graph.trigonometry import shortened
from vinculum.names import name_of
from vinculum.text_printer import vlatex

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion

_SMALL_LINE, _SMALL_MODEL = 120, 500  # operations of one printed line and of all of them
_LARGE = 600  # operations above which no shorter form is sought: it takes seconds and finds none
_SPREAD = 2  # how many times longer a line may become when it is multiplied out, plus a small line


@dataclass(frozen=True)
class Printed:
    """Equations, each (left, right): the definitions of intermediates, then the equations themselves."""

    definitions: tuple[tuple[str, str], ...]
    equations: tuple[tuple[str, str], ...]

    @property
    def aligned(self) -> str:
        """One display, aligned at the equal signs."""
        rows = [f"{left} &= {right}" for left, right in (*self.definitions, *self.equations)]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    @property
    def lines(self) -> str:
        """One equation to a line."""
        return "\n".join(f"{left} = {right}" for left, right in (*self.definitions, *self.equations))


def latex(equations: EquationsOfMotion, named: bool | None = None, simplify: bool = False) -> str:
    """The equations of a form, and the definitions of intermediates where there are any."""
    return printed(equations, named, simplify=simplify).aligned


Line = tuple[Node, Node]  # left = right
Write = Callable[[sp.Expr], str]


def printed(
    equations: EquationsOfMotion, named: bool | None = None, write: Write = vlatex, simplify: bool = False
) -> Printed:
    """The equations of a form, line by line, as LaTeX or as ``write`` writes them.

    ``simplify`` applies trigonometric identities where this makes the lines shorter.
    """
    lines = equations.form.lines(equations)
    sides = [side for line in lines for side in line]
    if simplify and (short := simplified(sides)) != sides:
        lines, sides = list(zip(short[::2], short[1::2], strict=True)), short
    else:
        simplify = False
    if named is None:
        named = not _small(sides)
    return _with_names(equations, lines, write) if named else _whole(equations, lines, write, simplify)


def simplified(sides: Sequence[Node]) -> list[Node]:
    """Shorter sides by trigonometric identities, if all of them together become shorter to print."""
    if operations(sides).total() > _LARGE:
        return list(sides)
    short = [shortened(side) for side in sides]
    return short if _small(short) or operations(short).total() < operations(sides).total() else list(sides)


def _small(sides: Sequence[Node]) -> bool:
    """Whether lines can be printed whole."""
    sizes = [tree_size(side, 10 * _SMALL_MODEL) for side in sides]
    return max(sizes) <= _SMALL_LINE and sum(sizes) <= _SMALL_MODEL


# -- lines that several forms print ----------------------------------------------------------------------------------


def balance_lines(equations: EquationsOfMotion) -> list[Line]:
    """M q̈ + h + V_q = forces + Jᵀλ for every coordinate, with b u in place of Jᵀλ for a servo."""
    mechanics = equations.mechanics
    left = product(mechanics.M, acceleration_nodes(equations)) + mechanics.h - (mechanics.Q - mechanics.applied)
    right = mechanics.applied + product(mechanics.directions, mechanics.printed_reactions)
    return list(zip(left, right, strict=True))


def constraint_lines(equations: EquationsOfMotion) -> list[Line]:
    """J q̈ + γ = 0."""
    mechanics = equations.mechanics
    rows = product(mechanics.J, acceleration_nodes(equations)) + mechanics.gamma
    return [(row, ZERO) for row in rows]


def acceleration_nodes(equations: EquationsOfMotion) -> np.ndarray:
    """(n) symbols q̈."""
    return vector([symbol(a) for a in equations.acceleration_symbols])


# -- how lines are written -------------------------------------------------------------------------------------------


def _whole(equations: EquationsOfMotion, lines: Sequence[Line], write: Write, short: bool = False) -> Printed:
    accelerations = [*equations.acceleration_symbols, *(e.diff(equations.system.time) for e in equations.definitions)]
    tidy = [[write(_tidy(side, accelerations, short)) for side in line] for line in lines]
    return Printed((), tuple((left, right) for left, right in tidy))


def _tidy(node: Node, accelerations: Sequence[sp.Expr], short: bool = False) -> sp.Expr:
    """A small expression with its trigonometry simplified, unless it is ``short`` already, ordered by accelerations; as
    it stands where multiplying it out makes it longer (quotients of sums), since simplifying that takes seconds and
    gains nothing.
    """
    given = to_sympy(node)
    spread = sp.expand(given)
    if sp.count_ops(spread) > _SPREAD * sp.count_ops(given) + _SMALL_LINE:
        return given
    collected = sp.collect(spread if short else sp.expand(sp.trigsimp(spread)), accelerations, evaluate=False)
    return sp.Add(*(sp.factor_terms(c) * a for a, c in collected.items()), evaluate=True)


def _with_names(equations: EquationsOfMotion, lines: Sequence[Line], write: Write) -> Printed:
    system = equations.system
    taken = [name_of(key) for key in (*system.coordinates, *system.inputs, *system.parameters)]
    return shared([side for line in lines for side in line], taken, write)


def shared(sides: Sequence[Node], taken: Sequence[str], write: Write = vlatex) -> Printed:
    """Equations left₁, right₁, left₂, right₂, ... with what they share defined once, under names that are not taken."""
    definitions, rest = intermediates(sides, taken)
    definitions = _keep_used(definitions, rest)
    defined = tuple((write(name), write(expression)) for name, expression in definitions)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return Printed(defined, tuple((write(left), write(right)) for left, right in pairs))


def _keep_used(
    definitions: Sequence[tuple[sp.Symbol, sp.Expr]], rest: Sequence[sp.Expr]
) -> list[tuple[sp.Symbol, sp.Expr]]:
    """The definitions that are used. SymPy may have canceled all occurrences of one."""
    needed = {s for expression in rest for s in expression.free_symbols}
    kept = []
    for name, expression in reversed(definitions):
        if name in needed:
            kept.append((name, expression))
            needed |= expression.free_symbols
    return kept[::-1]
