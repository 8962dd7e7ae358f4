"""The record that form "program" gives: equations whose inputs are solved from the constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import WORK, Energy, Feedback, Held, Integrable, Residual, Roles, StartLevel
from vinculum.derivation.mechanics.explicit import Explicit, dependent_names, pivots_at, rank_of
from vinculum.derivation.mechanics.lagrange import matrix_product, product, symmetrized
from vinculum.derivation.mechanics.relative_degree import Chain
from vinculum.derivation.mechanics.sample_states import Values, numbers, stacked
from vinculum.derivation.printing import Printed, Write, shared, simplified
from vinculum.derivation.program.dynamic_extension import Extension, equilibrated
from vinculum.derivation.program.lyapunov import Approach, approach, constant_matrix
from vinculum.derivation.program.perturbation import Binomial, LinearPerturbation, Perturbation, refuse_rates
from vinculum.derivation.stepping import stepper
from vinculum.describe.affine import AffineSystem
from vinculum.errors import ConstraintError, ModelError, SingularError
from vinculum.expressions import as_expression
from vinculum.frozen import FrozenMapping
from vinculum.graph import (
    ZERO,
    Node,
    Pivot,
    SingularMatrix,
    evaluate,
    operations,
    solve,
    solve_definite,
    substitute,
    symbol,
    symbols,
    to_sympy,
    vector,
)
from vinculum.kept import Kept
from vinculum.names import listed, name_of, suggestion
from vinculum.notebook_repr import formula, html_formula
from vinculum.text_printer import labelled_rows, plain, vlatex

if TYPE_CHECKING:
    from vinculum.derivation.forms.program import Program

_LEVELS = ("position", "velocity")


@dataclass(frozen=True, eq=False, repr=False)
class ProgramEquations:
    """ẋ = F + B N(x, t) with N from P N = h; see `forms.program`. Satisfies `integrable.Equations`."""

    form: Program  # with its options
    system: AffineSystem
    chains_found: tuple[Chain, ...]
    prescribed: Feedback | None
    preferred: tuple[Node, ...]  # N₀
    weights: tuple[Node, ...]  # 1/w
    points: tuple[Values, ...]  # consistent states at which ranks and pivots are chosen
    extension: Extension | None = None  # integrators before inputs; ``system`` contains them
    elimination: Explicit | None = None  # N and ẋ, with pivots that are good at the first point
    kept: Kept = field(default_factory=Kept, init=False)  # what was prepared for runs

    # -- results -------------------------------------------------------------------------------------------------

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
        """The law N(x, t) as SymPy expressions, with its gains; without ``rates``, N on the exact motion.

        N = P⁻¹ (-a - c), c = -Z(y): equation (16) of Mukharlyamov and Kirgizbaev. Large for a large system.
        """
        found = dict(zip(self.system.nodes.inputs, self._closed(self.explicit().reactions), strict=True))
        stated = {symbol(u): node for u, node in self._original_inputs.items()}
        found = dict(zip(stated, substitute(list(stated.values()), found), strict=True)) | found
        return {key.value: to_sympy(node) for key, node in found.items() if key is not node}

    @property
    def law(self) -> tuple[Node, ...]:
        """(r) the corrections c with which the constraints are approached, of state, time and gains."""
        if self.prescribed is None:
            return (ZERO,) * len(self.chains_found)
        return tuple(self.prescribed.of([chain.y for chain in self.chains_found]))

    @property
    def approach(self) -> Approach | None:
        """Whether the prescribed perturbation equations bring residuals back to zero: shown, or not shown."""
        moving = (*self.system.nodes.x, self.system.nodes.time)
        degrees = [chain.degree for chain in self.chains_found]
        return None if self.prescribed is None else approach(self.prescribed, degrees, self.points, moving)

    def constant_approach(self) -> np.ndarray | None:
        """A of η̇ = A η for a law with constant coefficients, else None."""
        if self.prescribed is None:
            return None
        known = {symbol(p): float(v) for p, v in self.parameters.items()}
        return constant_matrix(self.prescribed, [chain.degree for chain in self.chains_found], known)

    @property
    def unset(self) -> tuple[sp.Symbol, ...]:
        """Gains in the law that have no value yet: give them to `simulate` as parameters, or see `with_values`."""
        known = {symbol(key) for key in (*self.states, *self.parameters, self.time)}
        return tuple(sorted((s.value for s in symbols(self.law) - known), key=str))

    def with_values(self, values: Mapping[sp.Symbol, float]) -> ProgramEquations:
        """The same equations with values for gains, which become parameters like those of the system."""
        strange = [s for s in values if s not in self.unset]
        if strange:
            near = suggestion(name_of(strange[0]), map(name_of, self.unset))
            raise ModelError("Invalid gains", [f"{listed(strange)} is not a gain without a value.{near}"])
        if not values:
            return self
        system = replace(self.system, parameters={**self.system.parameters, **values})
        points = tuple({**point, **{symbol(k): float(v) for k, v in values.items()}} for point in self.points)
        found = replace(self, system=system, points=points, elimination=None)
        found._refuse_values(points[0])
        return found.at_reference()

    def _refuse_values(self, values: Values) -> None:
        rates = self.form.rates.rate if isinstance(self.form.rates, Binomial) else self.form.rates
        each = rates.values() if isinstance(rates, Mapping) else np.ravel(np.asarray(rates, dtype=object))
        refuse_rates([as_expression(k) for k in each], values, (*self.system.nodes.x, self.system.nodes.time))

    @property
    def added_states(self) -> tuple[sp.Expr, ...]:
        """The states of a dynamic extension: inputs, or combinations of them."""
        return () if self.extension is None else self.extension.states

    @property
    def dimension(self) -> int:
        """The number of states."""
        return len(self.states)

    def operations(self) -> Counter[str]:
        """Operations needed for rates and inputs together; ``.total()`` adds them up."""
        explicit = self.explicit()
        return operations(self._closed([*explicit.rates, *explicit.reactions]))

    def latex(self, *, simplify: bool = False) -> str:
        """ẋ = F + B N and P N = h, with named intermediates, as LaTeX; ``simplify`` as in the other forms."""
        return self.printed(simplify=simplify).aligned

    def printed(self, *, simplify: bool = False) -> Printed:
        """The lines of ``latex()`` one by one: definitions of intermediates, then equations, each (left, right)."""
        return self._print(vlatex, simplify)

    def text(self) -> str:
        """The equations as plain text, written as in a model file."""
        return self._print(plain).lines

    def _print(self, write: Write, simplify: bool = False) -> Printed:
        """ẋ = F + B N, then P N = -a - c, with named intermediates where expressions are shared."""
        nodes, system = self.system.nodes, self.system
        N = vector(nodes.inputs)
        rates = nodes.F + product(nodes.B, N) if len(N) else nodes.F
        left: list[Node] = [symbol(x.diff(system.time)) for x in system.states]
        left += list(product(self.P, N)) if len(N) else []
        renamed = {} if self.extension is None else self.extension.aliases
        stated = {symbol(u): node for u, node in self._original_inputs.items() if u not in renamed}
        left += list(stated)
        right = [*rates, *(-chain.a - c for chain, c in zip(self.chains_found, self.law, strict=True))]
        right += list(stated.values())
        taken = [name_of(key) for key in (*system.states, *system.inputs, *self.parameters, *self.unset)]
        lines = [(a, b) for a, b in zip(left, right, strict=True) if a is not b]  # ẋ = ẋ says nothing
        sides = [side for line in lines for side in line]
        return shared(simplified(sides) if simplify else sides, taken, write)

    _repr_latex_ = formula
    _repr_html_ = html_formula

    # -- numbers -------------------------------------------------------------------------------------------------

    def explicit(self, *states: Values) -> Explicit:
        """N and ẋ as nodes, with pivots that are good at all given states (default: the first consistent point)."""
        states = states or (self.points[0],)
        if self.elimination is not None and self.elimination.suits(*states):
            return self.elimination
        return self._eliminate([*states, *self.points])

    def at_reference(self) -> ProgramEquations:
        """The same equations eliminated at the first point."""
        return replace(self, elimination=self.explicit())

    def _eliminate(self, samples: Sequence[Values]) -> Explicit:
        """N and ẋ with pivots chosen on the samples."""
        nodes = self.system.nodes
        N, pivots = self._inputs(samples)
        rates = tuple(nodes.F + product(nodes.B, N)) if len(N) else tuple(nodes.F)
        return Explicit(rates, (), rates, tuple(N), pivots + pivots_at(self.system.divisors, samples[0]))

    def _inputs(self, samples: Sequence[Values]) -> tuple[np.ndarray, tuple[Pivot, ...]]:
        """N from P N = h, and the pivots."""
        P, N0, W = self.P, vector(self.preferred), vector(self.weights)
        if not len(P):
            return N0, ()
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
        return N, elimination.pivots

    def recover(self, state: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
        """The state, its rates {x.diff(t): value} and the inputs {N: value}."""
        values = self.values(state)
        explicit = self.explicit(values)
        found = evaluate(self._closed([*explicit.rates, *explicit.reactions]), values)
        keys = (*(x.diff(self.time) for x in self.states), *self.system.inputs)
        return {key: values[symbol(key)] for key in self.states} | dict(zip(keys, found, strict=True))

    def values(self, state: Mapping[sp.Expr, float]) -> dict[Node, float]:
        """A state in the user's symbols as numbers for the graph; missing and unknown symbols are refused."""
        known = (*self.states, *self.parameters, *self.unset, self.time)
        problems = [
            f"{name_of(key)} is not a symbol of the system.{suggestion(name_of(key), map(name_of, known))}"
            for key in state
            if key not in known
        ]
        missing = [key for key in (*self.states, *self.unset) if key not in state]
        problems += [f"no value for {listed(missing)}."] if missing else []
        if problems:
            raise ModelError(f"Invalid state of {self.name!r}", problems)
        complete = {self.time: 0.0} | dict(self.parameters) | dict(state)
        return {symbol(key): float(value) for key, value in complete.items()}

    def _closed(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes with the corrections of the law."""
        return substitute(list(nodes), dict(zip(self.corrections, self.law, strict=True)))

    # -- the protocol `integrable.Equations`, which simulations use ----------------------------------------------

    inputs: ClassVar[tuple[sp.Expr, ...]] = ()  # no input needs a law
    definitions: ClassVar[Mapping[sp.Expr, Node]] = FrozenMapping()
    laws: ClassVar[Mapping[sp.Expr, sp.Expr]] = FrozenMapping()
    extra: ClassVar[Mapping[sp.Expr, sp.Expr]] = FrozenMapping()

    @property
    def name(self) -> str:
        """What the user called the system."""
        return self.system.name

    @property
    def states(self) -> tuple[sp.Expr, ...]:
        """x."""
        return tuple(self.system.states)

    user_symbols = states

    @property
    def time(self) -> sp.Symbol:
        """t."""
        return self.system.time

    @property
    def parameters(self) -> Mapping[sp.Symbol, float]:
        """Parameters and their values."""
        return self.system.parameters

    @property
    def holding(self) -> dict[str, sp.Expr]:
        """N by name: all of them are solved from the constraints."""
        return {name_of(u): u for u in (*self._original_inputs, *self.system.inputs)}

    @property
    def _original_inputs(self) -> Mapping[sp.Expr, Node]:
        """The inputs of the system as stated, where a dynamic extension changed them."""
        return {} if self.extension is None else self.extension.inputs

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint."""
        return tuple(chain.name for chain in self.chains_found)

    @property
    def corrections(self) -> tuple[Node, ...]:
        """Symbols c of ẏ_{r-1} = -c."""
        return tuple(symbol(("correction", name)) for name in self.constraint_names)

    @property
    def residuals(self) -> tuple[Residual, ...]:
        """All y_j; the levels are called position, velocity, derivative 2, ..."""
        return tuple(
            Residual(chain.name, _LEVELS[j] if j < 2 else f"derivative {j}", y)
            for chain in self.chains_found
            for j, y in enumerate(chain.y)
        )

    stepper = stepper

    def start_levels(self, initial: Mapping[sp.Expr, float], values: dict[Node, float]) -> tuple[StartLevel, ...]:
        """All residuals at once, by any state that may move."""
        residuals = tuple((r.constraint, r.node) for r in self.residuals)
        return (StartLevel("states", residuals, self.states, self.points),)

    def refuse_start(self, values: Values) -> None:
        """Refuse a state at which the inputs do not reach all constraints."""
        reason = self.singular_at(values)
        if reason:
            raise ConstraintError(reason)

    def integrable(self, *states: Values) -> Integrable:
        """ẋ, N, residuals and energy as nodes, with pivots that are good at all given states (default: first point)."""
        known, explicit = (states or self.points)[0], self.explicit(*states)
        return self.kept.get(("integrable", explicit), lambda: self._integrable(explicit)).at(known)

    def _integrable(self, explicit: Explicit) -> Integrable:
        """The record with an elimination."""
        nodes, chains = self.system.nodes, [chain.y for chain in self.chains_found]
        holding = {name: symbol(u) for name, u in self.holding.items()}
        return Integrable(
            equations=self,
            states=nodes.x,
            rates=explicit.rates,
            outputs=self._outputs(explicit),
            constraints=tuple(map(Held, self.constraint_names, self.corrections, chains)),
            residuals=self.residuals,
            projections=((tuple(residual.node for residual in self.residuals), nodes.x),),
            pivots=explicit.pivots,
            roles=Roles(symbols=nodes.x, shown=nodes.x, reactions=holding, holding=holding),
            energy=self._energy(explicit),
            prescribed=self.prescribed,
        )

    def _outputs(self, explicit: Explicit) -> dict[Node, Node]:
        """x, ẋ and N, with the corrections c."""
        x, inputs = self.system.nodes.x, self.system.nodes.inputs
        rates = {symbol(key.diff(self.time)): rate for key, rate in zip(self.states, explicit.rates, strict=True)}
        found = {key: rate for key, rate in rates.items() if key not in x}
        held = dict(zip(inputs, explicit.reactions, strict=True))
        stated = {symbol(u): node for u, node in self._original_inputs.items()}
        found |= held | dict(zip(stated, substitute(list(stated.values()), held), strict=True))
        return found | {key: key for key in x}

    def _energy(self, explicit: Explicit) -> Energy | None:
        """E and dE/dt as stated, with N. What an affine system calls inputs need not be forces."""
        nodes = self.system.nodes
        if nodes.energy is None:
            return None
        power = substitute([nodes.power], dict(zip(nodes.inputs, explicit.reactions, strict=True)))[0]
        return Energy(nodes.energy, {} if power is ZERO else {WORK: power})

    def singular_at(self, values: Values) -> str:
        """A sentence on the constraints that the inputs no longer hold at a state; empty if they hold all."""
        if not self.chains_found:
            return ""
        P = equilibrated(numbers(self.P, values))
        rank = rank_of(P)
        if rank == len(P):
            return ""
        dependent = ", ".join(f"`{name}`" for name in dependent_names(P, self.constraint_names))
        point = ", ".join(f"{name_of(x)} = {values[symbol(x)]:.6g}" for x in (*self.states, self.time))
        return f"The inputs no longer hold the constraints {dependent}: rank {rank} of {len(P)} at {point}."

    def __repr__(self) -> str:
        rows = {
            "form": self.form.name,
            "states": listed(self.states),
            "inputs": listed(self.system.inputs) or "none",
            **({"added states": listed(self.added_states)} if self.added_states else {}),
            "degrees": ", ".join(f"{name}: {degree}" for name, degree in self.degrees.items()) or "no constraints",
        }
        if isinstance(self.form.rates, LinearPerturbation | Perturbation):
            rows["perturbations"] = str(self.approach)
        head = f'ProgramEquations of "{self.name}"'
        return labelled_rows(head, rows)
