"""What stabilization works on: the residuals of constraints, from the chains η, η̇, ... of every one of them."""

from __future__ import annotations

import math

from vinculum.derive.equations import Levels
from vinculum.derive.mechanics import Mechanics, total
from vinculum.graph import ZERO, Node, symbol


def feedback(mechanics: Mechanics) -> tuple[tuple[Node | None, Node], ...]:
    """(low, high) of the correction per constraint; for a chain longer than two, high with the rate κ in it."""
    result: list[tuple[Node | None, Node]] = []
    for i, (constraint, chain) in enumerate(zip(mechanics.system.constraints, mechanics.chains, strict=True)):
        if constraint.name in mechanics.approach:
            result.append((None, ZERO))
        elif len(chain) <= 2:
            result.append((chain[0] if len(chain) == 2 else None, chain[-1]))
        else:
            rate = symbol(("velocity gain", i))
            r = len(chain)
            high = [math.comb(r, j) * rate ** (r - 1 - j) * z for j, z in enumerate(chain)]
            result.append((None, total(high)))
    return tuple(result)


def projections(mechanics: Mechanics) -> Levels:
    """Residuals and the states that are moved to make them vanish: positions, velocities, then hidden conditions."""
    nodes = mechanics.system.nodes
    exact = [c.name not in mechanics.approach for c in mechanics.system.constraints]
    position = tuple(f for f, held in zip(mechanics.position, exact, strict=True) if held and f is not None)
    chains = [chain for chain, held in zip(mechanics.chains, exact, strict=True) if held]
    if not any(name not in mechanics.approach for name, _ in mechanics.hidden):
        return (position, nodes.q), (tuple(chain[-1] for chain in chains), nodes.v)
    return ((tuple(z for chain in chains for z in chain), (*nodes.q, *nodes.v)),)
