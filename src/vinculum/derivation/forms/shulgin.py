"""Shulgin's equations in redundant coordinates (Krasinskiy 2025, (14)).

    d/dt ∂T*/∂ṙ - ∂T*/∂r = Q_r* + Bᵀ(∂T*/∂s + Q_s*),   ṡ = B ṙ + b,   T*(q, ṙ) = T(q, ṙ, B ṙ + b).

State (r, s, ṙ): 2n + m equations without multipliers, valid for all q: F(q, t) = const is an integral. Feedback on the
constraints enters where s is integrated, F_r ṙ + F_s ṡ + F_t + c = 0, so that Ḟ = -c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from vinculum.derivation.forms.projected import projected
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import EnergyTerms, Mechanics, product
from vinculum.derivation.mechanics.partition import Partition, explicit_time, following
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.graph import Node, substitute, vector


def shulgin(partition: Partition) -> Callable[[Mechanics, Samples], Explicit]:
    """The elimination for a given division of the coordinates."""

    def eliminate(mechanics: Mechanics, samples: Samples) -> Explicit:
        r = list(partition.r)
        rates, velocities = dependent_rates(mechanics, partition, samples)
        reduced = with_velocities(mechanics, velocities)
        found = projected(reduced, partition, reduced.gamma, samples)
        free = vector(mechanics.system.nodes.v)[r]
        return Explicit(
            rates=(*free, *rates, *found.accelerations[r]),
            velocities=tuple(velocities),
            accelerations=tuple(found.accelerations),
            reactions=tuple(found.reactions),
            pivots=found.pivots,
            numbers=found.numbers,
        )

    return eliminate


def dependent_rates(mechanics: Mechanics, partition: Partition, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """ṡ as it is integrated (with the correction c), and all velocities (r, s) of the exact motion."""
    r, s = list(partition.r), list(partition.s)
    velocities = vector(mechanics.system.nodes.v)
    if not s:
        return np.zeros(0, dtype=object), velocities
    moving = product(mechanics.J[:, r], velocities[r]) + explicit_time(mechanics)
    columns = np.column_stack([-moving, -(moving + mechanics.corrections)])
    solution = following(mechanics, partition, columns, samples).solution
    velocities[s] = solution[:, 0]
    return solution[:, 1], velocities


def with_velocities(mechanics: Mechanics, velocities: np.ndarray) -> Mechanics:
    """The terms of Lagrange's equations with velocities replaced by functions of the state."""
    pairs = zip(mechanics.system.nodes.v, velocities, strict=True)
    replaced = {v: node for v, node in pairs if v is not node}

    def at(nodes: np.ndarray) -> np.ndarray:
        flat: list[Node] = substitute(list(nodes.ravel()), replaced)
        return vector(flat).reshape(nodes.shape)

    return replace(
        mechanics,
        terms=EnergyTerms(at(mechanics.M), at(mechanics.h), at(mechanics.terms.slope), mechanics.recursion),
        Q=at(mechanics.Q),
        applied=at(mechanics.applied),
        J=at(mechanics.J),
        gamma=at(mechanics.gamma),
    )
