"""Lagrange's equations of the first kind, in the expression graph.

    M q̈ + h = Q + Jᵀ λ,    J q̈ + γ + c = 0

with p = ∂T/∂q̇, M = ∂p/∂q̇, h = p_q q̇ + p_t - T_q, Q = forces - V_q - D_q̇. A holonomic constraint f(q, t) = 0 gives
the row J = f_q and γ from f̈ = J q̈ + γ; a nonholonomic one φ(q, q̇, t) = 0 gives J = φ_q̇ (Chetaev) and φ̇ = J q̈ + γ.
The correction c is zero on the exact motion; constraint stabilization puts its feedback there. The "reaction" of a
servo constraint is the input that holds it, and its column in place of Jᵀ is the direction ∂Q/∂u in which this input
acts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import sympy as sp

from vinculum.describe import Holonomic, Servo, System
from vinculum.errors import ModelError
from vinculum.graph import (
    ONE,
    ZERO,
    Node,
    along,
    gradient,
    homogeneity,
    jacobian,
    substitute,
    symbol,
    symbols,
    vector,
)
from vinculum.graph.node import add
from vinculum.graph.python_function import Entries
from vinculum.names import listed


def product(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x for arrays of nodes; an empty sum is the node zero."""
    return vector([total([a * b for a, b in zip(row, x, strict=True) if a is not ZERO]) for row in A])


def matrix_product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B for arrays of nodes."""
    result = np.full((A.shape[0], B.shape[1]), ZERO, dtype=object)
    for j in range(B.shape[1]):
        result[:, j] = product(A, B[:, j])
    return result


def symmetrized(S: np.ndarray) -> np.ndarray:
    """S with the lower triangle replaced by the upper one, for a matrix that is symmetric, as J M⁻¹ Jᵀ."""
    for i in range(len(S)):
        S[i, :i] = S[:i, i]
    return S


def total(terms: Sequence[Node]) -> Node:
    """The sum of nodes."""
    result = ZERO
    for term in terms:
        result = add(result, term)
    return result


class Terms(Protocol):
    """M, h and V_q. Recursions include gravity in h."""

    @property
    def M(self) -> np.ndarray:
        """(n, n)."""

    @property
    def h(self) -> np.ndarray:
        """(n)."""

    @property
    def slope(self) -> np.ndarray:
        """(n) V_q."""

    @property
    def recursion(self) -> Any:
        """Of a tree of bodies, or None."""


@dataclass(frozen=True, eq=False)
class EnergyTerms:
    """M, h and V_q by differentiating the energies."""

    M: np.ndarray
    h: np.ndarray
    slope: np.ndarray
    recursion: Any = None


@dataclass(frozen=True, eq=False)
class Mechanics:
    """The terms of M q̈ + h = Q + Jᵀλ, J q̈ + γ + c = 0 for n coordinates and m constraints."""

    system: System
    terms: Terms  # M and h
    Q: np.ndarray  # (n) all forces: given, potential, dissipative
    applied: np.ndarray  # (n) the forces that are not potential: given and dissipative
    J: np.ndarray  # (m, n)
    gamma: np.ndarray  # (m)
    corrections: np.ndarray  # (m) symbols c
    position: tuple[Node | None, ...]  # (m) f for holonomic constraints
    velocity: tuple[Node, ...]  # (m) ḟ for holonomic, φ for nonholonomic constraints
    actuators: np.ndarray | None = None  # (n, m) Jᵀ with the columns of servo constraints replaced by ∂Q/∂u
    hidden: tuple[
        tuple[str, Node], ...
    ] = ()  # further conditions (constraint, z) on the state, for relative degrees > 2
    chains: tuple[tuple[Node, ...], ...] = ()  # (m) residual and derivatives below the one with accelerations
    approach: Mapping[str, float] = field(default_factory=dict)  # constraints a motion approaches, with their rates

    @property
    def M(self) -> np.ndarray:
        """(n, n) symmetric."""
        return self.terms.M

    @property
    def h(self) -> np.ndarray:
        """(n)."""
        return self.terms.h

    @cached_property
    def inertia(self) -> Entries:
        """M at given states."""
        return Entries(self.M)

    @cached_property
    def gradients(self) -> Entries:
        """J at given states."""
        return Entries(self.J)

    @cached_property
    def energy(self) -> Node:
        """q̇·p - T + V."""
        return _energy(self.system)

    @cached_property
    def lagrangian_rate(self) -> Node:
        """∂(T - V)/∂t at fixed q, q̇."""
        if _is_tree(self.system) and not self.system.bodies.base.moves:
            return ZERO
        nodes = self.system.nodes
        kinetic_rate, potential_rate = along([nodes.kinetic, nodes.potential], {nodes.time: ONE})
        return kinetic_rate - potential_rate

    @property
    def recursion(self) -> Any:
        """The recursions of the tree of bodies behind the system, if there is one."""
        return self.terms.recursion

    @property
    def directions(self) -> np.ndarray:
        """(n, m) the directions in which the reactions act."""
        return self.J.T if self.actuators is None else self.actuators

    @property
    def deep(self) -> tuple[int, ...]:
        """Indices of the constraints whose inputs appear only in conditions hidden in the path."""
        names = {name for name, _ in self.hidden}
        return tuple(s for s, constraint in enumerate(self.system.constraints) if constraint.name in names)

    @property
    def multipliers(self) -> np.ndarray:
        """(m) symbols λ, one for each constraint."""
        return vector([symbol(("multiplier", c.name)) for c in self.system.constraints])

    @property
    def printed_reactions(self) -> np.ndarray:
        """(m) the reactions as printed: λ_<constraint>, or the input of a servo."""
        inputs = iter(self.system.servo_inputs)
        names = [
            next(inputs) if isinstance(c, Servo) else sp.Symbol(f"lambda_{c.name}") for c in self.system.constraints
        ]
        return vector([symbol(name) for name in names])

    @cached_property
    def virtual_rates(self) -> np.ndarray:
        """(m) the power of each reaction per unit of λ: J q̇ on the constraint.

        On a holonomic constraint J q̇ = -∂f/∂t. A nonholonomic one that is homogeneous in the velocities does no
        work (Euler: q̇·φ_q̇ = k φ = 0).
        """
        nodes = self.system.nodes
        rates = []
        for constraint, f, row in zip(self.system.constraints, nodes.constraints, self.directions.T, strict=True):
            if isinstance(constraint, Servo) or constraint.name in self.approach:
                rates.append(product(row[None, :], vector(nodes.v))[0])
            elif isinstance(constraint, Holonomic):
                rates.append(-along([f], {nodes.time: ONE})[0])
            elif homogeneity(f, nodes.v):
                rates.append(ZERO)
            else:
                rates.append(product(row[None, :], vector(nodes.v))[0])
        return vector(rates)

    def without_corrections(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes on the exact motion, without the feedback c."""
        return substitute(list(nodes), dict.fromkeys(self.corrections, ZERO))

    def power(self, reactions: Sequence[Node]) -> Node:
        """dE/dt on the motion: Q_applied·q̇ + λ·(J q̇) - ∂L/∂t."""
        work = [force * v for force, v in zip(self.applied, self.system.nodes.v, strict=True)]
        work += [reaction * rate for reaction, rate in zip(reactions, self.virtual_rates, strict=True)]
        return total(work) - self.lagrangian_rate


