"""Derivatives of a motion by parameters and starts, from the variational equations.

    ẋ = f(t, x, θ),   Ṡ = f_x S + f_θ,   S(t₀) = dx₀/dθ,   S = dx/dθ

is integrated in one system, so S is as exact as the motion. The feedback that holds the constraints is part of f: the
derivatives stay on the derivative of the constraints. A start that is solved from the constraints depends on θ too:
f_x dx₀ + f_θ dθ = 0. Where the constraints leave a choice, and the start is the one nearest to a guess, dx₀/dθ is a
difference of sixth order of the solved starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.derivation.equations import is_number
from vinculum.ensembles.ensemble import Ensemble
from vinculum.ensembles.lanes import DONE, UNDECIDED, Lanes
from vinculum.ensembles.prepare import prepare
from vinculum.ensembles.vary import table
from vinculum.errors import ModelError, VinculumError
from vinculum.expressions import as_expression
from vinculum.graph import ONE, Node, along, symbol
from vinculum.names import listed, name_of, variable_name
from vinculum.simulation.integrators import method_from
from vinculum.simulation.problem.pieces import Search, is_at
from vinculum.simulation.problem.ranges import margins
from vinculum.simulation.problem.start import derive_if_needed, given_laws, given_parameters, known_state
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS

_DIFFERENCE = 2e-3  # of a start, relative; the error of the sixth order is below rounding of the starts, 1e-13
_SHIFTS, _WEIGHTS = (-3, -2, -1, 1, 2, 3), (45 / 60, -9 / 60, 1 / 60)  # f'(x) ≈ Σ weight (f(x + k h) - f(x - k h)) / h


def _refuse_corners(ensemble: Ensemble) -> None:
    """Raise unless the equations are smooth between instants that are known in advance."""
    nodes = ensemble.problem.nodes
    corners = nodes.corners
    if corners.surfaces or any(search.s is not nodes.time for search in corners.searches):
        raise VinculumError(
            "Derivatives need smooth equations. Replace sign, Abs and Piecewise by smooth functions, such as "
            "tanh(x/0.01); splines and signals may depend on the time only."
        )
    if ensemble.pieced:
        raise VinculumError(
            f"Derivatives need smooth integrands; that of {listed(ensemble.pieced)} has corners. Replace Abs(x) by a "
            "smooth function, such as sqrt(x**2 + 1e-6)."
        )
    if ensemble.treatment.acts == AFTER_STEPS and ensemble.problem.integrable.constraints:
        raise VinculumError("Derivatives of a projected motion are not known. Leave stabilization out.")


class Variational:
    """The motion and its derivatives by some quantities θ, compiled once for all values of these."""

    def __init__(self, ensemble: Ensemble, keys: Sequence[Any]) -> None:
        _refuse_corners(ensemble)
        self.ensemble, self.keys = ensemble, tuple(keys)
        nodes = ensemble.problem.nodes
        self.state, settings, corners = ensemble.state, nodes.settings, nodes.corners
        rates = corners.smooth([*nodes.rates, *ensemble.integrals.values()])
        self.slopes = [[symbol(("sensitivity", k, i)) for i in range(len(self.state))] for k in range(len(self.keys))]
        changes = [node for k in range(len(self.keys)) for node in along(rates, self.direction(k))]
        everything = (*self.state, *(node for row in self.slopes for node in row))
        also = margins(list(ensemble.integrals.values()), {nodes.time, *self.state})
        method, (watch, *edges) = ensemble.method, corners.smooth([nodes.watch.plain, *nodes.edges, *also])
        self.lanes = Lanes(
            nodes.time, everything, (*settings, *corners.numbers), [*rates, *changes], watch, edges, (),
            method.tolerance, method.compact, width=1,
        )  # fmt: skip

    def direction(self, k: int) -> dict[Node, Node]:
        """How the state and the parameters change with θ_k."""
        changed = dict(zip(self.state, self.slopes[k], strict=True))
        key = self.keys[k]
        return changed | {symbol(key): ONE} if key in self.ensemble.starts.parameters else changed

    def run(self, values: Mapping[Any, float], times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x, (instants, states), and S, (instants, states, θ), for values of θ; not a number after an early end."""
        times = np.asarray(times, dtype=float)
        x, parameters, slopes = self._start(values, float(times[0]))
        settings = parameters[: len(self.ensemble.problem.nodes.settings)]
        now, n = np.concatenate([x, slopes.T.ravel()]), len(self.state)
        found = np.full((len(times), len(now)), np.nan)
        found[0] = now
        for a, b in pairwise(self._knots(times)):
            place = np.flatnonzero((times - a) * (b - a) > 0)
            place = place[(times[place] - b) * (b - a) <= 0]
            own = np.unique([a, *times[place], b])[:: 1 if b > a else -1]
            p = np.array([*settings, *self._pieces_after(a, b)])
            stops = self.ensemble.stops_of(parameters[:, None], own)
            motions = self.lanes.run(own[:, None], now[:, None], p[:, None], stops=stops)
            if motions.codes[0] == UNDECIDED:
                raise VinculumError(
                    "The pivots of the equations change during this motion"
                    + (
                        ", or a function in them reaches the end of its range, such as a square root at zero."
                        if self.ensemble.problem.nodes.edges or self.ensemble.integrals
                        else "."
                    )
                    + " Derive it in the form 'lyapunov'."
                )
            found[place] = motions.states[1 : len(place) + 1, :, 0]
            now = motions.last[:, 0]
            if motions.codes[0] != DONE:
                break
        return found[:, :n], found[:, n:].reshape(len(times), len(self.keys), n).transpose(0, 2, 1)

    def _knots(self, times: np.ndarray) -> np.ndarray:
        """Start and end of the motion, and between them the instants at which a spline of the time changes.

        The state and its derivatives are continuous there, since these instants do not depend on θ.
        """
        low, high = sorted((float(times[0]), float(times[-1])))
        all_knots = [k for search in self._searches for k in search.node.value.values]
        inside = [knot for knot in all_knots if low < knot < high and not (is_at(knot, low) or is_at(knot, high))]
        return np.unique([low, *inside, high])[:: 1 if times[-1] > times[0] else -1]

    def _pieces_after(self, start: float, end: float) -> list[float]:
        """The numbers of the pieces of all splines after an instant."""
        return [x for search in self._searches for x in search.numbers(start, 1.0, end - start)]

    @property
    def _searches(self) -> tuple[Search, ...]:
        return self.ensemble.problem.nodes.corners.searches

    def _start(self, values: Mapping[Any, float], time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x₀, the parameters p, and dx₀/dθ."""
        columns = {key: np.array([values[key]], dtype=float) for key in self.keys}
        rows, refusals = self.ensemble.starts.solve(columns, 1)
        if refusals:
            raise VinculumError(refusals[0])
        slopes = self.ensemble.initial_slopes(columns, rows[0])
        if slopes is None:
            slopes = self._differences(values)
        return self.ensemble.initial_states(columns, rows)[:, 0], self.ensemble.settings_of(rows)[:, 0], slopes

    def _differences(self, values: Mapping[Any, float]) -> np.ndarray:
        """dx₀/dθ where the start is the one nearest to a guess."""
        center = np.array([values[key] for key in self.keys], dtype=float)
        steps = _DIFFERENCE * np.where(center == 0, 1.0, np.abs(center))
        trials = [*(center + shift * steps * unit for unit in np.eye(len(center)) for shift in _SHIFTS)]
        columns = dict(zip(self.keys, np.array(trials).T, strict=True))
        rows, refusals = self.ensemble.starts.solve(columns, len(trials))
        if refusals:
            raise VinculumError(refusals[min(refusals)])
        x = self.ensemble.initial_states(columns, rows)
        points = x.reshape(len(x), len(center), len(_SHIFTS))
        return np.asarray((points[:, :, 3:] - points[:, :, 2::-1]) @ np.array(_WEIGHTS) / steps)

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


def differentiated(equations: Any, by: Any) -> tuple[Any, ...]:
    """The parameters and states of ``by``, from one or several symbols or names."""
    keys = (by,) if isinstance(by, (str, sp.Basic)) and by != "" else by
    if not isinstance(keys, Iterable) or not (keys := tuple(keys)):
        raise VinculumError("Nothing to differentiate by. Pass by=[parameter or coordinate, ...].")
    states = (*equations.user_symbols, *equations.states, *equations.extra)
    names = {name(key): key for name in (name_of, variable_name) for key in (*equations.parameters, *states)}
    strange = [key for key in keys if not isinstance(key, (str, sp.Basic))]
    if strange:
        raise VinculumError(f"{strange[0]!r} in by is not a symbol. Pass by=[parameter or coordinate, ...].")
    found = tuple(names.get(key, key) if isinstance(key, str) else key for key in keys)
    twice = [key for i, key in enumerate(found) if key in found[:i]]
    if twice:
        raise VinculumError(f"{listed(twice)} is twice in by=. Give it once, by its symbol or by its name.")
    return found


def make_variational(
    equations: Any, initial: Mapping[Any, float], times: Any, by: Sequence[Any], measures: Mapping[str, Any],
    tolerance: float | None, stabilization: Any, inputs: Any, parameters: Any, guess: Any, fixed: Any,
) -> tuple[Variational, dict[Any, float]]:  # fmt: skip
    """The variational equations by θ = ``by``, and the present values of θ."""
    equations = derive_if_needed(equations)
    by = differentiated(equations, by)
    given = known_state(equations, initial)
    parameters = given_parameters(equations, parameters)
    known = dict(equations.parameters) | parameters | given
    missing = [key for key in by if key not in known]
    if missing:
        raise VinculumError(f"{listed(missing)} has no value: it is neither a parameter nor in initial.")
    bad = [f"{name_of(key)} is {known[key]!r}. Give it a finite value." for key in by if not is_number(known[key])]
    if bad:
        raise ModelError("Invalid values in by=", bad)
    values = {key: float(known[key]) for key in by}
    others = {key: value for key, value in given.items() if key not in values}
    options = {"stabilization": stabilization, "inputs": given_laws(equations, inputs)}
    one = table({key: [value] for key, value in values.items()})
    method = method_from("taylor", tolerance=tolerance)
    ensemble = prepare(equations, others, times, one, measures, "motion", method, options, parameters, guess, fixed)
    return Variational(ensemble, tuple(by)), values
