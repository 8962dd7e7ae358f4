"""The equations of motion of a system in one of the classical forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Condition, Integrable, Residual, StartLevel, with_definitions
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.integrable_mechanics import integrable_mechanics
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition, best_partition, conditioning
from vinculum.derivation.mechanics.redundancy import refuse_dependent
from vinculum.derivation.mechanics.sample_states import Values, numbers, refuse_unmet
from vinculum.derivation.mechanics.singular import refuse_negative_inertia, singular_at
from vinculum.derivation.quasi.chart import refuse_outside, watch_limits
from vinculum.derivation.variables import Variables
from vinculum.describe import Servo, System
from vinculum.errors import ConstraintError, Finding, ModelError, Word, call
from vinculum.graph import Node, evaluate, operations, symbol, to_sympy
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import formula, html_if_large
from vinculum.text_printer import labelled_rows

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

    @property
    def system(self) -> System:
        """The system that the equations are of."""
        return self.mechanics.system

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """What is integrated."""
        return self.variables.states

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
        return tuple(q.diff(self.system.time, 2) for q in self.system.coordinates)

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
        """λ(q, q̇, t, u) of every constraint as a SymPy expression. For a large system it is large."""
        nodes = self.mechanics.without_corrections(self.explicit().reactions)
        return {c.name: to_sympy(node) for c, node in zip(self.system.constraints, nodes, strict=True)}

    def latex(self, named: bool | None = None) -> str:
        """The equations in the user's symbols, as LaTeX.

        A small model is printed whole. A large one, or any with ``named=True``, is printed with named
        intermediates z₁, z₂, ... that appear once each.
        """
        from vinculum.derivation.printing import latex

        return latex(self, named)

    def printed(self, named: bool | None = None) -> Printed:
        """The lines of ``latex()`` one by one: definitions of intermediates, then equations, each (left, right)."""
        from vinculum.derivation.printing import printed

        return printed(self, named)

    def text(self, named: bool | None = None) -> str:
        """The equations as plain text, written as in a model file."""
        from vinculum.derivation.printing import printed
        from vinculum.text_printer import plain

        return printed(self, named, write=plain).lines

    _repr_latex_ = formula
    _repr_html_ = html_if_large

    def operations(self) -> Counter[str]:
        """Operations needed for rates and reactions together; ``.total()`` adds them up."""
        explicit = self.explicit()
        return operations(self.mechanics.without_corrections([*explicit.rates, *explicit.reactions]))

    # -- numbers ---------------------------------------------------------------------------------------------

    def explicit(self, values: Values | None = None) -> Explicit:
        """q̈ and λ as nodes, with pivots that are good at the given values (default: the reference state)."""
        values = self.reference() if values is None else values
        if self.elimination is not None and self.elimination.suits(values):
            return self.elimination
        return self.chosen_for(values)

    def chosen_for(self, *values: Values) -> Explicit:
        """A new elimination with pivots that are good at all the given states."""
        samples, limits = [*values, *self.samples], self.variables.conditions
        refuse_outside(limits, samples[0])
        explicit = self.form.eliminate(self.mechanics, self.variables, samples)
        return watch_limits(explicit, limits, samples[0])

    def divided_by(self, partition: Partition, values: Values | None = None) -> EquationsOfMotion:
        """The same form with another partition, eliminated at a state (default: the reference state)."""
        other = replace(self, variables=self.form.divide(self.mechanics, partition), elimination=None)
        return replace(other, elimination=other.chosen_for(other.reference() if values is None else values))

    def with_definitions(self, values: Values) -> dict[Node, float]:
        """Values with the states added that can be computed from coordinates and velocities."""
        return with_definitions(self.definitions, values)

    def reference(self) -> Values:
        """The state at which ranks and pivots are chosen: ``at`` of the form, else the first sample."""
        if self.form.at is not None:
            return self.values(self.form.at)
        if not self.samples:
            refuse_unmet(self.mechanics)
        return self.samples[0]

    def state_values(self, values: Values) -> list[float]:
        """The states of this form from values of all coordinates and velocities."""
        nodes = [self.definitions.get(key, symbol(key)) for key in self.states]
        return evaluate(nodes, values)

    def adapted(self, values: Values) -> EquationsOfMotion:
        """The same form with the best partition at a state, if the choice was Vinculum's and has become a bad one."""
        if self.partition is None or not self.partition.chosen:
            return self
        best = best_partition(self.mechanics, values)
        now, then = (conditioning(self.mechanics, p, values) for p in (self.partition, best))
        return self.divided_by(best, values) if now < 0.1 * then else self

    def accelerations(self, state: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
        """q̈ at a state {coordinate: value, velocity: value, input: value}, as {q.diff(t, 2): value}."""
        found = self._evaluated(state)[: len(self.system.coordinates)]
        return dict(zip(self.acceleration_symbols, found, strict=True))

    def recover(self, state: Mapping[sp.Expr, float]) -> dict[object, float]:
        """All coordinates, velocities, accelerations and, by constraint name, multipliers at a state."""
        values, found = self.values(state), self._evaluated(state)
        names = (*self.acceleration_symbols, *(c.name for c in self.system.constraints))
        n = len(self.system.coordinates)
        velocities = dict(zip(self.system.velocities, found[-n:], strict=True))
        given = {key: values[symbol(key)] for key in self.states}
        return given | velocities | dict(zip(names, found[:-n], strict=True))

    def values(self, state: Mapping[sp.Expr, float]) -> dict[Node, float]:
        """A state in the user's symbols as numbers for the graph; missing and unknown symbols are refused."""
        system = self.system
        known = {*self.states, *system.coordinates, *system.velocities, *system.inputs, *system.parameters, system.time}
        problems = [
            f"{name_of(key)} is not a symbol of the system.{suggestion(name_of(key), map(name_of, known))}"
            for key in state
            if key not in known
        ]
        problems += [
            f"{name_of(key)} is {value!r}. Give it a finite number."
            for key, value in state.items()
            if not _is_number(value)
        ]
        complete = {system.time: 0.0} | dict(system.parameters) | dict(state)
        numbers = {symbol(key): float(value) for key, value in complete.items() if _is_number(value)}
        numbers = self.with_definitions(numbers)
        needed = (*self.states, *system.free_inputs)
        missing = [key for key in needed if symbol(key) not in numbers and key not in state]
        if missing:
            problems.append(f"no value for {listed(missing)}.")
        if problems:
            raise ModelError(f"Invalid state of {system.name!r}", problems)
        return numbers

    def _evaluated(self, state: Mapping[sp.Expr, float]) -> list[float]:
        values = self.values(state)
        adapted = self.adapted(values)
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

    # -- what a simulation asks of any equations (`integrable.Equations`) ---------------------------------------

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

    def integrable(self, values: Values | None = None, beyond: Values | None = None) -> Integrable:
        """Rates, outputs, residuals, energy and pivots as nodes, good at a state (default: the reference state).

        ``beyond`` is a state further on for which the pivots must be good too. Dependent coordinates that Vinculum
        chose are chosen again where they have become bad.
        """
        known = self.with_definitions(dict(self.reference() if values is None else values))
        adapted = self.adapted(known)
        explicit = adapted.explicit(known) if beyond is None else adapted.chosen_for(known, beyond)
        return integrable_mechanics(adapted, explicit, known)

    def start_levels(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> tuple[StartLevel, ...]:
        """Coordinates on the holonomic constraints, velocities on the velocity constraints, then hidden conditions.

        A motion need not start on constraints that it approaches. States given in place of velocities are conditions
        on the velocities.
        """
        approach, q, v = self.mechanics.approach, tuple(self.system.coordinates), self.system.velocities
        met = [r for r in self.residuals if r.constraint not in approach]
        position, velocity = (tuple((r.constraint, r.node) for r in met if r.level == level)
                              for level in ("position", "velocity"))  # fmt: skip
        hidden = tuple((name, z) for name, z in self.mechanics.hidden if name not in approach)
        chosen = self._start_conditions(initial, values)
        levels = (StartLevel("coordinates", position, q), StartLevel("velocities", (*velocity, *chosen), v))
        if not hidden:
            return levels
        return (*levels, StartLevel("coordinates and velocities", position + velocity + hidden, (*q, *v)))

    def _start_conditions(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> list[tuple[str, Node]]:
        """Conditions from states that the user gave in place of velocities: definition(q, q̇, t) - value = 0.

        Velocities that are to be found start from where the form puts them (exactly right when all such states are
        given), or from a state in general position, since a definition may be singular at rest.
        """
        given = {key: float(initial[key]) for key in self.definitions if key in initial}
        if not given:
            return []
        v = self.system.nodes.v
        start = {node: self.reference()[node] for node in v}
        if len(given) == len(self.definitions):
            known = {**self.reference(), **values, **{symbol(key): x for key, x in given.items()}}
            guess = {node: x for node, x in start.items() if node.value not in initial}
            exact = self.mechanics.without_corrections(self.explicit(known | guess).velocities)
            start = dict(zip(v, evaluate(exact, known | guess), strict=True))
        values.update({node: x for node, x in start.items() if node.value not in initial})
        return [(name_of(key), self.definitions[key] - value) for key, value in given.items()]

    def _refuse_other_branch(self, values: dict[Node, float]) -> None:
        """The states must give back the velocities they came from; on another branch of a chart they do not."""
        found = evaluate(self.mechanics.without_corrections(self.explicit(values).velocities), values)
        pairs = zip(self.system.velocities, found, strict=True)
        wrong = [v for v, x in pairs if abs(x - values[symbol(v)]) > 1e-8 * (1 + abs(x))]
        if wrong:
            limits = "; ".join(condition.meaning for condition in self.conditions)
            raise ConstraintError(
                Finding(
                    f"The initial state is outside the chart: the states of the form give another value of "
                    f"{listed(wrong)} ({limits}).",
                    [
                        "Start on the other side, or give a state there: ",
                        call("derive", at={Word("coordinate"): Word("value")}),
                        ".",
                    ],
                )
            )

    def refuse_start(self, values: Values) -> None:
        """Refuse dependent constraints, unless the user wants to go on with them, and negative inertia."""
        refuse_redundant(self, values)
        refuse_negative_inertia(self.mechanics, values, {p: values[symbol(p)] for p in self.parameters})
        if self.definitions:
            self._refuse_other_branch(self.with_definitions(dict(values)))

    def singular_at(self, values: Values) -> str:
        """What is no longer determined at a state, or nothing."""
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
        limits = [condition.meaning for condition in self.conditions if condition.kind == "chart left"]
        if limits:
            rows["chart"] = "; ".join(limits)
        head = f'EquationsOfMotion of "{self.system.name}"'
        return labelled_rows(head, rows)


def refuse_redundant(equations: EquationsOfMotion, values: Values) -> None:
    """Raise where constraints are dependent at a state, unless the form can go on with them."""
    if not equations.form.allows_dependent:
        system = equations.system
        J, q = numbers(equations.mechanics.J, values), numbers(system.nodes.q, values)
        refuse_dependent(J, [c.name for c in system.constraints], system.coordinates, q)


def _is_number(value: object) -> bool:
    """A finite real number, SymPy's included."""
    if isinstance(value, str) or value is None:
        return False
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]  # refused below
    except (TypeError, ValueError, OverflowError):
        return False


def _matrix(nodes: np.ndarray) -> sp.Matrix:
    return sp.Matrix(*nodes.shape, [to_sympy(node) for node in nodes.ravel()])
