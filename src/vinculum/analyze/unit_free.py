"""A linear system in natural units, which makes distances independent of the user's units.

η = D ζ, u = S v and τ = ρ t turn η̇ = Fη + Hu into ζ' = F̂ζ + Ĥv. Within each irreducible block of F, D makes the norms
of rows and columns equal (Osborne 1960); the result is unique and hardly depends on entries much smaller than others. ρ
is the largest norm of a block. One factor for each block and each input then makes the couplings between them of size
ρ, in the mean of their logarithms. Another choice of units changes D, S and ρ, and leaves F̂ and Ĥ as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.analyze.root_bounds import balance, irreducible_blocks

_SWEEPS, _STEADY = 200, 1e-10  # of Osborne's iteration


@dataclass(frozen=True, eq=False)
class UnitFree:
    """F̂ and Ĥ, and the units of states, inputs and rates."""

    F: np.ndarray  # (n, n)
    H: np.ndarray  # (n, k)
    states: np.ndarray  # D, (n)
    inputs: np.ndarray  # S, (k)
    rate: float  # ρ


def unit_free(F: np.ndarray, H: np.ndarray) -> UnitFree:
    """The pair (F, H) in natural units."""
    blocks = irreducible_blocks(F)
    D = np.ones(len(F))
    for block in blocks:
        D[block] = _equal_norms(F[np.ix_(block, block)])
    F_b, H_b = F * D / D[:, None], H / D[:, None]
    size = max((float(np.linalg.norm(F_b[np.ix_(b, b)], 2)) for b in blocks), default=0.0)
    factors, rate = _between(F_b, H_b, blocks, size)
    for factor, block in zip(factors, blocks, strict=False):
        D[block] *= factor
    S = factors[len(blocks) :]
    return UnitFree(F * D / D[:, None] / rate, H * S / D[:, None] / rate, D, S, rate)


def _equal_norms(A: np.ndarray) -> np.ndarray:
    """D for which each row of D⁻¹AD has the norm of its column, without the diagonal. D is of unit geometric mean."""
    A, D = balance(A)
    A = A - np.diag(np.diag(A))
    if len(A) == 1:
        return np.ones(1)
    for _ in range(_SWEEPS):
        largest = 1.0
        for i in range(len(A)):
            change = np.sqrt(np.linalg.norm(A[i]) / np.linalg.norm(A[:, i]))
            A[:, i] *= change
            A[i] /= change
            D[i] *= change
            largest = max(largest, change, 1 / change)
        if largest < 1 + _STEADY:
            break
    return D / np.exp(np.mean(np.log(D)))


def _between(F: np.ndarray, H: np.ndarray, blocks: list[np.ndarray], size: float) -> tuple[np.ndarray, float]:
    """Factors of blocks and inputs that make their couplings of size ρ, and ρ: ``size``, or free if that is zero."""
    parts = [*blocks, *(np.array([len(F) + j]) for j in range(H.shape[1]))]
    whole = np.hstack([F, H])
    rows, right = [], []
    for a, first in enumerate(blocks):
        for b, second in enumerate(parts):
            coupling = float(np.linalg.norm(whole[np.ix_(first, second)])) if a != b else 0.0
            if coupling > 0:
                row = np.zeros(len(parts) + 1)
                row[a], row[b], row[-1] = 1.0, -1.0, 1.0
                rows.append(row)
                right.append(np.log(coupling))
    matrix, logs = np.array(rows).reshape(-1, len(parts) + 1), np.array(right)
    if size > 0:
        found = _least_squares(matrix[:, :-1], logs - np.log(size))
        return np.exp(found), size
    found = _least_squares(matrix, logs)
    return np.exp(found[:-1]), float(np.exp(found[-1]))


def _least_squares(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(matrix, right, rcond=None)[0] if len(right) else np.zeros(matrix.shape[1])
