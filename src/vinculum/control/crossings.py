"""Where L(iω) = c (iω - A)⁻¹ b crosses the unit circle, the real axis, or a circle around -1: roots, not a grid.

On the imaginary axis the conjugate of L(s) is L(-s). Each condition is a rational function of s, whose zeros are the
roots of a matrix or a pencil with twice the states (Boyd, Balakrishnan, Kabamba 1989):

    L(s) L(-s) = 1,     L(s) - L(-s) = 0,     (1 + L(s))(1 + L(-s)) = d².

Rounding moves double roots off the axis, so the frequencies found here are places to look, a few too many of them.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are imported at their first use

_ON_AXIS = 1e-4  # |Re s| relative to |s|


def unit_gain(A: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Frequencies with |L| = 1."""
    n = len(A)
    return _frequencies(np.block([[A, -b @ c], [b @ c, -A]])) if n else np.zeros(0)


def real_values(A: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Frequencies at which L is real: zeros of c (s - A)⁻¹ b + c (s + A)⁻¹ b."""
    n = len(A)
    whole = np.zeros((2 * n + 1, 2 * n + 1))
    whole[:n, :n], whole[n:-1, n:-1] = A, -A
    whole[:-1, -1:], whole[-1:, :-1] = np.vstack([b, b]), np.hstack([c, c])
    return _frequencies(whole, np.diag([*[1.0] * 2 * n, 0.0]))


def at_distance(A: np.ndarray, b: np.ndarray, c: np.ndarray, d: float) -> np.ndarray:
    """Frequencies with |1 + L| = d ≠ 1."""
    whole = np.block([[A, np.zeros_like(A)], [b @ c, -A]])
    return _frequencies(whole - np.vstack([b, b]) @ np.hstack([c, -c]) / (1 - d**2))


def _frequencies(A: np.ndarray, E: np.ndarray | None = None) -> np.ndarray:
    """Positive frequencies of the roots on the imaginary axis."""
    with np.errstate(all="ignore"):
        roots = np.linalg.eigvals(A) if E is None else scipy.linalg.eigvals(A, E)
    roots = roots[np.isfinite(roots)]
    return np.sort(roots.imag[(roots.imag > 0) & (np.abs(roots.real) <= _ON_AXIS * np.abs(roots))])
