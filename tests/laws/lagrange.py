"""Lagrange's equations written once more, in SymPy with d/dt taken literally, to compare with."""

from __future__ import annotations

from functools import cache

import sympy as sp

from vinculum import Holonomic, System


@cache
def equations(system: System) -> list[sp.Expr]:
    """d/dt ∂T/∂q̇ - ∂T/∂q + ∂V/∂q + ∂D/∂q̇ - Q, which is Jᵀλ on the motion."""
    T, V, D, t = system.kinetic_energy, system.potential_energy, system.dissipation, system.time
    return [
        T.diff(v).diff(t) - T.diff(q) + V.diff(q) + D.diff(v) - system.forces.get(q, 0)
        for q, v in zip(system.coordinates, system.velocities, strict=True)
    ]


@cache
def jacobian(system: System) -> sp.Matrix:
    """∂f/∂q for holonomic constraints, ∂φ/∂q̇ for nonholonomic ones (Chetaev)."""
    rows = [
        [c.expression.diff(x) for x in (system.coordinates if isinstance(c, Holonomic) else system.velocities)]
        for c in system.constraints
    ]
    return sp.Matrix(len(rows), len(system.coordinates), [entry for row in rows for entry in row])


@cache
def constraint_accelerations(system: System) -> list[sp.Expr]:
    """f̈ for holonomic constraints, φ̇ for nonholonomic ones."""
    return [c.expression.diff(system.time, c.differentiations) for c in system.constraints]


@cache
def mass_matrix(system: System) -> sp.Matrix:
    """∂²T/∂q̇²."""
    return sp.hessian(system.kinetic_energy, system.velocities)


@cache
def energy(system: System) -> sp.Expr:
    """q̇·∂T/∂q̇ - T + V."""
    T = system.kinetic_energy
    return sum(v * T.diff(v) for v in system.velocities) - T + system.potential_energy


@cache
def power(system: System) -> sp.Expr:
    """dE/dt."""
    return energy(system).diff(system.time)
