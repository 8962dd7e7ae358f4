"""Lagrange's equations with multipliers, index-1 form (Krasinskiy 2025, equations (5)).

    [ M  Jᵀ ] [  q̈ ]   [ Q - h  ]
    [ J  0  ] [ -λ ] = [ -γ - c ]

For a servo constraint the column Jᵀ is replaced by the direction ∂Q/∂u of its input u, which then is its λ.
The mass matrix may be singular as long as this bordered matrix is not: a coordinate without inertia is
determined by the constraints.
"""

from __future__ import annotations

import numpy as np

from vinculum.derivation.mechanics.explicit import Explicit, solved
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.graph import ZERO, vector


def multipliers(mechanics: Mechanics, samples: Samples) -> Explicit:
    """q̈ and λ from the bordered system, pivots chosen on the samples."""
    from vinculum.derivation.mechanics.tree_terms import tree_accelerations

    swept = tree_accelerations(mechanics, samples)
    if swept is not None:
        return swept
    M, J = mechanics.M, mechanics.J
    m, n = J.shape
    A = np.full((n + m, n + m), ZERO, dtype=object)
    A[:n, :n], A[:n, n:], A[n:, :n] = M, mechanics.directions, J
    right = vector([*(mechanics.Q - mechanics.h), *(-mechanics.gamma - mechanics.corrections)])
    elimination = solved(mechanics, A, right[:, None], samples, symmetric=mechanics.actuators is None)
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
