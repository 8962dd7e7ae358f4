"""A mechanical system as an affine one: multipliers (and rates of coordinates without inertia) as unknown inputs.

    q̇ = v,  M v̇ = Q - h + Jᵀλ,  N = λ, and the inputs u of the forces where there are any.

The velocity of a coordinate α without inertia is not a state. Its rate is an unknown, α̇ = U, and its row of
Lagrange's equations, 0 = Q_α + Σ_i J_iα λ_i, gives the multiplier with the largest coefficient in terms of the others.
The authors of paper 003 do this by hand for the wheel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.lagrange import Mechanics, mechanics
from vinculum.derivation.mechanics.sample_states import generic_states, numbers, stacked, unmet
from vinculum.derivation.mechanics.singular import refuse_massless
from vinculum.describe import Servo, System
from vinculum.describe.affine import AffineSystem
from vinculum.errors import About, ConstraintError, Finding, ModelError, SingularError, call
from vinculum.graph import ONE, ZERO, Node, jacobian, solve, solve_definite, substitute, symbol, symbols, vector
from vinculum.names import listed, name_of, reaction


def to_affine(system: System, program: Mapping[str, sp.Expr] | None = None) -> AffineSystem:
    """The same system with its reactions as unknown inputs, and with its own inputs as controls.

    ``program`` {name: f(q, q̇, t)} are further constraints, which the controls have to hold, as servo constraints do.
    """
    servos = {c.name: c.expression for c in system.constraints if isinstance(c, Servo)}
    system = replace(system, constraints=[c for c in system.constraints if not isinstance(c, Servo)])
    program = {**servos, **(program or {})}
    terms = mechanics(system)
    parts = _divide(terms)
    samples = generic_states(terms)
    if not samples:
        raise ConstraintError(
            f"No state that meets the constraints of {system.name!r} was found from random starts.{unmet(terms)}"
        )
    multipliers = _multipliers(parts, samples)
    accelerations, pivots = _accelerations(parts, samples)
    kept = [i for i in range(len(system.constraints)) if i not in multipliers.eliminated]
    names = [reaction(system.constraints[i].name) for i in kept]
    rates = [sp.Symbol(f"rate({name_of(system.coordinates[k])})", real=True) for k in parts.massless]
    unknown = [*names, *rates, *system.inputs]
    return _assemble(parts, multipliers, accelerations, kept, unknown, pivots, program)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Coordinates with inertia and without."""

    terms: Mechanics
    heavy: list[int]
    massless: list[int]


def _divide(terms: Mechanics) -> _Parts:
    massless = [k for k in range(len(terms.M)) if all(entry is ZERO for entry in terms.M[k])]
    system, nodes = terms.system, terms.system.nodes
    lost = [nodes.v[k] for k in massless]
    where = [c.name for c, f in zip(system.constraints, nodes.constraints, strict=True) if symbols([f]) & set(lost)]
    if where:
        raise ModelError(f"the system {system.name!r} cannot be made affine", [
            Finding(f"the constraint {where[0]} contains the velocity of {listed(node.value for node in lost)}, which "
                    "has no inertia.", ["Give it mass, or use ", call("derive", form="multipliers"), "."],
                    About("constraint", where[0]))])  # fmt: skip
    _refuse_inputs(terms, massless)
    return _Parts(terms, [k for k in range(len(terms.M)) if k not in massless], massless)


def _refuse_inputs(terms: Mechanics, massless: list[int]) -> None:
    """Raise unless inputs enter linearly and act only on coordinates with inertia."""
    system, inputs = terms.system, terms.system.nodes.inputs
    slopes = jacobian(list(terms.Q), inputs)
    problems = []
    if symbols(list(slopes.ravel())) & set(inputs):
        problems.append(f"its inputs {listed(system.inputs)} do not enter linearly.")
    acting = [name_of(system.coordinates[k]) for k in massless if any(entry is not ZERO for entry in slopes[k])]
    if acting:
        problems.append(f"an input acts on {', '.join(acting)}, which has no inertia. Give it mass.")
    if problems:
        raise ModelError(f"the system {system.name!r} cannot be made affine", problems)


@dataclass(frozen=True, eq=False)
class _Multipliers:
    """λ of all constraints as an affine function of those that are kept: λ = constant + matrix λ_kept."""

    constant: list[Node]
    matrix: np.ndarray
    eliminated: list[int]
    divisors: tuple[Node, ...]


