"""Stabilization by linear-quadratic feedback (Krasinskiy 2025, (34) to (37)).

u = u₀ + K η minimizes ∫ (ηᵀQη + uᵀRu) dt for η̇ = Fη + Hu:  K = -R⁻¹HᵀX,  FᵀX + XF - XHR⁻¹HᵀX + Q = 0.

The equation is solved for the whole system. It has a stabilizing solution if every mode that does not decay is
controllable, and every mode on the imaginary axis appears in the cost (Kučera 1972). An uncontrollable mode that decays
may drive controllable states; the law then acts on that mode too. With integrals of outputs z, ż = C_i η, the same is
done for (η, z): the loop then has no constant error in these outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import Mode, reach
from vinculum.analyze.root_bounds import bounded_roots
from vinculum.analyze.unit_free import UnitFree, unit_free
from vinculum.control.feedback import (
    Compensator,
    FeedbackLaw,
    controller_state,
    input_columns,
    output_rows,
    whole_gain,
)
from vinculum.control.leaf import Leaf, find_leaf
from vinculum.control.refuse_modes import refuse_idle_inputs, refuse_uncontrollable, refuse_unweighted
from vinculum.control.weights import Weights, weights
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed, name_of
from vinculum.text_printer import number


def stabilize(
    linear: LinearModel,
    state_weights: Weights = None,
    input_weights: Weights = None,
    *,
    inputs: Sequence[sp.Expr] | None = None,
    outputs: Sequence[sp.Expr] | None = None,
    integral: Sequence[sp.Expr] = (),
    integral_weights: Weights = None,
) -> FeedbackLaw:
    """The linear-quadratic feedback law for the given weights (default: unit matrices).

    Weights are matrices, diagonals in the order of ``linear.states`` and ``linear.inputs``, or {symbol: number}.
    ``inputs`` are the inputs to use; the others keep their holding values. With ``outputs``, ``state_weights`` are the
    weights of these outputs. ``integral`` are outputs whose integrals are fed back: the loop holds them at their
    equilibrium values against constant disturbances. What is conserved whatever the inputs do, such as the momentum of
    a flywheel, is left alone: the loop tends to the steady motion with its present value.
    """
    columns = input_columns(linear, inputs)
    refuse_idle_inputs(linear, columns)
    used = tuple(linear.inputs[k] for k in columns)
    R = weights(input_weights, len(columns), "input_weights", used, definite=True)
    F, H, Q, names = _augmented(
        linear, columns, _state_weights(linear, state_weights, outputs), integral, integral_weights
    )
    modes = reach(F, H, names, _padded(linear.errors, len(F)))
    bad = [mode for mode in modes if mode.lost and not mode.decays]
    leaf = find_leaf(linear, H, len(bad)) if bad and not integral else None
    if leaf is not None:
        return _on_leaf(linear, columns, leaf, Q, R)
    refuse_uncontrollable(linear, bad, used)
    refuse_unweighted(unweighted_modes(F, Q, names))
    gain = whole_gain(linear, columns, regulator(F, H, Q, R))
    n = len(linear.states)
    return FeedbackLaw(linear, gain[:, :n], tuple(modes), _integrals(linear, integral, gain[:, n:]))


def _on_leaf(linear: LinearModel, columns: Sequence[int], leaf: Leaf, Q: np.ndarray, R: np.ndarray) -> FeedbackLaw:
    """The law at the present value of what is conserved (see `leaf`)."""
    F, H, Q = (
        leaf.V @ linear.system_matrix @ leaf.T,
        leaf.V @ linear.input_matrix[:, list(columns)],
        leaf.T.T @ Q @ leaf.T,
    )
    names = [name_of(s) for s in leaf.states]
    modes = reach(F, H, names)
    bad = [mode for mode in modes if mode.lost and not mode.decays]
    refuse_uncontrollable(linear, bad, tuple(linear.inputs[k] for k in columns))
    refuse_unweighted(unweighted_modes(F, Q, names))
    return FeedbackLaw(linear, whole_gain(linear, columns, regulator(F, H, Q, R) @ leaf.V), tuple(modes))


def _padded(errors: np.ndarray | None, size: int) -> np.ndarray | None:
    """The errors of the plant's matrix within the augmented one, whose other entries are exact."""
    if errors is None:
        return None
    result = np.zeros((size, size))
    result[: len(errors), : len(errors)] = errors
    return result


def _state_weights(linear: LinearModel, given: Weights, outputs: Sequence[sp.Expr] | None) -> np.ndarray:
    """Q, or CᵀWC from the weights W of chosen outputs."""
    if outputs is None:
        return weights(given, len(linear.states), "state_weights", linear.states, measured=linear.measured)
    C = output_rows(linear, outputs)
    return C.T @ weights(given, len(outputs), "state_weights", tuple(outputs)) @ C


