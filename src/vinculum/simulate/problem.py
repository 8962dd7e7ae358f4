"""An initial value problem: explicit equations, closed by input laws and constraint feedback, as nodes and numbers.

State x = (q, q̇) and, where forces do work, w = ∫ power dt. Parameters p = (the system's parameters, feedback gains
a and b of every constraint, pivots at the reference state, what can be computed once from all these, held
corrections). All being run-time numbers, one compilation serves all values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.derive import EquationsOfMotion
from vinculum.derive.explicit import Explicit
from vinculum.derive.mechanics import total
from vinculum.describe import Servo
from vinculum.errors import DomainError, ModelError
from vinculum.graph import ZERO, Converter, Node, constant, evaluate, jacobian, select, substitute, symbol, symbols
from vinculum.graph.node import compare
from vinculum.graph.traverse import hoistable
from vinculum.names import listed, name_of, suggestion
from vinculum.simulate.events import Event, reaction
from vinculum.simulate.outcome import Outcome

WORK = symbol(("work",))
CHART_LIMIT = 2e-3  # a condition of the form that has shrunk to this share of its first value counts as broken
WATCH_LIMIT = 1e3  # Σ (reference pivot / pivot)²: some pivot has shrunk about thirty times
JUMPED = 1e200  # what the watch of a fixed-step method says when a pivot has changed its sign


@dataclass(frozen=True, eq=False)
class Problem:
    """ẋ = f(t, x, p), with all that is watched along the way."""

    equations: EquationsOfMotion
    explicit: Explicit
    laws: Mapping[Node, Node]  # inputs as expressions of time and state
    parameter_values: np.ndarray
    velocity_gains: np.ndarray  # a of c = a·(velocity residual) + b·(position residual), for every constraint
    position_gains: np.ndarray  # b
    events: tuple[Event, ...] = ()

    # -- nodes -----------------------------------------------------------------------------------------------

    @property
    def time(self) -> Node:
        """t."""
        return self.equations.system.nodes.time

    @cached_property
    def state(self) -> tuple[Node, ...]:
        """x, with w at its end where forces do work."""
        own = tuple(symbol(key) for key in (*self.equations.states, *self.equations.extra))
        return own if self.power is ZERO else (*own, WORK)

    @cached_property
    def settings(self) -> tuple[Node, ...]:
        """The symbols at the front of p: parameters, gains, reference pivots."""
        m = range(len(self.equations.system.constraints))
        return (
            *self.equations.system.nodes.parameters,
            *(symbol(("velocity gain", i)) for i in m),
            *(symbol(("position gain", i)) for i in m),
            *(symbol(("reference pivot", k)) for k in range(len(self.watched))),
        )

    @cached_property
    def hoisted(self) -> dict[Node, Node]:
        """Subexpressions of settings alone, each with the symbol under which its value is passed in p."""
        everything = (*self.held_rates, *self.monitored(self.rates))
        return {node: symbol(("hoisted", node)) for node in hoistable(everything, self.settings)}

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """p, in the order of ``values``."""
        return (*self.settings, *self.hoisted.values(), *self.equations.mechanics.corrections)

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers p."""
        pivots = [self.explicit.numbers[i] for i in self.watched]
        settings = [*self.parameter_values, *self.velocity_gains, *self.position_gains, *pivots]
        computed = evaluate(list(self.hoisted), dict(zip(self.settings, settings, strict=True)))
        return np.array([*settings, *computed, *np.zeros(len(self.velocity_gains))], dtype=float)

    @cached_property
    def feedback(self) -> tuple[Node, ...]:
        """c = a·(velocity residual) + b·(position residual)."""
        result = []
        for i, (low, high) in enumerate(self.equations.feedback):
            damping = symbol(("velocity gain", i)) * high
            result.append(damping if low is None else damping + symbol(("position gain", i)) * low)
        return tuple(result)

    @cached_property
    def held_rates(self) -> tuple[Node, ...]:
        """f with the corrections c as parameters, constant through the stages of a step."""
        extra = [Converter()(rate) for rate in self.equations.extra.values()]
        rates = self.closed([*self.explicit.rates, *self.lifted(extra)])
        return tuple(rates if self.power is ZERO else [*rates, self.power])

    @cached_property
    def rates(self) -> tuple[Node, ...]:
        """f with the corrections as feedback of the state."""
        feedback = dict(zip(self.equations.mechanics.corrections, self.feedback, strict=True))
        return tuple(substitute(self.held_rates, feedback))

    @cached_property
    def power(self) -> Node:
        """dE/dt by forces, moving constraints and explicit time."""
        mechanics = self.equations.mechanics
        exact = mechanics.without_corrections(self.explicit.reactions)
        return self.closed(self.lifted([mechanics.power(exact)]))[0]

    @cached_property
    def balance(self) -> Node:
        """E - w, constant on the exact motion."""
        energy = self.lifted([self.equations.mechanics.energy])[0]
        return energy if self.power is ZERO else energy - WORK

    @cached_property
    def residuals(self) -> tuple[Node, ...]:
        """Position residuals of the holonomic constraints, then velocity residuals of all."""
        mechanics = self.equations.mechanics
        return (*(f for f in mechanics.position if f is not None), *self.lifted(mechanics.velocity))

    @cached_property
    def residual_names(self) -> tuple[tuple[str, str], ...]:
        """(constraint, level) of each residual."""
        system, position = self.equations.system, self.equations.mechanics.position
        at_position = [(c.name, "position") for c, f in zip(system.constraints, position, strict=True) if f is not None]
        return (*at_position, *((c.name, "velocity") for c in system.constraints))

    @cached_property
    def watched(self) -> tuple[int, ...]:
        """The pivots that change along the motion and so may go to zero."""
        constant = {*self.equations.system.nodes.parameters}
        return tuple(i for i, pivot in enumerate(self.explicit.pivots) if symbols([pivot]) - constant)

    @cached_property
    def watch(self) -> Node:
        """Σ (reference pivot / pivot)²: large when the order of elimination has become bad."""
        ratios = [symbol(("reference pivot", k)) / self.explicit.pivots[i] for k, i in enumerate(self.watched)]
        return total([ratio * ratio for ratio in ratios])

    @cached_property
    def strict_watch(self) -> Node:
        """The same for methods that may step over a zero: beyond all bounds when a pivot has changed its sign."""
        terms = []
        for k, i in enumerate(self.watched):
            ratio = symbol(("reference pivot", k)) / self.explicit.pivots[i]
            terms.append(select(compare("less", ZERO, ratio), ratio * ratio, constant(JUMPED)))
        return total(terms)

    @cached_property
    def event_nodes(self) -> tuple[Node, ...]:
        """The expressions whose zeros are events."""
        return tuple(self.node(event.expression, f"the event {event.name!r}") for event in self.events)

    def lifted(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of q and q̇ as nodes of the state, where some velocities are functions of it."""
        exact = self.equations.mechanics.without_corrections(self.explicit.velocities)
        pairs = zip(self.equations.system.nodes.v, exact, strict=True)
        return substitute(list(nodes), {v: node for v, node in pairs if v is not node})

    def closed(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes with the inputs replaced by their laws."""
        laws = dict(zip(self.laws, self.lifted(list(self.laws.values())), strict=True))
        return substitute(list(nodes), laws)

    def node(self, expression: sp.Expr, where: str) -> Node:
        """A user's expression of time, states, accelerations, inputs, parameters and reactions."""
        given = Converter()(expression)
        derived = self.derived
        self._refuse_strangers(given, derived, where)
        exact = self.equations.mechanics.without_corrections(substitute([given], derived))
        return self.closed(self.lifted(exact))[0]

    @cached_property
    def derived(self) -> dict[Node, Node]:
        """Accelerations and reactions, by their symbols, as functions of the state."""
        equations = self.equations
        accelerations = zip(map(symbol, equations.acceleration_symbols), self.explicit.accelerations, strict=True)
        names = [symbol(reaction(c.name)) for c in equations.system.constraints]
        reactions = dict(zip(names, self.explicit.reactions, strict=True))
        servos = [r for c, r in zip(equations.system.constraints, self.explicit.reactions, strict=True)
                  if isinstance(c, Servo)]  # fmt: skip
        held = zip(map(symbol, equations.system.servo_inputs), servos, strict=True)
        return dict(accelerations) | reactions | dict(held)

    def _refuse_strangers(self, given: Node, derived: Mapping[Node, Node], where: str) -> None:
        nodes = self.equations.system.nodes
        known = {*derived, *self.state, *nodes.q, *nodes.v, *nodes.parameters, *nodes.inputs, self.time} - {WORK}
        strangers = [s.value for s in symbols([given]) - known]
        if strangers:
            near = suggestion(name_of(strangers[0]), (name_of(s.value) for s in known))
            raise ModelError(f"{where} is not usable", [f"{listed(strangers)} is not known to the system.{near}"])

    # -- numbers ---------------------------------------------------------------------------------------------

    def prepared(self, outputs: Sequence[Node]) -> tuple[Node, ...]:
        """Outputs with all that is computed once taken out."""
        return tuple(substitute(list(outputs), self.hoisted))

    def compiled(self, outputs: Sequence[Node]) -> Function:
        """Machine code for outputs of (t, x, p)."""
        return function(self.time, self.state, self.parameters, self.prepared(outputs))

    def monitored(self, rates: Sequence[Node]) -> tuple[Node, ...]:
        """What the stepping loops evaluate at the start of a step: rates, watch, balance, residuals, events, c."""
        return (*rates, self.strict_watch, self.balance, *self.residuals, *self.event_nodes, *self.feedback)

    def jacobian(self) -> np.ndarray:
        """∂f/∂x as nodes."""
        return jacobian(self.rates, self.state)

    def numbers(self, t: float, x: np.ndarray) -> dict[Node, float]:
        """Values of all symbols at a state, inputs included, for the interpreter."""
        known = dict(zip(self.state, map(float, x), strict=True))
        known |= dict(zip(self.parameters, map(float, self.values), strict=True)) | {self.time: float(t)}
        laws = self.lifted(list(self.laws.values()))
        return known | dict(zip(self.laws, evaluate(laws, known), strict=True))

    def with_gains(self, a: np.ndarray, b: np.ndarray) -> Problem:
        """The same problem with other feedback gains."""
        return replace(self, velocity_gains=a, position_gains=b)

    def broken(self, t: float, x: np.ndarray, beyond: tuple[float, np.ndarray] | None) -> Outcome | None:
        """The outcome where a condition of the form has gone to zero since this problem was posed, or would, beyond."""
        limits = self.equations.conditions
        before = self.explicit.numbers[len(self.explicit.numbers) - len(limits) :]
        for instant, state in ((t, x), beyond or (t, x)):
            now = self._conditions(instant, state)
            for limit, value, first in zip(limits, now, before, strict=True):
                if abs(value) < CHART_LIMIT * abs(first) or value * first < 0:
                    numbers = f"it was {first:.4g} at the start and is {value:.4g} here"
                    return Outcome(limit.kind, t, f"{limit.meaning}; {numbers}. {limit.advice}")
        return None

    def _conditions(self, t: float, x: np.ndarray) -> list[float]:
        nodes = [limit.node for limit in self.equations.conditions]
        try:
            return evaluate(nodes, self.everything(t, x)) if nodes else []
        except DomainError:
            return [0.0] * len(nodes)

    def repivoted(
        self, t: float, x: np.ndarray, beyond: tuple[float, np.ndarray] | None = None
    ) -> tuple[Problem, np.ndarray]:
        """The same problem with pivots (and, if it is ours to choose, dependent coordinates) chosen anew at a state.

        Returns it with the state in its own variables. Raises where no choice is good. ``beyond`` is a state further on
        for which the choice must be good too.
        """
        known = self.everything(t, x)
        equations = self.equations.adapted(known)
        if beyond is not None and np.all(np.isfinite(beyond[1])):
            explicit = equations.chosen_for(known, self.everything(*beyond))
        else:
            explicit = equations.explicit(known)
        explicit = replace(explicit, numbers=tuple(evaluate(explicit.pivots, known)))
        problem = replace(self, equations=equations, explicit=explicit)
        if equations is self.equations:
            return problem, x
        further = x[len(self.equations.states) :]
        return problem, np.array([*equations.state_values(known), *further])

    def everything(self, t: float, x: np.ndarray) -> dict[Node, float]:
        """Values of all symbols at a state, velocities that follow from it included."""
        known = self.numbers(t, x)
        velocities = self.closed(self.lifted(self.equations.system.nodes.v))
        return known | dict(zip(self.equations.system.nodes.v, evaluate(velocities, known), strict=True))


def pose(
    equations: EquationsOfMotion,
    start: Mapping[sp.Expr, float],
    time: float,
    laws: Mapping[sp.Expr, sp.Expr],
    parameters: Mapping[sp.Symbol, float],
    events: Sequence[Event],
    extra: Mapping[sp.Expr, float],
) -> tuple[Problem, np.ndarray]:
    """The problem and its initial x, without feedback."""
    system = equations.system
    numbers = dict(system.parameters) | dict(parameters)
    closing = input_laws(equations, laws)
    known = {symbol(key): value for key, value in (dict(start) | numbers | {system.time: time}).items()}
    known = equations.with_definitions(known) | {symbol(key): float(extra.get(key, 0.0)) for key in equations.extra}
    known |= dict(zip(closing, evaluate(list(closing.values()), known), strict=True))
    none = np.zeros(len(system.constraints))
    values = np.array(list(numbers.values()), dtype=float)
    equations = equations.adapted(known)
    problem = Problem(equations, equations.explicit(known), closing, values, none, none, tuple(events))
    further = [known[symbol(key)] for key in equations.extra]
    x = np.array([*equations.state_values(known), *further, *([0.0] if problem.power is not ZERO else [])])
    return problem.repivoted(time, x)


def input_laws(equations: EquationsOfMotion, laws: Mapping[sp.Expr, sp.Expr]) -> dict[Node, Node]:
    """Every input as a node of time and state; what is missing, unknown or not an expression is refused."""
    system = equations.system
    allowed = {*system.coordinates, *system.velocities, *equations.states, *equations.extra}
    allowed |= {*system.parameters, system.time}
    problems = [f"{name_of(u)} has no law. Pass inputs={{{name_of(u)}: expression of t and the state}}."
                for u in system.free_inputs if u not in laws]  # fmt: skip
    closed: dict[Node, Node] = {}
    for u, law in laws.items():
        if u in system.servo_inputs:
            problems.append(f"{name_of(u)} holds a servo constraint, so it has no law of its own. Leave it out.")
        elif u not in system.inputs:
            problems.append(f"{name_of(u)} is not an input.{suggestion(name_of(u), map(name_of, system.inputs))}")
        elif callable(law) and not isinstance(law, sp.Basic):
            problems.append(f"the law of {name_of(u)} is a Python function. Write it as a SymPy expression of t and "
                            "the state, so that it can be compiled.")  # fmt: skip
        else:
            closed[symbol(u)] = Converter()(law)
            strangers = [s.value for s in symbols([closed[symbol(u)]]) if s.value not in allowed]
            if strangers:
                problems.append(f"the law of {name_of(u)} contains {listed(strangers)}, which has no value.")
    if problems:
        raise ModelError(f"the inputs of {system.name!r} are not usable", problems)
    return closed
