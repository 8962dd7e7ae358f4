"""Laws designed at the samples themselves: a discrete linear-quadratic regulator, and a Kalman filter from outputs.

    u_k = u₀ - K z_k,   K = (R + Bᵀ P B)⁻¹ Bᵀ P A,   P from the discrete Riccati equation,
    ẑ_k+1 = A ẑ_k + B (u_k - u₀) + L (y_k - y₀ - C ẑ_k),   the dual for L.

z holds the inputs that are on their way (`DiscreteModel`), so that a delay of any length is part of the design.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.analyze.discrete_model import DiscreteModel
from vinculum.analyze.linear_model import LinearModel
from vinculum.control.digital_law import DigitalLaw
from vinculum.control.feedback import controller_state, output_rows, value_at
from vinculum.control.weights import Weights, weights
from vinculum.errors import VinculumError
from vinculum.units.given import duration


def digital(
    linear: LinearModel,
    period: float,
    state_weights: Weights = None,
    input_weights: Weights = None,
    *,
    delay: float = 0.0,
    outputs: Sequence[sp.Expr] | None = None,
    state_noise: Weights = None,
    output_noise: Weights = None,
) -> DigitalLaw:
    """A law designed for a sample period and a delay, from all states, or from ``outputs`` with a Kalman filter.

    The weights are those of Σ ηᵀ Q η + uᵀ R u over the samples.
    """
    period = duration(period, "period")
    delay = duration(delay, "delay")
    model = linear.discrete(period, delay)
    n, extra = len(linear.states), len(model.A) - len(linear.states)
    Q = np.zeros(model.A.shape)
    Q[:n, :n] = weights(state_weights, n, "state_weights", linear.states)
    R = weights(input_weights, len(linear.inputs), "input_weights", linear.inputs, definite=True)
    K = _gain(model.A, model.B, Q, R, "state_weights")
    u0 = np.array([value_at(linear, u) for u in linear.inputs])
    past = tuple(controller_state(f"sent_{k + 1}", u, linear) for k in range(model.waiting) for u in linear.inputs)
    if outputs is None:
        shift = model.A[n:, n:], model.B[n:]
        y0 = np.array([value_at(linear, s) for s in linear.states])
        nothing = np.zeros((extra, n))
        return DigitalLaw(linear.states, linear.inputs, past, float(period), shift[0], nothing, -K[:, n:], -K[:, :n],
                          shift[1], y0, u0)  # fmt: skip
    C = model.measures(output_rows(linear, outputs))
    W = np.zeros(model.A.shape)
    W[:n, :n] = weights(state_noise, n, "state_noise", linear.states)
    V = weights(output_noise, len(outputs), "output_noise", tuple(outputs), definite=True)
    L = np.zeros((len(model.A), len(outputs)))
    L[:n] = _gain(model.A[:n, :n].T, C[:, :n].T, W[:n, :n], V, "state_noise").T
    states = (*(controller_state("estimate", s, linear) for s in linear.states), *past)
    y0 = np.array([value_at(linear, y) for y in outputs])
    D = np.zeros((len(linear.inputs), len(outputs)))
    return DigitalLaw(tuple(outputs), linear.inputs, states, float(period), model.A - L @ C, L, -K, D, model.B, y0, u0)


def _gain(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, name: str) -> np.ndarray:
    """(R + Bᵀ P B)⁻¹ Bᵀ P A."""
    try:
        P = scipy.linalg.solve_discrete_are(A, B, Q, R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise VinculumError(
            f"The discrete Riccati equation has no stabilizing solution: a mode that is not stable cannot be reached, "
            f"or {name} does not see it. Check vn.linear.controllability(linear), or choose other {name}."
        ) from error
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def sampled_loop(model: DiscreteModel, law: DigitalLaw) -> np.ndarray:
    """The matrix of (z, w) from one sample to the next in the closed loop, without limits."""
    linear = model.linear
    C = model.measures(np.array([linear.measured[y] for y in law.outputs]).reshape(len(law.outputs), -1))
    return np.block([
        [model.A + model.B @ law.D @ C, model.B @ law.C],
        [law.B @ C + law.E @ law.D @ C, law.A + law.E @ law.C],
    ])  # fmt: skip
