"""One thin record of equations, ready to run: all that simulations, exporters and analysis read.

    ẋ = f(t, x, p, u, c),   y = g(t, x, p, u),   r(t, x) = 0 on the exact motion,

and for every constraint a chain of residuals y₀ (the constraint itself), y₁, ..., y_{r-1} with ẏ_{r-1} = -c. A
stabilization decides what c is. Simulations, exporters and analysis need only an `Integrable`, in which the equations
of motion of a mechanism and any affine control system look the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import sympy as sp

from vinculum.derivation.mechanics.sample_states import Values
from vinculum.graph import Node, Pivot, evaluate, substitute, symbol, symbols
from vinculum.graph.python_function import Evaluator
from vinculum.kept import Kept

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
    """A quantity that must not reach zero during a motion: its meaning, the name of such an end, and advice.

    If it is not an expression (``node`` is None), a subclass computes it at a state. It is then checked when a pivot of
    the equations shrinks, since one of them must vanish with it.
    """

    node: Node | None
    meaning: str
    kind: str = "chart left"
    advice: str = "Choose characteristics that are regular there, or continue from here with the form multipliers."

    def value(self, values: Values) -> float:
        """The quantity at a state."""
        assert self.node is not None
        return evaluate([self.node], values)[0]

    def reason(self, values: Values) -> str:
        """Why the motion ends at a state."""
        return self.meaning


class StartLevel(NamedTuple):
    """Residuals that must vanish at the start, in the user's symbols, and the symbols that may change to achieve it."""

    what: str
    residuals: tuple[tuple[str, Node], ...]  # (constraint, residual)
    movable: tuple[sp.Expr, ...]
    elsewhere: tuple[Values, ...] = ()  # consistent states from which to search if it fails from the first guess


def level(i: int, j: int) -> Node:
    """The symbol of y_ij, level j of constraint i, in a feedback."""
    return symbol(("level", i, j))


def levels(chains: Sequence[Sequence[Node]]) -> dict[Node, Node]:
    """y_ij by its symbol in a feedback."""
    return {level(i, j): y for i, chain in enumerate(chains) for j, y in enumerate(chain)}


@dataclass(frozen=True, eq=False)
class Feedback:
    """The corrections c as nodes of residuals (written `level`), state, time and gains, and the numbers of the gains.

    If it is a ``law``, c is part of the inputs: a control with gains that somebody chose. Otherwise c keeps numerical
    errors small, and inputs are reported as on the exact motion.
    """

    corrections: tuple[Node, ...]
    gains: Mapping[Node, float]
    law: bool = False

    def of(self, chains: Sequence[Sequence[Node]]) -> list[Node]:
        """c with the residuals of the chains."""
        return substitute(list(self.corrections), levels(chains))


def linear_feedback(
    chains: Sequence[Sequence[Node]], numbers: Sequence[Sequence[float]], law: bool = False
) -> Feedback:
    """c_i = Σ_j g_ij y_ij. The gains are symbols: new values need no new compilation."""
    gains, corrections = _linear(tuple(map(len, chains)))
    values = [float(number) for row in numbers for number in row]
    return Feedback(corrections, dict(zip(gains, values, strict=True)), law)


