"""What a simulation asks of equations, whatever they describe: mechanical motion or any affine control system.

States x with ẋ = f(t, x, p, c), residuals that vanish on the exact motion, and for every constraint a chain of
residuals y₀ (the constraint itself), y₁, ..., y_{r-1} with ẏ_{r-1} = -c. A stabilization decides what c is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import sympy as sp

from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.graph import Node, evaluate, symbol


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
    """Residuals of a consistent start and the states that may be moved to make them vanish."""

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


class Equations(Protocol):
    """Equations that `simulate` can run. Satisfied by `EquationsOfMotion` and by `ProgramEquations`."""

    @property
    def name(self) -> str:
        """What the user called the system."""

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """What is integrated, x."""

    @property
    def time(self) -> sp.Symbol:
        """t."""

    @property
    def parameters(self) -> Mapping[sp.Symbol, float]:
        """Parameters and their values."""

    @property
    def inputs(self) -> Sequence[sp.Expr]:
        """Inputs that need a law."""

    @property
    def held_inputs(self) -> Sequence[sp.Expr]:
        """Inputs that hold servo constraints and so have no law of their own."""

    @property
    def definitions(self) -> Mapping[sp.Expr, Node]:
        """States that are functions of the user's symbols."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must stay away from zero for the states to be good ones."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint."""

    @property
    def corrections(self) -> tuple[Node, ...]:
        """Symbols c, one for each constraint, that the rates contain."""

    @property
    def chains(self) -> tuple[tuple[Node, ...], ...]:
        """(y₀, ..., y_{r-1}) of every constraint, lowest level first."""

    @property
    def residuals(self) -> tuple[Residual, ...]:
        """All that is watched along a run."""

    @property
    def projections(self) -> tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]:
        """(residuals, consecutive states that are moved to make them vanish), in order."""

    @property
    def start_levels(self) -> tuple[StartLevel, ...]:
        """What a consistent start has to solve, in order."""

    @property
    def prescribed(self) -> Feedback | None:
        """The feedback that belongs to the equations themselves, if any."""

    @property
    def laws(self) -> Mapping[sp.Expr, sp.Expr]:
        """Inputs of a closed loop as expressions of the state."""

    @property
    def extra(self) -> Mapping[sp.Expr, sp.Expr]:
        """Further states of a closed loop (an observer) and their rates."""

    @property
    def energy(self) -> Node | None:
        """E, or none where no energy was stated."""

    @property
    def user_symbols(self) -> tuple[sp.Expr, ...]:
        """Symbols a user may write in events and read from a trajectory, beside time, inputs and parameters."""

    @property
    def reaction_symbols(self) -> dict[str, sp.Expr]:
        """Reactions or controls by name, as they appear in `derived`."""

    @property
    def holding(self) -> dict[str, sp.Expr]:
        """The input whose value stands in place of a reaction, by the reaction's name."""

    @property
    def shown(self) -> tuple[sp.Expr, ...]:
        """The states a plot shows when it is not told which."""

    def explicit(self, values: Values | None = None) -> Explicit:
        """Rates and reactions, with pivots that are good at the given values."""

    def chosen_for(self, *values: Values) -> Explicit:
        """The same with pivots chosen anew, good at all the given states."""

    def power(self, explicit: Explicit) -> Node:
        """dE/dt on the exact motion."""

    def servo_powers(self, explicit: Explicit) -> dict[sp.Expr, Node]:
        """The part of ``power`` that each input of a servo brings in."""

    def lifted(self, explicit: Explicit, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of the user's symbols as nodes of the state."""

    def derived(self, explicit: Explicit) -> dict[Node, Node]:
        """Rates and reactions by their symbols, as functions of the state."""

    def adapted(self, values: Values) -> Equations:
        """The same equations, in other variables where those are better at a state."""

    def state_values(self, values: Values) -> list[float]:
        """The states as numbers, from values of the user's symbols."""

    def with_definitions(self, values: dict[Node, float]) -> dict[Node, float]:
        """Values with the states added that can be computed from the others."""

    def start_conditions(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> list[tuple[str, Node]]:
        """Further conditions of a consistent start, from states given in place of others."""

    def refuse_start(self, values: Values) -> None:
        """Raise where the constraints do not determine the motion at a state."""

    def singular_at(self, values: Values) -> str:
        """What the equations no longer determine at a state, or nothing."""
