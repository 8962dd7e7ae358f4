"""Lagrange's equations with multipliers once more, in SymPy and NumPy alone: what all forms are compared with.

M q̈ + h = Q - V_q - D_q̇ + Jᵀλ,   J q̈ + J̇ q̇ = 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy as sp

import vinculum as vn

Values = Mapping[sp.Expr, float]


def numbers(expressions: Iterable[sp.Expr], values: Values) -> np.ndarray:
    """SymPy expressions at a state."""
    return np.array(_function(tuple(expressions), tuple(values))(*values.values()), dtype=float)


@cache
def _function(expressions: tuple[sp.Expr, ...], arguments: tuple[sp.Expr, ...]) -> Callable[..., list[float]]:
    return sp.lambdify(arguments, list(expressions), "numpy", cse=True)


@dataclass(frozen=True, eq=False)
class Motion:
    """M, the right side f, J and J̇q̇ of one system at one state."""

    M: np.ndarray  # (n, n)
    f: np.ndarray  # (n) Q - V_q - D_q̇ - h
    J: np.ndarray  # (m, n)
    bend: np.ndarray  # (m) J̇ q̇

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """q̈ and λ."""
        n, m = len(self.f), len(self.bend)
        bordered = np.block([[self.M, -self.J.T], [self.J, np.zeros((m, m))]])
        found = np.linalg.solve(bordered, np.concatenate([self.f, -self.bend]))
        return found[:n], found[n:]


def motion(system: vn.System, values: Values) -> Motion:
    """The parts of the equations at a state of all coordinates, velocities and inputs."""
    n, m = len(system.coordinates), len(system.constraints)
    flat = numbers(_expressions(system), dict(system.parameters) | {system.time: 0.0} | dict(values))
    M, f, J, bend = np.split(flat, np.cumsum([n * n, n, m * n]))
    return Motion(M.reshape(n, n), f, J.reshape(m, n), bend)


@cache
def _expressions(system: vn.System) -> tuple[sp.Expr, ...]:
    q, v, T = system.coordinates, system.velocities, sp.expand(system.kinetic_energy)
    M = [T.diff(a, b) for a in v for b in v]
    h = [sum(T.diff(a, x) * b for x, b in zip(q, v, strict=True)) - T.diff(x) for a, x in zip(v, q, strict=True)]
    Q = [
        system.forces.get(x, 0) - system.potential_energy.diff(x) - system.dissipation.diff(a)
        for x, a in zip(q, v, strict=True)
    ]
    rows = [_row(system, c) for c in system.constraints]
    J = [row.diff(a) for row in rows for a in v]
    bend = [sum(row.diff(x) * b for x, b in zip(q, v, strict=True)) for row in rows]
    return (*M, *(a - b for a, b in zip(Q, h, strict=True)), *J, *bend)


def _row(system: vn.System, constraint: vn.Holonomic | vn.Nonholonomic | vn.Servo) -> sp.Expr:
    """F_q q̇, or φ itself."""
    if not isinstance(constraint, vn.Holonomic):
        return constraint.expression
    pairs = zip(system.coordinates, system.velocities, strict=True)
    return sum(constraint.expression.diff(q) * v for q, v in pairs)


def relative(found: np.ndarray, truth: np.ndarray) -> float:
    """The largest difference, relative to the largest entry."""
    return float(np.abs(np.asarray(found) - truth).max() / np.abs(truth).max())