def _augmented(
    linear: LinearModel,
    columns: Sequence[int],
    Q: np.ndarray,
    integral: Sequence[sp.Expr],
    integral_weights: Weights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """F, H and Q of the states and integrals, with the names of both."""
    F, H = linear.system_matrix, linear.input_matrix[:, list(columns)]
    names = [name_of(s) for s in linear.states]
    if not integral:
        return F, H, Q, names
    _refuse_too_many(linear, columns, integral)
    C, p, n = output_rows(linear, integral), len(integral), len(F)
    W = weights(integral_weights, p, "integral_weights", tuple(integral))
    F = np.block([[F, np.zeros((n, p))], [C, np.zeros((p, p))]])
    H = np.vstack([H, np.zeros((p, H.shape[1]))])
    Q = np.block([[Q, np.zeros((n, p))], [np.zeros((p, n)), W]])
    return F, H, Q, names + [f"integral of {name_of(y)}" for y in integral]


def _refuse_too_many(linear: LinearModel, columns: Sequence[int], integral: Sequence[sp.Expr]) -> None:
    if len(integral) > len(columns):
        used = listed(linear.inputs[k] for k in columns)
        problem = (
            f"{len(columns)} inputs ({used}) cannot hold {len(integral)} outputs ({listed(integral)}). Remove outputs."
        )
        raise ModelError("Invalid integral", [problem])


def _integrals(linear: LinearModel, integral: Sequence[sp.Expr], gain: np.ndarray) -> Compensator | None:
    """ż = y - y₀, with the given gain."""
    if not integral:
        return None
    p = len(integral)
    states = tuple(controller_state("integral", y, linear) for y in integral)
    return Compensator(tuple(integral), states, np.zeros((p, p)), np.eye(p), gain, np.zeros((len(gain), p)))


def unweighted_modes(F: np.ndarray, Q: np.ndarray, names: Sequence[str]) -> list[Mode]:
    """The modes on the imaginary axis that the cost ηᵀQη does not contain."""
    modes = reach(F.T, _root_of(Q), names)
    return [mode for mode in modes if mode.lost and not mode.decays and not mode.grows]


def _root_of(Q: np.ndarray) -> np.ndarray:
    """C with CCᵀ = Q for a semidefinite Q, whose rank is that of the matrix with unit diagonal."""
    q = np.sqrt(np.diag(Q))
    q_or_one = np.where(q > 0, q, 1.0)
    values, vectors = np.linalg.eigh(Q / q_or_one / q_or_one[:, None])
    values = np.where(values > 1e-12 * values.max(initial=0.0), values, 0.0)
    return q[:, None] * vectors * np.sqrt(values)


def regulator(F: np.ndarray, H: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """K = -R⁻¹HᵀX from the algebraic Riccati equation, solved in natural units."""
    import scipy.linalg

    own = unit_free(F, H)
    D, S = own.states, own.inputs
    Q_own, R_own = Q * D * D[:, None], R * S * S[:, None]
    size = np.abs(Q_own).max(initial=0.0) or 1.0
    try:
        X = scipy.linalg.solve_continuous_are(own.F, own.H, Q_own / size, R_own / size)
    except np.linalg.LinAlgError as error:
        raise VinculumError(_NO_SOLUTION) from error
    K = -np.linalg.solve(R_own / size, own.H.T @ X)
    gain = _refined(own, Q_own / size, R_own / size, K) * S[:, None] / D
    closed = bounded_roots(F + H @ gain)
    if not closed.left.all():
        worst = number(closed.roots[np.flatnonzero(~closed.left)[0]])
        raise VinculumError(f"{_NO_SOLUTION} The best solution found leaves the root {worst}.")
    return gain


def _refined(own: UnitFree, Q: np.ndarray, R: np.ndarray, K: np.ndarray) -> np.ndarray:
    """One step of Newton's method (Kleinman 1968): AᵀX + XA + Q + KᵀRK = 0 with A = F + HK, then K = -R⁻¹HᵀX."""
    import scipy.linalg

    A = own.F + own.H @ K
    X = scipy.linalg.solve_continuous_lyapunov(A.T, -(Q + K.T @ R @ K))
    return -np.linalg.solve(R, own.H.T @ X)


_NO_SOLUTION = (
    "The Riccati equation could not be solved: a mode is almost uncontrollable, almost without weight, or the weights "
    "differ by too many orders of magnitude. Change the weights."
)
