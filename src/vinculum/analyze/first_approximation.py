"""The perturbed motion to first order, with exact constraints (Krasinskiy 2025, (19) to (26), corrected).

With q = (r, s), ṡ = B ṙ, W = V - T₀, T₁ = a₁·q̇ and Q the non-potential forces,

    A ẍ + (G - D) ẋ + K x = V_u u,   K = C1 + C2 B + Bᵀ C3 + Bᵀ C4 B + CB - PB - P,
    A = a*,  G_ij = D_j a₁*_i - D_i a₁*_j,  D = Pᵀ(∂Q/∂q̇)P,  P = Pᵀ(∂Q/∂q)P,
    CB_ij = W_μ D_j B_μi,  PB_ij = Q_μ D_j B_μi,   D_j = ∂/∂r_j + B_μj ∂/∂s_μ.

CB and PB are the effect of the curvature of the constraints: W_s and Q_s need not vanish at an equilibrium. PB is
missing in the paper. In a steady motion W_q stands for h + V_q at the velocities of the motion. All quantities here are
nodes; `linearize` evaluates them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, product
from vinculum.derivation.mechanics.partition import Partition, following, reduced_matrix, with_velocities
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.graph import ZERO, gradient, jacobian, substitute, vector


@dataclass(frozen=True, eq=False)
class FirstApproximation:
    """The matrices by their names, as arrays of nodes for n independent, m dependent coordinates and k inputs."""

    B: np.ndarray  # (m, n)
    A: np.ndarray  # (n, n)
    G: np.ndarray  # (n, n) skew
    D: np.ndarray  # (n, n)
    C1: np.ndarray  # (n, n) W_rr
    C2: np.ndarray  # (n, m) W_rs
    C3: np.ndarray  # (m, n) W_sr
    C4: np.ndarray  # (m, m) W_ss
    CB: np.ndarray  # (n, n)
    PB: np.ndarray  # (n, n)
    P: np.ndarray  # (n, n)
    V_u: np.ndarray  # (n, k)
    damping: np.ndarray  # (n, n) of ẋ in the motion itself; G - D where all velocities are zero
    slopes_r: np.ndarray  # (n, n) of Pᵀ(h - Q) with respect to r alone
    slopes_s: np.ndarray  # (n, m) and to s alone; K = slopes_r + slopes_s B
    residual: np.ndarray  # (n + m) of the equilibrium equations, projected (n), then of the constraints F


def first_approximation(mechanics: Mechanics, partition: Partition, samples: Samples) -> FirstApproximation:
    """All matrices of the perturbed motion as functions of the state."""
    r, s, nodes = list(partition.r), list(partition.s), mechanics.system.nodes
    B = following(mechanics, partition, -mechanics.J[:, r], samples).solution
    a1 = vector(substitute(gradient(nodes.kinetic, nodes.v), dict.fromkeys(nodes.v, ZERO)))
    a1_star = a1[r] + product(B.T, a1[s])
    slopes = _along(a1_star, mechanics, partition, B)
    W_q = mechanics.h - (mechanics.Q - mechanics.applied)  # h + V_q, which is W_q where all velocities are zero
    W_qq = jacobian(list(W_q), nodes.q)
    bend = _curvature(mechanics, partition, B)
    f, p = (jacobian(list(mechanics.applied), variables) for variables in (nodes.v, nodes.q))
    u = jacobian(list(mechanics.applied), nodes.inputs)
    R = _projected_forces(mechanics, partition, B)
    R_q = jacobian(list(R), nodes.q)
    return FirstApproximation(
        B=B,
        A=reduced_matrix(mechanics, partition, B),
        G=slopes - slopes.T,
        D=_projected(f, partition, B),
        C1=W_qq[np.ix_(r, r)],
        C2=W_qq[np.ix_(r, s)],
        C3=W_qq[np.ix_(s, r)],
        C4=W_qq[np.ix_(s, s)],
        CB=_contracted(W_q[s], bend),
        PB=_contracted(mechanics.applied[s], bend),
        P=_projected(p, partition, B),
        V_u=u[r] + matrix_product(B.T, u[s]),
        damping=jacobian(list(R), [nodes.v[i] for i in r]),
        slopes_r=R_q[:, r],
        slopes_s=R_q[:, s],
        residual=vector([*R, *nodes.constraints]),
    )


def _along(outputs: np.ndarray, mechanics: Mechanics, partition: Partition, B: np.ndarray) -> np.ndarray:
    """D_j y_i: derivatives along the directions that the constraints allow."""
    slopes = jacobian(list(outputs), mechanics.system.nodes.q)
    return slopes[:, list(partition.r)] + matrix_product(slopes[:, list(partition.s)], B)


def _curvature(mechanics: Mechanics, partition: Partition, B: np.ndarray) -> np.ndarray:
    """D_j B_μi = ∂²s_μ/∂r_i ∂r_j, an array (m, n, n)."""
    m, n = B.shape
    return _along(vector(list(B.ravel())), mechanics, partition, B).reshape(m, n, n) if m else np.empty((0, n, n))


def _contracted(weights: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """Σ_μ w_μ D_j B_μi."""
    n = bend.shape[1]
    result = np.full((n, n), ZERO, dtype=object)
    for weight, matrix in zip(weights, bend, strict=True):
        result = result + matrix * weight
    return result


def _projected(full: np.ndarray, partition: Partition, B: np.ndarray) -> np.ndarray:
    """Pᵀ X P = X_rr + X_rs B + Bᵀ X_sr + Bᵀ X_ss B."""
    r, s = list(partition.r), list(partition.s)
    top = full[np.ix_(r, r)] + matrix_product(full[np.ix_(r, s)], B)
    bottom = full[np.ix_(s, r)] + matrix_product(full[np.ix_(s, s)], B)
    return top + matrix_product(B.T, bottom)


def _projected_forces(mechanics: Mechanics, partition: Partition, B: np.ndarray) -> np.ndarray:
    """Pᵀ(h - Q) with ṡ = B ṙ: zero in equilibrium."""
    r, s = list(partition.r), list(partition.s)
    velocities = vector(mechanics.system.nodes.v)
    velocities[s] = product(B, velocities[r])
    moving = with_velocities(mechanics, velocities)
    left = moving.h - moving.Q
    return left[r] + product(B.T, left[s])
