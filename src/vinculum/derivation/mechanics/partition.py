"""Independent and dependent coordinates, q = (r, s): their choice, and how s follows r.

Geometric constraints F(q, t) = 0 with regular F_s give  ṡ = B ṙ + b,  s̈ = B r̈ + b₁  with  B = -F_s⁻¹ F_r.
No coordinate is ever solved for: B(q) alone is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.explicit import (
    best_columns,
    explain_singular,
    rank_of,
    smallest_singular,
    solved,
    unit_rows,
)
from vinculum.derivation.mechanics.lagrange import EnergyTerms, Mechanics, matrix_product, product, symmetrized
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers, refuse_unmet, stacked
from vinculum.describe import Holonomic, System
from vinculum.errors import Finding, ModelError, SingularError, Word, call
from vinculum.graph import ONE, ZERO, Elimination, Node, Pivot, SingularMatrix, along, solve, substitute, symbol, vector
from vinculum.names import listed, name_of, suggestion


@dataclass(frozen=True)
class Partition:
    """Indices of the independent (r) and dependent (s) coordinates; ``chosen`` when Vinculum picked them."""

    r: tuple[int, ...]
    s: tuple[int, ...]
    chosen: bool = False


def choose_partition(
    mechanics: Mechanics, dependent: Sequence[sp.Expr] | None, at: Mapping[sp.Expr, float] | None, samples: Samples
) -> Partition:
    """The partition that the user named, or the best one at the state ``at`` or at the first sample."""
    system = mechanics.system
    refuse_nonholonomic(system)
    if dependent is not None:
        return named_partition(system, dependent)
    if at is not None:
        known = dict(system.parameters) | {system.time: 0.0} | dict(at)
        return best_partition(mechanics, {symbol(key): float(value) for key, value in known.items()})
    if not samples:
        refuse_unmet(mechanics)
    return best_partition(mechanics, samples[0])


def dependence(mechanics: Mechanics, partition: Partition, samples: Samples) -> np.ndarray:
    """B = -F_s⁻¹ F_r of ṡ = B ṙ + b."""
    return following(mechanics, partition, -mechanics.J[:, list(partition.r)], samples).solution


def named_partition(system: System, dependent: Sequence[sp.Expr]) -> Partition:
    """The partition that the user named."""
    s = check_dependent(system, dependent, "coordinates")
    return Partition(tuple(i for i in range(len(system.coordinates)) if i not in s), s)


def check_dependent(system: System, dependent: Sequence[sp.Expr], what: str) -> tuple[int, ...]:
    """Indices of the dependent coordinates that the user named, one for each constraint."""
    coordinates, needed = list(system.coordinates), len(system.constraints)
    unknown = [name_of(s) for s in dependent if s not in coordinates]
    problems = [f"{s} is not a coordinate.{suggestion(s, map(name_of, coordinates))}" for s in unknown]
    if len(set(dependent)) != needed:
        problems.append(
            f"{needed} constraints make {needed} {what} dependent, but these were named: {listed(dependent)}."
        )
    if problems:
        raise ModelError("Invalid choice of dependent coordinates", problems)
    return tuple(coordinates.index(key) for key in dependent)


def best_columns_among(J: np.ndarray, among: Sequence[int] | None) -> tuple[int, ...]:
    """The best conditioned columns, only of the given ones if these determine the others."""
    if among is None or len(among) < len(J) or rank_of(J[:, list(among)]) < len(J):
        return best_columns(J)
    return tuple(among[i] for i in best_columns(J[:, list(among)]))


def best_partition(mechanics: Mechanics, values: Values, among: Sequence[int] | None = None) -> Partition:
    """The dependent coordinates (``among`` some) for which F_s is best conditioned at a state."""
    s = best_columns_among(mechanics.gradients.at(values), among)
    return Partition(tuple(i for i in range(len(mechanics.system.coordinates)) if i not in s), s, chosen=True)


def conditioning(mechanics: Mechanics, partition: Partition, values: Values) -> float:
    """The smallest singular value of F_s, rows of F_q scaled to unit length: zero where the choice breaks down."""
    J = mechanics.gradients.at(values)
    return float(smallest_singular(unit_rows(J), np.array([partition.s]))[0]) if len(J) else 1.0


def refuse_nonholonomic(system: System) -> None:
    """Raise unless all constraints are holonomic."""
    others = [c.name for c in system.constraints if not isinstance(c, Holonomic)]
    if others:
        raise ModelError(
            "redundant coordinates need geometric constraints",
            [Finding(f"{', '.join(others)} is not holonomic.", ["Use ", call("derive", form="multipliers"), "."])],
        )


def badly_divided(mechanics: Mechanics, partition: Partition, values: Values) -> bool:
    """Whether another choice of dependent coordinates would be far better at a state."""
    best = best_partition(mechanics, values)
    return conditioning(mechanics, partition, values) < 1e-3 * conditioning(mechanics, best, values)


def following(mechanics: Mechanics, partition: Partition, right: np.ndarray, samples: Samples) -> Elimination:
    """Solve F_s X = right, an array (m, k) of nodes."""
    F_s = mechanics.J[:, list(partition.s)]
    try:
        return solve(F_s, right, stacked(F_s, samples))
    except SingularMatrix:
        if not badly_divided(mechanics, partition, samples[0]):
            explain_singular(mechanics, samples[0])
        raise SingularError(partition_complaint(mechanics, partition, samples[0])) from None


def partition_complaint(mechanics: Mechanics, partition: Partition, values: Values) -> Finding:
    """Why coordinates cannot be the dependent ones at a state, and which could."""
    coordinates, q = mechanics.system.coordinates, numbers(mechanics.system.nodes.q, values)
    point = ", ".join(f"{name_of(c)} = {x:.6g}" for c, x in zip(coordinates, q, strict=True))
    best = best_partition(mechanics, values)
    asked, better = ([coordinates[i] for i in p.s] for p in (partition, best))
    return Finding(
        f"The coordinates {listed(asked)} cannot be the dependent ones at {point}: the constraints do not determine "
        "their velocities there.",
        [
            "Use ",
            call("derive", dependent=better),
            *(
                [", or choose them at this state: ", call("derive", at={Word("coordinate"): Word("value")}), "."]
                if partition.chosen
                else [", or leave dependent out and let Vinculum choose."]
            ),
        ],
    )


def explicit_time(mechanics: Mechanics) -> np.ndarray:
    """F_t of every constraint."""
    nodes = mechanics.system.nodes
    return vector(along(nodes.constraints, {nodes.time: ONE}))


@dataclass(frozen=True, eq=False)
class Projected:
    """r̈, s̈ and λ with the pivots of all eliminations."""

    accelerations: np.ndarray  # (n + m) in the order of the coordinates
    reactions: np.ndarray  # (m)
    pivots: tuple[Pivot, ...]


def reduced_matrix(mechanics: Mechanics, partition: Partition, B: np.ndarray) -> np.ndarray:
    """A* = PᵀMP, symmetric by identity."""
    r, s = list(partition.r), list(partition.s)
    M = mechanics.M
    mixed = matrix_product(M[np.ix_(r, s)], B)
    return symmetrized(M[np.ix_(r, r)] + mixed + mixed.T + matrix_product(B.T, matrix_product(M[np.ix_(s, s)], B)))


def project(mechanics: Mechanics, partition: Partition, bias: np.ndarray, samples: Samples) -> Projected:
    """Solve for r̈, then s̈ = B r̈ + b₁ with F_s b₁ = -bias, then λ.

    ``mechanics`` may have its velocities replaced by functions of the state; ``bias`` is γ + c of J q̈ + γ + c = 0.
    """
    r, s = list(partition.r), list(partition.s)
    F_r = mechanics.J[:, r]
    geometry = following(mechanics, partition, np.column_stack([-F_r, -bias]), samples)
    B, b1 = geometry.solution[:, :-1], geometry.solution[:, -1]
    free = mechanics.Q - mechanics.h
    coupling = mechanics.M[np.ix_(r, s)] + matrix_product(B.T, mechanics.M[np.ix_(s, s)])
    right = free[r] + product(B.T, free[s]) - product(coupling, b1)
    motion = solved(mechanics, reduced_matrix(mechanics, partition, B), right[:, None], samples)
    accelerations = np.full(len(r) + len(s), ZERO, dtype=object)
    accelerations[r] = motion.solution[:, 0]
    accelerations[s] = product(B, accelerations[r]) + b1
    reactions, pivots = _reactions(mechanics, partition, accelerations, samples)
    return Projected(accelerations, reactions, geometry.pivots + motion.pivots + pivots)


def _reactions(
    mechanics: Mechanics, partition: Partition, accelerations: np.ndarray, samples: Samples
) -> tuple[np.ndarray, tuple[Pivot, ...]]:
    """λ from F_sᵀ λ = E_s, E = M q̈ + h - Q."""
    s = list(partition.s)
    if not s:
        return np.zeros(0, dtype=object), ()
    E_s = product(mechanics.M[s], accelerations) + mechanics.h[s] - mechanics.Q[s]
    F_sT = mechanics.J[:, s].T
    elimination = solve(F_sT, E_s[:, None], stacked(F_sT, samples))
    return elimination.solution[:, 0], elimination.pivots


def dependent_rates(mechanics: Mechanics, partition: Partition, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """ṡ with the correction c, as integrated, and all velocities (r, s) of the exact motion."""
    r, s = list(partition.r), list(partition.s)
    velocities = vector(mechanics.system.nodes.v)
    if not s:
        return np.zeros(0, dtype=object), velocities
    moving = product(mechanics.J[:, r], velocities[r]) + explicit_time(mechanics)
    columns = np.column_stack([-moving, -(moving + mechanics.corrections)])
    solution = following(mechanics, partition, columns, samples).solution
    velocities[s] = solution[:, 0]
    return solution[:, 1], velocities


def with_velocities(mechanics: Mechanics, velocities: np.ndarray) -> Mechanics:
    """The terms of Lagrange's equations with velocities replaced by functions of the state."""
    pairs = zip(mechanics.system.nodes.v, velocities, strict=True)
    replaced = {v: node for v, node in pairs if v is not node}

    def at(nodes: np.ndarray) -> np.ndarray:
        flat: list[Node] = substitute(list(nodes.ravel()), replaced)
        return vector(flat).reshape(nodes.shape)

    return replace(
        mechanics,
        terms=EnergyTerms(at(mechanics.M), at(mechanics.h), at(mechanics.terms.slope), mechanics.recursion),
        Q=at(mechanics.Q),
        applied=at(mechanics.applied),
        J=at(mechanics.J),
        gamma=at(mechanics.gamma),
    )