@lru_cache(maxsize=32)
def _linear(lengths: tuple[int, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The symbols g_ij and the sums Σ_j g_ij y_ij for chains of some lengths."""
    rows = [[symbol(("gain", i, j)) for j in range(length)] for i, length in enumerate(lengths)]
    terms = [[gain * level(i, j) for j, gain in enumerate(row)] for i, row in enumerate(rows)]
    return tuple(gain for row in rows for gain in row), tuple(sum(row[1:], row[0]) for row in terms)


class Held(NamedTuple):
    """A constraint as stabilization sees it: its name, its correction c and its chain of residuals."""

    name: str
    correction: Node  # the symbol c in the rates
    chain: tuple[Node, ...]  # y₀, ..., y_{r-1}, in the user's symbols


class Energy(NamedTuple):
    """E, and the powers of dE/dt: in total and of every servo, by the symbol of its work. No powers: E is constant."""

    stored: Node
    powers: Mapping[Node, Node]
    kinetic: Node | None = None  # T, where it is known


@dataclass(frozen=True, eq=False)
class Roles:
    """Which symbols mean what to a user."""

    symbols: tuple[Node, ...]  # that a user may write and read, apart from time, inputs and parameters
    shown: tuple[Node, ...]  # the ones that a plot shows by default
    reactions: Mapping[str, Node]  # reactions or controls by name
    holding: Mapping[str, Node]  # of these, the inputs that stand in place of a reaction
    servos: tuple[Node, ...] = ()  # inputs that hold servo constraints, whose work is counted


@dataclass(frozen=True, eq=False)
class Integrable:
    """Equations as nodes of time t, states x, parameters p, inputs u and corrections c, good around one state."""

    equations: Equations  # its origin, in the same variables, which can provide other pivots
    states: tuple[Node, ...]  # x; states that a closed loop adds come last
    rates: tuple[Node, ...]  # f, of t, x, p, u and c
    outputs: Mapping[
        Node, Node
    ]  # the user's symbols, accelerations, reactions (without c), inputs of a program (with c)
    constraints: tuple[Held, ...]
    residuals: tuple[Residual, ...]  # all that is watched along a run, of t, x and p
    projections: tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]  # (residuals, states moved to make them vanish)
    pivots: tuple[Pivot, ...]
    roles: Roles
    energy: Energy | None = None
    conditions: tuple[Condition, ...] = ()  # under which the form is valid
    prescribed: Feedback | None = None  # the feedback that belongs to the equations themselves

    @property
    def name(self) -> str:
        """What the user called the system."""
        return self.equations.name

    @property
    def time(self) -> Node:
        """t."""
        return symbol(self.equations.time)

    @cached_property
    def parameters(self) -> dict[Node, float]:
        """p and their values."""
        return {symbol(p): value for p, value in self.equations.parameters.items()}

    @property
    def inputs(self) -> tuple[Node, ...]:
        """u, each of which needs a law."""
        return tuple(map(symbol, self.equations.inputs))

    @cached_property
    def definitions(self) -> dict[Node, Node]:
        """States that are not user's symbols, as functions of these."""
        return {symbol(key): node for key, node in self.equations.definitions.items()}

    @property
    def corrections(self) -> tuple[Node, ...]:
        """c."""
        return tuple(constraint.correction for constraint in self.constraints)

    @cached_property
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

    def at(self, values: Values) -> Integrable:
        """The same record with the values of its pivots at a state."""
        nodes = [pivot.node for pivot in self.pivots]
        return replace(self, pivots=tuple(map(Pivot, nodes, self._divisors.at(values))))

    @cached_property
    def _divisors(self) -> Evaluator:
        """The values of the pivots at a state."""
        return Evaluator([pivot.node for pivot in self.pivots])

    def state_values(self, values: Values) -> list[float]:
        """The states as numbers, from values of the user's symbols."""
        return evaluate([self.definitions.get(state, state) for state in self.states], values)


def with_definitions(definitions: Mapping[sp.Expr, Node], values: Values) -> dict[Node, float]:
    """The values, and those of the states that can be computed from the user's symbols."""
    fresh = {
        symbol(key): node
        for key, node in definitions.items()
        if symbols([node]) <= set(values) and symbol(key) not in values
    }
    return {**values, **dict(zip(fresh, evaluate(list(fresh.values()), values), strict=True))}


class Equations(Protocol):
    """What `simulate` needs from equations before it has a state, and the record to run once it has one.

    Mechanical and program equations satisfy it.
    """

    @property
    def kept(self) -> Kept:
        """What was prepared for these equations and can be used again."""

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
        """Symbols a user may write in events and read from a trajectory, apart from time, inputs and parameters."""

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
        """The equations of a consistent start, level by level; may improve the first guesses in ``values``."""

    def refuse_start(self, values: Values) -> None:
        """Raise where the constraints do not determine the motion at a state."""

    def integrable(self, *states: Values) -> Integrable:
        """The record to run: variables that Vinculum chose are good at the first state, pivots at all of them."""

    def singular_at(self, values: Values) -> str:
        """A sentence on what the equations no longer determine at a state; empty if everything is determined."""