def mechanics(system: System) -> Mechanics:
    """The terms of Lagrange's equations of a system."""
    nodes = system.nodes
    flow = {**dict(zip(nodes.q, nodes.v, strict=True)), nodes.time: ONE}
    terms = _terms(system, flow)
    applied = vector(nodes.forces) - vector(gradient(nodes.dissipation, nodes.v))
    J, gamma, position, velocity = constraint_rows(system, flow)
    applied, actuators = servo_directions(system, applied, J)
    return Mechanics(
        system=system,
        terms=terms,
        Q=applied - terms.slope,
        applied=applied,
        J=J,
        gamma=gamma,
        corrections=vector([symbol(("correction", c.name)) for c in system.constraints]),
        position=position,
        velocity=velocity,
        actuators=actuators,
        chains=tuple((v,) if f is None else (f, v) for f, v in zip(position, velocity, strict=True)),
    )


def _terms(system: System, flow: dict[Node, Node]) -> Terms:
    """M, h and V_q by differentiating the energies, or from the tree of bodies behind the system."""
    if _is_tree(system):
        from vinculum.derivation.bodies.recursion import TreeTerms

        return TreeTerms(system)
    nodes = system.nodes
    momenta = gradient(nodes.kinetic, nodes.v)
    h = vector(along(momenta, flow)) - vector(gradient(nodes.kinetic, nodes.q))
    return EnergyTerms(symmetric_jacobian(momenta, nodes.v), h, vector(gradient(nodes.potential, nodes.q)))


def _is_tree(system: System) -> bool:
    """Whether the energies are those of the tree of bodies behind the system."""
    return system.bodies is not None and system.bodies.moves(system)


def _energy(system: System) -> Node:
    """q̇·p - T + V, which is T + V where T is quadratic in the velocities."""
    nodes = system.nodes
    if _is_tree(system) and not system.bodies.base.moves:
        return nodes.kinetic + nodes.potential
    momenta = gradient(nodes.kinetic, nodes.v)
    return total([p * v for p, v in zip(momenta, nodes.v, strict=True)]) - nodes.kinetic + nodes.potential


def servo_directions(system: System, applied: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The forces without the servo inputs, and the directions of all reactions: Jᵀ, for servos ∂Q/∂u."""
    held = [symbol(u) for u in system.servo_inputs]
    if not held:
        return applied, None
    B = jacobian(list(applied), held)
    if symbols(B.ravel()) & set(held):
        raise ModelError(
            "Invalid servo inputs",
            [f"the forces are not linear in {listed(system.servo_inputs)}, so the constraint does not determine them."],
        )
    directions = J.T.copy()
    places = [i for i, c in enumerate(system.constraints) if isinstance(c, Servo)]
    directions[:, places] = B
    return vector(substitute(list(applied), dict.fromkeys(held, ZERO))), directions


def symmetric_jacobian(momenta: Sequence[Node], v: Sequence[Node]) -> np.ndarray:
    """∂p/∂q̇, made symmetric by identity: both triangles hold the same nodes."""
    return symmetrized(jacobian(momenta, v))


def constraint_rows(
    system: System, flow: dict[Node, Node]
) -> tuple[np.ndarray, np.ndarray, tuple[Node | None, ...], tuple[Node, ...]]:
    """J, γ and the residuals at position and velocity level of every constraint."""
    nodes = system.nodes
    position = tuple(
        f if isinstance(constraint, Holonomic) or not symbols([f]) & set(nodes.v) else None
        for constraint, f in zip(system.constraints, nodes.constraints, strict=True)
    )
    velocity = tuple(
        along([f], flow)[0] if f is not None else phi for f, phi in zip(position, nodes.constraints, strict=True)
    )
    return jacobian(velocity, nodes.v), vector(along(velocity, flow)), position, velocity
