"""Lurie's and Suslov's equations: the reactions projected out, all velocities kept (Krasinskiy 2025, (10), (11)).

    E_r + Bᵀ E_s = 0,   J q̈ + γ + c = 0,   λ̃ = E_s = F_sᵀ λ,   E = d/dt T_q̇ - T_q - Q.

State (q, q̇): 2(n + m) equations.
"""

from __future__ import annotations

from collections.abc import Callable

from vinculum.derivation.forms.projected import projected
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition
from vinculum.derivation.mechanics.sample_states import Samples


def lurie_suslov(partition: Partition) -> Callable[[Mechanics, Samples], Explicit]:
    """The elimination for a given division of the coordinates."""

    def eliminate(mechanics: Mechanics, samples: Samples) -> Explicit:
        found = projected(mechanics, partition, mechanics.gamma + mechanics.corrections, samples)
        v = mechanics.system.nodes.v
        return Explicit(
            rates=(*v, *found.accelerations),
            velocities=v,
            accelerations=tuple(found.accelerations),
            reactions=tuple(found.reactions),
            pivots=found.pivots,
            numbers=found.numbers,
        )

    return eliminate
