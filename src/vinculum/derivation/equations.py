"""The equations of motion of a system in one of the classical forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Condition, Integrable, Residual, StartLevel, with_definitions
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.integrable_mechanics import (
    adapt_partition,
    choose_elimination,
    integrable_mechanics,
    reference_state,
    refuse_other_branch,
    start_levels,
)
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.derivation.mechanics.singular import refuse_negative_inertia, refuse_redundant, singular_at
from vinculum.derivation.stepping import stepper
from vinculum.derivation.variables import Variables
from vinculum.describe import Servo, System
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.graph import Node, evaluate, operations, symbol, to_sympy
from vinculum.kept import Kept
from vinculum.names import listed, name_of, suggestion, velocity_of
from vinculum.notebook_repr import formula, html_formula
from vinculum.text_printer import labelled_rows
from vinculum.units.given import numbers_in_si

if TYPE_CHECKING:
    from vinculum.derivation.forms.form import MechanicalForm
    from vinculum.derivation.printing import Printed


@dataclass(frozen=True, eq=False, repr=False)
class EquationsOfMotion:
    """Equations of motion, ready to be read, evaluated or simulated.

    Multipliers have the sign of  M q̈ + h = Q + Jᵀ λ  everywhere.
    """

    form: MechanicalForm  # with its options
    mechanics: Mechanics  # M, h, Q, J, γ
    variables: Variables  # what is integrated
    samples: tuple[Values, ...] = ()  # states in general position on the constraints
    elimination: Explicit | None = None  # q̈ and λ, with pivots that are good at the reference state
    laws: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)  # inputs of a closed loop as expressions of the state
    extra: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)  # further states of a closed loop and their rates
    kept: Kept = field(default_factory=Kept, init=False)  # what was prepared for runs

    @property
    def system(self) -> System:
        """The system that the equations describe."""
        return self.mechanics.system

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """What is integrated."""
        return self.variables.states

    added_states: ClassVar[tuple[sp.Expr, ...]] = ()  # only programs put integrators before inputs

    @property
    def dimension(self) -> int:
        """The size of the form: unknown functions of a differential-algebraic or ordinary system."""
        return self.variables.dimension

    @property
    def partition(self) -> Partition | None:
        """Independent and dependent coordinates, where the form divides them."""
        return self.variables.partition

    @property
    def definitions(self) -> Mapping[sp.Expr, Node]:
        """States that are neither coordinates nor velocities, as functions of these."""
        return self.variables.definitions

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must stay away from zero for the states to determine the motion."""
        return self.variables.conditions

    @property
    def acceleration_symbols(self) -> tuple[sp.Expr, ...]:
        """q̈ for every coordinate."""
        return tuple(velocity_of(q, 2) for q in self.system.coordinates)

    # -- symbols ---------------------------------------------------------------------------------------------

    @property
    def mass_matrix(self) -> sp.Matrix:
        """M of M q̈ + h = Q + Jᵀλ, as a SymPy matrix."""
        return _matrix(self.mechanics.M)

    @property
    def forcing(self) -> sp.Matrix:
        """Q - h of M q̈ = Q - h + Jᵀλ, as a SymPy column."""
        return _matrix((self.mechanics.Q - self.mechanics.h)[:, None])

    @property
    def constraint_jacobian(self) -> sp.Matrix:
        """J of J q̈ + γ = 0, as a SymPy matrix."""
        return _matrix(self.mechanics.J)

    @property
    def reactions(self) -> dict[str, sp.Expr]:
        """λ(q, q̇, t, u) of every constraint as a SymPy expression. Large for a large system."""
        nodes = self.mechanics.without_corrections(self.explicit().reactions)
        return {c.name: to_sympy(node) for c, node in zip(self.system.constraints, nodes, strict=True)}

    def latex(self, named: bool | None = None, *, simplify: bool = False) -> str:
        """The equations in the user's symbols, as LaTeX.

        A small model is printed whole. A large one, or any with ``named=True``, is printed with named
        intermediates z₁, z₂, ... that appear once each. ``simplify`` first applies trigonometric identities
        (sums, differences and double angles) where they make the equations shorter.
        """
        from vinculum.derivation.printing import latex

        return latex(self, named, simplify)

    def printed(self, named: bool | None = None, *, simplify: bool = False) -> Printed:
        """The lines of ``latex()`` one by one: definitions of intermediates, then equations, each (left, right)."""
        from vinculum.derivation.printing import printed

        return printed(self, named, simplify=simplify)

    def text(self, named: bool | None = None) -> str:
        """The equations as plain text, written as in a model file."""
        from vinculum.derivation.printing import printed
        from vinculum.text_printer import plain

        return printed(self, named, write=plain).lines

    _repr_latex_ = formula
    _repr_html_ = html_formula

    def operations(self) -> Counter[str]:
        """Operations needed for rates and reactions together; ``.total()`` adds them up."""
        explicit = self.explicit()
        return operations(self.mechanics.without_corrections([*explicit.rates, *explicit.reactions]))

    # -- numbers ---------------------------------------------------------------------------------------------

    def explicit(self, *states: Values) -> Explicit:
        """q̈ and λ as nodes, with pivots that are good at all given states (default: the reference state)."""
        states = states or (reference_state(self),)
        if self.elimination is not None and self.elimination.suits(*states):
            return self.elimination
        return choose_elimination(self, *states)

    def accelerations(self, state: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
        """q̈ at a state {coordinate: value, velocity: value, input: value}, as {q.diff(t, 2): value}."""
        found = self._evaluate(state)[: len(self.system.coordinates)]
        return dict(zip(self.acceleration_symbols, found, strict=True))

    def recover(self, state: Mapping[sp.Expr, float]) -> dict[object, float]:
        """All coordinates, velocities, accelerations and, by constraint name, multipliers at a state."""
        values, found = self.values(state), self._evaluate(state)
        names = (*self.acceleration_symbols, *(c.name for c in self.system.constraints))
        n = len(self.system.coordinates)
        velocities = dict(zip(self.system.velocities, found[-n:], strict=True))
        given = {key: values[symbol(key)] for key in self.states}
        return given | velocities | dict(zip(names, found[:-n], strict=True))

    def values(self, state: Mapping[sp.Expr, float]) -> dict[Node, float]:
        """A state in the user's symbols as numbers for the graph; missing and unknown symbols are refused."""
        system = self.system
        state = self._in_si(state)
        known = {*self.states, *system.coordinates, *system.velocities, *system.inputs, *system.parameters, system.time}
        problems = [
            f"{name_of(key)} is not a symbol of the system.{suggestion(name_of(key), map(name_of, known))}"
            for key in state
            if key not in known
        ]
        problems += [
            f"{name_of(key)} is {value!r}. Give it a finite number."
            for key, value in state.items()
            if not is_number(value)
        ]
        complete = {system.time: 0.0} | dict(system.parameters) | dict(state)
        numbers = {symbol(key): float(value) for key, value in complete.items() if is_number(value)}
        numbers = with_definitions(self.definitions, numbers)
        needed = (*self.states, *system.free_inputs)
        missing = [key for key in needed if symbol(key) not in numbers and key not in state]
        if missing:
            problems.append(f"no value for {listed(missing)}.")
        if problems:
            raise ModelError(f"Invalid state of {system.name!r}", problems)
        return numbers

    def _in_si(self, state: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
        return numbers_in_si(state, dimensions_of(self), f"Invalid state of {self.name!r}")

    def _evaluate(self, state: Mapping[sp.Expr, float]) -> list[float]:
        state = self._in_si(state)
        values = self.values(state)
        adapted = adapt_partition(self, values)
        explicit = (adapted if adapted.states == self.states else self).explicit(values)
        found = evaluate(self._without_corrections(explicit), values)
        self._refuse_contradiction(state, found[-len(self.system.coordinates) :])
        return found

    def _refuse_contradiction(self, state: Mapping[sp.Expr, float], velocities: Sequence[float]) -> None:
        """Velocities that follow from the state may be given too, but must agree with it."""
        for key, value in zip(self.system.velocities, velocities, strict=True):
            if key in state and abs(state[key] - value) > 1e-6 * (1 + abs(value)):
                raise ModelError(
                    f"Invalid state of {self.system.name!r}",
                    [f"{name_of(key)} = {state[key]:.6g}, but the other velocities make it {value:.6g}. Leave it out."],
                )

    def _without_corrections(self, explicit: Explicit) -> list[Node]:
        everything = [*explicit.accelerations, *explicit.reactions, *explicit.velocities]
        return self.mechanics.without_corrections(everything)

    # -- the protocol `integrable.Equations`, which simulations use ----------------------------------------------

    @property
    def name(self) -> str:
        """What the user called the system."""
        return self.system.name

    @property
    def time(self) -> sp.Symbol:
        """t."""
        return self.system.time

    @property
    def parameters(self) -> Mapping[sp.Symbol, float]:
        """Parameters and their values."""
        return self.system.parameters

    @property
    def inputs(self) -> Sequence[sp.Expr]:
        """Inputs that need a law."""
        return self.system.free_inputs

    @property
    def user_symbols(self) -> tuple[sp.Expr, ...]:
        """Coordinates and velocities."""
        return (*self.system.coordinates, *self.system.velocities)

    @property
    def holding(self) -> dict[str, sp.Expr]:
        """The input of every servo constraint: its value stands in place of λ."""
        servos = [c.name for c in self.system.constraints if isinstance(c, Servo)]
        return dict(zip(servos, self.system.servo_inputs, strict=True))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint."""
        return tuple(c.name for c in self.system.constraints)

    @property
    def residuals(self) -> tuple[Residual, ...]:
        """Position residuals of the holonomic constraints, then velocity residuals of all."""
        pairs = list(zip(self.constraint_names, self.mechanics.position, strict=True))
        velocity = zip(self.constraint_names, self.mechanics.velocity, strict=True)
        return (
            *(Residual(name, "position", f) for name, f in pairs if f is not None),
            *(Residual(name, "velocity", f) for name, f in velocity),
        )

    def integrable(self, *states: Values) -> Integrable:
        """Rates, outputs, residuals, energy and pivots as nodes, good at all given states.

        The default is the reference state. Dependent coordinates that Vinculum chose are chosen again if they are badly
        conditioned at the first state.
        """
        here, *others = states or (reference_state(self),)
        known = with_definitions(self.definitions, here)
        adapted = adapt_partition(self, known)
        explicit = adapted.explicit(known, *others)
        return adapted.kept.get(("integrable", explicit), lambda: integrable_mechanics(adapted, explicit)).at(known)

    stepper = stepper

    def start_levels(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> tuple[StartLevel, ...]:
        """Coordinates on the holonomic constraints, velocities on the velocity constraints, then hidden conditions.

        A motion need not start on constraints that it approaches. States given in place of velocities are conditions
        on the velocities.
        """
        return start_levels(self, initial, values)

    def refuse_start(self, values: Values) -> None:
        """Refuse dependent constraints (unless the form accepts them) and negative inertia."""
        refuse_redundant(self, values)
        refuse_negative_inertia(self.mechanics, values, {p: values[symbol(p)] for p in self.parameters})
        if self.definitions:
            refuse_other_branch(self, values)

    def singular_at(self, values: Values) -> str:
        """A sentence on what is no longer determined at a state; empty if everything is."""
        return singular_at(self, values)

    def __repr__(self) -> str:
        rows = {
            "form": self.form.name,
            "states": listed(self.states),
            "constraints": ", ".join(c.name for c in self.system.constraints) or "none",
            "dimension": str(self.dimension),
        }
        if self.partition is not None and self.partition.s:
            chosen = " (chosen: best conditioned)" if self.partition.chosen else ""
            rows["dependent"] = listed(self.system.coordinates[i] for i in self.partition.s) + chosen
        if self.laws:
            rows["inputs by laws"] = listed(self.laws)
        limits = [condition.meaning for condition in self.conditions if condition.kind == "chart left"]
        if limits:
            rows["chart"] = "; ".join(limits)
        head = f'EquationsOfMotion of "{self.system.name}"'
        return labelled_rows(head, rows)


def is_number(value: object) -> bool:
    """Whether a value is a finite real number, possibly SymPy's."""
    if isinstance(value, str) or value is None:
        return False
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]  # refused below
    except (TypeError, ValueError, OverflowError):
        return False


def _matrix(nodes: np.ndarray) -> sp.Matrix:
    return sp.Matrix(*nodes.shape, [to_sympy(node) for node in nodes.ravel()])
