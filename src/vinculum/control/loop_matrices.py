"""The linear closed loop, with the observer and the states of the controller.

η̇ = F η + H u,   ξ̇ = A_e ξ + B_e u + L_e y,   ż = A_c z + B_c y,
u = K η̂ + C_c z + D_c y,   η̂ = P ξ + R y   (η̂ = η without an observer).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vinculum.control.feedback import FeedbackLaw
    from vinculum.control.observer import Estimator


@dataclass(frozen=True, eq=False)
class LoopMatrices:
    """X' = A X for X = (η, ξ, z), what the inputs of the plant act on, and what the controller sends to them."""

    A: np.ndarray  # (N, N)
    plant_inputs: np.ndarray  # (N, inputs): H above zeros
    controls: np.ndarray  # (inputs, N): u = controls X


def loop_matrices(law: FeedbackLaw, estimator: Estimator | None = None) -> LoopMatrices:
    """The closed loop of a law and, if given, an observer."""
    F, H, K = law.linear.system_matrix, law.linear.input_matrix, law.gain
    n, k = H.shape
    A_e, B_e, L_e, P, R = _observer(estimator, n, k)
    A_c, B_c, C_c, D_c = _compensator(law, n)
    direct = (K if estimator is None else K @ R) + D_c
    controls = np.hstack([direct, K @ P, C_c])
    e, c = len(A_e), len(A_c)
    rates = np.block([
        [F, np.zeros((n, e + c))],
        [L_e, A_e, np.zeros((e, c))],
        [B_c, np.zeros((c, e)), A_c],
    ])  # fmt: skip
    driven = np.vstack([H, B_e, np.zeros((c, k))])
    plant_inputs = np.vstack([H, np.zeros((e + c, k))])
    return LoopMatrices(rates + driven @ controls, plant_inputs, controls)


def _observer(estimator: Estimator | None, n: int, k: int) -> tuple[np.ndarray, ...]:
    """A_e, B_e, L_e C, P, R C in terms of η."""
    if estimator is None:
        return np.zeros((0, 0)), np.zeros((0, k)), np.zeros((0, n)), np.zeros((n, 0)), np.zeros((n, n))
    own = estimator.realization
    return own.A, own.B, own.L @ estimator.C, own.P, own.R @ estimator.C


def _compensator(law: FeedbackLaw, n: int) -> tuple[np.ndarray, ...]:
    """A_c, B_c C, C_c, D_c C in terms of η."""
    k, own = len(law.linear.inputs), law.compensator
    if own is None:
        return np.zeros((0, 0)), np.zeros((0, n)), np.zeros((k, 0)), np.zeros((k, n))
    C = np.array([law.linear.measured[y] for y in own.outputs]).reshape(len(own.outputs), n)
    return own.A, own.B @ C, own.C, own.D @ C
