"""A linear system in units of its own, so that no distance depends on the user's units.

η = D ζ, u = S v and τ = ρ t turn η̇ = Fη + Hu into ζ' = F̂ζ + Ĥv with entries of size one:

    Σ |log|F_ij| + d_j - d_i - r|  +  Σ |log|H_ik| + s_k - d_i - r|  →  min,   D = e^d, S = e^s, ρ = e^r.

Another choice of units only shifts d, s and r, so F̂ and Ĥ stay the same. Absolute values, not squares, are summed: a
few tiny entries do not distort the scale of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SWEEPS = 20  # of reweighted least squares


@dataclass(frozen=True, eq=False)
class UnitFree:
    """F̂ and Ĥ, and the units of states, inputs and rates."""

    F: np.ndarray  # (n, n)
    H: np.ndarray  # (n, k)
    states: np.ndarray  # D, (n)
    inputs: np.ndarray  # S, (k)
    rate: float  # ρ


def unit_free(F: np.ndarray, H: np.ndarray) -> UnitFree:
    """The pair (F, H) in units of its own."""
    n, k = H.shape
    whole = np.hstack([F, H])
    row, column = np.nonzero(whole)
    size = np.log(np.abs(whole[row, column]))
    rows = np.zeros((len(size), n + k + 1))
    number = np.arange(len(size))
    np.add.at(rows, (number, column), -1.0)
    np.add.at(rows, (number, row), 1.0)
    rows[:, -1] = 1.0
    found = np.exp(_least_absolute(rows, size))
    D, S, rate = found[:n], found[n:-1], float(found[-1])
    return UnitFree(F * D / D[:, None] / rate, H * S / D[:, None] / rate, D, S, rate)


def _least_absolute(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    """x with the least Σ |rows x - right|, nearly: least squares with weights 1/(1 + |residual|)."""
    x = np.linalg.lstsq(rows, right, rcond=None)[0]
    for _ in range(_SWEEPS):
        weight = 1 / np.sqrt(1 + np.abs(rows @ x - right))
        x = np.linalg.lstsq(rows * weight[:, None], right * weight, rcond=None)[0]
    return x
