"""Equations in quasi-velocities as lines to print: kinematics q̇ = q̇(q, e, t), then L_a = Q̃_a + reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vinculum.derivation.forms.hamel import KINDS, constrained, reaction_directions
from vinculum.derivation.mechanics.lagrange import Mechanics, product
from vinculum.derivation.quasi.chart import Characteristics, Chart, chart
from vinculum.graph import ZERO, Node, substitute, symbol, vector

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion

Line = tuple[Node, Node]


def lines(equations: EquationsOfMotion, of: Characteristics, kind: str) -> list[Line]:
    """q̇ = q̇(q, e, t) where the inverse is closed, the n equations with the potential forces on the left, and what is
    hidden in the path of deep servo constraints.
    """
    mechanics = equations.mechanics
    at = chart(of, [equations.reference()])
    left = KINDS[kind](mechanics, at) - product(at.K.T, at.seen(mechanics.Q - mechanics.applied))
    reactions = product(reaction_directions(mechanics, at), mechanics.printed_reactions)
    right = product(at.K.T, at.seen(mechanics.applied)) + reactions
    hidden = [(z, ZERO) for z in at.seen([z for _, z in mechanics.hidden])]
    balance = [*zip(left, right, strict=True), *hidden]
    if of.by_newton:
        return [*zip(of.e, of.functions, strict=True), *balance]
    kinematic = zip(map(symbol, equations.system.velocities), at.velocities, strict=True)
    sides = [side for line in (*kinematic, *balance) for side in line]
    held = on_the_path(mechanics, at, list(constrained(mechanics, at, vector(sides))))
    return list(zip(held[::2], held[1::2], strict=True))


def on_the_path(mechanics: Mechanics, at: Chart, nodes: list[Node]) -> list[Node]:
    """Nodes with ξ = ξ̇ = 0 of deep servo constraints too, which are states only to be stabilized."""
    exact = [s for s in mechanics.deep if mechanics.system.constraints[s].name not in mechanics.approach]
    places = [at.of.free + s for s in exact]
    return substitute(nodes, {node: ZERO for i in places for node in (at.of.e[i], at.of.rates[i])})
