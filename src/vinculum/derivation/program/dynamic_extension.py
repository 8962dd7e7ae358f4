"""Dynamic extension: integrators before inputs, where the inputs of a program act alike on several constraints.

With ẏ_{r-1} = a + P N and rank P < r some constraints D depend on each other: only ρ combinations of inputs reach them,

    ξ = N_S + C N_rest,    C = P_S⁻¹ P_rest  (ρ independent rows of D, ρ columns S).

These combinations become states with unknown rates, ξ̇ = w, and w takes the place of N_S. The constraints of D then
contain no input and are differentiated once more, which lets the other inputs appear. This repeats until P is regular.

The last derivatives of a unicycle at (x, y) contain only its speed v. With v as a state, they contain v̇ and the turning
rate. A state that is an input keeps its name; where several inputs are combined, it is called v_ and the name of the
first.

The algorithm ends: a step adds ρ states, and at least one more residual y_ij. Where an extension exists, all dy_ij are
independent (Isidori, lemma 5.1.1), so there are never more residuals than states. Dependent dy_ij therefore prove that
none exists: the constraints obey a differential equation of their own, whatever the inputs (no right inverse).

Sources: Descusse, Moog, Int. J. Control 42 (1985); Isidori, Nonlinear Control Systems, section 5.4; Singh, IEEE Trans.
Automatic Control 26 (1981), the structure algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.explicit import best_columns, dependent_names, independent_rows, rank_of
from vinculum.derivation.mechanics.lagrange import matrix_product, product
from vinculum.derivation.mechanics.relative_degree import Chain, row_at
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers, stacked
from vinculum.derivation.program.program_degrees import program_degrees
from vinculum.describe.affine import AffineSystem
from vinculum.errors import ConstraintError
from vinculum.graph import ONE, ZERO, Node, jacobian, solve, substitute, symbol, vector
from vinculum.graph.exact import vanishing
from vinculum.names import listed, name_of


@dataclass(frozen=True, eq=False)
class Extension:
    """What was added to a system: its inputs as functions of the states and inputs of the extended system."""

    original: AffineSystem
    states: tuple[sp.Expr, ...]  # the added ones
    inputs: Mapping[sp.Expr, Node]  # of the original system

    @property
    def aliases(self) -> dict[sp.Expr, sp.Expr]:
        """Inputs of the original system that are states now, {input: state}."""
        places = {symbol(x): x for x in self.states}
        return {u: places[node] for u, node in self.inputs.items() if node in places}


class Regular(NamedTuple):
    """A system whose inputs hold its constraints independently of each other."""

    system: AffineSystem
    chains: list[Chain]
    points: Samples
    extension: Extension | None


def regularize(stated: AffineSystem, around: Mapping[Node, float] | None) -> Regular:
    """The system with as many integrators before its inputs as its constraints need; raises if none are enough."""
    system, extension = stated, None
    values = {symbol(p): v for p, v in stated.parameters.items()}
    while True:
        chains, points = program_degrees(system.nodes, system.constraint_names, values, around, _added(extension))
        if not chains or rank(chains, points) == len(chains):
            return Regular(system, chains, points, extension)
        refuse_dependent_outputs(stated, system, chains, points)
        step = combinations(system, chains, points)
        extension = _recorded(extension or _nothing_added(stated), step, step.inputs(system))
        system = delayed(system, step)


def _added(extension: Extension | None) -> frozenset[Node]:
    return frozenset() if extension is None else frozenset(map(symbol, extension.states))


# -- the rank of P, in any units ---------------------------------------------------------------------------------------


def equilibrated(A: np.ndarray) -> np.ndarray:
    """A with rows and columns scaled to about unit length: units of constraints and inputs do not matter."""
    for _ in range(4):
        for axis in (1, 0):
            length = np.sqrt(np.linalg.norm(A, axis=axis, keepdims=True))
            A = A / np.where(length > 0, length, 1.0)
    return A


def matrix_at(chains: Sequence[Chain], values: Values) -> np.ndarray:
    """P at a state, equilibrated, zero where its entries cancel."""
    return equilibrated(np.array([row_at(chain.p, values) for chain in chains]))


def rank(chains: Sequence[Chain], points: Samples) -> int:
    """The largest rank of P on the manifold."""
    return max(rank_of(matrix_at(chains, values)) for values in points)


# -- one step ---------------------------------------------------------------------------------------------------------


class Combinations(NamedTuple):
    """ξ = N_S + C N_rest."""

    states: tuple[sp.Expr, ...]  # ξ
    rates: tuple[sp.Expr, ...]  # w
    first: tuple[int, ...]  # S
    C: np.ndarray  # (|S|, s); zero outside of the rest
    divisors: tuple[Node, ...]

    def inputs(self, system: AffineSystem) -> dict[Node, Node]:
        """N_S = ξ - C N_rest."""
        N = system.nodes.inputs
        rest = product(self.C, vector(N))
        return {N[k]: symbol(x) - r for k, x, r in zip(self.first, self.states, rest, strict=True)}


def combinations(system: AffineSystem, chains: Sequence[Chain], points: Samples) -> Combinations:
    """The combinations of inputs that reach the dependent constraints."""
    best = max(points, key=lambda values: rank_of(matrix_at(chains, values)))
    names = dependent_names(matrix_at(chains, best), [chain.name for chain in chains])
    alike = [chain for chain in chains if chain.name in names]
    rows = independent_rows([matrix_at(alike, best)])
    acting = np.any([matrix_at(alike, values) for values in points], axis=(0, 1))
    columns = [int(k) for k in np.flatnonzero(acting)]
    P = np.array([alike[i].p for i in rows], dtype=object)
    chosen = [columns[k] for k in best_columns(equilibrated(numbers(P[:, columns], best)))]
    rest = [k for k in columns if k not in chosen]
    C, divisors = np.full((len(rows), len(system.inputs)), ZERO, dtype=object), ()
    if rest:
        found = solve(P[:, chosen], P[:, rest], stacked(P[:, chosen], [best, *points]))
        C[:, rest], divisors = _exact(found.solution), tuple(pivot.node for pivot in found.pivots)
    states = tuple(_state(system, k, mixed=any(c is not ZERO for c in row)) for k, row in zip(chosen, C, strict=True))
    return Combinations(states, tuple(x.diff(system.time) for x in states), tuple(chosen), C, divisors)


def _exact(entries: np.ndarray) -> np.ndarray:
    """Entries that vanish identically are the node zero."""
    zero = vanishing(list(entries.ravel()))
    return vector([ZERO if z else entry for entry, z in zip(entries.ravel(), zero, strict=True)]).reshape(entries.shape)


def _state(system: AffineSystem, k: int, mixed: bool) -> sp.Expr:
    """An input as a function of time, or a new name for a combination of inputs."""
    u = system.inputs[k]
    if not mixed:
        return sp.Function(u.name)(system.time) if isinstance(u, sp.Symbol) else u
    name, taken = f"v_{variable(u)}", {name_of(key) for key in (*system.states, *system.inputs, *system.parameters)}
    while name in taken:
        name += "_"
    return sp.Function(name)(system.time)


def variable(u: sp.Expr) -> str:
    """The name of an input, or of the input of which it is a derivative."""
    return name_of(u.expr if isinstance(u, sp.Derivative) else u)


def delayed(system: AffineSystem, step: Combinations) -> AffineSystem:
    """ẋ = F + B_S ξ + (B_rest - B_S C) N_rest, ξ̇ = w."""
    nodes, S = system.nodes, list(step.first)
    n, s = len(system.states), len(system.inputs)
    pushed = nodes.B[:, S]
    B = np.full((n + len(S), s), ZERO, dtype=object)
    B[:n] = nodes.B - matrix_product(pushed, step.C)
    changed = [k for k in range(s) if any(c is not ZERO for c in step.C[:, k])]
    B[:n, changed] = _exact(B[:n, changed])
    B[:n, S] = ZERO
    for row, k in enumerate(S):
        B[n + row, k] = ONE
    rates = dict(zip(S, step.rates, strict=True))
    return replace(
        system,
        states=(*system.states, *step.states),
        drift=(*(nodes.F + product(pushed, vector([symbol(x) for x in step.states]))), *[ZERO] * len(S)),
        inputs=[rates.get(k, u) for k, u in enumerate(system.inputs)],
        input_matrix=B,
        constraints=dict(zip(system.constraint_names, nodes.f, strict=True)),
        energy=nodes.energy,
        power=substitute([nodes.power], step.inputs(system))[0],
        divisors=(*system.divisors, *step.divisors),
    )


def _nothing_added(stated: AffineSystem) -> Extension:
    return Extension(stated, (), dict(zip(stated.inputs, stated.nodes.inputs, strict=True)))


def _recorded(before: Extension, step: Combinations, replaced: Mapping[Node, Node]) -> Extension:
    """The extension after one more step, which replaced some inputs."""
    inputs = dict(zip(before.inputs, substitute(list(before.inputs.values()), replaced), strict=True))
    return Extension(before.original, (*before.states, *step.states), inputs)


# -- where no extension exists ----------------------------------------------------------------------------------------


def refuse_dependent_outputs(
    stated: AffineSystem, system: AffineSystem, chains: Sequence[Chain], points: Samples
) -> None:
    """Refuse constraints that obey a relation of their own: too few inputs, or dependent dy_ij."""
    r, s = len(chains), len(stated.inputs)
    inputs = listed(stated.inputs) or "(none)"
    head = f"The inputs {inputs} cannot hold the constraints: the matrix of inputs in their derivatives has rank"
    best = max((matrix_at(chains, values) for values in points), key=rank_of)
    names = [chain.name for chain in chains]
    alike = ", ".join(f"`{name}`" for name in dependent_names(best, names))
    if s < r:
        raise ConstraintError(
            f"{head} {rank_of(best)} of {r}; there are {s} inputs for {r} constraints. Add inputs (or rates of "
            f"auxiliary states), or remove {r - s} of the constraints."
        )
    residuals = [(chain.name, y) for chain in chains for y in chain.y]
    slopes = jacobian([y for _, y in residuals], system.nodes.x)
    found = max((equilibrated(numbers(slopes, values)) for values in points), key=rank_of)
    if rank_of(found) == len(residuals):
        return
    related = ", ".join(dict.fromkeys(f"`{n}`" for n in dependent_names(found, [name for name, _ in residuals])))
    raise ConstraintError(
        f"{head} {rank_of(best)} of {r}; the inputs act alike on {alike}. Integrators before the inputs do not help: "
        f"on the constraints, {related} and {len(residuals) - len(chains)} of their derivatives are not independent "
        f"(rank {rank_of(found)} of {len(residuals)}), so no input moves one without the others. Remove one of "
        f"{alike}, add an input that acts on it alone, or choose a path on which the inputs keep their effect."
    )
