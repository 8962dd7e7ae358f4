"""Equations projected on the directions the constraints leave free.

With q̈ = (r̈, B r̈ + b₁) and P = (E; B), the reactions drop out of Pᵀ(M q̈ + h - Q) = 0:

    A* r̈ = Pᵀ(Q - h) - (M_rs + Bᵀ M_ss) b₁,   A* = PᵀMP = M_rr + M_rs B + (M_rs B)ᵀ + BᵀM_ss B,

and come back from the dependent rows: F_sᵀ λ = (M q̈ + h - Q)_s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vinculum.derivation.mechanics.explicit import solved
from vinculum.derivation.mechanics.lagrange import EnergyTerms, Mechanics, matrix_product, product, symmetrized
from vinculum.derivation.mechanics.partition import Partition, explicit_time, following
from vinculum.derivation.mechanics.sample_states import Samples, stacked
from vinculum.graph import ZERO, Node, solve, substitute, vector


@dataclass(frozen=True, eq=False)
class Projected:
    """r̈, s̈ and λ with the pivots of all eliminations."""

    accelerations: np.ndarray  # (n + m) in the order of the coordinates
    reactions: np.ndarray  # (m)
    pivots: tuple[Node, ...]
    numbers: tuple[float, ...]


def reduced_matrix(mechanics: Mechanics, partition: Partition, B: np.ndarray) -> np.ndarray:
    """A* = PᵀMP, symmetric by identity."""
    r, s = list(partition.r), list(partition.s)
    M = mechanics.M
    mixed = matrix_product(M[np.ix_(r, s)], B)
    return symmetrized(M[np.ix_(r, r)] + mixed + mixed.T + matrix_product(B.T, matrix_product(M[np.ix_(s, s)], B)))


def projected(mechanics: Mechanics, partition: Partition, bias: np.ndarray, samples: Samples) -> Projected:
    """Solve for r̈, then s̈ = B r̈ + b₁ with F_s b₁ = -bias, then λ.

    ``mechanics`` may have its velocities replaced by functions of the state; ``bias`` is γ + c of J q̈ + γ + c = 0.
    """
    r, s = list(partition.r), list(partition.s)
    F_r = mechanics.J[:, r]
    geometry = following(mechanics, partition, np.column_stack([-F_r, -bias]), samples)
    B, b1 = geometry.solution[:, :-1], geometry.solution[:, -1]
    free = mechanics.Q - mechanics.h
    coupling = mechanics.M[np.ix_(r, s)] + matrix_product(B.T, mechanics.M[np.ix_(s, s)])
    right = free[r] + product(B.T, free[s]) - product(coupling, b1)
    motion = solved(mechanics, reduced_matrix(mechanics, partition, B), right[:, None], samples)
    accelerations = np.full(len(r) + len(s), ZERO, dtype=object)
    accelerations[r] = motion.solution[:, 0]
    accelerations[s] = product(B, accelerations[r]) + b1
    reactions, pivots, values = _reactions(mechanics, partition, accelerations, samples)
    return Projected(
        accelerations,
        reactions,
        geometry.pivots + motion.pivots + pivots,
        geometry.numbers + motion.numbers + values,
    )


def _reactions(
    mechanics: Mechanics, partition: Partition, accelerations: np.ndarray, samples: Samples
) -> tuple[np.ndarray, tuple[Node, ...], tuple[float, ...]]:
    """λ from F_sᵀ λ = E_s, E = M q̈ + h - Q."""
    s = list(partition.s)
    if not s:
        return np.zeros(0, dtype=object), (), ()
    E_s = product(mechanics.M[s], accelerations) + mechanics.h[s] - mechanics.Q[s]
    F_sT = mechanics.J[:, s].T
    elimination = solve(F_sT, E_s[:, None], stacked(F_sT, samples))
    return elimination.solution[:, 0], elimination.pivots, elimination.numbers


def dependent_rates(mechanics: Mechanics, partition: Partition, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """ṡ as it is integrated (with the correction c), and all velocities (r, s) of the exact motion."""
    r, s = list(partition.r), list(partition.s)
    velocities = vector(mechanics.system.nodes.v)
    if not s:
        return np.zeros(0, dtype=object), velocities
    moving = product(mechanics.J[:, r], velocities[r]) + explicit_time(mechanics)
    columns = np.column_stack([-moving, -(moving + mechanics.corrections)])
    solution = following(mechanics, partition, columns, samples).solution
    velocities[s] = solution[:, 0]
    return solution[:, 1], velocities


def with_velocities(mechanics: Mechanics, velocities: np.ndarray) -> Mechanics:
    """The terms of Lagrange's equations with velocities replaced by functions of the state."""
    pairs = zip(mechanics.system.nodes.v, velocities, strict=True)
    replaced = {v: node for v, node in pairs if v is not node}

    def at(nodes: np.ndarray) -> np.ndarray:
        flat: list[Node] = substitute(list(nodes.ravel()), replaced)
        return vector(flat).reshape(nodes.shape)

    return replace(
        mechanics,
        terms=EnergyTerms(at(mechanics.M), at(mechanics.h), at(mechanics.terms.slope), mechanics.recursion),
        Q=at(mechanics.Q),
        applied=at(mechanics.applied),
        J=at(mechanics.J),
        gamma=at(mechanics.gamma),
    )
