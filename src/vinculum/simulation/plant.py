"""A program law on a plant that differs from its model: what remains of the accuracy.

The law N(x, t) of form "program" is computed with the parameters of the model; the plant has others, disturbances,
limited inputs, or receives the law only at sampling instants. On the model the residuals obey η̇ = A η. On the plant

    η̇ = A η + δ,      δ_j = ẏ_j (plant) - (what the model expects),

where δ contains everything in which they differ: wrong parameters, disturbances, limits, held inputs. Therefore

    |η(t)| ≤ |e^{At} η(0)| + ∫₀^∞ |e^{As}| ds · max|δ|,

component by component. The run measures η and δ, so what remains of the accuracy comes with the bound that explains it;
for one constraint with (d/dt + k)ʳ y = δ it is max|δ|/kʳ: larger rates make the law less sensitive, until limits and
sampling answer with a larger δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.derivation import derive
from vinculum.derivation.program.program_equations import ProgramEquations
from vinculum.describe.affine import AffineSystem
from vinculum.errors import ModelError, VinculumError
from vinculum.expressions import as_expression
from vinculum.graph import ONE, ZERO, Converter, Node, along, constant, substitute, symbol, to_sympy
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.simulation.problem.start import consistent_state, known_state
from vinculum.simulation.run import simulate
from vinculum.text_printer import labelled_rows

_SAMPLES = 1000  # of a run whose instants were not given
_SETTLED = 0.5  # share of the run after which what remains is measured
_LASTING = 60.0  # |e^{As}| is integrated over this many times the slowest time constant

Expressions = Mapping[sp.Expr, sp.Expr | float]


@dataclass(frozen=True, eq=False, repr=False)
class PlantRun:
    """A law on a plant: motion, inputs, the residuals of the program and their bound."""

    t: np.ndarray  # (N)
    states: dict[str, np.ndarray]
    inputs: dict[str, np.ndarray]  # as applied, after limits and sampling
    residuals: dict[tuple[str, str], np.ndarray]  # (constraint, level) -> y
    mismatch: dict[tuple[str, str], float]  # max|δ|
    bound: dict[tuple[str, str], np.ndarray]  # of |y|, (N); infinite if A is not constant
    limited: dict[str, float]  # the share of the time in which an input is at its limit
    outcome: str

    def remaining(self, constraint: str, level: str = "position") -> float:
        """The largest residual in the second half of the run."""
        late = self.t >= self.t[0] + _SETTLED * (self.t[-1] - self.t[0])
        return float(np.abs(self.residuals[constraint, level][late]).max())

    def __getitem__(self, key: sp.Expr | str) -> np.ndarray:
        """Samples of a state or an input."""
        name, known = key if isinstance(key, str) else name_of(key), self.states | self.inputs
        if name not in known:
            raise VinculumError(f"{name} is not in this run.{suggestion(name, known)}")
        return known[name]

    @property
    def explained(self) -> bool:
        """Whether every residual stays within its bound, except for errors of integration."""
        return all(bool(np.all(np.abs(y) <= self.bound[key] * (1 + 1e-3) + 1e-9)) for key, y in self.residuals.items())

    def __repr__(self) -> str:
        rows = {"time": f"{self.t[0]:.6g} to {self.t[-1]:.6g}", "outcome": self.outcome}
        for name, level in self.residuals:
            rows[f"{name}, {level}"] = (
                f"remains {self.remaining(name, level):.3g}, bound {self.bound[name, level][-1]:.3g}, "
                f"mismatch {self.mismatch[name, level]:.3g}"
            )
        rows |= {f"{u} limited": f"{share:.1%} of the time" for u, share in self.limited.items()}
        return labelled_rows("Law on another plant", rows)

    _repr_html_ = html


def run_on_plant(
    equations: ProgramEquations,
    initial: Mapping[Any, float],
    times: Sequence[float] | np.ndarray,
    *,
    parameters: Mapping[sp.Symbol, float] | None = None,
    disturbances: Expressions | None = None,
    limits: Mapping[sp.Expr, tuple[float, float]] | None = None,
    sampling: float | None = None,
    plant: AffineSystem | None = None,
    **options: Any,
) -> PlantRun:
    """The motion of a plant under the law of ``equations``, and what remains of the accuracy.

    ``parameters`` are those of the plant where they differ from the model; ``disturbances`` {state: expression added
    to its rate, or input: expression added to it}; ``limits`` {input: (low, high)}; ``sampling`` the period at which
    the law is evaluated and held. ``plant`` is another system with the same states and inputs. ``options`` go to
    `simulate`. States that ``initial`` leaves out start on the program.
    """
    loop = _loop(equations, plant, dict(parameters or {}), dict(disturbances or {}), dict(limits or {}))
    grid = np.asarray(times, dtype=float)
    grid = grid if len(grid) > 2 else np.linspace(grid[0], grid[-1], _SAMPLES + 1)
    start = _start(equations, initial, float(grid[0]))
    if sampling is not None and not (math.isfinite(sampling) and sampling > 0):
        raise VinculumError(f"sampling={sampling} must be a positive period.")
    found = _continuous(loop, start, grid, options) if sampling is None else _held(loop, start, grid, sampling, options)
    return _judged(equations, loop, *found)


# -- the plant with its inputs -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Loop:
    """Model and plant in one: the inputs are parameters of the plant, or the law itself."""

    model: ProgramEquations
    inputs: tuple[Node, ...]
    law: tuple[Node, ...]  # u(x, t) of the model, within the limits
    limits: dict[sp.Expr, tuple[float, float]]
    rates: tuple[Node, ...]  # ẋ of the plant, of x, t and inputs
    numbers: dict[sp.Symbol, float]  # the parameters of the plant

    @property
    def state(self) -> tuple[Node, ...]:
        """x."""
        return self.model.system.nodes.x

    def system(self, closed: bool) -> AffineSystem:
        """The plant with the law, or with its inputs as parameters."""
        rates = substitute(list(self.rates), dict(zip(self.inputs, self.law, strict=True))) if closed else self.rates
        free = {} if closed else {u.value: 0.0 for u in self.inputs}
        return AffineSystem(self.model.states, list(rates), parameters={**self.numbers, **free}, name="plant")

    def compiled(self, outputs: Sequence[Node], *further: Node) -> Function:
        """Machine code of t, x and further columns; all parameters are numbers."""
        return function(self.model.system.nodes.time, (*self.state, *further), (), tuple(outputs))


def _loop(
    model: ProgramEquations,
    plant: AffineSystem | None,
    parameters: dict[sp.Symbol, float],
    disturbances: dict[sp.Expr, Any],
    limits: dict[sp.Expr, tuple[float, float]],
) -> _Loop:
    system, actual = model.system, plant or model.system
    _refuse(model, actual, parameters, disturbances, limits)
    numbers = {**actual.parameters, **{p: float(v) for p, v in parameters.items()}}
    stated = {symbol(p): constant(float(v)) for p, v in system.parameters.items()}
    wanted = substitute([Converter()(model.controls[u]) for u in system.inputs], stated)
    law = [_within(node, limits.get(u)) for node, u in zip(wanted, system.inputs, strict=True)]
    nodes, inputs = actual.nodes, [symbol(u) for u in system.inputs]
    place = [inputs.index(symbol(u)) for u in actual.inputs]
    added = [Converter()(as_expression(disturbances.get(u, 0))) for u in system.inputs]
    rates = []
    for i, x in enumerate(actual.states):
        rate = nodes.F[i] + Converter()(as_expression(disturbances.get(x, 0)))
        for column, k in enumerate(place):
            rate = rate + nodes.B[i, column] * (inputs[k] + added[k])
        rates.append(rate)
    return _Loop(model, tuple(inputs), tuple(law), limits, tuple(rates), numbers)


def _refuse(
    model: ProgramEquations, plant: AffineSystem, parameters: Mapping, disturbances: Mapping, limits: Mapping
) -> None:
    """Raise for everything that does not belong to the plant, all at once."""
    inputs, problems = model.system.inputs, list[str]()
    if tuple(plant.states) != model.states or set(plant.inputs) != set(inputs):
        problems.append(
            f"the plant has the states {listed(plant.states)} and inputs {listed(plant.inputs)}; the law was made for "
            f"{listed(model.states)} and {listed(inputs)}."
        )
    for given, known, what in (
        (parameters, plant.parameters, "a parameter of the plant"), (limits, inputs, "an input"),
        (disturbances, (*plant.states, *inputs), "a state or an input"),
    ):  # fmt: skip
        problems += [
            f"{name_of(key)} is not {what}.{suggestion(name_of(key), map(name_of, known))}"
            for key in given
            if key not in known
        ]
    problems += [f"the limits of {name_of(u)} are {pair}; use (low, high)." for u, pair in limits.items()
                 if not pair[0] < pair[1]]  # fmt: skip
    if model.unset:
        problems.append(f"the gain {listed(model.unset)} has no value. Use equations.with_values({{gain: value}}).")
    if model.prescribed is None:
        problems.append("the law has no gains: derive it with rates, such as derive(system, 'program', rates=5.0).")
    if problems:
        raise ModelError("Invalid plant", problems)


def _within(node: Node, limit: tuple[float, float] | None) -> Node:
    """An input within its limits."""
    return node if limit is None else Converter()(sp.Max(limit[0], sp.Min(limit[1], to_sympy(node))))


def _start(equations: ProgramEquations, initial: Mapping[Any, float], time: float) -> dict[sp.Expr, float]:
    """All states: as given, the others on the program."""
    given = known_state(equations, initial)
    if set(given) >= set(equations.states):
        return {x: float(given[x]) for x in equations.states}
    return consistent_state(equations, given, time=time)


# -- runs ----------------------------------------------------------------------------------------------------------

_Found = tuple[np.ndarray, np.ndarray, np.ndarray, str]  # t (N), x (N, n), u (N, s), outcome


def _continuous(loop: _Loop, start: Mapping[sp.Expr, float], grid: np.ndarray, options: Mapping[str, Any]) -> _Found:
    """The law acts at every instant."""
    motion = simulate(derive(loop.system(closed=True), "program"), start, grid, **{"progress": False, **options})
    x = np.column_stack([motion[key] for key in loop.model.states])
    return motion.t, x, loop.compiled(loop.law).rows(motion.t, x, np.zeros(0)), str(motion.outcome)


def _held(
    loop: _Loop, start: Mapping[sp.Expr, float], grid: np.ndarray, period: float, options: Mapping[str, Any]
) -> _Found:
    """The law is evaluated at the sampling instants and held between them."""
    plant, law = derive(loop.system(closed=False), "program"), loop.compiled(loop.law)
    keys, state, t0, t1 = loop.model.states, dict(start), float(grid[0]), float(grid[-1])
    count = math.ceil((t1 - t0) / period - 1e-9)
    ticks = np.append(t0 + period * np.arange(count), t1)
    t, x, u = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    outcome = ""
    for k in range(count):
        value = law(ticks[k], np.array([state[key] for key in keys]), np.zeros(0))
        inside = grid[(grid > ticks[k]) & (grid < ticks[k + 1])]
        part = simulate(
            plant, state, np.unique([ticks[k], *inside, (ticks[k] + ticks[k + 1]) / 2, ticks[k + 1]]),
            parameters={node.value: float(v) for node, v in zip(loop.inputs, value, strict=True)},
            **{"progress": False, **options},
        )  # fmt: skip
        columns = np.column_stack([part[key] for key in keys])
        t.append(part.t)
        x.append(columns)
        u.append(np.tile(value, (len(part.t), 1)))
        state, outcome = dict(zip(keys, map(float, columns[-1]), strict=True)), str(part.outcome)
        if not part.outcome:
            break
    return np.concatenate(t), np.vstack(x), np.vstack(u), outcome


# -- what remains --------------------------------------------------------------------------------------------------


def _judged(
    model: ProgramEquations, loop: _Loop, t: np.ndarray, x: np.ndarray, u: np.ndarray, outcome: str
) -> PlantRun:
    """Residuals, mismatch δ and bound along a run."""
    stated = {symbol(p): constant(float(v)) for p, v in model.system.parameters.items()}
    actual = {symbol(p): constant(v) for p, v in loop.numbers.items()}
    chains = [substitute(list(chain.y), stated) for chain in model.chains_found]
    flow = {model.system.nodes.time: ONE, **dict(zip(loop.state, substitute(list(loop.rates), actual), strict=True))}
    corrections = substitute(list(model.law), stated)
    expected = [[*chain[1:], ZERO - c] for chain, c in zip(chains, corrections, strict=True)]
    levels = [y for chain in chains for y in chain]
    delta = [dy - e for dy, e in zip(along(levels, flow), (e for row in expected for e in row), strict=True)]
    everything = np.column_stack([x, u])
    found = loop.compiled([*levels, *delta], *loop.inputs).rows(t, everything, np.zeros(0))
    names = [(residual.constraint, residual.level) for residual in model.residuals]
    eta, off = found[:, : len(levels)], np.abs(found[:, len(levels) :]).max(axis=0)
    columns = dict(zip(model.system.inputs, u.T, strict=True))
    return PlantRun(
        t=t,
        states={name_of(key): x[:, i] for i, key in enumerate(model.states)},
        inputs={name_of(key): column for key, column in columns.items()},
        residuals=dict(zip(names, eta.T, strict=True)),
        mismatch=dict(zip(names, map(float, off), strict=True)),
        bound=dict(zip(names, _bounds(model, t - t[0], eta[0], off).T, strict=True)),
        limited={name_of(key): _at_limit(columns[key], *limit) for key, limit in loop.limits.items()},
        outcome=outcome,
    )


def _at_limit(u: np.ndarray, low: float, high: float) -> float:
    """The share of the samples at which an input is at a limit."""
    slack = 1e-9 * (high - low)
    return float(np.mean((u <= low + slack) | (u >= high - slack)))


def _bounds(model: ProgramEquations, elapsed: np.ndarray, first: np.ndarray, off: np.ndarray) -> np.ndarray:
    """|e^{At} η(0)| + ∫|e^{As}| ds max|δ| at every instant, (N, levels); infinite if A varies or does not decay."""
    A = model.constant_approach()
    if A is None or np.linalg.eigvals(A).real.max() >= 0:
        return np.full((len(elapsed), len(off)), np.inf)
    from scipy.linalg import expm

    slowest = -1 / np.linalg.eigvals(A).real.max()
    step = slowest * _LASTING / 20_000
    power, total, E = np.eye(len(A)), np.zeros_like(A), expm(step * A)
    for _ in range(20_000):
        after = E @ power
        total += np.maximum(np.abs(power), np.abs(after)) * step
        power = after
    return np.array([np.abs(expm(A * s) @ first) for s in elapsed]) + total @ off
