"""Lyapunov's elimination of the multipliers (1885; Krasinskiy 2025, five steps after (5)).

    q̈ = a₀ + Y λ,  M a₀ = Q - h,  M Y = Jᵀ;    (J Y) λ = -(γ + c + J a₀)

gives λ(q, q̇) and equations in q alone. It needs a regular mass matrix.
"""

from __future__ import annotations

import numpy as np

from vinculum.derivation.mechanics.explicit import Explicit, solved
from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, product
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers
from vinculum.errors import Finding, SingularError, call
from vinculum.names import name_of


def lyapunov(mechanics: Mechanics, samples: Samples) -> Explicit:
    """q̈ and λ by eliminating first the accelerations, then the multipliers."""
    refuse_massless(mechanics, samples[0])
    M, J = mechanics.M, mechanics.J
    free = mechanics.Q - mechanics.h
    inertia = solved(mechanics, M, np.column_stack([free, J.T]), samples)
    a0, Y = inertia.solution[:, 0], inertia.solution[:, 1:]
    v = mechanics.system.nodes.v
    if not len(J):
        return Explicit((*v, *a0), v, tuple(a0), (), inertia.pivots, inertia.numbers)
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
        numbers=inertia.numbers + constraint.numbers,
    )


def symmetrized(S: np.ndarray) -> np.ndarray:
    """S with the lower triangle replaced by the upper one; J M⁻¹ Jᵀ is symmetric."""
    for i in range(len(S)):
        S[i, :i] = S[:i, i]
    return S


def refuse_massless(mechanics: Mechanics, values: Values) -> None:
    """This form divides by M: name the coordinates that have no inertia."""
    M = numbers(mechanics.M, values)
    size = np.sqrt(np.maximum(np.abs(np.diag(M)), 1e-300))
    _, singular, vectors = np.linalg.svd(M / np.outer(size, size))
    if singular[-1] > 1e-12 * singular[0]:
        return
    coordinates = mechanics.system.coordinates
    guilty = [name_of(c) for c, part in zip(coordinates, vectors[-1], strict=True) if abs(part) > 1e-3]
    raise SingularError(
        Finding(
            f"The mass matrix is singular in {', '.join(guilty)}, and Lyapunov's elimination divides by it.",
            ["Use ", call("derive", form="multipliers"), ", which needs only the bordered matrix to be regular."],
        )
    )
