"""A measure of a motion with its exact derivatives by parameters and starts.

The derivative of a measure J(θ) follows from the derivative S of the motion: of an integral it is the sensitivity of
that state, of a final value and (by the envelope theorem) of an extreme it is that of the expression at its instant t*,
and of an instant dt*/dθ = -e_θ/ė.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from vinculum.ensembles.measures import FINAL, FIRST, INTEGRAL, REFINED, SETTLED, Measure, bracket, curve, located, peak
from vinculum.ensembles.quadrature import is_wide
from vinculum.ensembles.variational import Variational
from vinculum.errors import VinculumError


class Measured:
    """One measure on a motion; the motion was made with this measure, under ``name``."""

    def __init__(self, variational: Variational, measure: Measure, name: str = "measure") -> None:
        self.variational, self.measure = variational, measure
        self.outputs = variational.outputs(_expressions(measure, variational))
        ensemble = variational.ensemble
        integrals = [other for other, one in ensemble.measures.items() if one.kind == INTEGRAL]
        self.place = len(ensemble.state) - len(integrals) + integrals.index(name) if name in integrals else -1

    def value(self, values: Mapping, motion: tuple[np.ndarray, np.ndarray] | None = None) -> tuple[float, np.ndarray]:
        """J and dJ/dθ, from x and S at the instants of the ensemble."""
        grid = self.variational.ensemble.grid
        x, S = self.variational.run(values, grid) if motion is None else motion
        if not np.isfinite(x).all():
            return np.inf, np.zeros(len(self.variational.keys))
        if self.measure.kind == INTEGRAL:
            return float(x[-1, self.place]), S[-1, self.place]
        y, slopes = self.outputs.at(values, grid, x, S)
        if self.measure.kind == FINAL:
            return float(y[-1, 0]), slopes[-1, 0]
        return self._searched(values, grid, y[:, 0])

    def _searched(self, values: Mapping, grid: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
        """An extreme or an instant: its place in time, then the motion and its derivatives there."""
        t0, times, curves = float(grid[0]), grid, curve(self.measure, y)[None, :]
        self._refuse_unsettled(grid, curves[0])
        for _ in range(self.measure.rounds):
            low, high = (int(k[0]) for k in bracket(self.measure, curves))
            if low < 0:
                raise VinculumError(
                    f"The motion has no such instant ({self.measure.kind} of {self.measure.expression}). "
                    "Give later times."
                )
            if not is_wide(times[low], times[high]):
                break
            ends, times = curves[0, [low, high]], np.linspace(times[low], times[high], REFINED)
            curves = curve(self.measure, self._at(values, t0, times)[0][:, 0])[None, :]
            curves[0, [0, -1]] = ends
        value = float(located(self.measure, times[None, :], curves)[0])
        if self.measure.is_extreme:
            instant, _ = peak(times[None, :], curves)
            return value, self._at(values, t0, instant)[1][0, 0]
        y, slopes = self._at(values, t0, np.array([value]))
        return value, -slopes[0, 0] / y[0, 1]

    def _refuse_unsettled(self, grid: np.ndarray, curve: np.ndarray) -> None:
        """Raise if a settling time is wanted of a motion that ends outside of its band."""
        one = self.measure
        if one.kind == SETTLED and curve[-1] > 0:
            raise VinculumError(
                f"At the end, t = {grid[-1]:.6g}, {one.expression} is {one.band + curve[-1]:.6g} from {one.target:g}, "
                f"outside of its band of {one.band:g}: it has not settled. Give later times, or a wider band."
            )

    def _at(self, values: Mapping, t0: float, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outputs and slopes at some times of the motion from t0."""
        whole = times if times[0] == t0 else np.concatenate([[t0], times])
        x, S = self.variational.run(values, whole)
        y, slopes = self.outputs.at(values, whole, x, S)
        return y[-len(times) :], slopes[-len(times) :]


def _expressions(measure: Measure, variational: Variational) -> list[sp.Expr]:
    """The expression, and its rate for an instant."""
    if measure.kind in (FIRST, SETTLED):
        return [measure.expression, measure.expression.diff(variational.ensemble.problem.equations.time)]
    return [measure.expression]
