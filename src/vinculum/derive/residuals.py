"""What stabilization works on: the residuals of constraints, from the chains η, η̇, ... of every one of them."""

from __future__ import annotations

from vinculum.derive.equations import Levels
from vinculum.derive.mechanics import Mechanics
from vinculum.graph import ZERO, Node


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
