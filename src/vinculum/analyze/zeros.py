"""Invariant zeros: finite s where [[F - sE, h], [c, 0]] loses rank, the roots of the motion with y held at zero.

The generalized eigenvalues of ([[F, h], [c, 0]], diag(E, 0)) are the zeros and infinite values. For one input and one
output there are n - r zeros, where r is the relative degree: the first Markov parameter c F^(r-1) h that is not zero.
It is zero if its terms are zero by structure or cancel to rounding, not because it is small.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.unit_free import unit_free
from vinculum.errors import ModelError
from vinculum.names import listed, name_of

_ROUNDING = 1e4 * np.finfo(float).eps


def zeros(linear: LinearModel, input: sp.Expr, output: sp.Expr) -> np.ndarray:
    """The invariant zeros from an input to an output, rightmost first."""
    import scipy.linalg

    F, h, c = _single(linear, input, output)
    r, n = _relative_degree(F, h, c), len(F)
    if r is None:
        problem = f"{name_of(input)} has no effect on {name_of(output)}: every number would be a zero."
        raise ModelError("No zeros", [problem])
    own = unit_free(F, h)
    c = c * own.states
    c = c / np.abs(c).max()
    pencil = np.block([[own.F, own.H], [c, np.zeros((1, 1))]])
    mass = np.diag([*np.ones(n), 0.0])
    alpha, beta = scipy.linalg.eig(pencil, mass, right=False, homogeneous_eigvals=True)
    finite = np.argsort(np.abs(alpha) / np.maximum(np.abs(beta), 1e-300))[: n - r]
    found = alpha[finite] / beta[finite] * own.rate
    return found[np.lexsort((-found.imag, -found.real))]


def relative_degree(linear: LinearModel, input: sp.Expr, output: sp.Expr) -> int | None:
    """How often the output must be differentiated until the input appears; None if it never does."""
    return _relative_degree(*_single(linear, input, output))


def _relative_degree(F: np.ndarray, h: np.ndarray, c: np.ndarray) -> int | None:
    row, size = c, np.abs(c)
    for r in range(1, len(F) + 1):
        if np.abs(row @ h).item() > _ROUNDING * (size @ np.abs(h)).item():
            return r
        row, size = row @ F, size @ np.abs(F)
    return None


def _single(linear: LinearModel, input: sp.Expr, output: sp.Expr) -> tuple[np.ndarray, ...]:
    """F, the column h of the input and the row c of the output."""
    if input not in linear.inputs:
        raise ModelError("Invalid input", [f"{name_of(input)} is not among {listed(linear.inputs) or 'none'}."])
    if output not in linear.measured:
        raise ModelError("Invalid output", [f"{name_of(output)} is not among {listed(linear.measured)}."])
    h = linear.input_matrix[:, [linear.inputs.index(input)]]
    return linear.system_matrix, h, np.asarray(linear.measured[output], dtype=float).reshape(1, -1)
