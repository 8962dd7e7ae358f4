"""An initial value problem: explicit equations, closed by input laws and constraint feedback, as nodes and numbers.

State x = (q, q̇) and, where forces do work, w = ∫ power dt, in all and of every servo. Parameters p = (the system's
parameters, feedback gains of every constraint, pivots at the reference state, what can be computed once from all
these, held corrections, sides of corners). All being run-time numbers, one compilation serves all values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
import sympy as sp

from vinculum.compile.function import Function, function
from vinculum.derive.explicit import Explicit
from vinculum.derive.interface import Equations, Feedback, linear_feedback
from vinculum.derive.mechanics import total
from vinculum.errors import DomainError, ModelError
from vinculum.graph import (
    ONE,
    ZERO,
    Converter,
    Node,
    constant,
    evaluate,
    jacobian,
    order,
    select,
    substitute,
    symbol,
    symbols,
)
from vinculum.graph.node import compare, multiply
from vinculum.graph.traverse import hoistable
from vinculum.names import listed, name_of, suggestion
from vinculum.simulate.events import Event
from vinculum.simulate.outcome import Outcome
from vinculum.simulate.switches import SPARE, Corners, Sides, corners, held, linear_in, mixed

WORK = symbol(("work",))
CHART_LIMIT = 2e-3  # a condition of the form that has shrunk to this share of its first value counts as broken
WATCH_LIMIT = 1e3  # Σ (reference pivot / pivot)²: some pivot has shrunk about thirty times
JUMPED = 1e200  # what the watch of a fixed-step method says when a pivot has changed its sign
_ON_ALL_SIDES = (  # nodes that are the same on all sides of the corners
    "state", "settings", "hoisted", "held_rates", "rates", "power", "powers", "energy", "balance", "residuals",
    "residual_names", "feedback", "watched", "watch", "strict_watch", "_shrinkage", "event_nodes", "derived",
    "corners", "corner_slopes",
)  # fmt: skip
_ALONG_THE_SAME = ("slid", "_linear", "margins", "parameters", "made")  # and those along the same surfaces


def servo_work(u: sp.Expr) -> Node:
    """The symbol of the work of an input that holds a servo constraint."""
    return symbol(("work", u))


@dataclass(frozen=True, eq=False)
class Problem:
    """ẋ = f(t, x, p), with all that is watched along the way."""

    equations: Equations
    explicit: Explicit
    laws: Mapping[Node, Node]  # inputs as expressions of time and state
    parameter_values: np.ndarray
    law: Feedback  # the corrections c of every constraint
    events: tuple[Event, ...] = ()
    compact: bool | None = None  # how a Taylor integrator is compiled; None: by size
    at_start: tuple[float, ...] = ()  # the conditions of the equations where the motion began
    sides: Sides | None = None  # of the corners, for methods that go from corner to corner; None: sign is sign

    # -- nodes -----------------------------------------------------------------------------------------------

    @property
    def time(self) -> Node:
        """t."""
        return symbol(self.equations.time)

    @cached_property
    def state(self) -> tuple[Node, ...]:
        """x, with w and the work of every servo at its end where forces do work."""
        return (*(symbol(key) for key in (*self.equations.states, *self.equations.extra)), *self.powers)

    @cached_property
    def settings(self) -> tuple[Node, ...]:
        """The symbols at the front of p: parameters, gains, reference pivots."""
        return (
            *map(symbol, self.equations.parameters),
            *self.law.gains,
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
        sides = () if self.sides is None else self.corners.sigma
        return (*self.settings, *self.hoisted.values(), *self.equations.corrections, *sides)

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers p."""
        pivots = [self.explicit.numbers[i] for i in self.watched]
        settings = [*self.parameter_values, *self.law.gains.values(), *pivots]
        computed = evaluate(list(self.hoisted), dict(zip(self.settings, settings, strict=True)))
        sides = () if self.sides is None else self.sides.sigma
        return np.array([*settings, *computed, *np.zeros(len(self.equations.corrections)), *sides], dtype=float)

    @cached_property
    def feedback(self) -> tuple[Node, ...]:
        """c as nodes of the state."""
        return tuple(self.lifted(self.law.corrections))

    @cached_property
    def held_rates(self) -> tuple[Node, ...]:
        """f with the corrections c as parameters, constant through the stages of a step."""
        extra = [Converter()(rate) for rate in self.equations.extra.values()]
        rates = self.closed([*self.explicit.rates, *self.lifted(extra)])
        return (*rates, *self.powers.values())

    @cached_property
    def rates(self) -> tuple[Node, ...]:
        """f with the corrections as feedback of the state."""
        feedback = dict(zip(self.equations.corrections, self.feedback, strict=True))
        return tuple(substitute(self.held_rates, feedback))

    @cached_property
    def power(self) -> Node:
        """dE/dt by forces, moving constraints and explicit time."""
        if self.equations.energy is None:
            return ZERO
        return self.closed(self.lifted([self.equations.power(self.explicit)]))[0]

    @cached_property
    def powers(self) -> dict[Node, Node]:
        """What is integrated beside the motion: the power of all forces, and of every servo, by their work."""
        if self.power is ZERO:
            return {}
        parts = self.equations.servo_powers(self.explicit)
        nodes = self.closed(self.lifted(list(parts.values())))
        return {WORK: self.power, **dict(zip(map(servo_work, parts), nodes, strict=True))}

    @cached_property
    def energy(self) -> Node:
        """E; zero where none was stated."""
        return ZERO if self.equations.energy is None else self.lifted([self.equations.energy])[0]

    @cached_property
    def balance(self) -> Node:
        """E - w, constant on the exact motion."""
        return self.energy if self.power is ZERO else self.energy - WORK

    @cached_property
    def residuals(self) -> tuple[Node, ...]:
        """Everything that is zero on the exact motion."""
        return tuple(self.lifted([residual.node for residual in self.equations.residuals]))

    @cached_property
    def residual_names(self) -> tuple[tuple[str, str], ...]:
        """(constraint, level) of each residual."""
        return tuple((residual.constraint, residual.level) for residual in self.equations.residuals)

    @cached_property
    def watched(self) -> tuple[int, ...]:
        """The pivots that change along the motion and so may go to zero."""
        constant = {*map(symbol, self.equations.parameters)}
        return tuple(i for i, pivot in enumerate(self.explicit.pivots) if symbols([pivot]) - constant)

    @cached_property
    def watch(self) -> Node:
        """Σ (reference pivot / pivot)²: large when the order of elimination has become bad."""
        return total([ratio * ratio for ratio in self._shrinkage])

    @cached_property
    def strict_watch(self) -> Node:
        """The same for methods that may step over a zero: beyond all bounds when a pivot has changed its sign."""
        gone = constant(JUMPED)
        return total([select(compare("less", ZERO, ratio), ratio * ratio, gone) for ratio in self._shrinkage])

    @cached_property
    def _shrinkage(self) -> list[Node]:
        """Reference pivot times the reciprocal of the pivot, which the elimination has computed already.

        Their product stands for the determinant, where a condition of the equations is one that is not written out.
        """
        pivots = [self.explicit.pivots[i] for i in self.watched]
        ratios = [symbol(("reference pivot", k)) * (ONE / pivot) for k, pivot in enumerate(pivots)]
        measured = any(limit.node is None for limit in self.equations.conditions)
        return [*ratios, reduce(multiply, ratios)] if measured and len(ratios) > 1 else ratios

    @cached_property
    def event_nodes(self) -> tuple[Node, ...]:
        """The expressions whose zeros are events."""
        return tuple(self.node(event.expression, f"the event {event.name!r}") for event in self.events)

    def lifted(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of the user's symbols as nodes of the state."""
        return self.equations.lifted(self.explicit, nodes)

    def exact(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes on the exact motion: the feedback c left out."""
        return substitute(list(nodes), dict.fromkeys(self.equations.corrections, ZERO))

    def closed(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes with the inputs replaced by their laws."""
        laws = dict(zip(self.laws, self.lifted(list(self.laws.values())), strict=True))
        return substitute(list(nodes), laws)

    def node(self, expression: sp.Expr, where: str) -> Node:
        """A user's expression of time, states, accelerations, inputs, parameters and reactions."""
        given = Converter()(expression)
        derived = self.derived
        self._refuse_strangers(given, derived, where)
        exact = self.exact(substitute([given], derived))
        return self.closed(self.lifted(exact))[0]

    @cached_property
    def derived(self) -> dict[Node, Node]:
        """Rates and reactions, by their symbols, as functions of the state."""
        return self.equations.derived(self.explicit)

    def _refuse_strangers(self, given: Node, derived: Mapping[Node, Node], where: str) -> None:
        equations = self.equations
        own = (*equations.user_symbols, *equations.states, *equations.extra, *equations.parameters, *equations.inputs)
        known = {*derived, *map(symbol, own), self.time}
        strangers = [s.value for s in symbols([given]) - known]
        if strangers:
            near = suggestion(name_of(strangers[0]), (name_of(s.value) for s in known))
            raise ModelError(f"{where} is not usable", [f"{listed(strangers)} is not known to the system.{near}"])

    # -- corners ---------------------------------------------------------------------------------------------

    @cached_property
    def corners(self) -> Corners:
        """The surfaces at which f is not smooth."""
        return corners(self.rates)

    @cached_property
    def corner_slopes(self) -> list[Node]:
        """dg/dt of every surface, as nodes of the state and σ."""
        return self.corners.slopes(self.time, self.state, self.rates)

    def on_sides(self, sides: Sides) -> Problem:
        """The same problem on other sides of its corners; the nodes that do not change are kept."""
        like = self.family.get(sides.along)
        other = replace(self, sides=sides)
        kept = {key: value for key, value in vars(self).items() if key in _ON_ALL_SIDES}
        if like is not None:
            kept |= {key: value for key, value in vars(like).items() if key in _ALONG_THE_SAME}
        vars(other).update(kept, family=self.family)
        self.family.setdefault(sides.along, other)
        return other

    @cached_property
    def family(self) -> dict[tuple[int, ...], Problem]:
        """One problem for every set of surfaces along which the motion has gone."""
        return {}

    def smoothed(self, outputs: Sequence[Node]) -> list[Node]:
        """Outputs on the present sides of all corners, or along them."""
        if self.sides is None:
            return list(outputs)
        smooth = self.corners.smooth(outputs)
        return substitute(smooth, self.slid) if self._linear else mixed(smooth, self.slid)

    @cached_property
    def _linear(self) -> bool:
        return not self.slid or linear_in(self.corners.smooth(self.rates), list(self.slid))

    @cached_property
    def slid(self) -> dict[Node, Node]:
        """{σ: expression} of the corners along which the motion goes."""
        if self.sides is None or self.sides.matrix is None:
            return {}
        chosen = self.sides.along
        own = [self.corners.sigma[k] for k in chosen]
        return held([self.corner_slopes[k] for k in chosen], own, self.sides.matrix)

    @cached_property
    def margins(self) -> tuple[Node, ...]:
        """Positive while the motion stays on the present sides: σ g, and 1 - σ² along a surface."""
        if self.sides is None:
            return ()
        pairs = list(zip(self.corners.sigma, self.corners.surfaces, strict=True))
        slid = self.slid
        nodes = [sigma * g if sigma not in slid else 1 + SPARE - slid[sigma] * slid[sigma] for sigma, g in pairs]
        return tuple(substitute(nodes, slid))

    # -- numbers ---------------------------------------------------------------------------------------------

    def prepared(self, outputs: Sequence[Node]) -> tuple[Node, ...]:
        """Outputs on the present sides of all corners, with all that is computed once taken out."""
        key = tuple(outputs)
        if key not in self.made:
            self.made[key] = tuple(substitute(self.smoothed(key), self.hoisted))
        return self.made[key]

    @cached_property
    def made(self) -> dict[tuple[Node, ...], tuple[Node, ...]]:
        """What was prepared before."""
        return {}

    def compiled(self, outputs: Sequence[Node]) -> Function:
        """Machine code for outputs of (t, x, p)."""
        return function(self.time, self.state, self.parameters, self.prepared(outputs))

    def monitored(self, rates: Sequence[Node]) -> tuple[Node, ...]:
        """What the stepping loops evaluate at the start of a step: rates, watch, balance, residuals, events, c."""
        return (*rates, self.strict_watch, self.balance, *self.residuals, *self.event_nodes, *self.feedback)

    def jacobian(self) -> np.ndarray:
        """∂f/∂x as nodes."""
        return jacobian(self.rates, self.state)

    @cached_property
    def slopes(self) -> Function | None:
        """∂f/∂x as machine code, row after row; None where f calls routines, which are not written out for it."""
        if any(node.op == "call" for node in order(self.rates)):
            return None
        return self.compiled(list(self.jacobian().ravel()))

    def numbers(self, t: float, x: np.ndarray) -> dict[Node, float]:
        """Values of all symbols at a state, inputs included, for the interpreter."""
        known = dict(zip(self.state, map(float, x), strict=True))
        known |= dict(zip(self.parameters, map(float, self.values), strict=True)) | {self.time: float(t)}
        laws = self.lifted(list(self.laws.values()))
        return known | dict(zip(self.laws, evaluate(laws, known), strict=True))

    def with_feedback(self, law: Feedback) -> Problem:
        """The same problem with other corrections."""
        return replace(self, law=law)

    def broken(self, t: float, x: np.ndarray, beyond: tuple[float, np.ndarray] | None) -> Outcome | None:
        """The outcome where a condition of the form has gone to zero since this problem was posed, or would, beyond."""
        for instant, state in ((t, x), beyond or (t, x)):
            now = self.limits(instant, state)
            for limit, value, first in zip(self.equations.conditions, now, self.at_start, strict=True):
                if abs(value) < CHART_LIMIT * abs(first) or value * first < 0:
                    numbers = f"it was {first:.4g} at the start and is {value:.4g} here"
                    return Outcome(limit.kind, t, f"{limit.reason(self.everything(t, x))}; {numbers}. {limit.advice}")
        return None

    def limits(self, t: float, x: np.ndarray) -> tuple[float, ...]:
        """The conditions of the equations at a state; zero outside their domain."""
        conditions = self.equations.conditions
        try:
            known = self.everything(t, x) if conditions else {}
            return tuple(limit.value(known) for limit in conditions)
        except DomainError:
            return (0.0,) * len(conditions)

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
        own = [symbol(key) for key in self.equations.user_symbols]
        return known | dict(zip(own, evaluate(self.closed(self.lifted(own)), known), strict=True))


def pose(
    equations: Equations,
    start: Mapping[sp.Expr, float],
    time: float,
    laws: Mapping[sp.Expr, sp.Expr],
    parameters: Mapping[sp.Symbol, float],
    events: Sequence[Event],
    extra: Mapping[sp.Expr, float],
) -> tuple[Problem, np.ndarray]:
    """The problem and its initial x, without feedback."""
    numbers = dict(equations.parameters) | dict(parameters)
    closing = input_laws(equations, laws)
    known = {symbol(key): value for key, value in (dict(start) | numbers | {equations.time: time}).items()}
    known = equations.with_definitions(known) | {symbol(key): float(extra.get(key, 0.0)) for key in equations.extra}
    known |= dict(zip(closing, evaluate(list(closing.values()), known), strict=True))
    none = linear_feedback(equations.chains, [[0.0] * len(chain) for chain in equations.chains])
    values = np.array(list(numbers.values()), dtype=float)
    equations = equations.adapted(known)
    problem = Problem(equations, equations.explicit(known), closing, values, none, tuple(events))
    further = [known[symbol(key)] for key in equations.extra]
    x = np.array([*equations.state_values(known), *further, *np.zeros(len(problem.powers))])
    problem, x = problem.repivoted(time, x)
    return replace(problem, at_start=problem.limits(time, x)), x


def input_laws(equations: Equations, laws: Mapping[sp.Expr, sp.Expr]) -> dict[Node, Node]:
    """Every input as a node of time and state; what is missing, unknown or not an expression is refused."""
    allowed = {*equations.user_symbols, *equations.states, *equations.extra, *equations.parameters, equations.time}
    problems = [f"{name_of(u)} has no law. Pass inputs={{{name_of(u)}: expression of t and the state}}."
                for u in equations.inputs if u not in laws]  # fmt: skip
    closed: dict[Node, Node] = {}
    for u, law in laws.items():
        if u in equations.held_inputs:
            problems.append(f"{name_of(u)} holds a servo constraint, so it has no law of its own. Leave it out.")
        elif u not in equations.inputs:
            problems.append(f"{name_of(u)} is not an input.{suggestion(name_of(u), map(name_of, equations.inputs))}")
        elif callable(law) and not isinstance(law, sp.Basic):
            problems.append(f"the law of {name_of(u)} is a Python function. Write it as a SymPy expression of t and "
                            "the state, so that it can be compiled.")  # fmt: skip
        else:
            closed[symbol(u)] = Converter()(law)
            strangers = [s.value for s in symbols([closed[symbol(u)]]) if s.value not in allowed]
            if strangers:
                problems.append(f"the law of {name_of(u)} contains {listed(strangers)}, which has no value.")
    if problems:
        raise ModelError(f"the inputs of {equations.name!r} are not usable", problems)
    return closed
