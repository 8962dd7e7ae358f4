"""Identification: parameters and starts from recorded motions, by least squares with exact derivatives.

    min over θ of Σ ((y(t_i; θ) - measured_i) / σ)²,

with dy/dθ from the variational equations. Without given σ, every measured column gets its own, estimated from its
residuals r in a few repetitions,

    σ² = Σ r² / ν,    ν = values of the column - its share of the trace of J (JᵀJ)⁻¹ Jᵀ,

since a column that determines the estimates has smaller residuals than errors. The covariance is (JᵀJ)⁻¹ with
J = (dy/dθ)/σ. The degrees of freedom of an estimate are those of the columns that its variance comes from
(Satterthwaite 1946). Directions of θ that do not change y beyond rounding are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Equations
from vinculum.describe.quantities import dimensions_of
from vinculum.ensembles.recordings import Recording, read_recordings
from vinculum.ensembles.variational import Outputs, Variational, make_variational
from vinculum.errors import ModelError, VinculumError
from vinculum.names import name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.simulation.problem.start import derive_if_needed, given_parameters, known_state
from vinculum.text_printer import labelled_rows
from vinculum.units.given import column_in_si, numbers_in_si

_REPETITIONS = 6  # of the estimate of σ
_SETTLED = 1e-3  # a relative change of σ that ends the repetitions
_DEPENDENT = 1e-7  # relative singular values of J below this: θ cannot be told apart
_LOST = 1e3  # residual, in units of the range of a column, where the motion does not exist
_LEAST_FREEDOM = 0.5  # of a column whose deviation is estimated
_FAR_START = 0.25  # distance of a start from the first measured value, in units of the range of a column
_SHARE = 0.05  # a part of a combination of parameters that is not worth mentioning


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Estimated values with their uncertainty.

    ``values`` = {parameter or start: estimate}; ``errors`` are standard errors, ``covariance`` is in the order of
    ``unknowns``; ``deviations`` = {column: root mean square of its residuals}. A start that is estimated in several
    runs has the key (coordinate, number of the run).
    """

    unknowns: tuple[Any, ...]
    estimates: np.ndarray
    covariance: np.ndarray
    deviations: Mapping[str, float]
    residuals: tuple[Mapping[str, np.ndarray], ...]  # of every run: {column: measured - computed}
    freedom: int  # measurements less unknowns
    message: str
    freedoms: np.ndarray  # of every estimate: those of the columns that its variance comes from
    at_bounds: tuple[Any, ...] = ()  # unknowns that ended at one of their bounds; the best values lie beyond

    @property
    def values(self) -> dict[Any, float]:
        """The estimates."""
        return dict(zip(self.unknowns, map(float, self.estimates), strict=True))

    @property
    def parameters(self) -> dict[sp.Symbol, float]:
        """The estimated parameters, for ``simulate(..., parameters=fit.parameters)``."""
        return {key: value for key, value in self.values.items() if isinstance(key, sp.Symbol)}

    @property
    def errors(self) -> dict[Any, float]:
        """Standard errors."""
        return dict(zip(self.unknowns, map(float, np.sqrt(np.diag(self.covariance))), strict=True))

    def interval(self, key: Any, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval of an estimate, with Student's distribution."""
        from scipy.stats import t

        freedom = self.freedoms[self.unknowns.index(key)]
        half = float(t.ppf(0.5 + confidence / 2, freedom)) * self.errors[key]
        return self.values[key] - half, self.values[key] + half

    @property
    def correlation(self) -> np.ndarray:
        """The correlation matrix of the estimates."""
        scale = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.outer(scale, scale)

    def rows(self) -> dict[str, str]:
        """Labeled rows: estimates with their 95 % intervals, then the deviations of the columns."""
        found = {}
        for key in self.unknowns:
            low, high = self.interval(key)
            bound = " (at its bound)" if key in self.at_bounds else ""
            found[_name(key)] = f"{self.values[key]:.6g}{bound}, 95 % between {low:.6g} and {high:.6g}"
        return found | {f"deviation of {name}": f"{value:.3g}" for name, value in self.deviations.items()}

    def __repr__(self) -> str:
        return labelled_rows("Fit", self.rows())

    _repr_html_ = html


def fit(
    equations: Any,
    measured: Any,
    unknown: Mapping[Any, float],
    initial: Mapping[Any, float] | Sequence[Mapping[Any, float]] | None = None,
    *,
    outputs: Mapping[str, sp.Expr] | None = None,
    deviations: Mapping[str, float] | None = None,
    bounds: Mapping[Any, tuple[float, float]] | None = None,
    inputs: Mapping[sp.Expr, sp.Expr] | Sequence[Mapping[sp.Expr, sp.Expr]] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    fixed: Sequence[sp.Expr] | None = None,
    tolerance: float | None = None,
) -> Fit:
    """Estimate ``unknown`` = {parameter or start: first guess} from recorded motions.

    ``measured`` is a table over ``time`` (an xarray dataset, a pandas table, {name: array}, or the path of a CSV or
    NetCDF file), or a list of these, one for each run. Times may be irregular, and values that are not numbers are left
    out. Columns have the names of states (``theta``, ``theta_dot``), or ``outputs`` = {column: expression} says what
    they are. ``initial`` are the known starts, one mapping for all runs or one for each; unknown starts are estimated
    for each run separately. ``inputs`` are laws, such as `vn.spline` through recorded points.

    ``deviations`` = {column: standard deviation of the measurement}; without them they are estimated too. ``bounds``
    limit unknowns. The equations must be smooth.
    """
    equations = derive_if_needed(equations)
    known = dimensions_of(equations)
    unknown = numbers_in_si(unknown, known, "Invalid unknowns")
    parameters, guess = given_parameters(equations, parameters), numbers_in_si(guess or {}, known, "Invalid values")
    bounds = {key: column_in_si(key, ends, known, "Invalid bounds") for key, ends in (bounds or {}).items()}
    recordings = read_recordings(measured, equations, outputs or {})
    _refuse_unknowns(equations, unknown, bounds or {}, deviations or {}, recordings)
    starts = [
        numbers_in_si(start, known, "Invalid initial state")
        for start in _for_each(initial or {}, len(recordings), "initial")
    ]
    laws = _for_each(inputs or {}, len(recordings), "inputs")
    runs = [
        _Run.of(equations, recording, unknown, start, law, parameters, guess, fixed, tolerance)
        for recording, start, law in zip(recordings, starts, laws, strict=True)
    ]
    for run, start in zip(runs, starts, strict=True):
        _refuse_omitted_starts(equations, run, start, unknown)
    return _Problem(runs, _unknowns(unknown, len(runs)), dict(unknown), dict(bounds or {})).solve(deviations)


def _for_each(given: Any, count: int, what: str) -> list[Mapping[Any, Any]]:
    """One mapping for every run."""
    if isinstance(given, Mapping):
        return [given] * count
    if len(given) != count:
        raise VinculumError(f"{what} has {len(given)} entries for {count} runs. Give one for each, or one for all.")
    return list(given)


def _unknowns(unknown: Mapping[Any, float], runs: int) -> tuple[Any, ...]:
    """Parameters once, starts for every run."""
    found: list[Any] = []
    for key in unknown:
        shared = isinstance(key, sp.Symbol) or runs == 1
        found += [key] if shared else [(key, run) for run in range(runs)]
    return tuple(found)


def _name(key: Any) -> str:
    return f"{name_of(key[0])} of run {key[1]}" if isinstance(key, tuple) else name_of(key)


def _refuse_unknowns(
    equations: Equations,
    unknown: Mapping[Any, float],
    bounds: Mapping[Any, Any],
    deviations: Mapping[str, float],
    recordings: Sequence[Recording],
) -> None:
    """Raise for unknowns that the equations do not have, and for strange bounds and deviations."""
    known = (*equations.user_symbols, *equations.extra, *equations.parameters)
    problems = [] if unknown else ["Nothing is unknown. Pass unknown={parameter: first guess, ...}."]
    for key, value in unknown.items():
        if key not in known:
            near = suggestion(name_of(key), map(name_of, known))
            problems.append(f"{name_of(key)} is not a parameter, coordinate or velocity.{near}")
        elif not np.isfinite(value):
            problems.append(f"The first guess of {name_of(key)} is {value}.")
    for key, limits in bounds.items():
        if key not in unknown:
            problems.append(f"{name_of(key)} has bounds but is not unknown.")
        elif not limits[0] < unknown[key] < limits[1]:
            problems.append(f"The first guess of {name_of(key)}, {unknown[key]}, is not between its bounds {limits}.")
    columns = {name for recording in recordings for name in recording.columns}
    for name, sigma in deviations.items():
        if name not in columns:
            problems.append(f"{name} has a deviation but is not a measured column.{suggestion(name, columns)}")
        elif not (np.isfinite(sigma) and sigma > 0):
            problems.append(f"The deviation of {name} is {sigma}; it must be positive.")
    if problems:
        raise ModelError("Invalid fit", problems)


def _refuse_omitted_starts(
    equations: Equations, run: _Run, start: Mapping[Any, float], unknown: Mapping[Any, float]
) -> None:
    """Raise for a measured state whose start was not given and is far from the first measured value."""
    error, _ = run.compare(unknown)
    states = {*equations.user_symbols, *equations.extra} - {*known_state(equations, start), *unknown}
    for j, (column, ahead) in enumerate(zip(run.recording.columns, error[0], strict=True)):
        key, first = run.recording.expressions[column], run.recording.measured[0, j]
        far = abs(ahead) / run.recording.ranges[j]
        if key in states and _FAR_START < far < _LOST:
            name = name_of(key)
            raise VinculumError(
                f"The start of {name} was not given. The motion would begin at {name} = {first + ahead:.6g}, but the "
                f"first measured value is {first:.6g}. Put {name} into initial=, or with a first guess into unknown=."
            )


@dataclass(frozen=True, eq=False)
class _Run:
    """One recording, the variational equations of its motion, and the outputs that were measured."""

    recording: Recording
    variational: Variational
    outputs: Outputs

    @staticmethod
    def of(
        equations: Equations, recording: Recording, unknown: Mapping[Any, float], start: Mapping[Any, float],
        law: Any, parameters: Any, guess: Any, fixed: Any, tolerance: float | None,
    ) -> _Run:  # fmt: skip
        states = {key: value for key, value in unknown.items() if key not in equations.parameters}
        numbers = {key: value for key, value in unknown.items() if key in equations.parameters}
        variational, _ = make_variational(
            equations, {**start, **states}, recording.times, list(unknown), {}, tolerance, None, law,
            {**(parameters or {}), **numbers}, guess, fixed,
        )  # fmt: skip
        return _Run(recording, variational, variational.outputs(list(recording.expressions.values())))

    def compare(self, values: Mapping[Any, float]) -> tuple[np.ndarray, np.ndarray]:
        """Computed less measured, (instants, columns), and its derivatives, (instants, columns, θ)."""
        times, measured = self.recording.times, self.recording.measured
        try:
            x, S = self.variational.run(values, times)
            y, slopes = self.outputs.at(values, times, x, S)
        except VinculumError:
            y, slopes = np.full_like(measured, np.nan), np.full((*measured.shape, len(values)), np.nan)
        lost = ~np.isfinite(y)
        error = np.where(lost, _LOST * self.recording.ranges, y - measured)
        slopes = np.where(lost[:, :, None] | ~np.isfinite(slopes), 0.0, slopes)
        missing = np.isnan(measured)
        return np.where(missing, 0.0, error), np.where(missing[:, :, None], 0.0, slopes)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The least squares problem of all runs."""

    runs: Sequence[_Run]
    unknowns: tuple[Any, ...]
    guess: Mapping[Any, float]
    bounds: Mapping[Any, tuple[float, float]]
    last: dict[bytes, Any] = field(default_factory=dict)

    def solve(self, deviations: Mapping[str, float] | None) -> Fit:
        """Least squares, repeated until the estimated deviations settle."""
        from scipy.optimize import least_squares

        self._refuse_too_few()
        scale = np.array([self._first(key) or 1.0 for key in self.unknowns])
        theta = np.array([self._first(key) for key in self.unknowns])
        sigma = dict(deviations or {}) or self._ranges()
        sigma = self._ranges() | sigma
        for _ in range(_REPETITIONS):
            found = least_squares(
                lambda v, s=sigma: self._stacked(v * scale, s)[0], theta / scale,
                jac=lambda v, s=sigma: self._stacked(v * scale, s)[1] * scale,
                bounds=self._limits(scale), xtol=1e-13, ftol=1e-13, gtol=1e-13, x_scale="jac",
            )  # fmt: skip
            theta, before = found.x * scale, sigma
            self._refuse_lost(theta)
            self._refuse_dependent(self._stacked(theta, sigma)[1] * scale)
            sigma = sigma | self._spreads(theta, sigma, deviations or {})
            if all(abs(sigma[name] - before[name]) <= _SETTLED * before[name] for name in sigma):
                break
        ends = tuple(key for key, side in zip(self.unknowns, found.active_mask, strict=True) if side)
        return replace(self._result(theta, sigma, deviations or {}, str(found.message)), at_bounds=ends)

    def _first(self, key: Any) -> float:
        return float(self.guess[key[0] if isinstance(key, tuple) else key])

    def _limits(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the scaled unknowns."""
        pairs = [self.bounds.get(key[0] if isinstance(key, tuple) else key, (-np.inf, np.inf)) for key in self.unknowns]
        ends = np.array(pairs, dtype=float) / scale[:, None]
        return ends.min(axis=1), ends.max(axis=1)

    def _of_run(self, theta: np.ndarray, number: int) -> tuple[dict[Any, float], list[int]]:
        """The unknowns of one run and their places in θ."""
        keys = self.runs[number].variational.keys
        places = [self.unknowns.index((key, number) if (key, number) in self.unknowns else key) for key in keys]
        return dict(zip(keys, map(float, theta[places]), strict=True)), places

    def _compared(self, theta: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Errors and slopes of every run; the last result is kept, since SciPy asks for both one after the other."""
        key = theta.tobytes()
        if key not in self.last:
            self.last.clear()
            self.last[key] = [run.compare(self._of_run(theta, k)[0]) for k, run in enumerate(self.runs)]
        return self.last[key]

    def _stacked(self, theta: np.ndarray, sigma: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """All residuals in units of σ, and J."""
        errors, slopes = [], []
        for number, (error, slope) in enumerate(self._compared(theta)):
            weights = np.array([1.0 / sigma[name] for name in self.runs[number].recording.columns])
            errors.append((error * weights).ravel())
            J = np.zeros((error.size, len(self.unknowns)))
            J[:, self._of_run(theta, number)[1]] = (slope * weights[:, None]).reshape(error.size, -1)
            slopes.append(J)
        return np.concatenate(errors), np.vstack(slopes)

    def _ranges(self) -> dict[str, float]:
        """The range of every column, or one."""
        found: dict[str, float] = {}
        for run in self.runs:
            for name, size in zip(run.recording.columns, run.recording.ranges, strict=True):
                found[name] = max(found.get(name, 0.0), float(size))
        return found

    def _deviations(self, theta: np.ndarray) -> dict[str, float]:
        """The root mean square of the residuals of every column, at least rounding of its range."""
        total, count = dict.fromkeys(self._ranges(), 0.0), self._counts()
        for number, (error, _) in enumerate(self._compared(theta)):
            recording = self.runs[number].recording
            for k, name in enumerate(recording.columns):
                total[name] += float(error[:, k] @ error[:, k])
        least = {name: 1e-13 * size for name, size in self._ranges().items()}
        return {name: max(float(np.sqrt(total[name] / max(count[name], 1))), least[name]) for name in total}

    def _freedoms(self, theta: np.ndarray, sigma: Mapping[str, float]) -> dict[str, float]:
        """ν of every column: its measured values less those that the estimates take."""
        _, J = self._stacked(theta, sigma)
        taken = (np.linalg.qr(J / np.linalg.norm(J, axis=0))[0] ** 2).sum(axis=1)
        names = self._names()
        return {name: self._counts()[name] - float(taken[names == name].sum()) for name in sigma}

    def _spreads(self, theta: np.ndarray, sigma: Mapping[str, float], given: Mapping[str, float]) -> dict[str, float]:
        """σ from the residuals of every column for which it was not given; raises where too few are left for it."""
        counts, freedoms, deviations = self._counts(), self._freedoms(theta, sigma), self._deviations(theta)
        found = {}
        for name, rms in deviations.items():
            if name in given:
                continue
            if freedoms[name] < _LEAST_FREEDOM:
                raise VinculumError(
                    f"{name} has {counts[name]} values, too few to estimate its deviation: the estimates would fit all "
                    f'of them. Give it, as in deviations={{"{name}": 0.01}}.'
                )
            found[name] = rms * float(np.sqrt(counts[name] / freedoms[name]))
        return found

    def _names(self) -> np.ndarray:
        """The column of every row of J."""
        return np.concatenate([np.tile(run.recording.columns, len(run.recording.times)) for run in self.runs])

    def _counts(self) -> dict[str, int]:
        """The number of measured values of every column."""
        found = dict.fromkeys(self._ranges(), 0)
        for run in self.runs:
            for k, name in enumerate(run.recording.columns):
                found[name] += int((~np.isnan(run.recording.measured[:, k])).sum())
        return found

    @property
    def count(self) -> int:
        """The number of measured values."""
        return sum(int((~np.isnan(run.recording.measured)).sum()) for run in self.runs)

    def _refuse_too_few(self) -> None:
        """Raise unless there are more measured values than unknowns."""
        if self.count <= len(self.unknowns):
            names = ", ".join(map(_name, self.unknowns))
            raise VinculumError(
                f"There are {self.count} measured values for {len(self.unknowns)} unknowns ({names}). Measure more, or "
                "leave some of them out of unknown=."
            )

    def _refuse_lost(self, theta: np.ndarray) -> None:
        """Raise if the motion of the estimate does not exist to the end of a recording."""
        for number, run in enumerate(self.runs):
            x, _ = run.variational.run(self._of_run(theta, number)[0], run.recording.times)
            if not np.isfinite(x).all():
                raise VinculumError(
                    "No motion that fits was found: the best one has no finite state at the end of "
                    f"run {number}. Give better first guesses, or bounds."
                )

    def _refuse_dependent(self, J: np.ndarray) -> None:
        """Raise for combinations of unknowns that the data cannot tell apart. J is scaled by the guesses."""
        size = np.linalg.norm(J, axis=0)
        without = [_name(key) for key, length in zip(self.unknowns, size, strict=True) if length <= 1e-12 * size.max()]
        if without:
            raise VinculumError(
                f"The measurements do not depend on {', '.join(without)}. Leave it out of unknown=, or measure more."
            )
        _, singular, directions = np.linalg.svd(J / size, full_matrices=False)
        if singular[-1] <= _DEPENDENT * singular[0]:
            part = np.abs(directions[-1])
            names = [_name(key) for key, share in zip(self.unknowns, part, strict=True) if share > _SHARE * part.max()]
            raise VinculumError(
                f"The measurements cannot tell {', '.join(names)} apart: a common change of them leaves all measured "
                "columns as they are. Give all but one of them as known, or measure something that separates them."
            )

    def _result(self, theta: np.ndarray, sigma: Mapping[str, float], given: Mapping[str, float], message: str) -> Fit:
        _, J = self._stacked(theta, sigma)
        freedom = self.count - len(theta)
        size = np.linalg.norm(J, axis=0)
        inverse = np.linalg.inv((J / size).T @ (J / size)) / np.outer(size, size)
        freedoms = self._freedoms_of_estimates(theta, sigma, given, inverse @ J.T)
        residuals = []
        for run, (error, _) in zip(self.runs, self._compared(theta), strict=True):
            left = np.where(np.isnan(run.recording.measured), np.nan, -error)
            residuals.append(dict(zip(run.recording.columns, left.T, strict=True)))
        deviations = self._deviations(theta)
        return Fit(self.unknowns, theta, inverse, deviations, tuple(residuals), freedom, message, freedoms)

    def _freedoms_of_estimates(
        self, theta: np.ndarray, sigma: Mapping[str, float], given: Mapping[str, float], G: np.ndarray
    ) -> np.ndarray:
        """(Σ v)² / Σ v²/ν over the columns, where v is the part of a column in the variance Σ G² of an estimate."""
        names, freedoms = self._names(), self._freedoms(theta, sigma)
        parts = {name: (G[:, names == name] ** 2).sum(axis=1) for name in sigma}
        unsure = sum((parts[name] ** 2 / freedoms[name] for name in sigma if name not in given), np.zeros(len(G)))
        total = sum(parts.values(), np.zeros(len(G)))
        known = np.full(len(G), float(self.count - len(theta)))
        return np.where(unsure > 0, total**2 / np.where(unsure > 0, unsure, 1.0), known)
