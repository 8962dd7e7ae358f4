"""Derivatives of a motion by parameters and starts, from the variational equations.

    ẋ = f(t, x, θ),   Ṡ = f_x S + f_θ,   S(t₀) = dx₀/dθ,   S = dx/dθ

is integrated in one system, so S is as exact as the motion. The feedback that holds the constraints is part of f: the
derivatives stay on the derivative of the constraints. A start that is solved from the constraints depends on θ too;
dx₀/dθ is a difference of fourth order of the solved starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.ensembles.ensemble import Ensemble
from vinculum.ensembles.lanes import NEEDS_PIVOTS, Lanes
from vinculum.ensembles.prepare import prepare
from vinculum.ensembles.vary import table
from vinculum.errors import VinculumError
from vinculum.expressions import as_expression
from vinculum.graph import ONE, Node, along, symbol
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.simulation.integrators import method_from
from vinculum.simulation.problem.start import derive_if_needed, known_state
from vinculum.text_printer import labelled_rows

_DIFFERENCE = 1e-3  # of a start, relative; the error of the fourth order is 1e-12
_STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))  # f'(x) ≈ Σ weight f(x + k h) / h


class Variational:
    """The motion and its derivatives by some quantities θ, compiled once for all values of these."""

    def __init__(self, ensemble: Ensemble, keys: Sequence[Any]) -> None:
        if not ensemble.in_lanes:
            raise VinculumError(
                "Derivatives need smooth equations and the method 'taylor'. Replace sign, Abs and Piecewise by smooth "
                "functions, such as tanh(x/0.01)."
            )
        self.ensemble, self.keys = ensemble, tuple(keys)
        nodes = ensemble.problem.nodes
        self.state, settings = ensemble.state, nodes.settings
        rates = [*nodes.rates, *ensemble.integrals.values()]
        self.slopes = [[symbol(("sensitivity", k, i)) for i in range(len(self.state))] for k in range(len(self.keys))]
        changes = [node for k in range(len(self.keys)) for node in along(rates, self.direction(k))]
        everything = (*self.state, *(node for row in self.slopes for node in row))
        method = ensemble.method
        self.lanes = Lanes(
            nodes.time,
            everything,
            settings,
            [*rates, *changes],
            nodes.watch.plain,
            (),
            method.tolerance,
            method.compact,
        )

    def direction(self, k: int) -> dict[Node, Node]:
        """How the state and the parameters change with θ_k."""
        changed = dict(zip(self.state, self.slopes[k], strict=True))
        key = self.keys[k]
        return changed | {symbol(key): ONE} if key in self.ensemble.starts.parameters else changed

    def run(self, values: Mapping[Any, float], times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x, (instants, states), and S, (instants, states, θ), for values of θ; not a number after an early end."""
        x, settings, slopes = self._start(values, float(times[0]))
        first = np.concatenate([x, slopes.T.ravel()])
        motions = self.lanes.run(np.asarray(times, dtype=float)[:, None], first[:, None], settings[:, None])
        if motions.codes[0] == NEEDS_PIVOTS:
            raise VinculumError(
                "The pivots of the equations change during this motion. Derive it in the form 'lyapunov'."
            )
        found = motions.states
        n = len(self.state)
        return found[:, :n, 0], found[:, n:, 0].reshape(len(times), len(self.keys), n).transpose(0, 2, 1)

    def _start(self, values: Mapping[Any, float], time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x₀, the settings, and dx₀/dθ."""
        center = np.array([values[key] for key in self.keys], dtype=float)
        steps = _DIFFERENCE * np.where(center == 0, 1.0, np.abs(center))
        trials = [center, *(center + shift * steps * unit for unit in np.eye(len(center)) for shift, _ in _STENCIL)]
        columns = dict(zip(self.keys, np.array(trials).T, strict=True))
        rows, refusals = self.ensemble.starts.solve(columns, len(trials))
        if refusals:
            raise VinculumError(refusals[min(refusals)])
        x, p = self.ensemble.initial_states(columns, rows), self.ensemble.settings_of(rows[:1])
        weights = np.array([weight for _, weight in _STENCIL])
        slopes = [x[:, 1 + 4 * k : 5 + 4 * k] @ weights / steps[k] for k in range(len(center))]
        return x[:, 0], p[: len(self.ensemble.problem.nodes.settings), 0], np.array(slopes).T.reshape(len(x), -1)

    def outputs(self, expressions: Sequence[sp.Expr]) -> Outputs:
        """Expressions of the motion, to be evaluated with their derivatives."""
        nodes = self.ensemble.problem.nodes
        found = [nodes.node(as_expression(e), f"the output {e}") for e in expressions]
        changes = [node for k in range(len(self.keys)) for node in along(found, self.direction(k))]
        arguments = (*self.state, *(node for row in self.slopes for node in row), *nodes.settings)
        return Outputs(self, len(found), function(nodes.time, arguments, (), [*found, *changes]))


@dataclass(frozen=True, eq=False)
class Outputs:
    """Compiled expressions and their derivatives by θ."""

    variational: Variational
    count: int
    compiled: Function

    def at(
        self, values: Mapping[Any, float], times: np.ndarray, x: np.ndarray, S: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """y, (instants, outputs), and dy/dθ, (instants, outputs, θ)."""
        one = self.variational
        rows, _ = one.ensemble.starts.solve({key: np.array([values[key]]) for key in one.keys}, 1)
        settings = one.ensemble.settings_of(rows)[: len(one.ensemble.problem.nodes.settings), 0]
        everything = np.hstack([x, S.transpose(0, 2, 1).reshape(len(x), -1), np.tile(settings, (len(x), 1))])
        found = self.compiled.rows(np.asarray(times, dtype=float), everything, np.empty(0))
        y, changes = found[:, : self.count], found[:, self.count :]
        return y, changes.reshape(len(x), len(one.keys), self.count).transpose(0, 2, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """A motion with its derivatives: ``found[x]`` and ``found.derivative(x, m)`` at the instants ``t``."""

    variational: Variational
    values: Mapping[Any, float]
    t: np.ndarray
    states: np.ndarray  # (instants, states)
    slopes: np.ndarray  # (instants, states, θ)

    def __getitem__(self, expression: sp.Expr) -> np.ndarray:
        """An expression of the motion at every instant."""
        return self._outputs(expression)[0]

    def derivative(self, expression: sp.Expr, by: Any) -> np.ndarray:
        """d(expression)/d(by) at every instant; ``by`` is a parameter or the start of a coordinate or velocity."""
        if by not in self.variational.keys:
            raise VinculumError(f"{name_of(by)} is not among {listed(self.variational.keys)}.")
        return self._outputs(expression)[1][:, self.variational.keys.index(by)]

    def _outputs(self, expression: sp.Expr) -> tuple[np.ndarray, np.ndarray]:
        found = self.variational.outputs([expression])
        y, slopes = found.at(self.values, self.t, self.states, self.slopes)
        return y[:, 0], slopes[:, 0]

    @cached_property
    def rows(self) -> dict[str, str]:
        """Labeled rows."""
        return {
            "time": f"{self.t[0]:.6g} to {self.t[-1]:.6g}, {len(self.t)} instants",
            "by": listed(self.variational.keys),
        }

    def __repr__(self) -> str:
        return labelled_rows("Sensitivity", self.rows)

    _repr_html_ = html


def sensitivity(
    equations: Any,
    initial: Mapping[Any, float],
    times: Sequence[float] | np.ndarray,
    by: Sequence[Any],
    *,
    tolerance: float | None = None,
    stabilization: Any = None,
    inputs: Mapping[sp.Expr, sp.Expr] | None = None,
    parameters: Mapping[sp.Symbol, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    fixed: Sequence[sp.Expr] | None = None,
) -> Sensitivity:
    """The motion and its derivatives by parameters and by starts of coordinates and velocities, listed in ``by``.

    The other arguments are those of `simulate`. The equations must be smooth.
    """
    variational, values = make_variational(
        equations, initial, times, by, {}, tolerance, stabilization, inputs, parameters, guess, fixed
    )
    x, S = variational.run(values, variational.ensemble.grid)
    if not np.isfinite(x).all():
        raise VinculumError("The motion has no finite state at its end. Simulate it first, or give earlier times.")
    return Sensitivity(variational, values, variational.ensemble.grid, x, S)


def make_variational(
    equations: Any, initial: Mapping[Any, float], times: Any, by: Sequence[Any], measures: Mapping[str, Any],
    tolerance: float | None, stabilization: Any, inputs: Any, parameters: Any, guess: Any, fixed: Any,
) -> tuple[Variational, dict[Any, float]]:  # fmt: skip
    """The variational equations by θ = ``by``, and the present values of θ."""
    if not len(tuple(by)):
        raise VinculumError("Nothing to differentiate by. Pass by=[parameter or coordinate, ...].")
    equations = derive_if_needed(equations)
    given = known_state(equations, initial)
    known = dict(equations.parameters) | dict(parameters or {}) | given
    missing = [key for key in by if key not in known]
    if missing:
        raise VinculumError(f"{listed(missing)} has no value: it is neither a parameter nor in initial.")
    values = {key: float(known[key]) for key in by}
    others = {key: value for key, value in given.items() if key not in values}
    options = {"stabilization": stabilization, "inputs": dict(inputs or {})}
    one = table({key: [value] for key, value in values.items()})
    method = method_from("taylor", tolerance=tolerance)
    ensemble = prepare(equations, others, times, one, measures, "motion", method, options, parameters, guess, fixed)
    return Variational(ensemble, tuple(by)), values
