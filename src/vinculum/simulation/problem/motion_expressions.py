"""The nodes of an initial value problem: an `Integrable`, closed by input laws and constraint feedback.

The state is x and, if forces do work, w = ∫ power dt, for all forces together and for every servo.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import WORK, Equations, Feedback, Integrable, levels
from vinculum.errors import About, Finding, Formula, ModelError, Word, call
from vinculum.graph import ONE, ZERO, Converter, Node, along, jacobian, order, substitute, symbol, symbols
from vinculum.graph.from_sympy import UnknownFunction
from vinculum.graph.place import in_order
from vinculum.graph.traverse import hoistable
from vinculum.kept import Kept
from vinculum.names import listed, name_of, suggestion
from vinculum.simulation.problem.discontinuities import Branch, Corners, Sides, find_corners, rough_functions
from vinculum.simulation.problem.events import Event, size_of_terms
from vinculum.simulation.problem.pivots import PivotWatch
from vinculum.simulation.problem.ranges import End, margins


@dataclass(frozen=True, eq=False)
class MotionNodes:
    """ẋ = f(t, x, p), and all quantities watched during the run, as expressions of t, x and p."""

    integrable: Integrable
    laws: Mapping[Node, Node]  # inputs as expressions of time and state
    feedback: tuple[Node, ...]  # the correction c of every constraint as a function of residuals and gains
    gains: tuple[Node, ...]  # symbols
    is_law: bool  # whether c is part of the inputs, see `Feedback`
    events: tuple[Event, ...] = ()
    branches: Kept = field(default_factory=Kept, init=False)

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields; everything else is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def on(self, sides: Sides | None) -> Branch:
        """The branch of the equations on some sides of their corners, or along them."""
        slopes = None if sides is None or sides.matrix is None else sides.matrix.tobytes()
        return self.branches.get((sides and sides.branch, slopes), lambda: Branch(self, sides))

    # -- the right side --------------------------------------------------------------------------------------

    @property
    def time(self) -> Node:
        """t."""
        return self.integrable.time

    @cached_property
    def state(self) -> tuple[Node, ...]:
        """x; if forces do work, then w and the work of every servo."""
        return (*self.integrable.states, *self.powers)

    @cached_property
    def places(self) -> dict[Node, int]:
        """The place of every state in x."""
        return {node: i for i, node in enumerate(self.state)}

    @cached_property
    def corrections(self) -> tuple[Node, ...]:
        """c as nodes of the state."""
        return tuple(self.lifted(substitute(list(self.feedback), levels(self.integrable.chains))))

    @cached_property
    def reported(self) -> dict[Node, Node]:
        """c in the inputs that a run reports: the feedback if it is a law, otherwise zero."""
        zero = [ZERO] * len(self.corrections)
        return dict(zip(self.integrable.corrections, self.corrections if self.is_law else zero, strict=True))

    @cached_property
    def held_rates(self) -> tuple[Node, ...]:
        """f with the corrections c as parameters, constant through the stages of a step."""
        return (*self.closed(self.integrable.rates), *self.powers.values())

    @cached_property
    def rates(self) -> tuple[Node, ...]:
        """f with the corrections as feedback of the state."""
        feedback = dict(zip(self.integrable.corrections, self.corrections, strict=True))
        return tuple(substitute(self.held_rates, feedback))

    def jacobian(self) -> np.ndarray:
        """∂f/∂x."""
        return jacobian(self.rates, self.state)

    @cached_property
    def corners(self) -> Corners:
        """The surfaces at which f and the event functions are not smooth."""
        return find_corners([*self.rates, *self.event_functions])

    @cached_property
    def rough(self) -> list[str]:
        """Nonsmooth functions in f whose corners are not known."""
        return rough_functions(self.rates)

    @cached_property
    def calls_routines(self) -> bool:
        """Whether f calls routines, which have no expressions to differentiate."""
        return any(node.op == "call" for node in order(self.rates))

    @cached_property
    def corner_slopes(self) -> list[Node]:
        """dg/dt of every surface, as nodes of the state and σ."""
        return self.corners.slopes(self.time, self.state, self.rates)

    @cached_property
    def corner_curvatures(self) -> list[Node]:
        """d²g/dt² of every surface, as nodes of the state and σ."""
        rates = dict(zip(self.state, self.corners.smooth(self.rates), strict=True))
        return along(self.corner_slopes, {self.time: ONE, **rates})

    @cached_property
    def search_slopes(self) -> list[Node]:
        """ds/dt of the argument of every spline."""
        arguments = [search.node.args[0] for search in self.corners.searches]
        return along(arguments, {self.time: ONE, **dict(zip(self.state, self.rates, strict=True))})

    # -- watched quantities ----------------------------------------------------------------------------------

    @cached_property
    def powers(self) -> dict[Node, Node]:
        """{work: power} integrated along with the motion: of all forces, and of every servo."""
        energy = self.integrable.energy
        given = {} if energy is None else energy.powers
        powers = dict(zip(given, self.as_reported(list(given.values())), strict=True))
        return {} if powers.get(WORK, ZERO) is ZERO else powers

    @property
    def energy(self) -> Node:
        """E; zero if the system has none."""
        return ZERO if self.integrable.energy is None else self.integrable.energy.stored

    @cached_property
    def balance(self) -> Node:
        """E - w, constant on the exact motion."""
        return self.energy - WORK if self.powers else self.energy

    @cached_property
    def residuals(self) -> tuple[Node, ...]:
        """Everything that is zero on the exact motion."""
        return tuple(residual.node for residual in self.integrable.residuals)

    @cached_property
    def residual_names(self) -> tuple[tuple[str, str], ...]:
        """(constraint, level) of each residual."""
        return tuple((residual.constraint, residual.level) for residual in self.integrable.residuals)

    @cached_property
    def residual_sizes(self) -> tuple[Node, ...]:
        """The sums of the sizes of the terms of the residuals, which determine their rounding."""
        return tuple(size_of_terms(node) for node in self.residuals)

    @cached_property
    def first_levels(self) -> dict[str, int]:
        """The place of the first residual of every constraint: of positions, or of velocities if it has no others."""
        found: dict[str, int] = {}
        for k, (name, _) in enumerate(self.residual_names):
            found.setdefault(name, k)
        return found

    @cached_property
    def watch(self) -> PivotWatch:
        """The watch over the pivots."""
        return PivotWatch(self.integrable)

    @cached_property
    def event_functions(self) -> tuple[Node, ...]:
        """The expressions whose zeros are events."""
        found = tuple(self.node(event.expression, f"the event {event.name!r}") for event in self.events)
        for event, node in zip(self.events, found, strict=True):
            refuse_constant(event, node, {self.time, *self.state})
        return found

    @cached_property
    def event_sizes(self) -> tuple[Node, ...]:
        """The sums of the sizes of the terms of the event functions, which determine their rounding."""
        return tuple(size_of_terms(node) for node in self.event_functions)

    @cached_property
    def monitored(self) -> tuple[Node, ...]:
        """Outputs evaluated at the start of a step: rates, watch, balance, residuals, events, c."""
        watched = (self.watch.strict, self.balance, *self.residuals, *self.event_functions)
        return (*self.rates, *watched, *self.corrections)

    @cached_property
    def monitor(self) -> tuple[Node, ...]:
        """Outputs evaluated between the steps of an adaptive method: balance, residuals."""
        return (self.balance, *self.residuals)

    @cached_property
    def ends(self) -> dict[Node, End]:
        """The margins of functions in f and in the events whose series leave their ranges, see `ranges`."""
        return margins([*self.rates, *self.event_functions], {self.time, *self.state})

    @cached_property
    def edges(self) -> tuple[Node, ...]:
        """The margins alone."""
        return tuple(self.ends)

    # -- computed once ---------------------------------------------------------------------------------------

    @cached_property
    def settings(self) -> tuple[Node, ...]:
        """The symbols at the front of p: parameters, gains, reference pivots."""
        return (*self.integrable.parameters, *self.gains, *self.watch.references)

    @cached_property
    def hoisted(self) -> dict[Node, Node]:
        """{subexpression of settings alone: symbol of its value in p}."""
        everything = (*self.held_rates, *self.monitored, *self.edges)
        return {node: symbol(("hoisted", node)) for node in hoistable(everything, self.settings)}

    @cached_property
    def hoisted_order(self) -> list[Node]:
        """All nodes below the hoisted ones, operands first."""
        return order(self.hoisted)

    # -- from the user's symbols -----------------------------------------------------------------------------

    def lifted(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of the user's symbols as nodes of the state."""
        return self.integrable.lifted(nodes)

    def closed(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes with the inputs replaced by their laws."""
        laws = dict(zip(self.laws, self.lifted(list(self.laws.values())), strict=True))
        return substitute(list(nodes), laws)

    def as_reported(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes with the inputs replaced by their laws and c by what a run reports."""
        return substitute(self.closed(nodes), self.reported)

    def node(self, expression: sp.Expr, where: str) -> Node:
        """A user's expression of time, states, accelerations, inputs, parameters and reactions."""
        record = self.integrable
        try:
            given = Converter()(expression)
        except UnknownFunction as error:
            raise ModelError(f"Invalid expression in {where}", [f"{error}."]) from None
        refuse_unknown(given, {*record.outputs, *record.states, *record.parameters, *record.inputs, self.time}, where)
        return self.own([given])[0]

    def own(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of the symbols of the equations, as a run reports them."""
        return self.as_reported(substitute(list(nodes), self.integrable.outputs))


def motion_nodes(
    integrable: Integrable, laws: Mapping[Node, Node], feedback: Feedback, events: Sequence[Event]
) -> MotionNodes:
    """The nodes of a problem. They contain no numbers, and the equations keep them for all further runs."""
    pivots = tuple(pivot.node for pivot in integrable.pivots)
    chosen = feedback.corrections, tuple(feedback.gains), feedback.law, tuple(events)
    key = ("motion", integrable.states, integrable.rates, pivots, tuple(laws.items()), chosen)
    return integrable.equations.kept.get(key, lambda: MotionNodes(integrable, laws, *chosen))


# -- expressions that a user gave --------------------------------------------------------------------------------


def refuse_unknown(given: Node, known: Iterable[Node], where: str) -> None:
    """Refuse an expression with symbols that the system does not have."""
    known = set(known)
    unknown = [s.value for s in in_order(symbols([given]) - known)]
    if unknown:
        near = suggestion(name_of(unknown[0]), (name_of(s.value) for s in known))
        raise ModelError(f"Invalid expression in {where}", [f"{listed(unknown)} is not known to the system.{near}"])


def refuse_constant(event: Event, node: Node, moving: set[Node]) -> None:
    """Refuse an event whose expression is constant."""
    if not symbols([node]) & moving:
        said = (
            f"{event.expression} is constant during the run, so the event can never occur. "
            "Use an expression of the state or time."
        )
        raise ModelError(f"Invalid event {event.name!r}", [said])


def input_laws(equations: Equations, laws: Mapping[sp.Expr, sp.Expr]) -> dict[Node, Node]:
    """Every input as a node of time and state; raises for missing or unknown inputs and invalid laws."""
    problems: list[Finding | str] = [_missing_law(u) for u in equations.inputs if u not in laws]
    closed: dict[Node, Node] = {}
    for u, law in laws.items():
        problem = _why_no_law(equations, u, law)
        if not problem:
            try:
                closed[symbol(u)] = Converter()(law)
                problem = _find_unknown(equations, u, closed[symbol(u)])
            except UnknownFunction as error:
                problem = f"the law of {name_of(u)}: {error}."
        problems += [problem] if problem else []
    if problems:
        raise ModelError(f"Invalid inputs of {equations.name!r}", problems)
    return closed


def _missing_law(u: sp.Expr) -> Finding:
    law = {Word(name_of(u)): Formula("expression of t and the state")}
    return Finding(f"{name_of(u)} has no law.", ["Use ", call("simulate", inputs=law), "."], About("input", name_of(u)))


def _why_no_law(equations: Equations, u: sp.Expr, law: sp.Expr) -> str:
    """Why an input cannot have this law; empty if it can."""
    if u in equations.holding.values():
        return f"{name_of(u)} holds a constraint, so it cannot have a law. Leave it out."
    if u not in equations.inputs:
        return f"{name_of(u)} is not an input.{suggestion(name_of(u), map(name_of, equations.inputs))}"
    if not isinstance(law, (sp.Basic, int, float, np.number)):
        what = "a Python function" if callable(law) else repr(law)
        return f"the law of {name_of(u)} is {what}. Write it as a SymPy expression of t and the state, to be compiled."
    return ""


def _find_unknown(equations: Equations, u: sp.Expr, law: Node) -> str:
    """The symbols of a law that are neither time nor state nor parameter; empty if there are none."""
    allowed = {*equations.user_symbols, *equations.states, *equations.extra, *equations.parameters, equations.time}
    unknown = [s.value for s in in_order(symbols([law])) if s.value not in allowed]
    return f"the law of {name_of(u)} contains {listed(unknown)}, which has no value." if unknown else ""
