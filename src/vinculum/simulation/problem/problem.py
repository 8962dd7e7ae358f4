"""An initial value problem ẋ = f(t, x, p): its nodes and the numbers p.

Parameters p = (the system's parameters, feedback gains of every constraint, pivots at the reference state,
expressions of all these computed once, held corrections, sides of corners). All are run-time numbers, so one
compilation serves all values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.derivation.integrable import Equations, Feedback, Integrable, linear_feedback, with_definitions
from vinculum.graph import Node, evaluate, symbol
from vinculum.kept import Kept
from vinculum.simulation.problem.discontinuities import Branch, Sides
from vinculum.simulation.problem.events import Event
from vinculum.simulation.problem.motion_expressions import MotionNodes, input_laws, motion_nodes
from vinculum.simulation.problem.pivots import condition_values

_OWN = ("rates", "held_rates", "monitored", "residuals", "monitor")  # cached properties of the nodes


@dataclass(frozen=True, eq=False)
class Problem:
    """Nodes and numbers of a segment of a run that is integrated in one set of variables."""

    nodes: MotionNodes
    parameter_values: np.ndarray
    gains: tuple[float, ...] = ()  # of ``nodes.gains``
    references: tuple[float, ...] = ()  # of ``nodes.watch.references``
    at_start: tuple[float, ...] = ()  # the conditions of the equations at the start
    sides: Sides | None = None  # of the corners, for methods that go from corner to corner; None: sign is sign
    resting: frozenset[int] = frozenset()  # numbers of events whose functions stay at zero up to the next corner
    branches: Mapping[tuple, Branch] = field(default_factory=dict)  # by the surfaces along which the motion went

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields, without machine code; branches are built again."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"branches": {}}

    @property
    def equations(self) -> Equations:
        """The equations of the user, in the variables of this segment."""
        return self.integrable.equations

    @property
    def integrable(self) -> Integrable:
        """What is integrated, in the variables of this segment."""
        return self.nodes.integrable

    @cached_property
    def branch(self) -> Branch:
        """The branch on which the motion is."""
        known = None if self.sides is None else self.branches.get(self.sides.branch)
        return self.nodes.on(self.sides) if known is None else known

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers p, in the order of ``branch.parameters``."""
        nodes = self.nodes
        settings, computed = [*self.parameter_values.tolist(), *self.gains, *self.references], []
        if nodes.hoisted:
            known = dict(zip(nodes.settings, settings, strict=True))
            computed = evaluate(list(nodes.hoisted), known, nodes.hoisted_order)
        sides = () if self.sides is None else (*self.sides.sigma, *self.sides.chosen)
        return np.array([*settings, *computed, *np.zeros(len(self.integrable.constraints)), *sides], dtype=float)

    @cached_property
    def kept(self) -> Kept:
        """What was prepared for a further run of this very problem."""
        return Kept(8)

    def compiled(self, outputs: Sequence[Node], further: Sequence[Node] = ()) -> Function:
        """Machine code for outputs of (t, x, p); ``further`` states may follow x.

        The code for outputs that the nodes own is found by their name, without reading hundreds of nodes.
        """

        def make() -> Function:
            state = (*self.nodes.state, *further)
            return function(self.nodes.time, state, self.branch.parameters, self.branch.prepared(outputs))

        own = self.nodes.__dict__
        name = next((name for name in _OWN if own.get(name) is outputs), None)
        return make() if name is None or further else self.branch.known.get(("function", name), make)

    def slopes(self, t: float, x: np.ndarray) -> np.ndarray:
        """∂f/∂x at a state, (n, n), by central differences of f."""
        n = len(x)
        steps = np.cbrt(np.finfo(float).eps) * (np.abs(x) + np.abs(x).max(initial=0.0) + 1e-3)
        rows = np.vstack([x + np.diag(steps), x - np.diag(steps)])
        f = self.compiled(self.nodes.rates).rows(np.full(2 * n, t), rows, self.values)
        return ((f[:n] - f[n:]) / (2 * steps[:, None])).T

    def motion_rate(self, t: float, x: np.ndarray, iterations: int = 30) -> float:
        """About the largest |eigenvalue| of ∂f/∂x at a state, by power iteration with finite differences of f.

        The geometric mean of the growth over the last iterations smooths the rotation of complex pairs. Returns 1 for a
        motion whose rates are zero.
        """
        f = self.compiled(self.nodes.rates)
        here = f(t, x, self.values)
        small = 1e-7 * (1.0 + float(np.abs(x).max()))
        direction = np.random.default_rng(1).normal(size=len(x))
        growth = []
        for _ in range(iterations):
            length = math.hypot(*direction)
            if not np.isfinite(length) or length == 0:
                return 1.0
            growth.append(length)
            direction = (f(t, x + small * direction / length, self.values) - here) / small
        return float(np.exp(np.mean(np.log(growth[iterations // 2 :]))))

    def numbers(self, t: float, x: np.ndarray) -> dict[Node, float]:
        """Values of all symbols at a state, including inputs, for the interpreter."""
        nodes = self.nodes
        known = dict(zip(nodes.state, map(float, x), strict=True))
        known |= dict(zip(self.branch.parameters, map(float, self.values), strict=True)) | {nodes.time: float(t)}
        laws = nodes.lifted(list(nodes.laws.values()))
        return known | dict(zip(nodes.laws, evaluate(laws, known), strict=True))

    def everything(self, t: float, x: np.ndarray) -> dict[Node, float]:
        """Values of all symbols at a state, including the velocities that follow from it."""
        known = self.numbers(t, x)
        own = self.integrable.roles.symbols
        return known | dict(zip(own, evaluate(self.nodes.closed(self.nodes.lifted(own)), known), strict=True))

    def on_sides(self, sides: Sides) -> Problem:
        """The same problem on other sides of its corners; nodes and branches are kept."""
        known = self.branches.get(sides.branch)
        return replace(self, sides=sides, branches={**self.branches, sides.branch: known or self.nodes.on(sides)})

    def with_feedback(self, feedback: Feedback) -> Problem:
        """The same problem with other corrections."""
        now, gains = self.nodes, tuple(feedback.gains)
        same = (feedback.corrections, gains, feedback.law) == (now.feedback, now.gains, now.is_law)
        nodes = now if same else motion_nodes(self.integrable, now.laws, feedback, now.events)
        return replace(self, nodes=nodes, gains=tuple(feedback.gains.values()), branches={})

    def with_integrable(self, integrable: Integrable) -> Problem:
        """The same problem in other variables, or with other pivots, at a state."""
        nodes = motion_nodes(integrable, self.nodes.laws, self._feedback, self.nodes.events)
        return replace(self, nodes=nodes, references=nodes.watch.numbers(integrable.pivots), branches={})

    @property
    def _feedback(self) -> Feedback:
        """The corrections with the numbers of their gains."""
        gains = dict(zip(self.nodes.gains, self.gains, strict=True))
        return Feedback(self.nodes.feedback, gains, self.nodes.is_law)


def build_problem(
    equations: Equations,
    start: Mapping[sp.Expr, float],
    time: float,
    laws: Mapping[sp.Expr, sp.Expr],
    parameters: Mapping[sp.Symbol, float],
    events: Sequence[Event],
) -> tuple[Problem, np.ndarray]:
    """The problem and its initial x, without feedback."""
    numbers = dict(equations.parameters) | dict(parameters)
    closing = input_laws(equations, laws)
    known = {symbol(key): float(value) for key, value in (dict(start) | numbers | {equations.time: time}).items()}
    known = with_definitions(equations.definitions, known)
    known |= {symbol(key): float(start.get(key, 0.0)) for key in equations.extra}
    known |= dict(zip(closing, evaluate(list(closing.values()), known), strict=True))
    integrable = equations.integrable(known)
    none = linear_feedback(integrable.chains, [[0.0] * len(chain) for chain in integrable.chains])
    nodes = motion_nodes(integrable, closing, none, events)
    x = np.array([*integrable.state_values(known), *np.zeros(len(nodes.powers))])
    references = nodes.watch.numbers(integrable.pivots)
    problem = Problem(nodes, np.array(list(numbers.values()), dtype=float), tuple(none.gains.values()), references)
    return replace(problem, at_start=condition_values(problem, time, x)), x
