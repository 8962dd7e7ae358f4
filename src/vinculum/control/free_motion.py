"""Stabilization of the free motion under servo constraints by tangential reactions (Khusanov 2020, conclusion).

x' = A x + B μ at a steady motion,   μ = μ₀ - R⁻¹Bᵀ P x,   AᵀP + P A - P B R⁻¹ Bᵀ P + Q = 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from vinculum.analyze.internal import first_approximation
from vinculum.derivation import EquationsOfMotion
from vinculum.errors import ModelError
from vinculum.names import listed
from vinculum.text_printer import number


def stabilize_free_motion(
    equations: EquationsOfMotion,
    at: Mapping[sp.Expr, float],
    states: Sequence[sp.Expr],
    inputs: Sequence[sp.Expr] | None = None,
    *,
    state_weights: np.ndarray | float = 1.0,
    input_weights: np.ndarray | float = 1.0,
) -> dict[sp.Expr, sp.Expr]:
    """Laws {input: expression of the states} that stabilize a steady motion, by LQR on the first approximation.

    ``at`` is the steady motion with its inputs; ``states`` are those that are constant in it. Pass the laws to
    ``simulate(..., inputs=laws)``.
    """
    import scipy.linalg

    driven = list(inputs if inputs is not None else equations.system.free_inputs)
    A, B = first_approximation(equations, at, states, driven)
    Q, R = _weights(state_weights, len(A)), _weights(input_weights, len(driven))
    refuse_uncontrollable(A, B, states)
    P = scipy.linalg.solve_continuous_are(A, B, Q, R)
    gain = np.linalg.solve(R, B.T @ P)
    distance = sp.Matrix([x - at[x] for x in states])
    return {u: at[u] - (sp.Matrix(gain)[i, :] * distance)[0] for i, u in enumerate(driven)}


def _weights(weights: np.ndarray | float, size: int) -> np.ndarray:
    return np.asarray(weights, dtype=float) * np.eye(size) if np.ndim(weights) < 2 else np.asarray(weights, dtype=float)


def refuse_uncontrollable(A: np.ndarray, B: np.ndarray, states: Sequence[sp.Expr]) -> None:
    """A root that does not decay must be controllable (Popov, Belevitch, Hautus)."""
    for root in np.linalg.eigvals(A):
        if root.real < -1e-9:
            continue
        pencil = np.column_stack([A - root * np.eye(len(A)), B])
        left, singular, _ = np.linalg.svd(pencil)
        if singular[-1] <= 1e-9 * singular[0]:
            shape = [key for key, part in zip(states, left[:, -1], strict=True) if abs(part) > 1e-6]
            raise ModelError(
                "The free motion cannot be stabilized",
                [f"No input can control the root {number(root, 4)} in {listed(shape)}. Add an input that acts on it."],
            )
