"""The record that form "program" gives: equations whose inputs are solved from the constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import sympy as sp

from vinculum.derivation.interface import Condition, Feedback, Residual, StartLevel
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import matrix_product, product, symmetrized
from vinculum.derivation.mechanics.redundancy import dependent_names, rank_of
from vinculum.derivation.mechanics.sample_states import Values, numbers, stacked
from vinculum.derivation.printing import Printed, Write, shared
from vinculum.derivation.servo.relative_degree import Chain
from vinculum.describe.affine import AffineSystem
from vinculum.errors import ConstraintError, ModelError, SingularError
from vinculum.frozen import FrozenMapping
from vinculum.graph import (
    ZERO,
    Node,
    SingularMatrix,
    evaluate,
    operations,
    solve,
    solve_definite,
    substitute,
    symbol,
    to_sympy,
    vector,
)
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import formula, html_if_large
from vinculum.text_printer import labelled_rows, plain, vlatex

if TYPE_CHECKING:
    from vinculum.derivation.forms.program import Program

_LEVELS = ("position", "velocity")


@dataclass(frozen=True, eq=False, repr=False)
class ProgramEquations:
    """ẋ = F + B N(x, t) with N from P N = h; see `derive.program`. Satisfies `derive.interface.Equations`."""

    form: Program  # with its options
    system: AffineSystem
    chains_found: tuple[Chain, ...]
    prescribed: Feedback | None
    preferred: tuple[Node, ...]  # N₀
    weights: tuple[Node, ...]  # 1/w
    points: tuple[Values, ...]  # consistent states at which ranks and pivots are chosen
    elimination: Explicit | None = None  # N and ẋ, with pivots that are good at the first point

    # -- what was found ------------------------------------------------------------------------------------------

    @property
    def degrees(self) -> dict[str, int]:
        """The vector relative degree, by constraint."""
        return {chain.name: chain.degree for chain in self.chains_found}

    @property
    def P(self) -> np.ndarray:
        """(r, s) the coefficients of N in the last derivatives of the constraints."""
        shape = (len(self.chains_found), len(self.system.inputs))
        return np.array([chain.p for chain in self.chains_found], dtype=object).reshape(shape)

    @property
    def controls(self) -> dict[sp.Expr, sp.Expr]:
        """N(x, t) on the exact motion as SymPy expressions. For a large system they are large."""
        found = self._exact(self.explicit().reactions)
        return {u: to_sympy(node) for u, node in zip(self.system.inputs, found, strict=True)}

    @property
    def dimension(self) -> int:
        """The number of states."""
        return len(self.states)

    def operations(self) -> Counter[str]:
        """Operations needed for rates and inputs together; ``.total()`` adds them up."""
        explicit = self.explicit()
        return operations(self._exact([*explicit.rates, *explicit.reactions]))

    def latex(self) -> str:
        """ẋ = F + B N and P N = h, with named intermediates, as LaTeX."""
        return self.printed().aligned

    def printed(self) -> Printed:
        """The lines of ``latex()`` one by one: definitions of intermediates, then equations, each (left, right)."""
        return self._written(vlatex)

    def text(self) -> str:
        """The equations as plain text, written as in a model file."""
        return self._written(plain).lines

    def _written(self, write: Write) -> Printed:
        """ẋ = F + B N, then P N = -a (the exact motion), with named intermediates where expressions are shared."""
        nodes, system = self.system.nodes, self.system
        N = vector(nodes.inputs)
        rates = nodes.F + product(nodes.B, N) if len(N) else nodes.F
        left: list[Node] = [symbol(x.diff(system.time)) for x in system.states]
        left += list(product(self.P, N)) if len(N) else []
        right = [*rates, *(-chain.a for chain in self.chains_found)]
        taken = [name_of(key) for key in (*system.states, *system.inputs, *system.parameters)]
        lines = [(a, b) for a, b in zip(left, right, strict=True) if a is not b]  # ẋ = ẋ says nothing
        return shared([side for line in lines for side in line], taken, write)

    _repr_latex_ = formula
    _repr_html_ = html_if_large

    # -- numbers -------------------------------------------------------------------------------------------------

    def explicit(self, values: Values | None = None) -> Explicit:
        """N and ẋ as nodes, with pivots that are good at the given values (default: the first consistent point)."""
        values = self.points[0] if values is None else values
        if self.elimination is not None and self.elimination.suits(values):
            return self.elimination
        return self.chosen_for(values)

    def chosen_for(self, *values: Values) -> Explicit:
        """A new elimination with pivots that are good at all the given states."""
        return self._eliminated([*values, *self.points])

    def at_reference(self) -> ProgramEquations:
        """The same equations eliminated at the first point."""
        return replace(self, elimination=self.chosen_for(self.points[0]))

    def _eliminated(self, samples: Sequence[Values]) -> Explicit:
        """N and ẋ with pivots chosen on the samples."""
        nodes = self.system.nodes
        N, pivots, first = self._inputs(samples)
        rates = tuple(nodes.F + product(nodes.B, N)) if len(N) else tuple(nodes.F)
        divisors = self.system.divisors
        return Explicit(rates, (), rates, tuple(N), (*pivots, *divisors), (*first, *evaluate(divisors, samples[0])))

    def _inputs(self, samples: Sequence[Values]) -> tuple[np.ndarray, tuple[Node, ...], tuple[float, ...]]:
        """N from P N = h, the pivots, and their numbers at the first sample."""
        P, N0, W = self.P, vector(self.preferred), vector(self.weights)
        if not len(P):
            return N0, (), ()
        h = vector([-chain.a - c for chain, c in zip(self.chains_found, self.corrections, strict=True)])
        square = P.shape[0] == P.shape[1]
        A = P if square else symmetrized(matrix_product(P * W[None, :], P.T))
        right = h if square else h - product(P, N0)
        try:
            elimination = (solve if square else solve_definite)(A, right[:, None], stacked(A, samples))
        except SingularMatrix:
            raise SingularError(self.singular_at(samples[0]) or "The inputs are not determined here.") from None
        solution = elimination.solution[:, 0]
        N = solution if square else N0 + W * product(P.T, solution)
        return N, elimination.pivots, elimination.numbers

    def recover(self, state: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
        """The state, its rates {x.diff(t): value} and the inputs {N: value}."""
        values = self.values(state)
        explicit = self.explicit(values)
        found = evaluate(self._exact([*explicit.rates, *explicit.reactions]), values)
        keys = (*(x.diff(self.time) for x in self.states), *self.system.inputs)
        return {key: values[symbol(key)] for key in self.states} | dict(zip(keys, found, strict=True))

    def values(self, state: Mapping[sp.Expr, float]) -> dict[Node, float]:
        """A state in the user's symbols as numbers for the graph; what is missing or unknown is refused."""
        known = (*self.states, *self.parameters, self.time)
        problems = [
            f"{name_of(key)} is not a symbol of the system.{suggestion(name_of(key), map(name_of, known))}"
            for key in state
            if key not in known
        ]
        missing = [key for key in self.states if key not in state]
        problems += [f"no value for {listed(missing)}."] if missing else []
        if problems:
            raise ModelError(f"Invalid state of {self.name!r}", problems)
        complete = {self.time: 0.0} | dict(self.parameters) | dict(state)
        return {symbol(key): float(value) for key, value in complete.items()}

    def _exact(self, nodes: Sequence[Node]) -> list[Node]:
        return substitute(list(nodes), dict.fromkeys(self.corrections, ZERO))

    # -- what a simulation asks of any equations (`derive.interface.Equations`) ----------------------------------

    inputs: ClassVar[tuple[sp.Expr, ...]] = ()  # none is left that needs a law
    extra: ClassVar[Mapping[sp.Expr, sp.Expr]] = FrozenMapping({})
    laws: ClassVar[Mapping[sp.Expr, sp.Expr]] = FrozenMapping({})
    definitions: ClassVar[Mapping[sp.Expr, Node]] = FrozenMapping({})
    held_inputs: ClassVar[tuple[sp.Expr, ...]] = ()
    conditions: ClassVar[tuple[Condition, ...]] = ()

    @property
    def name(self) -> str:
        """What the user called the system."""
        return self.system.name

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """x."""
        return tuple(self.system.states)

    user_symbols = shown = states

    @property
    def time(self) -> sp.Symbol:
        """t."""
        return self.system.time

    @property
    def parameters(self) -> Mapping[sp.Symbol, float]:
        """Parameters and their values."""
        return self.system.parameters

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint."""
        return tuple(chain.name for chain in self.chains_found)

    @property
    def corrections(self) -> tuple[Node, ...]:
        """Symbols c of ẏ_{r-1} = -c."""
        return tuple(symbol(("correction", name)) for name in self.constraint_names)

    @property
    def chains(self) -> tuple[tuple[Node, ...], ...]:
        """y₀, ..., y_{r-1} of every constraint."""
        return tuple(chain.y for chain in self.chains_found)

    @property
    def residuals(self) -> tuple[Residual, ...]:
        """All y_j; the levels are called position, velocity, derivative 2, ..."""
        return tuple(
            Residual(chain.name, _LEVELS[j] if j < 2 else f"derivative {j}", y)
            for chain in self.chains_found
            for j, y in enumerate(chain.y)
        )

    @property
    def projections(self) -> tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]:
        """All residuals vanish by moving all states."""
        return ((tuple(residual.node for residual in self.residuals), self.system.nodes.x),)

    @property
    def start_levels(self) -> tuple[StartLevel, ...]:
        """All residuals at once, by any state that may move."""
        residuals = tuple((r.constraint, r.node) for r in self.residuals)
        return (StartLevel("states", residuals, self.states),)

    @property
    def energy(self) -> Node | None:
        """E, if one was stated."""
        return self.system.nodes.energy

    @property
    def reaction_symbols(self) -> dict[str, sp.Expr]:
        """N by name."""
        return {name_of(u): u for u in self.system.inputs}

    @property
    def holding(self) -> dict[str, sp.Expr]:
        """All of N are inputs."""
        return self.reaction_symbols

    def servo_powers(self, explicit: Explicit) -> dict[sp.Expr, Node]:
        """None: what an affine system calls inputs need not be forces."""
        return {}

    def power(self, explicit: Explicit) -> Node:
        """dE/dt as stated, with N on the exact motion."""
        nodes = self.system.nodes
        return substitute([nodes.power], dict(zip(nodes.inputs, self._exact(explicit.reactions), strict=True)))[0]

    def lifted(self, explicit: Explicit, nodes: Sequence[Node]) -> list[Node]:
        """The user's symbols are the states."""
        return list(nodes)

    def derived(self, explicit: Explicit) -> dict[Node, Node]:
        """ẋ and N, by their symbols, as functions of the state."""
        rates = {symbol(x.diff(self.time)): rate for x, rate in zip(self.states, explicit.rates, strict=True)}
        own = set(self.system.nodes.x)
        inputs = dict(zip(self.system.nodes.inputs, explicit.reactions, strict=True))
        return {key: rate for key, rate in rates.items() if key not in own} | inputs

    def adapted(self, values: Values) -> ProgramEquations:
        """The variables stay."""
        return self

    def state_values(self, values: Values) -> list[float]:
        """The states as numbers."""
        return [float(values[node]) for node in self.system.nodes.x]

    def with_definitions(self, values: dict[Node, float]) -> dict[Node, float]:
        """Nothing is defined by other states."""
        return values

    def start_conditions(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> list[tuple[str, Node]]:
        """None but the constraints."""
        return []

    def refuse_start(self, values: Values) -> None:
        """Refuse a state at which the inputs do not reach all constraints."""
        reason = self.singular_at(values)
        if reason:
            raise ConstraintError(reason)

    def singular_at(self, values: Values) -> str:
        """Which constraints the inputs no longer hold at a state, or nothing."""
        if not self.chains_found:
            return ""
        P = numbers(self.P, values)
        rank = rank_of(P)
        if rank == len(P):
            return ""
        dependent = ", ".join(f"`{name}`" for name in dependent_names(P, self.constraint_names))
        point = ", ".join(f"{name_of(x)} = {values[symbol(x)]:.6g}" for x in self.states)
        return f"The inputs no longer hold the constraints {dependent}: rank {rank} of {len(P)} at {point}."

    def __repr__(self) -> str:
        rows = {
            "form": self.form.name,
            "states": listed(self.states),
            "inputs": listed(self.system.inputs) or "none",
            "degrees": ", ".join(f"{name}: {degree}" for name, degree in self.degrees.items()) or "no constraints",
        }
        head = f'ProgramEquations of "{self.name}"'
        return labelled_rows(head, rows)
