"""The linear model at the samples of a processor, exactly (Åström, Wittenmark, Computer-Controlled Systems, ch. 2).

With inputs held through a period T and a delay δ = (d - 1) T + δ', 0 < δ' ≤ T (d = 0 without a delay):

    η_k+1 = Φ η_k + Γ₁ u_k-d + Γ₀ u_k-d+1,   Φ = exp(F T),
    Γ₀ = ∫₀^{T-δ'} exp(F s) ds H,            Γ₁ = exp(F (T - δ')) ∫₀^{δ'} exp(F s) ds H.

The last d inputs are states too: z_k = (η_k, u_k-d, ..., u_k-1), z_k+1 = A z_k + B u_k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are imported at their first use
import sympy as sp

from vinculum.errors import ModelError
from vinculum.names import listed
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows, numbers

if TYPE_CHECKING:
    from vinculum.analyze.linear_model import LinearModel


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteModel:
    """z_k+1 = A z_k + B u_k at the samples; z are the states and the inputs that are on their way."""

    linear: LinearModel
    period: float
    delay: float
    A: np.ndarray  # (n + d m, n + d m)
    B: np.ndarray  # (n + d m, m)

    @property
    def waiting(self) -> int:
        """d, the number of past inputs among the states."""
        return (len(self.A) - len(self.linear.states)) // max(len(self.linear.inputs), 1)

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """The states of the linear model."""
        return self.linear.states

    @property
    def inputs(self) -> tuple[sp.Expr, ...]:
        """The inputs."""
        return self.linear.inputs

    @property
    def roots(self) -> np.ndarray:
        """The eigenvalues of A, the largest first; the loop is stable if all are inside the unit circle."""
        found = np.linalg.eigvals(self.A)
        return found[np.argsort(-np.abs(found), kind="stable")]

    def measures(self, rows: np.ndarray) -> np.ndarray:
        """Rows of η as rows of z."""
        return np.hstack([rows, np.zeros((len(rows), len(self.A) - rows.shape[1]))])

    def __repr__(self) -> str:
        rows = {
            "states": listed(self.states),
            "inputs": f"{listed(self.inputs) or 'none'}, {self.waiting} on their way",
            "period": f"{self.period:.6g}",
            "delay": f"{self.delay:.6g}",
            "roots": numbers(self.roots),
        }
        return labelled_rows("DiscreteModel", rows)

    _repr_html_ = html


def held_over(A: np.ndarray, B: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """exp(A T) and ∫₀ᵀ exp(A s) ds B: the exact response to inputs that are constant through a period."""
    n, m = B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = A, B
    exponential = scipy.linalg.expm(period * whole)
    return exponential[:n, :n], exponential[:n, n:]


def discrete_model(linear: LinearModel, period: float, delay: float = 0.0) -> DiscreteModel:
    """The exact model at the samples."""
    problems = []
    if not (math.isfinite(period) and period > 0):
        problems.append(f"period is {period}; it must be a positive number of seconds.")
    if not (math.isfinite(delay) and delay >= 0):
        problems.append(f"delay is {delay}; it must be a number of seconds of at least 0.")
    if problems:
        raise ModelError("Invalid discrete model", problems)
    A, B = with_delay(linear.system_matrix, linear.input_matrix, period, delay)
    return DiscreteModel(linear, float(period), float(delay), A, B)


def with_delay(F: np.ndarray, H: np.ndarray, period: float, delay: float) -> tuple[np.ndarray, np.ndarray]:
    """A and B of z_k+1 = A z_k + B u_k."""
    n, m = H.shape
    Phi, whole = held_over(F, H, period)
    if delay == 0:
        return Phi, whole
    d = math.ceil(delay / period - 1e-12)
    late = delay - (d - 1) * period
    rest, new = held_over(F, H, period - late)
    old = rest @ held_over(F, H, late)[1]
    A, B = np.zeros((n + d * m, n + d * m)), np.zeros((n + d * m, m))
    A[:n, :n], A[:n, n : n + m] = Phi, old
    if d > 1:
        A[:n, n + m : n + 2 * m] = new
        A[n : n + (d - 1) * m, n + m :] = np.eye((d - 1) * m)
    else:
        B[:n] = new
    B[n + (d - 1) * m :] = np.eye(m)
    return A, B
