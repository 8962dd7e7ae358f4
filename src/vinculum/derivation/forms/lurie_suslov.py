"""Lurie's and Suslov's equations: the reactions projected out, all velocities kept (Krasinskiy 2025, (10), (11)).

    E_r + Bᵀ E_s = 0,   J q̈ + γ + c = 0,   λ̃ = E_s = F_sᵀ λ,   E = d/dt T_q̇ - T_q - Q.

State (q, q̇): 2(n + m) equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, dependent_option, rates_option, register
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.lagrange import Mechanics, product
from vinculum.derivation.mechanics.partition import Partition, choose_partition, dependence, project
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line, acceleration_nodes, constraint_lines
from vinculum.derivation.variables import Variables, full_state


@register
@dataclass(frozen=True)
class LurieSuslov(MechanicalForm):
    """The reactions projected out, all velocities kept."""

    name = "lurie-suslov"
    summary = "Reactions projected out, all velocities kept (Lurie, Suslov)."

    dependent: Sequence[sp.Expr] | None = dependent_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """All of q and q̇, divided into independent and dependent coordinates."""
        return self.divide(mechanics, choose_partition(mechanics, self.dependent, self.at, samples))

    def divide(self, mechanics: Mechanics, partition: Partition) -> Variables:
        """The same for a given partition."""
        return replace(full_state(mechanics), partition=partition)

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """r̈ from the projected equations, s̈ from the constraints."""
        bias = mechanics.gamma + mechanics.corrections
        found = project(mechanics, variables.divided, bias, samples)
        v = mechanics.system.nodes.v
        return Explicit(
            rates=(*v, *found.accelerations),
            velocities=v,
            accelerations=tuple(found.accelerations),
            reactions=tuple(found.reactions),
            pivots=found.pivots,
        )

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """E_r + Bᵀ E_s = 0 with all accelerations, then J q̈ + γ = 0."""
        mechanics, partition = equations.mechanics, equations.variables.divided
        B = dependence(mechanics, partition, [reference_state(equations)])
        r, s = list(partition.r), list(partition.s)
        left = product(mechanics.M, acceleration_nodes(equations)) + mechanics.h - (mechanics.Q - mechanics.applied)
        right = mechanics.applied
        balance = zip(left[r] + product(B.T, left[s]), right[r] + product(B.T, right[s]), strict=True)
        return [*balance, *constraint_lines(equations)]
