"""Incomplete state information: an observer from chosen outputs (Krasinskiy 2025, section on incomplete information).

    full order:     η̂' = F η̂ + H u + L (y - C η̂),   u = u₀ + K η̂.
    reduced order:  w = T η is what is not measured, η = M y + N w, and with ŵ = ξ + L y (Luenberger 1971)
                    ξ' = (T - LC) (F (M y + N ŵ) + H u).

A measured dependent coordinate gives a row of B. L is the transposed linear-quadratic gain: for unit weights, the
Kalman filter for white noise of unit strength in the states and outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import Mode, observability
from vinculum.analyze.root_bounds import bounded_roots
from vinculum.analyze.unit_free import unit_free
from vinculum.control.feedback import controller_state, output_rows
from vinculum.control.refuse_modes import refuse_unobservable, refuse_unweighted
from vinculum.control.regulator import regulator, unweighted_modes
from vinculum.control.weights import Weights, weights
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers

FULL, REDUCED = "full", "reduced"


@dataclass(frozen=True, eq=False)
class Realization:
    """ξ' = A ξ + B (u - u₀) + L (y - y₀), and the estimate η̂ = P ξ + R (y - y₀)."""

    A: np.ndarray
    B: np.ndarray
    L: np.ndarray
    P: np.ndarray
    R: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Estimator:
    """An observer of the linear model's state."""

    linear: LinearModel
    outputs: tuple[sp.Expr, ...]
    C: np.ndarray  # (outputs, states)
    gain: np.ndarray  # L, (states, outputs); for a reduced observer (estimated states, outputs)
    modes: tuple[Mode, ...]  # with their distances to being unobservable
    estimated: tuple[sp.Expr, ...] | None = None  # the states that a reduced observer estimates; None for full order

    @property
    def order(self) -> str:
        """ "full" or "reduced"."""
        return FULL if self.estimated is None else REDUCED

    @property
    def estimated_states(self) -> tuple[sp.Expr, ...]:
        """The states that are estimated: all, or those that the outputs do not determine."""
        return self.linear.states if self.estimated is None else self.estimated

    @property
    def symbols(self) -> tuple[sp.Expr, ...]:
        """The states of the observer in a closed loop, as functions of time."""
        kind = "estimate" if self.estimated is None else "observer"
        return tuple(controller_state(kind, s, self.linear) for s in self.estimated_states)

    @property
    def realization(self) -> Realization:
        """The observer as a system with inputs u and y."""
        F, H, L, C = self.linear.system_matrix, self.linear.input_matrix, self.gain, self.C
        n, p = len(F), len(C)
        if self.estimated is None:
            return Realization(F - L @ C, H, L, np.eye(n), np.zeros((n, p)))
        T, M, N = split_states(C, [self.linear.states.index(s) for s in self.estimated])
        Z = T - L @ C
        return Realization(Z @ F @ N, Z @ H, Z @ F @ (M + N @ L), N, M + N @ L)

    @property
    def roots(self) -> np.ndarray:
        """Roots of the estimation error, slowest first."""
        return bounded_roots(self.realization.A).roots

    def __repr__(self) -> str:
        rows = {
            "outputs": listed(self.outputs),
            **({} if self.estimated is None else {"estimated": listed(self.estimated)}),
            "roots of the error": numbers(self.roots),
            "slowest": f"{self.roots[0].real:.6g}",
            "distance to losing a mode": f"{min(mode.distance for mode in self.modes):.3g}",
        }
        return labelled_rows("Estimator", rows)

    _repr_html_ = html


def observe(
    linear: LinearModel,
    outputs: Sequence[sp.Expr],
    state_noise: Weights = None,
    output_noise: Weights = None,
    *,
    order: str = FULL,
) -> Estimator:
    """Design an observer from outputs: coordinates (also dependent ones), velocities, currents.

    ``order="reduced"`` estimates only what the outputs do not determine, and takes the outputs as exact: then
    ``output_noise`` are weights of their rates.
    """
    C = output_rows(linear, outputs)
    if order not in (FULL, REDUCED):
        raise ModelError("Invalid observer", [f'order is {order!r}; it must be "full" or "reduced".'])
    modes = observability(linear, outputs)
    refuse_unobservable(linear, outputs, modes)
    W = weights(state_noise, len(linear.states), "state_noise", linear.states)
    V = weights(output_noise, len(outputs), "output_noise", tuple(outputs), definite=True)
    if order == FULL:
        L = _observer_gain(linear.system_matrix, C, W, V, linear.states)
        return Estimator(linear, tuple(outputs), C, L, tuple(modes))
    hidden = _unmeasured(linear, C, outputs)
    T, _, N = split_states(C, hidden)
    F, estimated = linear.system_matrix, tuple(linear.states[i] for i in hidden)
    L = _observer_gain(T @ F @ N, C @ F @ N, T @ W @ T.T, V, estimated)
    return Estimator(linear, tuple(outputs), C, L, tuple(modes), estimated)


def _observer_gain(F: np.ndarray, C: np.ndarray, W: np.ndarray, V: np.ndarray, states: Sequence[sp.Expr]) -> np.ndarray:
    """L of the observer of η̇ = Fη, y = Cη with noise W in the states and V in the outputs."""
    refuse_unweighted(unweighted_modes(F.T, W, [name_of(s) for s in states]), "state_noise")
    return -regulator(F.T, C.T, W, V).T


def split_states(C: np.ndarray, hidden: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, M, N of w = T η and η = M y + N w, where w are the hidden states."""
    n, p = C.shape[1], len(C)
    T = np.eye(n)[list(hidden)]
    inverse = np.linalg.inv(np.vstack([C, T]))
    return T, inverse[:, :p], inverse[:, p:]


def _unmeasured(linear: LinearModel, C: np.ndarray, outputs: Sequence[sp.Expr]) -> list[int]:
    """Numbers of the states that are left when one state is solved for from each output, by the largest pivots."""
    import scipy.linalg

    own = unit_free(linear.system_matrix.T, C.T)  # y = Cη in natural units, by duality
    _, triangle, order = scipy.linalg.qr(own.H.T, pivoting=True)
    pivots = np.abs(np.diag(triangle[:, : len(C)]))
    if len(C) >= len(linear.states):
        raise VinculumError(f"The outputs {listed(outputs)} determine all states. No observer is needed.")
    if pivots.min() <= 1e-12 * pivots.max():
        raise VinculumError(f"The outputs {listed(outputs)} are dependent. Remove one of them for a reduced observer.")
    return sorted(int(i) for i in order[len(C) :])
