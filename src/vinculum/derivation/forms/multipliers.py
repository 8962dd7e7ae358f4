"""Lagrange's equations with multipliers, index-1 form (Krasinskiy 2025, equations (5)).

    [ M  Jᵀ ] [  q̈ ]   [ Q - h  ]
    [ J  0  ] [ -λ ] = [ -γ - c ]

For a servo constraint the column Jᵀ is replaced by the direction ∂Q/∂u of its input u, which then is its λ.
The mass matrix may be singular as long as this bordered matrix is not: a coordinate without inertia is
determined by the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, rates_option, redundant_option, register
from vinculum.derivation.mechanics.explicit import Explicit, solved
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.redundancy import least_squares
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.mechanics.tree_terms import tree_accelerations
from vinculum.derivation.printing import Line, balance_lines, constraint_lines
from vinculum.derivation.variables import Variables, full_state
from vinculum.graph import ZERO, vector


@register
@dataclass(frozen=True)
class Multipliers(MechanicalForm):
    """M q̈ + h = Q + Jᵀλ with J q̈ + γ = 0; the reactions λ come with the accelerations."""

    name = "multipliers"
    summary = "Lagrange's equations of the first kind, M q̈ + h = Q + Jᵀλ: a multiplier λ for each constraint."

    redundant: str = redundant_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def refuse(self, mechanics: Mechanics) -> None:
        """Any system will do."""

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """All of q and q̇; the multipliers count as unknowns."""
        return full_state(mechanics, multipliers=len(mechanics.system.constraints))

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """q̈ and λ from the bordered system, or from the recursions of a tree of bodies."""
        if self.redundant == "least_squares":
            return least_squares(eliminate_multipliers, mechanics, samples)
        return eliminate_multipliers(mechanics, samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """M q̈ + h + V_q = forces + Jᵀλ, then J q̈ + γ = 0."""
        return [*balance_lines(equations), *constraint_lines(equations)]


def eliminate_multipliers(mechanics: Mechanics, samples: Samples) -> Explicit:
    """q̈ and λ from the bordered system, pivots chosen on the samples."""
    swept = tree_accelerations(mechanics, samples)
    if swept is not None:
        return swept
    M, J = mechanics.M, mechanics.J
    m, n = J.shape
    A = np.full((n + m, n + m), ZERO, dtype=object)
    A[:n, :n], A[:n, n:], A[n:, :n] = M, mechanics.directions, J
    right = vector([*(mechanics.Q - mechanics.h), *(-mechanics.gamma - mechanics.corrections)])
    elimination = solved(mechanics, A, right[:, None], samples, mechanics.actuators is None, constraints=m)
    unknowns = elimination.solution[:, 0]
    v = mechanics.system.nodes.v
    return Explicit(
        rates=(*v, *unknowns[:n]),
        velocities=v,
        accelerations=tuple(unknowns[:n]),
        reactions=tuple(-unknowns[n:]),
        pivots=elimination.pivots,
        numbers=elimination.numbers,
    )
