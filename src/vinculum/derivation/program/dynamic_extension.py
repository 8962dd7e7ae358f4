"""Dynamic extension: integrators before inputs, where the inputs of a program act alike on several constraints.

With ẏ_{r-1} = a + P N and rank P < r some constraints D depend on each other: only ρ combinations of inputs reach them,

    ξ = N_S + C N_rest,    C = P_S⁻¹ P_rest  (ρ independent rows of D, ρ columns S).

Where that divides by the state, C = (P_Sᵀ P_S)⁻¹ P_Sᵀ P_rest of all rows of D is taken, the same as long as they depend
on each other: it has no pole where only the chosen rows vanish (a trailer that points along an axis). In long
expressions it would not cancel exactly, and the chosen rows remain.
These combinations become states with unknown rates, ξ̇ = w, and w takes the place of N_S. The constraints of D then
contain no input and are differentiated once more, which lets the other inputs appear. This repeats until P is regular.

The last derivatives of a unicycle at (x, y) contain only its speed v. With v as a state, they contain v̇ and the turning
rate. A state that is an input keeps its name; where several inputs are combined, it is called v_ and the name of the
first, then v_..._2, and so on.

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
from vinculum.derivation.mechanics.sample_states import Samples, numbers, stacked
from vinculum.derivation.program.program_degrees import program_degrees
from vinculum.describe.affine import AffineSystem
from vinculum.errors import ConstraintError
from vinculum.graph import (
    ONE,
    ZERO,
    Converter,
    Node,
    gradient,
    jacobian,
    solve,
    substitute,
    symbol,
    symbols,
    to_sympy,
    tree_size,
    vector,
)
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


_SMALL = 1e-8  # entries of P that may be errors, relative to the largest
_REACHED = 1e-12  # how closely a sample state lies on the manifold
_LONG = 200  # operations of an expression that is not simplified


class Regular(NamedTuple):
    """A system whose inputs hold its constraints independently of each other."""

    system: AffineSystem
    chains: list[Chain]
    points: Samples
    extension: Extension | None


def regularize(stated: AffineSystem, around: Mapping[Node, float] | None) -> Regular:
    """The system with as many integrators before its inputs as its constraints need; raises if none are enough."""
    values = {symbol(p): v for p, v in stated.parameters.items()}
    system, extension, P = stated, None, np.zeros((0, 0))
    while True:
        try:
            chains, points = program_degrees(system.nodes, system.constraint_names, values, around, _added(extension))
        except ConstraintError as error:
            raise (error if extension is None else _no_extension(stated, P, str(error))) from None
        if not chains:
            return Regular(system, chains, points, extension)
        found = significant(np.array([chain.p for chain in chains], dtype=object), system.nodes.x, points)
        P = max(found, key=rank_of)
        if rank_of(P) == len(chains):
            order = sorted(range(len(points)), key=lambda i: -rank_of(found[i]))  # pivots are chosen at the first
            return Regular(system, chains, [points[i] for i in order], extension)
        refuse_dependent_outputs(stated, system, chains, points, P)
        step = combinations(system, chains, points, found)
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


def significant(nodes: np.ndarray, states: Sequence[Node], points: Samples) -> list[np.ndarray]:
    """A matrix at every point, equilibrated; entries as small as the error of a point on the manifold are zero."""
    found = np.array([[row_at(row, values) for row in nodes] for values in points])  # (points, rows, columns)
    size = np.abs(found).max(axis=0)
    for i, k in np.argwhere((size > 0) & (size <= _SMALL * size.max(initial=0.0))):
        slopes = gradient(nodes[i, k], states)
        errors = [np.abs(numbers(slopes, v)) @ (_REACHED * (1 + np.abs(numbers(states, v)))) for v in points]
        found[:, i, k] = np.where(np.abs(found[:, i, k]) <= errors, 0.0, found[:, i, k])
    return [equilibrated(A) for A in found]


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


def combinations(
    system: AffineSystem, chains: Sequence[Chain], points: Samples, matrices: Sequence[np.ndarray]
) -> Combinations:
    """The combinations of inputs that reach the dependent constraints."""
    best = max(range(len(points)), key=lambda i: rank_of(matrices[i]))
    names = dependent_names(matrices[best], [chain.name for chain in chains])
    alike = [i for i, chain in enumerate(chains) if chain.name in names]
    rows = [alike[i] for i in independent_rows([matrices[best][alike]])]
    columns = [int(k) for k in np.flatnonzero(np.any([A[alike] for A in matrices], axis=(0, 1)))]
    chosen = [columns[k] for k in best_columns(matrices[best][np.ix_(rows, columns)])]
    rest = [k for k in columns if k not in chosen]
    C = np.full((len(rows), len(system.inputs)), ZERO, dtype=object)
    divisors: tuple[Node, ...] = ()
    if rest:
        there = [points[best], *points]
        C[:, rest], divisors = _shares(*_parts(chains, rows, chosen, rest), there)
        if divisors and len(alike) > len(rows):
            every, common = _shares(*_normal(*_parts(chains, alike, chosen, rest)), there)
            if all(tree_size(node, _LONG) <= _LONG for node in every.ravel()):
                C[:, rest], divisors = every, common
    states = tuple(_state(system, k, mixed=any(c is not ZERO for c in row)) for k, row in zip(chosen, C, strict=True))
    return Combinations(states, tuple(x.diff(system.time) for x in states), tuple(chosen), C, divisors)


def _parts(
    chains: Sequence[Chain], rows: Sequence[int], chosen: Sequence[int], rest: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """P_S and P_rest of some constraints."""
    P = np.array([chains[i].p for i in rows], dtype=object)
    return P[:, chosen], P[:, rest]


def _normal(chosen: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P_Sᵀ P_S and P_Sᵀ P_rest of all dependent constraints: regular wherever S reaches any ρ of them."""
    return matrix_product(chosen.T, chosen), matrix_product(chosen.T, rest)


