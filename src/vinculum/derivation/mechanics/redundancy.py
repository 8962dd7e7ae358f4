"""Dependent constraints: found, named, and replaced by least squares where the user wants to go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vinculum.derivation.mechanics.column_choice import unit_rows
from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, product
from vinculum.derivation.mechanics.sample_states import Samples, numbers
from vinculum.errors import About, ConstraintError, Finding, call
from vinculum.graph import vector
from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.derivation.mechanics.explicit import Explicit

    Elimination = Callable[[Mechanics, Samples], Explicit]

_DEPENDENT = 1e-9  # relative size of singular values of the row-scaled Jacobian that count as zero


def rank_of(J: np.ndarray) -> int:
    """The rank of a constraint Jacobian (m, n), its rows scaled to unit length."""
    return int(np.sum(np.linalg.svd(unit_rows(J), compute_uv=False) > _DEPENDENT)) if J.size else 0


def independent_rows(J: np.ndarray) -> list[int]:
    """Rows that span the row space, the best-conditioned first (pivoted QR)."""
    import scipy.linalg  # imported late: it takes a quarter of a second

    order = scipy.linalg.qr(unit_rows(J).T, mode="r", pivoting=True)[-1]
    return sorted(int(i) for i in order[: rank_of(J)])


def dependent_names(J: np.ndarray, names: Sequence[str]) -> list[str]:
    """The constraints that take part in a linear dependence of the rows of J."""
    vectors, singular, _ = np.linalg.svd(unit_rows(J))
    dependences = vectors[:, np.sum(singular > _DEPENDENT) :]
    taking_part = np.abs(dependences).max(axis=1, initial=0.0) > 1e-6
    return [name for name, part in zip(names, taking_part, strict=True) if part]


def refuse_dependent(J: np.ndarray, names: Sequence[str], coordinates: Sequence, q: np.ndarray) -> None:
    """Raise a `ConstraintError` that names the dependent constraints, if there are any at q."""
    rank = rank_of(J)
    if rank == len(J):
        return
    guilty = dependent_names(J, names)
    quoted = ", ".join(f"`{name}`" for name in guilty)
    subject = f"The constraints {quoted} are dependent" if len(guilty) > 1 else f"The constraint {quoted} does not act"
    point = ", ".join(f"{name_of(c)} = {value:.6g}" for c, value in zip(coordinates, q, strict=True))
    raise ConstraintError(
        Finding(
            f"{subject}: rank {rank} of {len(J)} at {point}.",
            [
                "Remove one, or, if they repeat each other on purpose, use ",
                call("derive", redundant="least_squares"),
                ".",
            ],
            About("constraint", guilty[0] if guilty else ""),
        )
    )


def least_squares(eliminate: Elimination, mechanics: Mechanics, samples: Samples) -> Explicit:
    """An elimination that goes on with dependent constraints.

    With J_I independent rows that span all rows and K = J J_Iᵀ, the constraints are met in the sense of least
    squares, Kᵀ(J q̈ + γ + c) = 0, and of all multipliers that give the same reaction force Jᵀλ the shortest is
    chosen, λ = K μ.
    """
    J = mechanics.J
    K = matrix_product(J, J[independent_rows(numbers(J, samples[0]))].T)
    combined = replace(
        mechanics,
        J=matrix_product(K.T, J),
        gamma=product(K.T, mechanics.gamma),
        corrections=product(K.T, mechanics.corrections),
    )
    explicit = eliminate(combined, samples)
    return replace(explicit, reactions=tuple(product(K, vector(explicit.reactions))))
