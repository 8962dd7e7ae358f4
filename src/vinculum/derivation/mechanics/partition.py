"""Independent and dependent coordinates, q = (r, s): which, and how the second follow the first.

Geometric constraints F(q, t) = 0 with regular F_s give  ṡ = B ṙ + b,  s̈ = B r̈ + b₁  with  B = -F_s⁻¹ F_r.
No coordinate is ever solved for: B(q) alone is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.column_choice import best_columns, smallest_singular, unit_rows
from vinculum.derivation.mechanics.explicit import explain_singular
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers, refuse_unmet, stacked
from vinculum.describe import Holonomic, System
from vinculum.errors import Finding, ModelError, SingularError, call
from vinculum.graph import ONE, Elimination, SingularMatrix, along, solve, symbol, vector
from vinculum.names import listed, name_of, suggestion


@dataclass(frozen=True)
class Partition:
    """Numbers of the independent (r) and dependent (s) coordinates; ``chosen`` when Vinculum picked them."""

    r: tuple[int, ...]
    s: tuple[int, ...]
    chosen: bool = False


def choose_partition(
    mechanics: Mechanics, dependent: Sequence[sp.Expr] | None, at: Mapping[sp.Expr, float] | None, samples: Samples
) -> Partition:
    """The partition the user asked for, or the best one at the state ``at`` or at the first sample."""
    system = mechanics.system
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
    """The partition a user asked for."""
    refuse_nonholonomic(system)
    s = check_dependent(system, dependent, "coordinates")
    return Partition(tuple(i for i in range(len(system.coordinates)) if i not in s), s)


def check_dependent(system: System, dependent: Sequence[sp.Expr], what: str) -> tuple[int, ...]:
    """The numbers of the dependent coordinates a user asked for; as many as there are constraints."""
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


def best_partition(mechanics: Mechanics, values: Values) -> Partition:
    """The dependent coordinates for which F_s is best conditioned at a state."""
    refuse_nonholonomic(mechanics.system)
    s = best_columns(_jacobian(mechanics, values))
    return Partition(tuple(i for i in range(len(mechanics.system.coordinates)) if i not in s), s, chosen=True)


def conditioning(mechanics: Mechanics, partition: Partition, values: Values) -> float:
    """The smallest singular value of F_s, rows of F_q scaled to unit length: zero where the choice breaks down."""
    J = _jacobian(mechanics, values)
    return float(smallest_singular(unit_rows(J), np.array([partition.s]))[0]) if len(J) else 1.0


def _jacobian(mechanics: Mechanics, values: Values) -> np.ndarray:
    """F_q as numbers, (m, n)."""
    return numbers(mechanics.J, values).reshape(-1, len(mechanics.system.coordinates))


def refuse_nonholonomic(system: System) -> None:
    """Redundant coordinates come from geometric constraints."""
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
        ["Use ", call("derive", dependent=better), ", or leave dependent out and let Vinculum choose."],
    )


def explicit_time(mechanics: Mechanics) -> np.ndarray:
    """F_t of every constraint."""
    nodes = mechanics.system.nodes
    return vector(along(nodes.constraints, {nodes.time: ONE}))
