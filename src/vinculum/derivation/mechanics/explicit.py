"""Accelerations and reactions as explicit expressions, and the rank of the constraints on which they depend.

An elimination is good around the states where its pivots were chosen. Where constraints are dependent, it is refused or
continues in the sense of least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from vinculum.derivation.mechanics.lagrange import Mechanics, matrix_product, product
from vinculum.derivation.mechanics.sample_states import Samples, Values, numbers, stacked
from vinculum.describe import Servo
from vinculum.errors import About, ConstraintError, DomainError, Finding, SingularError, call
from vinculum.graph import Elimination, Node, Pivot, SingularMatrix, evaluate, solve_bordered, solve_definite, vector
from vinculum.graph.python_function import Evaluator
from vinculum.names import listed, name_of

_DEPENDENT = 1e-9  # relative size of singular values of the row-scaled Jacobian that count as zero
_ALL = 20_000  # choices up to this number are all compared
_SHRUNK = 1e-3  # pivots are chosen again when one is smaller than this share of its reference value


def best_columns(J: np.ndarray) -> tuple[int, ...]:
    """The m columns of J, (m, n), that are best conditioned: their smallest singular value is the largest.

    The rows of J are scaled to unit length. Up to 20 000 choices are all compared. Beyond that a pivoted QR gives the
    first choice, and single columns are exchanged as long as that improves it.
    """
    rows = unit_rows(J)
    m, n = rows.shape
    if not m:
        return ()
    if comb(n, m) <= _ALL:
        choices = np.array(list(combinations(range(n), m)))
        return tuple(int(i) for i in choices[np.argmax(smallest_singular(rows, choices))])
    return _exchange_columns(rows, _pivot_columns(rows))


def unit_rows(J: np.ndarray) -> np.ndarray:
    """J with rows of unit length: the scale of a constraint does not matter."""
    return J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)


def smallest_singular(rows: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """The smallest singular value of each choice of columns, (k, m) -> (k)."""
    blocks = np.moveaxis(rows[:, choices], 0, 1)
    return np.linalg.svd(blocks, compute_uv=False)[:, -1]


def _pivot_columns(rows: np.ndarray) -> tuple[int, ...]:
    import scipy.linalg  # imported late: it takes a quarter of a second

    order = scipy.linalg.qr(rows, mode="r", pivoting=True)[-1]
    return tuple(sorted(int(i) for i in order[: len(rows)]))


def _exchange_columns(rows: np.ndarray, chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Exchange the best single column as long as that improves the choice."""
    value = smallest_singular(rows, np.array([chosen]))[0]
    while True:
        others = [i for i in range(rows.shape[1]) if i not in chosen]
        choices = np.array([sorted({*chosen, new} - {old}) for old in chosen for new in others])
        values = smallest_singular(rows, choices)
        if values.max() <= value * (1 + 1e-12):
            return chosen
        value, chosen = values.max(), tuple(int(i) for i in choices[values.argmax()])


def rank_of(J: np.ndarray) -> int:
    """The rank of a constraint Jacobian (m, n), its rows scaled to unit length."""
    return int(np.sum(np.linalg.svd(unit_rows(J), compute_uv=False) > _DEPENDENT)) if J.size else 0


def independent_rows(matrices: Sequence[np.ndarray]) -> list[int]:
    """Rows that are independent in every matrix; each step adds the row that is best in its worst matrix.

    The matrices are one matrix at several states; its rows have unit length, or entries that are cosines.
    """
    chosen: list[int] = []
    while len(chosen) < len(matrices[0]):
        rest = [i for i in range(len(matrices[0])) if i not in chosen]
        worst = [min(float(np.linalg.svd(A[[*chosen, i]], compute_uv=False)[-1]) for A in matrices) for i in rest]
        if max(worst) <= _DEPENDENT:
            break
        chosen.append(rest[int(np.argmax(worst))])
    return sorted(chosen)


def dependent_names(J: np.ndarray, names: Sequence[str]) -> list[str]:
    """The constraints that take part in a linear dependence of the rows of J."""
    vectors, singular, _ = np.linalg.svd(unit_rows(J))
    dependences = vectors[:, np.sum(singular > _DEPENDENT) :]
    taking_part = np.abs(dependences).max(axis=1, initial=0.0) > 1e-6
    return [name for name, part in zip(names, taking_part, strict=True) if part]


