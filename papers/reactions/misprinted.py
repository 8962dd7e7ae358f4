"""A run with the reactions of (25) and (26) as printed: the error is that of the formulas, not of the method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from papers.reactions import wheel as w

_RATE = 1500.0  # λ


def reactions(printed: bool) -> tuple[list[sp.Expr], list[sp.Expr], sp.Expr]:
    """A and φ of A (Rx, Rz) + φ = 0, and U, from (9); d/dt (v, η) in place of f₁'', which is exact off the manifold."""
    cos, sin = sp.cos(w.alpha), sp.sin(w.alpha)
    mu, chi, eta, v = sp.Matrix([cos, sin]), sp.Matrix([-sin, cos]), sp.Matrix([w.HX, 1]), sp.Matrix([w.xd, w.zd])
    H2 = sp.diag(w.HXX, 0)
    f1, f2, f3 = w.RESIDUALS.values()
    U = (v.dot(H2 * chi) - _RATE * f3) / (mu.dot(eta) - w.r * chi.dot(H2 * chi))
    a, b, c = w.A
    k = w.m * w.l * w.phid**2 / (w.M + w.m)
    swing = 0 if printed else k * (w.HX * sp.sin(w.phi) - sp.cos(w.phi))
    angle = w.phi + w.alpha if printed else w.phi - w.alpha
    rows = [(a * w.HX + b) / (w.M + w.m), (b * w.HX + c) / (w.M + w.m)]
    rows += [(b * cos - a * sin) / (w.M + w.m) - sin / w.M, (c * cos - b * sin) / (w.M + w.m) + cos / w.M]
    first = w.r * v.dot(H2 * chi) * U - w.g + v.dot(H2 * v) + swing + 2 * _RATE * v.dot(eta) + _RATE**2 * f1
    return rows, [first, -k * sp.cos(angle) - w.g * cos - U * v.dot(mu) + _RATE * f2], U


def rates(printed: bool) -> Callable[[float, np.ndarray], list[float]]:
    """Ẋ as a function of the state."""
    rows, free, U = reactions(printed)
    system = sp.lambdify(w.STATES, [f.subs(w.NUMBERS) for f in (*rows, *free, U)], "math", cse=True)
    second = sp.lambdify((*w.STATES, w.Rx, w.Rz), [f.subs(w.NUMBERS) for f in w.SECOND], "math", cse=True)

    def rate(t: float, X: np.ndarray) -> list[float]:
        a, b, c, d, p, q, turning = system(*X)
        Rx, Rz = (b * q - d * p) / (a * d - b * c), (c * p - a * q) / (a * d - b * c)
        ax, az, atheta, aphi = second(*X, Rx, Rz)
        return [X[1], ax, X[3], az, X[5], atheta, X[7], aphi, turning]

    return rate


def largest_errors(printed: bool, duration: float = 1.0) -> list[float]:
    """max |f₁|, |f₂| and the greatest change of energy."""
    start = [w.start()[key] for key in w.STATES]
    run = solve_ivp(rates(printed), (0, duration), start, method="DOP853", rtol=1e-9, atol=1e-10)
    f1, f2, _ = w.RESIDUALS.values()
    measured = sp.lambdify(w.STATES, [f.subs(w.NUMBERS) for f in (f1, f2, w.KINETIC + w.POTENTIAL)], "numpy")(*run.y)
    return [*(float(np.abs(f).max()) for f in measured[:2]), float(np.abs(measured[2] - measured[2][0]).max())]
