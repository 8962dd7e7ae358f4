"""The prescribed motion of the base: V_1(t), Ω_0(t) in inertial axes, and its rotation R_0(t)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.errors import About, Finding, ModelError, call
from vinculum.expressions import as_expression


@dataclass(frozen=True, eq=False)
class Base:
    """The base as SymPy functions of time, inertial axes."""

    position: sp.Matrix  # (3, 1)
    velocity: sp.Matrix  # (3, 1) V_1
    rotation: sp.Matrix  # (3, 3) R_0, the axes of the base as columns
    angular_velocity: sp.Matrix  # (3, 1) Ω_0
    time: sp.Symbol

    @property
    def moves(self) -> bool:
        """Whether the base moves in the inertial frame."""
        return not (self.velocity.is_zero_matrix and self.angular_velocity.is_zero_matrix)

    @property
    def acceleration(self) -> sp.Matrix:
        """dV_1/dt in inertial axes."""
        return self.velocity.diff(self.time)

    @property
    def angular_acceleration(self) -> sp.Matrix:
        """dΩ_0/dt in inertial axes."""
        return self.angular_velocity.diff(self.time)


def moving_base(
    velocity: Sequence[Any] | None, angular_velocity: Sequence[Any] | None, rotation: Any, time: sp.Symbol
) -> Base:
    """The base from its velocities; at t = 0 its frame is the inertial frame.

    The rotation is computed from Ω_0(t) if Ω_0 keeps its direction; otherwise it must be given.
    """
    V = sp.Matrix(velocity or [0, 0, 0])
    position = V.applyfunc(lambda v: _integral(v, time))
    if position.has(sp.Integral):
        raise ModelError("Invalid base velocity", [f"{list(V)} could not be integrated over time."])
    if rotation is None:
        Omega = sp.Matrix(angular_velocity or [0, 0, 0])
        return Base(position, V, _rotation(Omega, time), Omega, time)
    R = sp.Matrix(rotation)
    if R.shape != (3, 3) or _gap(R, time) > 1e-9:
        raise ModelError(
            "Invalid base rotation",
            [f"R Rᵀ - 1 is not zero or the determinant is not 1 for\n    {R.tolist()}. Give a rotation matrix of t."],
        )
    spin = R.diff(time) * R.T
    found = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]]).applyfunc(sp.trigsimp)
    return Base(position, V, R, found, time)


def _integral(speed: sp.Expr, time: sp.Symbol) -> sp.Expr:
    """∫ from 0 to t; parameters such as the frequency in cos(w t) are assumed nonzero to avoid cases."""
    known = {p: sp.Dummy(str(p), real=True, nonzero=True) for p in as_expression(speed).free_symbols - {time}}
    found = sp.integrate(as_expression(speed).xreplace(known), (time, 0, time))
    return found.xreplace({dummy: p for p, dummy in known.items()})


def _gap(R: sp.Matrix, time: sp.Symbol) -> float:
    """How far a matrix is from a rotation, at two instants and with numbers for the parameters."""
    others = {x: 0.3 + 0.1 * i for i, x in enumerate(sorted(R.free_symbols - {time}, key=str))}
    found = [np.array(R.subs({time: t} | others).evalf().tolist(), dtype=float) for t in (0.37, 1.91)]
    return float(max(max(abs(X @ X.T - np.eye(3)).max(), abs(np.linalg.det(X) - 1)) for X in found))


def _rotation(Omega: sp.Matrix, time: sp.Symbol) -> sp.Matrix:
    if Omega.is_zero_matrix:
        return sp.eye(3)
    speed = next(w for w in Omega if w != 0)
    direction = (Omega / speed).applyfunc(sp.simplify)
    if direction.has(time):
        raise ModelError(
            "Invalid base angular velocity",
            [
                Finding(
                    f"its direction {list(direction)} changes with time.",
                    ["Use ", call("BodyTree", base_rotation=[...]), ", a 3×3 matrix of functions of t, instead."],
                    About("option", "base_angular_velocity"),
                )
            ],
        )
    length = sp.sqrt(direction.dot(direction))
    n, angle = direction / length, _integral(length * speed, time)
    if angle.has(sp.Integral):
        raise ModelError("Invalid base angular velocity", [f"{speed} could not be integrated over time."])
    skew = sp.Matrix([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return n * n.T + sp.cos(angle) * (sp.eye(3) - n * n.T) + sp.sin(angle) * skew