def refuse_dependent(
    J: np.ndarray, names: Sequence[str], coordinates: Sequence, q: np.ndarray, form: str | None = "multipliers"
) -> None:
    """Raise a `ConstraintError` that names the dependent constraints, if there are any at q.

    ``form`` is one that accepts them; None if the form in use does.
    """
    rank = rank_of(J)
    if rank == len(J):
        return
    involved = dependent_names(J, names)
    quoted = ", ".join(f"`{name}`" for name in involved)
    subject = (
        f"The constraints {quoted} are dependent" if len(involved) > 1 else f"The constraint {quoted} does not act"
    )
    point = ", ".join(f"{name_of(c)} = {value:.6g}" for c, value in zip(coordinates, q, strict=True))
    raise ConstraintError(
        Finding(
            f"{subject}: rank {rank} of {len(J)} at {point}.",
            [
                "Remove one, or, if they repeat each other on purpose, use ",
                call("derive", **({} if form is None else {"form": form}), redundant="least_squares"),
                ".",
            ],
            About("constraint", involved[0] if involved else ""),
        )
    )


@dataclass(frozen=True, eq=False)
class Explicit:
    """Rates, accelerations and reactions as functions of state, time, inputs and corrections."""

    rates: tuple[Node, ...]  # d/dt of every state
    velocities: tuple[Node, ...]  # (n) q̇, some of which may be functions of the state
    accelerations: tuple[Node, ...]  # (n) q̈
    reactions: tuple[Node, ...]  # (m) λ
    pivots: tuple[Pivot, ...]  # what must stay away from zero, with its values at the first sample

    def suits(self, *states: Values) -> bool:
        """Whether the pivots are large enough at all states, and none changes its sign between them."""
        try:
            now = np.array([self._divisors.at(values) for values in states])
        except DomainError:
            return False  # a pivot is zero, and a later one would divide by it
        least = [_SHRUNK * abs(pivot.value) for pivot in self.pivots]
        return bool(np.all(np.abs(now) > least) and np.all(np.sign(now) == np.sign(now[0])))

    @cached_property
    def _divisors(self) -> Evaluator:
        """The values of the pivots at a state."""
        return Evaluator([pivot.node for pivot in self.pivots])


def pivots_at(nodes: Sequence[Node], values: Values) -> tuple[Pivot, ...]:
    """Divisors as pivots, with their values at a state."""
    return tuple(map(Pivot, nodes, evaluate(nodes, values)))


def solved(
    mechanics: Mechanics, A: np.ndarray, B: np.ndarray, samples: Samples, symmetric: bool = True, constraints: int = 0
) -> Elimination:
    """Solve A X = B; for a singular matrix, raise an error in the user's terms.

    A is an inertia, bordered by ``constraints`` rows and columns. If it is symmetric, its pivots keep their signs
    (`solve_definite`); otherwise see `solve_bordered`.
    """
    try:
        return (solve_definite if symmetric else solve_bordered)(A, B, stacked(A, samples), constraints)
    except SingularMatrix:
        explain_singular(mechanics, samples[0])
        raise


def least_squares(
    eliminate: Callable[[Mechanics, Samples], Explicit], mechanics: Mechanics, samples: Samples
) -> Explicit:
    """An elimination that accepts dependent constraints.

    With J_I independent rows that span all rows and K = J J_Iᵀ, the constraints are met in the sense of least
    squares, Kᵀ(J q̈ + γ + c) = 0, and of all multipliers that give the same reaction force Jᵀλ the shortest is
    chosen, λ = K μ.
    """
    J = mechanics.J
    K = matrix_product(J, J[independent_rows([unit_rows(numbers(J, samples[0]))])].T)
    combined = replace(
        mechanics,
        J=matrix_product(K.T, J),
        gamma=product(K.T, mechanics.gamma),
        corrections=product(K.T, mechanics.corrections),
    )
    explicit = eliminate(combined, samples)
    return replace(explicit, reactions=tuple(product(K, vector(explicit.reactions))))


def explain_singular(mechanics: Mechanics, values: Values) -> None:
    """Raise the error that says why q̈ and λ are not determined at a state."""
    system, nodes = mechanics.system, mechanics.system.nodes
    q = numbers(nodes.q, values)
    J, M = mechanics.gradients.at(values), mechanics.inertia.at(values)
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
