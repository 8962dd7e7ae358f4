"""What everything that runs equations reads: one thin record, whatever they describe.

    ẋ = f(t, x, p, u, c),   y = g(t, x, p, u),   r(t, x) = 0 on the exact motion,

and for every constraint a chain of residuals y₀ (the constraint itself), y₁, ..., y_{r-1} with ẏ_{r-1} = -c. A
stabilization decides what c is. Simulations, exporters and analysis need only an `Integrable`, in which the equations
of motion of a mechanism and any affine control system look the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import sympy as sp

from vinculum.derivation.mechanics.sample_states import Values
from vinculum.graph import Node, evaluate, substitute, symbol, symbols

WORK = symbol(("work",))  # of all forces, integrated along with the motion


def servo_work(u: sp.Expr) -> Node:
    """The symbol of the work of an input that holds a servo constraint."""
    return symbol(("work", u))


class Residual(NamedTuple):
    """A quantity that is zero on the exact motion: of which constraint, at which level."""

    constraint: str
    level: str
    node: Node


@dataclass(frozen=True, eq=False)
class Condition:
    """A quantity that must not reach zero during a motion: what it means, how such an end is called, what to do then.

    Where it is not written out (``node`` is None) a subclass computes it at a state: then the pivots of the equations,
    one of which must vanish with it, say when to look.
    """

    node: Node | None
    meaning: str
    kind: str = "chart left"
    advice: str = "Choose characteristics that are good there, or continue from here with the form multipliers."

    def value(self, values: Values) -> float:
        """The quantity at a state."""
        assert self.node is not None
        return evaluate([self.node], values)[0]

    def reason(self, values: Values) -> str:
        """What has come to an end at a state."""
        return self.meaning


class StartLevel(NamedTuple):
    """Residuals of a consistent start, in the user's symbols, and the symbols that may be moved to make them vanish."""

    what: str
    residuals: tuple[tuple[str, Node], ...]  # (constraint, residual)
    movable: tuple[sp.Expr, ...]


@dataclass(frozen=True, eq=False)
class Feedback:
    """The corrections c as nodes of residuals and gains, and the numbers of the gains."""

    corrections: tuple[Node, ...]
    gains: Mapping[Node, float]


def linear_feedback(chains: Sequence[Sequence[Node]], numbers: Sequence[Sequence[float]]) -> Feedback:
    """c_i = Σ_j g_ij y_ij. The gains are symbols, so that other numbers need no new compilation."""
    gains: dict[Node, float] = {}
    corrections = []
    for i, (chain, row) in enumerate(zip(chains, numbers, strict=True)):
        terms = []
        for j, (y, number) in enumerate(zip(chain, row, strict=True)):
            gain = symbol(("gain", i, j))
            gains[gain] = float(number)
            terms.append(gain * y)
        corrections.append(sum(terms[1:], terms[0]))
    return Feedback(tuple(corrections), gains)


class Held(NamedTuple):
    """A constraint as stabilization sees it: its name, its correction c and its chain of residuals."""

    name: str
    correction: Node  # the symbol c in the rates
    chain: tuple[Node, ...]  # y₀, ..., y_{r-1}, in the user's symbols


class Pivot(NamedTuple):
    """What the rates divide by, and its value at the state where it was chosen: it must stay away from zero."""

    node: Node
    value: float


@dataclass(frozen=True, eq=False)
class Roles:
    """Which symbols mean what to a user."""

    symbols: tuple[Node, ...]  # that a user may write and read, apart from time, inputs and parameters
    shown: tuple[Node, ...]  # of these, what a plot shows when it is not told what
    reactions: Mapping[str, Node]  # reactions or controls by name
    holding: Mapping[str, Node]  # of these, the inputs that stand in place of a reaction
    servos: tuple[Node, ...] = ()  # inputs that hold servo constraints, whose work is counted