def _shares(chosen: np.ndarray, rest: np.ndarray, points: Samples) -> tuple[np.ndarray, tuple[Node, ...]]:
    """C = P_S⁻¹ P_rest, and the divisors in it."""
    found = solve(chosen, rest, stacked(chosen, points))
    C, pivots = _exact(found.solution), tuple(pivot.node for pivot in found.pivots)
    return C, pivots if any(symbols([c]) for c in C.ravel()) else ()


def _exact(entries: np.ndarray) -> np.ndarray:
    """Entries without factors that cancel; those that vanish identically are the node zero."""
    zero = vanishing(list(entries.ravel()))
    found = [ZERO if z else _canceled(entry) for entry, z in zip(entries.ravel(), zero, strict=True)]
    return vector(found).reshape(entries.shape)


def _canceled(node: Node) -> Node:
    """A small expression in which SymPy has canceled powers: a motion would stop where cos θ/cos θ is 0/0."""
    return node if tree_size(node, _LONG) > _LONG else Converter()(to_sympy(node))


def _state(system: AffineSystem, k: int, mixed: bool) -> sp.Expr:
    """An input as a function of time, or a new name for a combination of inputs."""
    u = system.inputs[k]
    if not mixed:
        return sp.Function(u.name)(system.time) if isinstance(u, sp.Symbol) else u
    taken = {name_of(key) for key in (*system.states, *system.inputs, *system.parameters)}
    last = name_of(u.expr if isinstance(u, sp.Derivative) else u)
    first = last if last in taken and last.startswith("v_") else f"v_{last}"  # a combination of combinations
    names = (first, *(f"{first}_{count}" for count in range(2, len(taken) + 3)))
    return sp.Function(next(name for name in names if name not in taken))(system.time)


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
    stated: AffineSystem, system: AffineSystem, chains: Sequence[Chain], points: Samples, P: np.ndarray
) -> None:
    """Refuse constraints that obey a relation of their own: too few inputs, or dependent dy_ij."""
    r, s = len(chains), len(stated.inputs)
    if s < r:
        raise ConstraintError(
            f"{_deficient(stated, P)}; there are {s} inputs for {r} constraints. Add inputs (or rates of auxiliary "
            f"states), or remove {r - s} of the constraints."
        )
    residuals = [(chain.name, y) for chain in chains for y in chain.y]
    slopes = jacobian([y for _, y in residuals], system.nodes.x)
    found = max(significant(slopes, system.nodes.x, points), key=rank_of)
    if rank_of(found) < len(residuals):
        names = dict.fromkeys(dependent_names(found, [name for name, _ in residuals]))
        related = ", ".join(f"`{name}`" for name in names)
        reason = (
            f"on the constraints, {related} and their derivatives are not independent (rank {rank_of(found)} of "
            f"{len(residuals)}), so no input moves one without the others."
        )
        raise _no_extension(stated, P, reason)


def _deficient(stated: AffineSystem, P: np.ndarray) -> str:
    return (
        f"The inputs {listed(stated.inputs) or '(none)'} cannot hold the constraints: the matrix of inputs in their "
        f"derivatives has rank {rank_of(P)} of {len(P)}"
    )


def _no_extension(stated: AffineSystem, P: np.ndarray, reason: str) -> ConstraintError:
    alike = ", ".join(f"`{name}`" for name in dependent_names(P, stated.constraint_names))
    return ConstraintError(
        f"{_deficient(stated, P)}; the inputs act alike on {alike}. Integrators before the inputs do not help: "
        f"{reason} Remove one of {alike}, add an input that acts on it alone, or choose a path on which the inputs "
        "keep their effect."
    )
