"""Fixed-step methods as tables of coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class RungeKutta:
    """An explicit Runge-Kutta method (A, b, c)."""

    A: np.ndarray
    b: np.ndarray
    order: int

    @property
    def c(self) -> np.ndarray:
        """The stage times c = A 1."""
        return self.A.sum(axis=1)


@dataclass(frozen=True, eq=False)
class Adams:
    """Adams-Bashforth x⁺ = x + τ Σ β_j f_{n-j}, and with ``corrector`` Adams-Moulton after it (PECE).

    ``largest`` is the largest κτ at which the residual equation η̇ = -κη stays stable.
    """

    predictor: np.ndarray  # β_0 (newest) ... β_{q-1}
    corrector: np.ndarray  # β*_0 (the predicted point), β*_1 (newest) ...; empty for pure Adams-Bashforth
    largest: float

    @property
    def order(self) -> int:
        """The order of the method."""
        return len(self.predictor)


def _row(*numbers: float, over: float) -> np.ndarray:
    """Numerators over one denominator."""
    return np.array(numbers, dtype=float) / over


_RK4 = RungeKutta(np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]]), _row(1, 2, 2, 1, over=6), 4)
_BASHFORTH = {
    2: _row(3, -1, over=2),
    3: _row(23, -16, 5, over=12),
    4: _row(55, -59, 37, -9, over=24),
    5: _row(1901, -2774, 2616, -1274, 251, over=720),
}
_MOULTON = {
    2: _row(1, 1, over=2),
    3: _row(5, 8, -1, over=12),
    4: _row(9, 19, -5, 1, over=24),
}
_NO_CORRECTOR = np.zeros(0)

METHODS: dict[str, RungeKutta | Adams] = {
    "euler": RungeKutta(np.zeros((1, 1)), np.ones(1), 1),
    "midpoint": RungeKutta(np.array([[0, 0], [0.5, 0]]), np.array([0.0, 1.0]), 2),
    "rk4": _RK4,
    "ab2": Adams(_BASHFORTH[2], _NO_CORRECTOR, 1.0),
    "ab3": Adams(_BASHFORTH[3], _NO_CORRECTOR, 6 / 11),
    "ab4": Adams(_BASHFORTH[4], _NO_CORRECTOR, 3 / 10),
    "ab5": Adams(_BASHFORTH[5], _NO_CORRECTOR, 90 / 551),
    "abm2": Adams(_BASHFORTH[2], _MOULTON[2], 2.0),
    "abm3": Adams(_BASHFORTH[3], _MOULTON[3], 1.729),
    "abm4": Adams(_BASHFORTH[4], _MOULTON[4], 1.285),
}
STARTER = _RK4  # takes the first steps of an Adams method
