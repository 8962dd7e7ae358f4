"""Equations of every kind in one form for analysis, without elimination (descriptor form).

    ẋ = f(x, w, u, t),    0 = g(x, w, u, t),    0 = z(x, t)

x are the user's coordinates, velocities and further states of a closed loop; w are accelerations and reactions, which g
determines; z are all residuals of the constraints. For a mechanical system

    q̇ = v,  v̇ = a,    g = (M a + h - Q - b λ,  J a + γ),    z = (F, Ḟ, φ, hidden conditions of servos),

with b = Jᵀ, or the direction ∂Q/∂u of the input that holds a servo constraint. Every form of the same system gives the
same descriptor form, so verdicts do not depend on the form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import sympy as sp

from vinculum.derivation import EquationsOfMotion, derive
from vinculum.derivation.mechanics.integrable_mechanics import reference_state
from vinculum.derivation.mechanics.lagrange import Mechanics, product
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.derivation.program.program_equations import ProgramEquations
from vinculum.derivation.variables import chain_projections
from vinculum.describe import Servo
from vinculum.describe.affine import AffineSystem
from vinculum.graph import ZERO, Converter, Node, jacobian, substitute, symbol, symbols, vector
from vinculum.graph.levels import Levels
from vinculum.names import name_of, reaction

T = TypeVar("T")
Analyzed: TypeAlias = EquationsOfMotion | ProgramEquations | AffineSystem


@dataclass(frozen=True, eq=False)
class Descriptor:
    """ẋ = f(x, w, u, t), 0 = g(x, w, u, t), 0 = z(x, t) as nodes; the first 2n states of a mechanism are (q, v)."""

    name: str
    time: Node
    parameters: Mapping[Node, float]
    coordinates: int  # n: states i < n are coordinates with the velocity n + i; zero for a first-order system
    states: tuple[Node, ...]  # x
    algebraic: tuple[Node, ...]  # w
    inputs: tuple[Node, ...]  # u
    rates: tuple[Node, ...]  # f
    balance: tuple[Node, ...]  # g
    residuals: tuple[Node, ...]  # z
    labels: tuple[str, ...]  # of the rows (g, z), for messages
    reactions: Mapping[str, Node]  # by constraint, among w
    mechanics: Mechanics | None = None
    laws: Mapping[Node, Node] = field(default_factory=dict)  # inputs of a closed loop, inserted already
    turned: Mapping[Node, Node] = field(default_factory=dict)  # velocities replaced by speeds in a frame
    frame: Any = None  # that frame
    ignored: frozenset[Node] = frozenset()  # coordinates that the description leaves out of linear models

    @cached_property
    def present(self) -> set[Node]:
        """All symbols in (f, g, z)."""
        return symbols([*self.rates, *self.balance, *self.residuals])

    @cached_property
    def slopes(self) -> np.ndarray:
        """The derivatives of (f, g, z) by (x, w, u) as nodes."""
        return jacobian([*self.rates, *self.balance, *self.residuals], [*self.states, *self.algebraic, *self.inputs])

    @cached_property
    def slopes_levels(self) -> Levels:
        """The slopes, to be evaluated at many points."""
        return Levels(list(self.slopes.ravel()))

    @cached_property
    def rows_levels(self) -> Levels:
        """(f, g, z)."""
        return Levels([*self.rates, *self.balance, *self.residuals])

    @cached_property
    def balance_levels(self) -> Levels:
        """∂g/∂w and g."""
        return Levels([*jacobian(self.balance, self.algebraic).ravel(), *self.balance])

    @cached_property
    def inertia_levels(self) -> Levels:
        """The diagonal of M."""
        return Levels([] if self.mechanics is None else list(np.diagonal(self.mechanics.M)))

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """Answers to questions about these equations that were asked before, for `remembered`."""
        return {}

    def remembered(self, question: tuple[Any, ...], answer: Callable[[], T]) -> T:
        """The answer to a question, computed once."""
        if question not in self.memory:
            self.memory[question] = answer()
        return self.memory[question]

    def key(self, values: Values) -> tuple[float | None, ...]:
        """The numbers at which a question about the structure is asked."""
        return tuple(values.get(x) for x in (*self.states, *self.inputs, *self.parameters, self.time))

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without what can be computed again."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    @property
    def velocities(self) -> tuple[Node, ...]:
        """The velocities among the states."""
        return self.states[self.coordinates : 2 * self.coordinates]

    @property
    def currents(self) -> frozenset[Node]:
        """The velocities of the ignored coordinates, which need not vanish at rest."""
        n = self.coordinates
        return frozenset(v for q, v in zip(self.states[:n], self.velocities, strict=True) if q in self.ignored)


def descriptor(equations: Analyzed) -> Descriptor:
    """The descriptor form of equations of motion, of a program, or of an affine system; the same one every time."""
    found = _KNOWN.get(equations)
    if found is None:
        found = _KNOWN[equations] = _descriptor(equations)
    return found


_KNOWN: WeakKeyDictionary[Any, Descriptor] = WeakKeyDictionary()


def _descriptor(equations: Analyzed) -> Descriptor:
    if isinstance(equations, AffineSystem):
        return _affine(equations) if not equations.constraints else _program(derive(equations, "program"))
    if isinstance(equations, ProgramEquations):
        return _program(equations)
    return _mechanical(equations)


def reference(equations: Analyzed) -> Values | None:
    """A state in general position on the constraints, if one is known."""
    if isinstance(equations, EquationsOfMotion):
        return reference_state(equations)
    return equations.points[0] if isinstance(equations, ProgramEquations) else None


def _mechanical(equations: EquationsOfMotion) -> Descriptor:
    mechanics, system = equations.mechanics, equations.system
    nodes, n = system.nodes, len(system.coordinates)
    a, multipliers = tuple(map(symbol, equations.acceleration_symbols)), tuple(mechanics.multipliers)
    forces = mechanics.Q - mechanics.h + product(mechanics.directions, mechanics.multipliers)
    inertia = product(mechanics.M, vector(a)) - forces
    bending = product(mechanics.J, vector(a)) + mechanics.gamma
    laws = {symbol(u): Converter()(law) for u, law in equations.laws.items()}
    extra = [Converter()(rate) for rate in equations.extra.values()]
    balance = substitute(mechanics.without_corrections([*inertia, *bending]), laws)
    residuals = [z for level, _ in chain_projections(mechanics) for z in level]
    names = [c.name for c in system.constraints]
    return Descriptor(
        name=system.name,
        time=nodes.time,
        parameters={symbol(p): value for p, value in system.parameters.items()},
        coordinates=n,
        states=(*nodes.q, *nodes.v, *map(symbol, equations.extra)),
        algebraic=(*a, *multipliers),
        inputs=tuple(symbol(u) for u in system.free_inputs if u not in equations.laws),
        rates=(*nodes.v, *a, *substitute(extra, laws)),
        balance=tuple(balance),
        residuals=tuple(mechanics.without_corrections(residuals)),
        labels=(
            *(f"equation of {name_of(q)}" for q in system.coordinates),
            *(f"acceleration of constraint {name}" for name in names),
            *_residual_labels(mechanics),
        ),
        reactions=dict(zip(names, multipliers, strict=True)),
        mechanics=mechanics,
        laws=laws,
        ignored=frozenset(map(symbol, system.ignored)),
    )


def _residual_labels(mechanics: Mechanics) -> list[str]:
    """Labels of the residuals, in the order of `chain_projections`."""
    exact = [
        (c.name, chain, f)
        for c, chain, f in zip(mechanics.system.constraints, mechanics.chains, mechanics.position, strict=True)
        if c.name not in mechanics.approach
    ]
    if any(name not in mechanics.approach for name, _ in mechanics.hidden):
        return [f"constraint {name}" for name, chain, _ in exact for _ in chain]
    position = [f"constraint {name}" for name, _, f in exact if f is not None]
    return [*position, *(f"velocity of constraint {name}" for name, _, _ in exact)]


def _program(equations: ProgramEquations) -> Descriptor:
    nodes, system = equations.system.nodes, equations.system
    record = equations.integrable()
    still = dict.fromkeys(record.corrections, ZERO)
    residuals = [z for chain in record.chains for z in chain]
    holding = dict(zip(nodes.inputs, substitute([record.outputs[u] for u in nodes.inputs], still), strict=True))
    return Descriptor(
        name=equations.name,
        time=nodes.time,
        parameters={symbol(p): value for p, value in system.parameters.items()},
        coordinates=0,
        states=nodes.x,
        algebraic=nodes.inputs,
        inputs=(),
        rates=tuple(substitute(list(record.rates), still)),
        balance=tuple(u - node for u, node in holding.items()),
        residuals=tuple(residuals),
        labels=(
            *(f"input {name_of(u)}" for u in system.inputs),
            *(f"constraint {held.name}" for held in record.constraints for _ in held.chain),
        ),
        reactions={name_of(u.value): u for u in nodes.inputs},
    )


def _affine(system: AffineSystem) -> Descriptor:
    nodes = system.nodes
    rates = nodes.F + product(nodes.B, vector(nodes.inputs)) if len(nodes.inputs) else nodes.F
    return Descriptor(
        name=system.name,
        time=nodes.time,
        parameters={symbol(p): value for p, value in system.parameters.items()},
        coordinates=0,
        states=nodes.x,
        algebraic=(),
        inputs=nodes.inputs,
        rates=tuple(rates),
        balance=(),
        residuals=(),
        labels=(),
        reactions={},
    )


def servo_inputs(form: Descriptor) -> dict[sp.Expr, Node]:
    """The inputs that hold servo constraints and the reactions in whose place they stand."""
    if form.mechanics is None:
        return {}
    system = form.mechanics.system
    held = [form.reactions[c.name] for c in system.constraints if isinstance(c, Servo)]
    return dict(zip(system.servo_inputs, held, strict=True))


def reaction_symbols(form: Descriptor) -> dict[sp.Symbol, Node]:
    """``reaction(name)`` of every constraint, as the user writes it."""
    return {reaction(name): node for name, node in form.reactions.items()}
