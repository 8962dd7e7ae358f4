"""What stabilization works on: the residuals of constraints, from the chains η, η̇, ... of every one of them."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from vinculum.derivation.equations import Levels
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.graph import ZERO, Node, symbol


def feedback(mechanics: Mechanics) -> tuple[tuple[Node | None, ...], ...]:
    """The residuals the correction of each constraint is made of, lowest first; none of one that is approached."""
    return tuple(
        (None, ZERO) if constraint.name in mechanics.approach else tuple(chain)
        for constraint, chain in zip(mechanics.system.constraints, mechanics.chains, strict=True)
    )


def projections(mechanics: Mechanics) -> Levels:
    """Residuals and the states that are moved to make them vanish: positions, velocities, then hidden conditions."""
    nodes = mechanics.system.nodes
    exact = [c.name not in mechanics.approach for c in mechanics.system.constraints]
    position = tuple(f for f, held in zip(mechanics.position, exact, strict=True) if held and f is not None)
    chains = [chain for chain, held in zip(mechanics.chains, exact, strict=True) if held]
    if not any(name not in mechanics.approach for name, _ in mechanics.hidden):
        return (position, nodes.q), (tuple(chain[-1] for chain in chains), nodes.v)
    return ((tuple(z for chain in chains for z in chain), (*nodes.q, *nodes.v)),)


def position_feedback(mechanics: Mechanics) -> tuple[tuple[Node | None, ...], ...]:
    """The same where velocities are on the constraints by construction: positions, and the chains of deep servos."""
    rows: list[tuple[Node | None, ...]] = []
    for s, (constraint, f) in enumerate(zip(mechanics.system.constraints, mechanics.position, strict=True)):
        held = constraint.name not in mechanics.approach
        below: tuple[Node | None, ...] = (None, ZERO if f is None or not held else f)
        rows.append(mechanics.chains[s] if held and s in mechanics.deep else below)
    return tuple(rows)


def position_projections(mechanics: Mechanics, quasi_velocities: Sequence[sp.Expr]) -> Levels:
    """Positions are moved onto the constraints; with deep servos, quasi-velocities too, onto all conditions."""
    nodes = mechanics.system.nodes
    exact = [c.name not in mechanics.approach for c in mechanics.system.constraints]
    deep = [s for s in mechanics.deep if exact[s]]
    position = [f for s, f in enumerate(mechanics.position) if f is not None and exact[s] and s not in deep]
    if not deep:
        return ((tuple(position), nodes.q),)
    hidden = [z for s in deep for z in mechanics.chains[s]]
    return (((*position, *hidden), (*nodes.q, *map(symbol, quasi_velocities))),)
