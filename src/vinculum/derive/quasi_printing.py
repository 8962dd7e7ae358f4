"""Equations in quasi-velocities as lines to print: kinematics q̇ = q̇(q, e, t), then L_a = Q̃_a + reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from vinculum.derive.chart import Characteristics, chart
from vinculum.derive.hamel import KINDS, constrained, reaction_directions
from vinculum.derive.mechanics import product
from vinculum.graph import Node, symbol, vector

if TYPE_CHECKING:
    from vinculum.derive.equations import EquationsOfMotion

Line = tuple[Node, Node]


def lines(equations: EquationsOfMotion, of: Characteristics, kind: str) -> list[Line]:
    """q̇ = q̇(q, e, t) where the inverse is closed, then the n equations with the potential forces on the left."""
    mechanics = equations.mechanics
    at = chart(of, [equations.reference()])
    left = KINDS[kind](mechanics, at) - product(at.K.T, at.seen(mechanics.Q - mechanics.applied))
    multipliers = [symbol(sp.Symbol(f"lambda_{c.name}")) for c in equations.system.constraints]
    reactions = product(reaction_directions(mechanics, at), vector(multipliers))
    right = product(at.K.T, at.seen(mechanics.applied)) + reactions
    kinematic = [] if of.by_newton else list(zip(map(symbol, equations.system.velocities), at.velocities, strict=True))
    if of.by_newton:
        return [*zip(of.e, of.functions, strict=True), *zip(left, right, strict=True)]
    sides = [side for line in (*kinematic, *zip(left, right, strict=True)) for side in line]
    held = list(constrained(mechanics, at, vector(sides)))
    return list(zip(held[::2], held[1::2], strict=True))
