"""Optimal gains and dimensions: a measure of a motion made small, with its exact derivatives.

The measure J(θ) is an integral, a final value, an extreme or an instant of a motion, with its derivative of `Measured`.
SciPy's L-BFGS-B searches within bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.quantities import dimensions_of
from vinculum.ensembles.measured import Measured
from vinculum.ensembles.measures import Measure
from vinculum.ensembles.variational import make_variational
from vinculum.errors import ModelError, VinculumError
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.dimensions import TIME
from vinculum.units.given import column_in_si, number_in_si, numbers_in_si

_LOST = 1e3  # the measure of a motion that does not exist, in units of the first one; SciPy cannot step back from ∞


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best values found, the measure there and at the start, and why the search ended."""

    values: Mapping[Any, float]
    measure: float
    before: float
    evaluations: int
    converged: bool
    message: str
    at_bounds: tuple[Any, ...]  # unknowns that ended at one of their bounds

    @property
    def parameters(self) -> dict[sp.Symbol, float]:
        """The parameters among them, for ``simulate(..., parameters=optimum.parameters)``."""
        return {key: value for key, value in self.values.items() if isinstance(key, sp.Symbol)}

    def rows(self) -> dict[str, str]:
        """Labeled rows."""
        bound = dict.fromkeys(self.at_bounds, " (at its bound)")
        found = {name_of(key): f"{value:.6g}{bound.get(key, '')}" for key, value in self.values.items()}
        return found | {"measure": f"{self.measure:.6g}, from {self.before:.6g}", "search": self.message}

    def __repr__(self) -> str:
        return labelled_rows("Optimum", self.rows())

    _repr_html_ = html


def optimize(
    equations: Any,
    initial: Mapping[Any, float] | Sequence[Mapping[Any, float]],
    times: Sequence[float] | np.ndarray,
    over: Mapping[Any, tuple[float, float]],
    minimize: Measure,
    *,
    tolerance: float | None = None,
    stabilization: Any = None,
    inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    fixed: Sequence[sp.Expr] | None = None,
) -> Optimum:
    """The values of ``over`` = {parameter or start: (lowest, highest)} with the smallest measure.

    The search begins at the present values of the system, or in the middle of bounds that exclude them, and finds the
    nearest minimum. With a list of ``initial`` states, the mean of the measure over their motions is made small. To
    find a maximum, minimize the measure of the negative expression. Gains of your own law are parameters of the system.
    """
    if not isinstance(minimize, Measure):
        raise VinculumError(f"minimize must be a measure, such as vn.measure.integral(x**2); got {minimize!r}.")
    known = dimensions_of(equations)
    starts = [numbers_in_si(one, known, "Invalid initial state") for one in _listed(initial)]
    over = {key: column_in_si(key, limits, known, "Invalid bounds over=") for key, limits in dict(over or {}).items()}
    parameters, guess = (numbers_in_si(given or {}, known, "Invalid values") for given in (parameters, guess))
    times = number_in_si(times, TIME, "times", "Invalid times")
    first = _first_values(equations, starts, over, parameters)
    chosen = {key: value for key, value in first.items() if isinstance(key, sp.Symbol)}
    runs = []
    for start in starts:
        states = {key: value for key, value in first.items() if key not in chosen}
        variational, _ = make_variational(
            equations, {**start, **states}, times, list(over), {"measure": minimize}, tolerance, stabilization, inputs,
            {**parameters, **chosen}, guess, fixed,
        )  # fmt: skip
        runs.append(Measured(variational, minimize))
    return _search(runs, first, over)


def _listed(initial: Mapping[Any, float] | Sequence[Mapping[Any, float]]) -> list[Mapping[Any, float]]:
    starts = [initial] if isinstance(initial, Mapping) else list(initial)
    if not starts:
        raise VinculumError("There is no start. Pass initial={coordinate: value, ...}, or a list of these.")
    return starts


def _first_values(
    equations: Any, starts: Sequence[Mapping[Any, float]], over: Any, parameters: Any
) -> dict[Any, float]:
    """Where the search begins; bounds are checked."""
    if not isinstance(over, Mapping) or not over:
        raise VinculumError("Nothing to choose. Pass over={parameter: (lowest, highest), ...}.")
    system = getattr(equations, "parameters", {})
    problems, first = [], {}
    for key, limits in over.items():
        low, high = (float(limit) for limit in limits) if np.shape(limits) == (2,) else (np.nan, np.nan)
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            problems.append(f"The bounds of {name_of(key)} are {limits}; give two finite numbers, the lower one first.")
            continue
        present = {**system, **(parameters or {}), **starts[0]}.get(key)
        first[key] = float(present) if present is not None and low <= present <= high else 0.5 * (low + high)
    if problems:
        raise ModelError("Invalid search", problems)
    return first


def _search(runs: Sequence[Measured], first: Mapping[Any, float], over: Mapping[Any, tuple[float, float]]) -> Optimum:
    """SciPy's search on values between 0 and 1 of their bounds, and on the measure in units of its first value.

    Its limits are numbers: without these units a measure in micrometers would count as zero.
    """
    from scipy.optimize import minimize

    keys = list(over)
    low = np.array([float(over[key][0]) for key in keys])
    width = np.array([float(over[key][1]) for key in keys]) - low

    def mean(share: np.ndarray) -> tuple[float, np.ndarray]:
        values = dict(zip(keys, map(float, low + share * width), strict=True))
        found = [run.value(values) for run in runs]
        return float(np.mean([J for J, _ in found])), np.mean([slope for _, slope in found], axis=0) * width

    start = (np.array([first[key] for key in keys]) - low) / width
    before, slope = mean(start)
    if not np.isfinite(before):
        raise VinculumError("The motion has no finite end where the search begins. Give other bounds or earlier times.")
    unit = max(abs(before), float(np.abs(slope).max())) or 1.0
    best = before, start

    def scaled(share: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        value, slope = mean(share)
        best = min(best, (value, share.copy()), key=lambda one: one[0])
        return (value / unit, slope / unit) if np.isfinite(value) else (_LOST, np.zeros_like(slope))

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500}
    found = minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(keys), options=options)
    measure, shares = best  # the values of SciPy's failed searches belong to different places
    values = dict(zip(keys, map(float, low + shares * width), strict=True))
    ends = tuple(key for key, share in zip(keys, shares, strict=True) if share in (0.0, 1.0))
    return Optimum(values, measure, before, int(found.nfev), bool(found.success), str(found.message), ends)
