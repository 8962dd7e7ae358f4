"""Design on a leaf: where a quantity is conserved whatever the inputs do, feedback acts at its present value.

At a steady motion a conserved quantity w η (w F = 0, w H = 0) belongs to a family of steady motions with tangent Z,
F Z = 0. The states split into the leaf w η = 0, with basis T, and the direction Z' of the family with w Z' = 1:

    η = T ξ + Z' (w η),    ξ = V η,  V = T⁺(1 - Z' w),    ξ̇ = V F T ξ + V H u.

A law u = K V η stabilizes the motion on every leaf: the loop tends to the steady motion with the conserved value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.root_bounds import balance

_CONSERVED = 1e-9  # of the largest singular value of the scaled (F, H)


@dataclass(frozen=True, eq=False)
class Leaf:
    """T and V, and the states that are the coordinates ξ."""

    T: np.ndarray  # (n, n - m)
    V: np.ndarray  # (n - m, n)
    states: tuple[sp.Expr, ...]


def find_leaf(linear: LinearModel, H: np.ndarray, lost: int) -> Leaf | None:
    """The leaf of ``lost`` conserved quantities that belong to the family of steady motions; None if there are none."""
    if linear.equations is None or linear.closed:
        return None
    F, d = balance(linear.system_matrix)
    Z = linear.structure.family / d[:, None]
    columns = np.abs(H / d[:, None]).max(axis=0)
    left, singular, _ = scipy.linalg.svd(np.hstack([F / np.linalg.norm(F, 2), H / d[:, None] / columns]))
    singular = np.append(singular, np.zeros(len(F) - len(singular)))
    w = left[:, singular <= _CONSERVED * singular[0]].T
    if len(w) != lost or np.linalg.matrix_rank(w @ Z, tol=1e-6) < lost:
        return None
    return _split(linear, w, Z, d)


def _split(linear: LinearModel, w: np.ndarray, Z: np.ndarray, d: np.ndarray) -> Leaf:
    """Coordinates of the leaf: all states but those that w determines best."""
    m, n = w.shape
    order = scipy.linalg.qr(w, mode="r", pivoting=True)[-1]
    pivots, others = sorted(order[:m]), sorted(order[m:])
    T = np.zeros((n, n - m))
    T[others] = np.eye(n - m)
    T[pivots] = -np.linalg.solve(w[:, pivots], w[:, others])
    V = (np.eye(n) - Z @ np.linalg.pinv(w @ Z) @ w)[others]
    return Leaf(d[:, None] * T / d[others], d[others][:, None] * V / d, tuple(linear.states[i] for i in others))