@dataclass(frozen=True, eq=False)
class Integrable:
    """Equations as nodes of time t, states x, parameters p, inputs u and corrections c, good around one state."""

    equations: Equations  # that it was made from, to be asked for other pivots
    time: Node
    states: tuple[Node, ...]  # x, those that a closed loop adds at the end
    rates: tuple[Node, ...]  # f, of t, x, p, u and c
    parameters: Mapping[Node, float]
    inputs: tuple[Node, ...]  # u, each of which needs a law
    outputs: Mapping[Node, Node]  # the user's symbols, with accelerations, reactions, held inputs: of t, x, p and u
    definitions: Mapping[Node, Node]  # states that are not user's symbols, as functions of these
    constraints: tuple[Held, ...]
    residuals: tuple[Residual, ...]  # all that is watched along a run, of t, x and p
    projections: tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]  # (residuals, states moved to make them vanish)
    pivots: tuple[Pivot, ...]
    roles: Roles
    energy: Node | None = None  # E, where one was stated
    powers: Mapping[Node, Node] = field(
        default_factory=dict
    )  # dE/dt, in all and of every servo, by the symbol of its work
    conditions: tuple[Condition, ...] = ()  # under which the form is valid
    prescribed: Feedback | None = None  # the feedback that belongs to the equations themselves

    @property
    def name(self) -> str:
        """What the user called the system."""
        return self.equations.name

    @property
    def corrections(self) -> tuple[Node, ...]:
        """c."""
        return tuple(constraint.correction for constraint in self.constraints)

    @property
    def chains(self) -> tuple[tuple[Node, ...], ...]:
        """The chains of residuals of all constraints."""
        return tuple(constraint.chain for constraint in self.constraints)

    @cached_property
    def kinematics(self) -> dict[Node, Node]:
        """The user's symbols that are not states."""
        return {key: node for key in self.roles.symbols if (node := self.outputs[key]) is not key}

    def lifted(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of the user's symbols as nodes of the state."""
        return substitute(list(nodes), self.kinematics)

    def state_values(self, values: Values) -> list[float]:
        """The states as numbers, from values of the user's symbols."""
        return evaluate([self.definitions.get(state, state) for state in self.states], values)


def with_definitions(definitions: Mapping[sp.Expr, Node], values: Values) -> dict[Node, float]:
    """Values with the states added that can be computed from the user's symbols."""
    fresh = {
        symbol(key): node
        for key, node in definitions.items()
        if symbols([node]) <= set(values) and symbol(key) not in values
    }
    return {**values, **dict(zip(fresh, evaluate(list(fresh.values()), values), strict=True))}


class Equations(Protocol):
    """What `simulate` asks of equations, before there is a state. Satisfied by mechanical and by program equations."""

    @property
    def name(self) -> str:
        """What the user called the system."""

    @property
    def time(self) -> sp.Symbol:
        """t."""

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """What is integrated, x."""

    @property
    def definitions(self) -> Mapping[sp.Expr, Node]:
        """States that are not user's symbols, as functions of these."""

    @property
    def user_symbols(self) -> tuple[sp.Expr, ...]:
        """Symbols a user may write in events and read from a trajectory, besides time, inputs and parameters."""

    @property
    def parameters(self) -> Mapping[sp.Symbol, float]:
        """Parameters and their values."""

    @property
    def inputs(self) -> Sequence[sp.Expr]:
        """Inputs that need a law."""

    @property
    def holding(self) -> Mapping[str, sp.Expr]:
        """The input whose value stands in place of a reaction, by the reaction's name: it cannot have a law."""

    @property
    def laws(self) -> Mapping[sp.Expr, sp.Expr]:
        """Inputs of a closed loop as expressions of the state."""

    @property
    def extra(self) -> Mapping[sp.Expr, sp.Expr]:
        """Further states of a closed loop (an observer) and their rates."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint."""

    def start_levels(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> tuple[StartLevel, ...]:
        """What a consistent start has to solve, in order; ``values`` may get better first guesses."""

    def refuse_start(self, values: Values) -> None:
        """Raise where the constraints do not determine the motion at a state."""

    def integrable(self, values: Values | None = None, beyond: Values | None = None) -> Integrable:
        """The record to run: pivots, and variables that Vinculum chose, good at a state, and at one beyond it."""

    def singular_at(self, values: Values) -> str:
        """What the equations no longer determine at a state, or nothing."""
