"""Rank of the constraints: which rows are independent, which columns to solve for, what to do with dependent rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, product
from vinculum.derivation.mechanics.sample_states import Samples, numbers
from vinculum.errors import About, ConstraintError, Finding, call
from vinculum.graph import vector
from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.derivation.mechanics.explicit import Explicit

    Elimination = Callable[[Mechanics, Samples], Explicit]


_DEPENDENT = 1e-9  # relative size of singular values of the row-scaled Jacobian that count as zero
_ALL = 20_000  # choices up to this number are all compared


def best_columns(J: np.ndarray) -> tuple[int, ...]:
    """The m columns of J, (m, n), that are best conditioned: their smallest singular value is the largest.

    The rows of J are scaled to unit length. Up to 20 000 choices are all compared. Beyond that a pivoted QR gives the
    first choice, and single columns are exchanged as long as that improves it.
    """
    rows = unit_rows(J)
    m, n = rows.shape
    if not m:
        return ()
    if comb(n, m) <= _ALL:
        choices = np.array(list(combinations(range(n), m)))
        return tuple(int(i) for i in choices[np.argmax(smallest_singular(rows, choices))])
    return _exchange_columns(rows, _pivot_columns(rows))


def unit_rows(J: np.ndarray) -> np.ndarray:
    """J with rows of unit length: the scale of a constraint does not matter."""
    return J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)


def smallest_singular(rows: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """The smallest singular value of each choice of columns, (k, m) -> (k)."""
    blocks = np.moveaxis(rows[:, choices], 0, 1)
    return np.linalg.svd(blocks, compute_uv=False)[:, -1]


def _pivot_columns(rows: np.ndarray) -> tuple[int, ...]:
    import scipy.linalg  # imported late: it takes a quarter of a second

    order = scipy.linalg.qr(rows, mode="r", pivoting=True)[-1]
    return tuple(sorted(int(i) for i in order[: len(rows)]))


def _exchange_columns(rows: np.ndarray, chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Exchange the best single column as long as that improves the choice."""
    value = smallest_singular(rows, np.array([chosen]))[0]
    while True:
        others = [i for i in range(rows.shape[1]) if i not in chosen]
        choices = np.array([sorted({*chosen, new} - {old}) for old in chosen for new in others])
        values = smallest_singular(rows, choices)
        if values.max() <= value * (1 + 1e-12):
            return chosen
        value, chosen = values.max(), tuple(int(i) for i in choices[values.argmax()])


def rank_of(J: np.ndarray) -> int:
    """The rank of a constraint Jacobian (m, n), its rows scaled to unit length."""
    return int(np.sum(np.linalg.svd(unit_rows(J), compute_uv=False) > _DEPENDENT)) if J.size else 0


def independent_rows(matrices: Sequence[np.ndarray]) -> list[int]:
    """Rows that are independent in every matrix; each step adds the row that is best in its worst matrix.

    The matrices are one matrix at several states; its rows have unit length, or entries that are cosines.
    """
    chosen: list[int] = []
    while len(chosen) < len(matrices[0]):
        rest = [i for i in range(len(matrices[0])) if i not in chosen]
        worst = [min(float(np.linalg.svd(A[[*chosen, i]], compute_uv=False)[-1]) for A in matrices) for i in rest]
        if max(worst) <= _DEPENDENT:
            break
        chosen.append(rest[int(np.argmax(worst))])
    return sorted(chosen)


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
    involved = dependent_names(J, names)
    quoted = ", ".join(f"`{name}`" for name in involved)
    subject = (
        f"The constraints {quoted} are dependent" if len(involved) > 1 else f"The constraint {quoted} does not act"
    )
    point = ", ".join(f"{name_of(c)} = {value:.6g}" for c, value in zip(coordinates, q, strict=True))
    raise ConstraintError(
        Finding(
            f"{subject}: rank {rank} of {len(J)} at {point}.",
            [
                "Remove one, or, if they repeat each other on purpose, use ",
                call("derive", redundant="least_squares"),
                ".",
            ],
            About("constraint", involved[0] if involved else ""),
        )
    )


def least_squares(eliminate: Elimination, mechanics: Mechanics, samples: Samples) -> Explicit:
    """An elimination that accepts dependent constraints.

    With J_I independent rows that span all rows and K = J J_Iᵀ, the constraints are met in the sense of least
    squares, Kᵀ(J q̈ + γ + c) = 0, and of all multipliers that give the same reaction force Jᵀλ the shortest is
    chosen, λ = K μ.
    """
    J = mechanics.J
    K = matrix_product(J, J[independent_rows([unit_rows(numbers(J, samples[0]))])].T)
    combined = replace(
        mechanics,
        J=matrix_product(K.T, J),
        gamma=product(K.T, mechanics.gamma),
        corrections=product(K.T, mechanics.corrections),
    )
    explicit = eliminate(combined, samples)
    return replace(explicit, reactions=tuple(product(K, vector(explicit.reactions))))
