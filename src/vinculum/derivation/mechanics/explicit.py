"""Accelerations and reactions as explicit expressions, good around the states where the pivots were chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.redundancy import refuse_dependent
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers, stacked
from vinculum.describe import Servo
from vinculum.errors import DomainError, SingularError
from vinculum.graph import Elimination, Node, SingularMatrix, evaluate, solve, solve_definite
from vinculum.names import listed, name_of

_SHRUNK = 1e-3  # pivots are chosen again when one is smaller than this share of its reference value


@dataclass(frozen=True, eq=False)
class Explicit:
    """Rates, accelerations and reactions as functions of state, time, inputs and corrections."""

    rates: tuple[Node, ...]  # d/dt of every state
    velocities: tuple[Node, ...]  # (n) q̇, some of which may be functions of the state
    accelerations: tuple[Node, ...]  # (n) q̈
    reactions: tuple[Node, ...]  # (m) λ
    pivots: tuple[Node, ...]  # what must stay away from zero
    numbers: tuple[float, ...]  # the pivots at the first sample

    def suits(self, values: Values) -> bool:
        """Whether the pivots are still good at another state."""
        try:
            now = np.abs(evaluate(self.pivots, values))
        except DomainError:
            return False  # a pivot is zero, and a later one would divide by it
        return bool(np.all(now > _SHRUNK * np.abs(self.numbers)))


def solved(
    mechanics: Mechanics, A: np.ndarray, B: np.ndarray, samples: Samples, symmetric: bool = True, constraints: int = 0
) -> Elimination:
    """Solve A X = B; for a singular matrix, raise an error in the user's terms.

    A symmetric matrix is an inertia, bordered by ``constraints`` rows and columns: its pivots keep their signs
    (`solve_definite`). The pivots of any other are chosen on the samples and have to be watched.
    """
    try:
        if symmetric:
            return solve_definite(A, B, stacked(A, samples), constraints)
        return solve(A, B, stacked(A, samples))
    except SingularMatrix:
        explain_singular(mechanics, samples[0])
        raise


def explain_singular(mechanics: Mechanics, values: Values) -> None:
    """Raise the error that says why q̈ and λ are not determined at a state."""
    system, nodes = mechanics.system, mechanics.system.nodes
    q = numbers(nodes.q, values)
    J, M = numbers(mechanics.J, values), numbers(mechanics.M, values)
    if len(J) == len(system.constraints):
        refuse_dependent(J, [c.name for c in system.constraints], system.coordinates, q)
    if mechanics.actuators is not None:
        refuse_powerless(mechanics, values)
    free = undetermined(M, J)
    names = [name_of(c) for c, is_free in zip(system.coordinates, free, strict=True) if is_free]
    point = ", ".join(f"{name_of(c)} = {x:.6g}" for c, x in zip(system.coordinates, q, strict=True))
    zero = [f"{p.value} = 0" for p in nodes.parameters if values[p] == 0]
    cause = f" with {', '.join(zero)}" if zero else ""
    raise SingularError(
        f"The acceleration of {', '.join(names) or 'the system'} is fixed neither by inertia nor by a constraint "
        f"at {point}{cause}. Give it mass in the kinetic energy, constrain it, or choose coordinates without a "
        "singularity there."
    )


def refuse_powerless(mechanics: Mechanics, values: Values) -> None:
    """Raise where the servo inputs do not affect their constraints: det(J M⁻¹ B) = 0 at a state."""
    system = mechanics.system
    M, J, B = (numbers(part, values) for part in (mechanics.M, mechanics.J, mechanics.directions))
    m = len(J)
    bordered = np.block([[M, B], [J, np.zeros((m, m))]])
    if np.linalg.matrix_rank(bordered) == len(bordered) or np.linalg.matrix_rank(J) < m:
        return
    servos = ", ".join(c.name for c in system.constraints if isinstance(c, Servo))
    state = {**dict(zip(system.coordinates, system.nodes.q, strict=True)),
             **dict(zip(system.velocities, system.nodes.v, strict=True))}  # fmt: skip
    point = ", ".join(f"{name_of(key)} = {values[node]:.6g}" for key, node in state.items() if node in values)
    raise SingularError(
        f"The servo constraint {servos} asks for an infinite input: {listed(system.servo_inputs)} "
        f"has no effect on it at "
        f"{point} (the realizability determinant vanishes). Choose a path or a start away from "
        f"there, or another actuator."
    )


def undetermined(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Which coordinates take part in an acceleration a ≠ 0 with J a = 0 and M a = 0."""
    size = max(np.abs(M).max(initial=0.0), 1e-300)
    stacked = np.vstack([M / size, J / np.maximum(np.abs(J).max(axis=1, initial=0.0, keepdims=True), 1e-300)])
    _, singular, vectors = np.linalg.svd(stacked)
    least = vectors[np.argmin(singular)]
    return np.abs(least) > 1e-3
