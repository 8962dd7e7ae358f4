"""A run that can still compute: its samples with the problems they were integrated with.

A run is a row of segments, each integrated in one set of variables. Integrated columns are read; everything else is an
expression of the state, compiled on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import WORK, servo_work
from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import Node, order
from vinculum.graph.splines import STATED
from vinculum.names import variable_name

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Segment:
    """Samples of a part of a run that was integrated in one set of variables."""

    problem: Problem
    t: np.ndarray  # (N)
    states: np.ndarray  # (N, n)

    def rows(self, outputs: Sequence[Node]) -> np.ndarray:
        """Nodes at every sample, (N, len(outputs)); read without compilation if all of them are states."""
        places = self.problem.nodes.places
        if all(node in places for node in outputs):
            return self.states[:, [places[node] for node in outputs]]
        return self.problem.compiled(outputs).rows(self.t, self.states, self.problem.values)

    def integrated(self, work: Node) -> np.ndarray:
        """A quantity that was integrated along with the motion, (N); zero without any power."""
        nodes = self.problem.nodes
        return self.states[:, nodes.places[work]] if work in nodes.powers else np.zeros(len(self.t))


@dataclass(frozen=True)
class Beyond:
    """A curve through data points that the motion used outside their range."""

    name: str
    used: tuple[float, float]
    points: tuple[float, float]

    def __str__(self) -> str:
        used, points = (f"{low:.6g} to {high:.6g}" for low, high in (self.used, self.points))
        return f"{self.name} was used from {used}, beyond its points ({points})"


@dataclass(frozen=True, eq=False)
class LiveRun:
    """The segments of a run and its dense output."""

    segments: tuple[Segment, ...]
    dense: tuple[Any, ...] = ()  # heyoka's polynomials, or segments with every step

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def problem(self) -> Problem:
        """What was integrated, in its first variables."""
        return self.segments[0].problem

    def rows(self, nodes: Callable[[Problem], Sequence[Node]]) -> np.ndarray:
        """Nodes at every sample, each segment with its own variables and pivots."""
        return np.vstack([segment.rows(nodes(segment.problem)) for segment in self.segments])

    def expressions(self, wanted: Sequence[sp.Expr]) -> np.ndarray:
        """Expressions of the user's symbols at every sample, (N, len(wanted))."""
        return self.rows(lambda problem: [problem.nodes.node(e, f"motion[{e}]") for e in wanted])

    def _named(self, symbols: Iterable[Node]) -> dict[str, np.ndarray]:
        """Symbols of the equations by their names; each of them once."""
        nodes = list(dict.fromkeys(symbols))
        values = self.rows(lambda problem: problem.nodes.own(nodes)).T if nodes else np.empty((0, 0))
        return dict(zip((variable_name(node.value) for node in nodes), values, strict=True))

    # -- columns by role -------------------------------------------------------------------------------------

    @cached_property
    def states(self) -> dict[str, np.ndarray]:
        """Coordinates, velocities and other states."""
        record = self.problem.integrable
        return self._named((*record.roles.symbols, *record.states))

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """Every input: from its law, or the value with which it holds a constraint."""
        record = self.problem.integrable
        return self._named((*record.inputs, *record.roles.holding.values()))

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """λ of every constraint; of a servo constraint, the input that holds it."""
        known = self.problem.integrable.roles.reactions
        values = self.expressions([node.value for node in known.values()])
        return dict(zip(known, values.T, strict=True))

    @cached_property
    def residuals(self) -> dict[tuple[str, str], np.ndarray]:
        """The residual of every constraint at every level."""
        rows = self.rows(lambda problem: problem.nodes.residuals)
        return dict(zip(self.problem.nodes.residual_names, rows.T, strict=True))

    @cached_property
    def energy(self) -> np.ndarray:
        """E; zero if the system has none."""
        return self.rows(lambda problem: [problem.nodes.energy])[:, 0]

    @cached_property
    def work(self) -> np.ndarray:
        """The work done on the system since the start."""
        return self._integrated(WORK)

    @cached_property
    def servo_work(self) -> dict[str, np.ndarray]:
        """The work of each input that holds a servo constraint."""
        servos = [node.value for node in self.problem.integrable.roles.servos]
        return {variable_name(u): self._integrated(servo_work(u)) for u in servos}

    def _integrated(self, work: Node) -> np.ndarray:
        """A quantity that was integrated along with the motion."""
        return np.concatenate([segment.integrated(work) for segment in self.segments])

    # -- what the columns mean -------------------------------------------------------------------------------

    @property
    def states_energy(self) -> bool:
        """Whether the system has an energy."""
        return self.problem.integrable.energy is not None

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that a plot shows by default."""
        return tuple(variable_name(node.value) for node in self.problem.integrable.roles.shown)

    @property
    def holding(self) -> dict[str, str]:
        """The input in place of a reaction, by the name of the reaction."""
        return {name: variable_name(u.value) for name, u in self.problem.integrable.roles.holding.items()}

    @property
    def event_names(self) -> tuple[str, ...]:
        """The names of all events of the run."""
        return tuple(event.name for event in self.problem.nodes.events)

    @cached_property
    def beyond(self) -> tuple[Beyond, ...]:
        """The curves used outside the range of their points at some sample."""
        found: dict[str, Beyond] = {}
        for segment in self.segments:
            for beyond in _curves(segment):
                before = found.get(beyond.name, beyond)
                low, high = min(beyond.used[0], before.used[0]), max(beyond.used[1], before.used[1])
                found[beyond.name] = Beyond(beyond.name, (low, high), beyond.points)
        return tuple(b for b in found.values() if _is_outside(b))

    # -- between the samples ---------------------------------------------------------------------------------

    def at(self, times: np.ndarray) -> dict[str, np.ndarray]:
        """States between the samples. Taylor runs: the polynomials of every step. Others: cubics through the steps."""
        if not self.dense:
            raise VinculumError(Finding("This run kept no dense output.", ["Use ", call("simulate", dense=True), "."]))
        if isinstance(self.dense[0], Segment):
            return _cubics(self.dense, times)
        record = self.problem.integrable
        if not self.has_polynomials:
            raise VinculumError("The variables changed during this run: it has no dense output. Use its samples.")
        states = self.polynomials(times)
        own = [node for node in record.states if node.value not in record.equations.extra]
        return {variable_name(node.value): states[:, i] for i, node in enumerate(own)}

    @property
    def has_polynomials(self) -> bool:
        """Whether the Taylor polynomials of every step were kept, all in the same variables."""
        states = self.problem.integrable.states
        same = all(segment.problem.integrable.states == states for segment in self.segments)
        return bool(self.dense) and not isinstance(self.dense[0], Segment) and same

    def polynomials(self, times: np.ndarray) -> np.ndarray:
        """The Taylor polynomials of every step."""
        result = np.empty((len(times), self.segments[0].states.shape[1]))
        for piece in self.dense:
            low, high = sorted(piece.bounds)
            inside = (times >= low) & (times <= high)
            if inside.any():
                result[inside] = piece(times[inside])
        return result


def _cubics(segments: Sequence[Segment], times: np.ndarray) -> dict[str, np.ndarray]:
    """Cubics through the steps and their rates, in the user's symbols, for any variables."""
    from scipy.interpolate import CubicHermiteSpline

    record = segments[0].problem.integrable
    keys = [node.value for node in record.roles.symbols]
    rates = [key.diff(record.time.value) for key in keys]
    t, first = np.unique(np.concatenate([s.t for s in segments]), return_index=True)
    values, slopes = (LiveRun(tuple(segments)).expressions(part)[first] for part in (keys, rates))
    found = CubicHermiteSpline(t, values, slopes)(times)
    return {variable_name(key): found[:, i] for i, key in enumerate(keys)}


def _curves(segment: Segment) -> list[Beyond]:
    """The range of every curve through points in a segment."""
    splines = [
        node for node in order(segment.problem.nodes.rates) if node.op == "spline" and node.value.beyond not in STATED
    ]
    curves = {(node.value.name, node.args[0]): node.value for node in splines}
    if not curves:
        return []
    values = segment.rows([argument for _, argument in curves])
    ranges = zip(curves.values(), np.min(values, axis=0), np.max(values, axis=0), strict=True)
    return [Beyond(p.name, (float(low), float(high)), p.points) for p, low, high in ranges]


def _is_outside(beyond: Beyond) -> bool:
    """Whether a curve was used beyond its points, by more than rounding."""
    low, high = beyond.points
    slack = 1e-9 * (high - low)
    return beyond.used[0] < low - slack or beyond.used[1] > high + slack
