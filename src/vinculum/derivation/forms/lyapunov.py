"""Lyapunov's elimination of the multipliers (1885; Krasinskiy 2025, five steps after (5)).

    q̈ = a₀ + Y λ,  M a₀ = Q - h,  M Y = Jᵀ;    (J Y) λ = -(γ + c + J a₀)

gives λ(q, q̇) and equations in q alone. It needs a regular mass matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, rates_option, redundant_option, register
from vinculum.derivation.mechanics.explicit import Explicit, least_squares, solved
from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, product, symmetrized
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.mechanics.singular import refuse_massless
from vinculum.derivation.printing import Line, balance_lines
from vinculum.derivation.variables import Variables, full_state


@register
@dataclass(frozen=True)
class Lyapunov(MechanicalForm):
    """The multipliers eliminated: λ(q, q̇) as an expression."""

    name = "lyapunov"
    summary = "Multipliers eliminated: the reactions are expressions of the state (Lyapunov, Suslov)."

    redundant: str = redundant_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """All of q and q̇."""
        return full_state(mechanics)

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """q̈ and λ by eliminating first the accelerations, then the multipliers."""
        if self.redundant == "least_squares":
            return least_squares(eliminate_twice, mechanics, samples)
        return eliminate_twice(mechanics, samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """λ(q, q̇), then M q̈ + h + V_q = forces + Jᵀλ."""
        mechanics = equations.mechanics
        reactions = mechanics.without_corrections(equations.explicit().reactions)
        return [*zip(mechanics.printed_reactions, reactions, strict=True), *balance_lines(equations)]


def eliminate_twice(mechanics: Mechanics, samples: Samples) -> Explicit:
    """a₀ and Y from M, then λ from J Y, then q̈ = a₀ + Y λ."""
    refuse_massless(mechanics, samples[0])
    M, J = mechanics.M, mechanics.J
    free = mechanics.Q - mechanics.h
    inertia = solved(mechanics, M, np.column_stack([free, J.T]), samples)
    a0, Y = inertia.solution[:, 0], inertia.solution[:, 1:]
    v = mechanics.system.nodes.v
    if not len(J):
        return Explicit((*v, *a0), v, tuple(a0), (), inertia.pivots)
    S = symmetrized(matrix_product(J, Y))
    right = -(mechanics.gamma + mechanics.corrections + product(J, a0))
    constraint = solved(mechanics, S, right[:, None], samples)
    reactions = constraint.solution[:, 0]
    accelerations = tuple(a0 + product(Y, reactions))
    return Explicit(
        rates=(*v, *accelerations),
        velocities=v,
        accelerations=accelerations,
        reactions=tuple(reactions),
        pivots=inertia.pivots + constraint.pivots,
    )