def _multipliers(parts: _Parts, samples: list) -> _Multipliers:
    """Solve the rows of the massless coordinates for as many multipliers."""
    terms, m = parts.terms, len(parts.terms.system.constraints)
    rows = terms.J.T[parts.massless]  # (massless, m)
    sizes = np.abs(stacked(rows, samples)).min(axis=0) if parts.massless else np.zeros((0, m))
    eliminated: list[int] = []
    for k, size in zip(parts.massless, sizes, strict=True):
        best = max((i for i in range(m) if i not in eliminated), key=lambda i: size[i])
        if size[best] == 0:
            name = name_of(terms.system.coordinates[k])
            raise SingularError(f"No constraint determines {name}, which has no inertia. Constrain it or give it mass.")
        eliminated.append(best)
    kept = [i for i in range(m) if i not in eliminated]
    matrix = np.full((m, len(kept)), ZERO, dtype=object)
    constant = [ZERO] * m
    for column, i in enumerate(kept):
        matrix[i, column] = ONE
    if not eliminated:
        return _Multipliers(constant, matrix, [], ())
    A = rows[:, eliminated]
    forces = -(terms.Q - terms.h)[parts.massless]
    found = solve(A, np.column_stack([forces, -rows[:, kept]]), stacked(A, samples))
    for row, i in enumerate(eliminated):
        constant[i] = found.solution[row, 0]
        matrix[i] = found.solution[row, 1:]
    return _Multipliers(constant, matrix, eliminated, tuple(pivot.node for pivot in found.pivots))


def _accelerations(parts: _Parts, samples: list) -> tuple[np.ndarray, tuple[Node, ...]]:
    """M⁻¹ [Q - h without inputs, Jᵀ, ∂Q/∂u] of the coordinates with inertia."""
    terms, heavy = parts.terms, parts.heavy
    inputs = terms.system.nodes.inputs
    free = vector(substitute(list(terms.Q - terms.h), dict.fromkeys(inputs, ZERO)))
    slopes = jacobian(list(terms.Q), inputs)
    M = terms.M[np.ix_(heavy, heavy)]
    if numbers(M, samples[0]).size and np.linalg.matrix_rank(numbers(M, samples[0])) < len(heavy):
        refuse_massless(terms, samples[0])
    right = np.column_stack([free[heavy], terms.J.T[heavy], slopes[heavy]])
    found = solve_definite(M, right, stacked(M, samples))
    return found.solution, tuple(pivot.node for pivot in found.pivots)


def _assemble(
    parts: _Parts,
    multipliers: _Multipliers,
    solution: np.ndarray,
    kept: list[int],
    inputs: list,
    pivots: tuple,
    program: Mapping[str, sp.Expr],
) -> AffineSystem:
    """F and B for the states q, v (of coordinates with inertia)."""
    terms, system = parts.terms, parts.terms.system
    q, v, s = system.coordinates, system.velocities, len(inputs)
    drift: list[Node] = [ZERO if k in parts.massless else symbol(v[k]) for k in range(len(q))]
    B = np.full((len(q) + len(parts.heavy), s), ZERO, dtype=object)
    for column, k in enumerate(parts.massless, start=len(kept)):
        B[k, column] = ONE
    for row in range(len(parts.heavy)):
        pulls = solution[row, 1 : 1 + len(multipliers.constant)]
        free = solution[row, 0]
        for i, constant in enumerate(multipliers.constant):
            free = free + pulls[i] * constant
        drift.append(free)
        for column in range(len(kept)):
            B[len(q) + row, column] = sum((pulls[i] * multipliers.matrix[i, column] for i in range(len(pulls))), ZERO)
        B[len(q) + row, len(kept) + len(parts.massless) :] = solution[row, 1 + len(multipliers.constant) :]
    none = {symbol(v[k]): ZERO for k in parts.massless}
    own = {c.name: f for c, f in zip(system.constraints, system.nodes.constraints, strict=True)}
    return AffineSystem(
        states=[*q, *(v[k] for k in parts.heavy)],
        drift=substitute(drift, none),
        inputs=inputs,
        input_matrix=np.array(substitute(list(B.ravel()), none), dtype=object).reshape(B.shape) if s else (),
        constraints={**own, **program},
        parameters=system.parameters,
        energy=substitute([terms.energy], none)[0],
        power=substitute([_power(parts, multipliers, inputs)], none)[0],
        name=system.name,
        units=system.units,
        divisors=tuple(substitute([*multipliers.divisors, *(p for p in pivots if _varies(p, system))], none)),
    )


def _varies(pivot: Node, system: System) -> bool:
    return bool(symbols([pivot]) - set(system.nodes.parameters))


def _power(parts: _Parts, multipliers: _Multipliers, inputs: list) -> Node:
    """dE/dt with the multipliers written in the inputs."""
    reactions = []
    for constant, row in zip(multipliers.constant, multipliers.matrix, strict=True):
        terms = [k * symbol(u) for k, u in zip(row, inputs, strict=False)]
        reactions.append(sum(terms, constant))
    return parts.terms.power(reactions)
