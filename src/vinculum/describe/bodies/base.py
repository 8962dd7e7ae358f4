"""The prescribed motion of the base: r_0(t) or V_1(t), R_0(t) or Ω_0(t), in inertial axes.

A position is differentiated, a velocity is integrated in closed form (sums of powers, sines, exponentials, splines of
measured points, and what SymPy's rules know). A velocity without such an integral moves the base all the same: the
dynamics need its acceleration only. Then the place of the base is unknown, and energies are relative to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies.antiderivative import antiderivative
from vinculum.errors import About, Call, DomainError, Finding, ModelError, VinculumError, call
from vinculum.expressions import as_expression
from vinculum.graph import ONE, Node, along, as_sympy, evaluate, from_sympy, order, symbol

_INSTANTS = (0.0, 0.37, 1.91)
_AGREE = 1e-6  # relative difference of two statements of the same motion that counts as rounding
_WATCHED, _GRID = 50.0, 20_001  # corners of a position are looked for in the first fifty units of time


@dataclass(frozen=True, eq=False)
class Base:
    """The base as SymPy functions of time, inertial axes."""

    place: sp.Matrix | None  # (3, 1) r_0; None if the velocity has no integral in closed form
    velocity: sp.Matrix  # (3, 1) V_1
    rotation: sp.Matrix  # (3, 3) R_0, the axes of the base as columns
    angular_velocity: sp.Matrix  # (3, 1) Ω_0
    time: sp.Symbol

    @property
    def moves(self) -> bool:
        """Whether the base moves in the inertial frame."""
        return not (self.velocity.is_zero_matrix and self.angular_velocity.is_zero_matrix)

    @property
    def position(self) -> sp.Matrix:
        """r_0; where it is unknown, an error says what to give."""
        if self.place is None:
            found = (
                f"base_velocity {list(self.velocity)} has no integral in closed form, so the base has no known place."
            )
            advice: list[str | Call] = [
                "Use ",
                call("BodyTree", base_position=[...]),
                ", three functions of t, instead.",
            ]
            raise ModelError("Unknown position of the base", [Finding(found, advice, About("option", "base_velocity"))])
        return self.place

    @cached_property
    def acceleration(self) -> sp.Matrix:
        """dV_1/dt in inertial axes."""
        return rate(self.velocity, self.time)

    @cached_property
    def angular_acceleration(self) -> sp.Matrix:
        """dΩ_0/dt in inertial axes."""
        return rate(self.angular_velocity, self.time)


def rate(given: sp.Matrix, time: sp.Symbol) -> sp.Matrix:
    """The time derivative, of |x| too, which SymPy differentiates only for real x."""
    return given.applyfunc(lambda x: as_sympy(along([_node(x)], {symbol(time): ONE})[0]))


def _node(x: Any) -> Node:
    return from_sympy(as_expression(x))


def moving_base(
    position: Sequence[Any] | None,
    velocity: Sequence[Any] | None,
    angular_velocity: Sequence[Any] | None,
    rotation: Any,
    time: sp.Symbol,
) -> Base:
    """The base from its position or velocity, and from its rotation or angular velocity.

    From velocities alone, its frame is the inertial frame at t = 0. The rotation is computed from Ω_0(t) if Ω_0 keeps
    its direction; otherwise it must be given. Two statements that contradict each other are refused.
    """
    _refuse_unknown(
        {"base_position": position, "base_velocity": velocity, "base_angular_velocity": angular_velocity,
         "base_rotation": rotation}, time,
    )  # fmt: skip
    place, V = _translation(position, velocity, time)
    if rotation is None:
        Omega = sp.Matrix(angular_velocity or [0, 0, 0])
        return Base(place, V, _rotation(Omega, time), Omega, time)
    R = sp.Matrix(rotation)
    if R.shape != (3, 3) or rotation_gap(R, time) > 1e-9:
        raise ModelError(
            "Invalid base rotation",
            [f"R Rᵀ - 1 is not zero or the determinant is not 1 for\n    {R.tolist()}. Give a rotation matrix of t."],
        )
    _refuse_corners(R, "base_rotation", time)
    spin = rate(R, time) * R.T
    found = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
    if angular_velocity is not None:
        _refuse_contradiction("base_angular_velocity", angular_velocity, "base_rotation", found, time)
        return Base(place, V, R, sp.Matrix(angular_velocity), time)
    return Base(place, V, R, found.applyfunc(_simplified), time)


def _simplified(x: sp.Expr) -> sp.Expr:
    return sp.trigsimp(x) if sp.count_ops(x) < 60 else x


def _translation(
    position: Sequence[Any] | None, velocity: Sequence[Any] | None, time: sp.Symbol
) -> tuple[sp.Matrix | None, sp.Matrix]:
    """r_0 and V_1."""
    if position is None:
        V = sp.Matrix(velocity or [0, 0, 0])
        parts = [antiderivative(v, time) for v in V]
        return None if None in parts else sp.Matrix(parts), V
    r = sp.Matrix(position)
    _refuse_corners(r, "base_position", time)
    V = rate(r, time)
    if velocity is not None:
        _refuse_contradiction("base_velocity", velocity, "base_position", V, time)
    return r, V


def _refuse_unknown(given: dict[str, Any], time: sp.Symbol) -> None:
    """Raise for functions that the graph does not know."""
    found = []
    for label, value in given.items():
        try:
            _ = [_node(x) for x in sp.Matrix(value)] if value is not None else []
        except (VinculumError, sp.SympifyError) as error:
            found.append(Finding(f"{label} is {value}: {error}.", about=About("option", label)))
    if found:
        raise ModelError("Invalid motion of the base", found)


def _refuse_contradiction(label: str, given: Sequence[Any], other: str, found: sp.Matrix, time: sp.Symbol) -> None:
    """Raise where a given velocity is not the derivative of the other statement."""
    for t in _INSTANTS:
        stated, derived = (_numbers(x, time, t).ravel() for x in (sp.Matrix(given), found))
        if np.abs(stated - derived).max() > _AGREE * (1 + np.abs(derived).max()):
            rows = f"at t = {t:g} it is {_listed(stated)}, but {other} gives {_listed(derived)}"
            advice = [f"Leave {label} out, or correct one of them."]
            raise ModelError(
                "Contradictory motion of the base", [Finding(f"{label}: {rows}.", advice, About("option", label))]
            )


def _listed(x: np.ndarray) -> str:
    return f"({', '.join(f'{value:.6g}' for value in x)})"


def _numbers(X: sp.Matrix, time: sp.Symbol, t: float) -> np.ndarray:
    """A matrix of functions of time at an instant, with numbers in place of the parameters."""
    others = sorted(X.free_symbols - {time}, key=str)
    values = {symbol(x): 0.3 + 0.1 * i for i, x in enumerate(others)} | {symbol(time): t}
    return np.array(evaluate([_node(x) for x in X], values)).reshape(X.shape)


def rotation_gap(R: sp.Matrix, time: sp.Symbol) -> float:
    """How far a matrix is from a rotation, at some instants and with numbers for the parameters."""
    found = [_numbers(R, time, t) for t in _INSTANTS]
    return float(max(max(abs(X @ X.T - np.eye(3)).max(), abs(np.linalg.det(X) - 1)) for X in found))


def _refuse_corners(given: sp.Matrix, label: str, time: sp.Symbol) -> None:
    """Raise where a position or rotation has corners: the velocity would jump, with an infinite force."""
    speeds = [_node(x) for x in rate(given, time)]
    jumping = [node for node in order(speeds) if node.op in ("sign", "less", "less_equal")]
    if not jumping:
        return
    others = sorted(given.free_symbols - {time}, key=str)
    known = {symbol(x): 0.3 + 0.1 * i for i, x in enumerate(others)}
    t = np.linspace(0.0, _WATCHED, _GRID)
    values = [_values(speeds, known | {symbol(time): float(x)}) for x in t]
    for k in range(1, len(t) - 2):
        steps = [np.abs(values[i + 1] - values[i]).max() for i in (k - 1, k, k + 1)]
        if steps[1] > 1e-3 and steps[1] > 20 * max(steps[0], steps[2]):
            raise ModelError(
                "Invalid motion of the base",
                [
                    Finding(
                        f"{label} {given.tolist()} has a corner near t = {t[k]:.4g}: the velocity jumps by "
                        f"{steps[1]:.4g}, which needs an infinite force.",
                        ["Give a function with a continuous derivative."],
                        About("option", label),
                    )
                ],
            )


def _values(nodes: Sequence[Node], at: dict[Node, float]) -> np.ndarray:
    try:
        return np.array(evaluate(nodes, at))
    except DomainError:
        return np.zeros(len(nodes))


def _rotation(Omega: sp.Matrix, time: sp.Symbol) -> sp.Matrix:
    """R_0(t) of an angular velocity with a constant direction."""
    if Omega.is_zero_matrix:
        return sp.eye(3)
    speed = next(w for w in Omega if w != 0)
    direction = (Omega / speed).applyfunc(sp.simplify)
    advice: list[str | Call] = [
        "Use ",
        call("BodyTree", base_rotation=[...]),
        ", a 3×3 matrix of functions of t, instead.",
    ]
    about = About("option", "base_angular_velocity")
    if direction.has(time):
        found = f"its direction {list(direction)} changes with time."
        raise ModelError("Invalid base angular velocity", [Finding(found, advice, about)])
    length = sp.sqrt(direction.dot(direction))
    n, angle = direction / length, antiderivative(length * speed, time)
    if angle is None:
        found = f"{speed} has no integral in closed form, so the angle of the base is unknown."
        raise ModelError("Invalid base angular velocity", [Finding(found, [*advice, " A spline works too."], about)])
    skew = sp.Matrix([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return n * n.T + sp.cos(angle) * (sp.eye(3) - n * n.T) + sp.sin(angle) * skew
