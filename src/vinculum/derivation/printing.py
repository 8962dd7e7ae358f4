r"""Equations of motion as LaTeX, in the user's own symbols.

A small model is printed whole, one line per equation, accelerations collected. A large one is printed with named
intermediates z_1, z_2, ..., each defined once, so that the text grows with the graph and not with the expanded formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.derivation.forms.projected import reduced_matrix
from vinculum.derivation.forms.shulgin import with_velocities
from vinculum.derivation.mechanics.lagrange import product
from vinculum.derivation.mechanics.partition import Partition, following
from vinculum.graph import ZERO, Node, intermediates, symbol, to_sympy, tree_size, vector
from vinculum.names import name_of
from vinculum.text_printer import vlatex

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion

_SMALL_LINE, _SMALL_MODEL = 120, 500  # operations of one printed line and of all of them
_SPREAD = 2  # how many times longer a line may become when it is multiplied out, beside a small line


@dataclass(frozen=True)
class Printed:
    """Equations, each (left, right): the definitions of intermediates, then the equations themselves."""

    definitions: tuple[tuple[str, str], ...]
    equations: tuple[tuple[str, str], ...]

    @property
    def aligned(self) -> str:
        """One display, aligned at the signs of equality."""
        rows = [f"{left} &= {right}" for left, right in (*self.definitions, *self.equations)]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    @property
    def lines(self) -> str:
        """One equation to a line."""
        return "\n".join(f"{left} = {right}" for left, right in (*self.definitions, *self.equations))


def latex(equations: EquationsOfMotion, named: bool | None = None) -> str:
    """The equations of a form, and the definitions of intermediates where there are any."""
    return printed(equations, named).aligned


Write = Callable[[sp.Expr], str]


def printed(equations: EquationsOfMotion, named: bool | None = None, write: Write = vlatex) -> Printed:
    """The equations of a form, line by line, as LaTeX or as ``write`` writes them."""
    lines = LINES[equations.form](equations) if equations.lines is None else equations.lines(equations)
    if named is None:
        sizes = [tree_size(side, 10 * _SMALL_MODEL) for line in lines for side in line]
        named = max(sizes) > _SMALL_LINE or sum(sizes) > _SMALL_MODEL
    return _with_names(equations, lines, write) if named else _whole(equations, lines, write)


Line = tuple[Node, Node]  # left = right


def multiplier_lines(equations: EquationsOfMotion) -> list[Line]:
    """M q̈ + h + V_q = forces + Jᵀλ, then J q̈ + γ = 0."""
    mechanics = equations.mechanics
    second = product(mechanics.J, _accelerations(equations)) + mechanics.gamma
    return balance_lines(equations) + [(row, ZERO) for row in second]


def lyapunov_lines(equations: EquationsOfMotion) -> list[Line]:
    """λ(q, q̇), then M q̈ + h + V_q = forces + Jᵀλ."""
    explicit = equations.explicit()
    reactions = equations.mechanics.without_corrections(explicit.reactions)
    return [*zip(equations.mechanics.printed_reactions, reactions, strict=True), *balance_lines(equations)]


def lurie_suslov_lines(equations: EquationsOfMotion) -> list[Line]:
    """E_r + Bᵀ E_s = 0 with all accelerations, then J q̈ + γ = 0."""
    mechanics = equations.mechanics
    partition, B = _division(equations)
    r, s = list(partition.r), list(partition.s)
    left = product(mechanics.M, _accelerations(equations)) + mechanics.h - (mechanics.Q - mechanics.applied)
    right = mechanics.applied
    projected = zip(left[r] + product(B.T, left[s]), right[r] + product(B.T, right[s]), strict=True)
    second = product(mechanics.J, _accelerations(equations)) + mechanics.gamma
    return [*projected, *((row, ZERO) for row in second)]


def shulgin_lines(equations: EquationsOfMotion) -> list[Line]:
    """ṡ = B ṙ (and ċ, ṗ of cyclic coordinates), then A* r̈ + ... = Q_r + Bᵀ Q_s: the scalar form (15)."""
    system, explicit = equations.system, equations.explicit()
    velocities = vector(equations.mechanics.without_corrections(explicit.velocities))
    kinematic = [(v, node) for v, node in zip(system.nodes.v, velocities, strict=True) if v is not node]
    return [*kinematic, *_momentum_lines(equations), *_reduced_lines(equations, velocities)]


def _momentum_lines(equations: EquationsOfMotion) -> list[Line]:
    """ṗ = Q_c for every momentum among the states."""
    rates = dict(zip(equations.states, equations.explicit().rates, strict=True))
    time = equations.system.time
    return [(symbol(p.diff(time)), rates[p]) for p in equations.definitions]


def _reduced_lines(equations: EquationsOfMotion, velocities: np.ndarray) -> list[Line]:
    """Pᵀ(M P r̈ + M (0, b₁) + h + V_q) = Pᵀ Q with ṡ eliminated, for the coordinates whose velocities are states."""
    mechanics = with_velocities(equations.mechanics, velocities)
    partition, B = _division(equations)
    r, s = list(partition.r), list(partition.s)
    b1 = following(mechanics, partition, -mechanics.gamma[:, None], [equations.reference()]).solution[:, 0]
    own = _accelerations(equations)[r]
    rest = mechanics.h - (mechanics.Q - mechanics.applied) + product(mechanics.M[:, s], b1)
    left = product(reduced_matrix(mechanics, partition, B), own) + rest[r] + product(B.T, rest[s])
    right = mechanics.applied[r] + product(B.T, mechanics.applied[s])
    kept = [k for k, i in enumerate(r) if equations.system.velocities[i] in equations.states]
    return [(left[k], right[k]) for k in kept]


def _division(equations: EquationsOfMotion) -> tuple[Partition, np.ndarray]:
    """The partition and B = -F_s⁻¹ F_r."""
    assert equations.partition is not None
    F_r = equations.mechanics.J[:, list(equations.partition.r)]
    return equations.partition, following(
        equations.mechanics, equations.partition, -F_r, [equations.reference()]
    ).solution


def _accelerations(equations: EquationsOfMotion) -> np.ndarray:
    return vector([symbol(a) for a in equations.acceleration_symbols])


def balance_lines(equations: EquationsOfMotion) -> list[Line]:
    """M q̈ + h + V_q = forces + Jᵀλ for every coordinate, with b u in place of Jᵀλ for a servo."""
    mechanics = equations.mechanics
    left = product(mechanics.M, _accelerations(equations)) + mechanics.h - (mechanics.Q - mechanics.applied)
    right = mechanics.applied + product(mechanics.directions, mechanics.printed_reactions)
    return list(zip(left, right, strict=True))


LINES: dict[str, Callable[[EquationsOfMotion], list[Line]]] = {
    "multipliers": multiplier_lines,
    "lyapunov": lyapunov_lines,
    "lurie-suslov": lurie_suslov_lines,
    "shulgin": shulgin_lines,
    "routh": shulgin_lines,
}


def _whole(equations: EquationsOfMotion, lines: Sequence[Line], write: Write) -> Printed:
    accelerations = [*equations.acceleration_symbols, *(e.diff(equations.system.time) for e in equations.definitions)]
    tidy = [[write(_tidy(side, accelerations)) for side in line] for line in lines]
    return Printed((), tuple((left, right) for left, right in tidy))


def _tidy(node: Node, accelerations: Sequence[sp.Expr]) -> sp.Expr:
    """A small expression with its trigonometry simplified, ordered by accelerations; as it stands where multiplying
    it out makes it longer (quotients of sums), since simplifying that takes seconds and gains nothing.
    """
    given = to_sympy(node)
    spread = sp.expand(given)
    if sp.count_ops(spread) > _SPREAD * sp.count_ops(given) + _SMALL_LINE:
        return given
    collected = sp.collect(sp.expand(sp.trigsimp(spread)), accelerations, evaluate=False)
    return sp.Add(*(sp.factor_terms(c) * a for a, c in collected.items()), evaluate=True)


def _with_names(equations: EquationsOfMotion, lines: Sequence[Line], write: Write) -> Printed:
    system = equations.system
    taken = [name_of(key) for key in (*system.coordinates, *system.inputs, *system.parameters)]
    return shared([side for line in lines for side in line], taken, write)


def shared(sides: Sequence[Node], taken: Sequence[str], write: Write = vlatex) -> Printed:
    """Equations left₁, right₁, left₂, right₂, ... with what they share defined once, under names that are not taken."""
    definitions, rest = intermediates(sides, taken)
    definitions = _used(definitions, rest)
    defined = tuple((write(name), write(expression)) for name, expression in definitions)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return Printed(defined, tuple((write(left), write(right)) for left, right in pairs))


def _used(definitions: Sequence[tuple[sp.Symbol, sp.Expr]], rest: Sequence[sp.Expr]) -> list[tuple[sp.Symbol, sp.Expr]]:
    """The definitions that are needed: what SymPy cancels in a line may leave one that stands nowhere."""
    needed = {s for expression in rest for s in expression.free_symbols}
    kept = []
    for name, expression in reversed(definitions):
        if name in needed:
            kept.append((name, expression))
            needed |= expression.free_symbols
    return kept[::-1]
