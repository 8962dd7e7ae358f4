"""Shulgin's equations in redundant coordinates (Krasinskiy 2025, (14)).

    d/dt ∂T*/∂ṙ - ∂T*/∂r = Q_r* + Bᵀ(∂T*/∂s + Q_s*),   ṡ = B ṙ + b,   T*(q, ṙ) = T(q, ṙ, B ṙ + b).

State (r, s, ṙ): 2n + m equations without multipliers, valid for all q: F(q, t) = const is an integral. Feedback on the
constraints enters where s is integrated, F_r ṙ + F_s ṡ + F_t + c = 0, which gives Ḟ = -c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, dependent_option, register
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.lagrange import Mechanics, product
from vinculum.derivation.mechanics.partition import (
    Partition,
    choose_partition,
    dependence,
    dependent_rates,
    following,
    project,
    reduced_matrix,
    with_velocities,
)
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line, acceleration_nodes
from vinculum.derivation.variables import Variables
from vinculum.graph import symbol, vector


@register
@dataclass(frozen=True)
class Shulgin(MechanicalForm):
    """Redundant coordinates (r, s) with velocities ṙ alone, ṡ = B(q) ṙ."""

    name = "shulgin"
    summary = "Shulgin's equations in redundant coordinates: independent velocities, dependent ones follow."

    dependent: Sequence[sp.Expr] | None = dependent_option()

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """The state (r, s, ṙ)."""
        return self.divide(mechanics, choose_partition(mechanics, self.dependent, self.at, samples))

    def divide(self, mechanics: Mechanics, partition: Partition) -> Variables:
        """The same for a given partition."""
        system = mechanics.system
        r, s = ([system.coordinates[i] for i in part] for part in (partition.r, partition.s))
        return Variables(
            states=(*r, *s, *(q.diff(system.time) for q in r)),
            dimension=2 * len(r) + len(s),
            feedback=tuple((None, f) for f in system.nodes.constraints),
            projections=((system.nodes.constraints, tuple(map(symbol, s))),),
            partition=partition,
        )

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """ṡ from the constraints, then r̈ from the projected equations with this ṡ."""
        partition = variables.divided
        r = list(partition.r)
        rates, velocities = dependent_rates(mechanics, partition, samples)
        reduced = with_velocities(mechanics, velocities)
        found = project(reduced, partition, reduced.gamma, samples)
        free = vector(mechanics.system.nodes.v)[r]
        return Explicit(
            rates=(*free, *rates, *found.accelerations[r]),
            velocities=tuple(velocities),
            accelerations=tuple(found.accelerations),
            reactions=tuple(found.reactions),
            pivots=found.pivots,
        )

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """ṡ = B ṙ, then A* r̈ + ... = Q_r + Bᵀ Q_s: the scalar form (15)."""
        velocities = exact_velocities(equations)
        return [*kinematic_lines(equations, velocities), *reduced_lines(equations, velocities)]


def exact_velocities(equations: EquationsOfMotion) -> np.ndarray:
    """(n) q̇ of the exact motion as functions of the state."""
    return vector(equations.mechanics.without_corrections(equations.explicit().velocities))


def kinematic_lines(equations: EquationsOfMotion, velocities: np.ndarray) -> list[Line]:
    """The velocities that follow from the state."""
    pairs = zip(equations.system.nodes.v, velocities, strict=True)
    return [(v, node) for v, node in pairs if v is not node]


def reduced_lines(equations: EquationsOfMotion, velocities: np.ndarray) -> list[Line]:
    """Pᵀ(M P r̈ + M (0, b₁) + h + V_q) = Pᵀ Q with ṡ eliminated, for the coordinates whose velocities are states."""
    mechanics = with_velocities(equations.mechanics, velocities)
    partition, here = equations.variables.divided, [reference_state(equations)]
    B = dependence(equations.mechanics, partition, here)
    r, s = list(partition.r), list(partition.s)
    b1 = following(mechanics, partition, -mechanics.gamma[:, None], here).solution[:, 0]
    own = acceleration_nodes(equations)[r]
    rest = mechanics.h - (mechanics.Q - mechanics.applied) + product(mechanics.M[:, s], b1)
    left = product(reduced_matrix(mechanics, partition, B), own) + rest[r] + product(B.T, rest[s])
    right = mechanics.applied[r] + product(B.T, mechanics.applied[s])
    kept = [k for k, i in enumerate(r) if equations.system.velocities[i] in equations.states]
    return [(left[k], right[k]) for k in kept]
