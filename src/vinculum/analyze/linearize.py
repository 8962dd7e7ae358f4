"""From equations and an equilibrium to the linear model, with everything that is not an equilibrium refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.first_approximation import FirstApproximation, first_approximation
from vinculum.analyze.ignorable import Roles, ignorable, roles
from vinculum.analyze.linear_model import LinearModel, NormalForm
from vinculum.analyze.servo import refuse_servo
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.mechanics.partition import Partition, best_partition, refuse_nonholonomic
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.derivation.mechanics.singular import refuse_negative_inertia
from vinculum.errors import Finding, ModelError, VinculumError, call
from vinculum.graph import Node, symbol
from vinculum.names import name_of

_TOLERANCE = 1e-7


def linearize(equations: EquationsOfMotion, at: Mapping[sp.Expr, float]) -> LinearModel:
    """The strict first approximation at an equilibrium or steady motion.

    ``at`` is an `Equilibrium`, or values of all coordinates and inputs (velocities of ignorable coordinates too). A
    point off the constraints, or one that is no equilibrium, is refused with what is left of each equation.
    """
    refuse_servo(equations.system)
    refuse_nonholonomic(equations.system)
    values = _values(equations, at)
    refuse_negative_inertia(equations.mechanics, values, {p: values[symbol(p)] for p in equations.system.parameters})
    partition = _partition(equations, values)
    nodes = first_approximation(equations.mechanics, partition, [values])
    _refuse_wrong_point(equations, partition, nodes, values)
    known = {name: numbers(getattr(nodes, name), values) for name in FirstApproximation.__dataclass_fields__}
    return _model(equations, partition, at, known, _stiffness(known))


def _model(
    equations: EquationsOfMotion,
    partition: Partition,
    at: Mapping[sp.Expr, float],
    known: Mapping[str, np.ndarray],
    stiffness: np.ndarray,
) -> LinearModel:
    """The record, from the matrices and a K (the strict one, or another to compare with)."""
    who = roles(equations, partition.s)
    F, H, states = _first_order(equations, partition, who, known, stiffness)
    return LinearModel(
        equations=equations,
        at=at if isinstance(at, Equilibrium) else Equilibrium(dict(at), {}, 0.0),
        states=states,
        inputs=tuple(equations.system.inputs),
        **_named(known),
        stiffness=stiffness,
        damping=known["damping"],
        normal_form=_normal_form(known),
        system_matrix=F,
        input_matrix=H,
        critical=len(partition.s) + len(who.conserved),
        measured=_measured(equations, partition, states, known["B"]),
        rebuilt=lambda other: _model(equations, partition, at, known, other),
    )


def _normal_form(known: Mapping[str, np.ndarray]) -> NormalForm:
    """a = -A⁻¹ ∂R/∂r, h = -A⁻¹ ∂R/∂s, b = -A⁻¹ (G - D), so that K = -A (a + hB)."""
    parts = (known["slopes_r"], known["slopes_s"], known["damping"])
    return NormalForm(*(-np.linalg.solve(known["A"], part) for part in parts))


def _named(known: Mapping[str, np.ndarray]) -> dict[str, Any]:
    return {name: known[name] for name in ("A", "G", "D", "C1", "C2", "C3", "C4", "CB", "PB", "P", "B", "V_u")}


def _values(equations: EquationsOfMotion, at: Mapping[sp.Expr, float]) -> dict[Node, float]:
    system = equations.system
    rest = dict.fromkeys(system.velocities, 0.0) | dict.fromkeys(ignorable(equations), 0.0)
    parameters = dict(system.parameters) | (dict(at.parameters) if isinstance(at, Equilibrium) else {})
    complete = {system.time: 0.0} | parameters | rest | dict(at)
    missing = [key for key in (*system.coordinates, *system.inputs) if key not in complete]
    if missing:
        names = ", ".join(map(name_of, missing))
        raise ModelError(
            "the point is not usable", [Finding(f"no value for {names}.", ["Take it from ", call("equilibrium"), "."])]
        )
    return {symbol(key): float(value) for key, value in complete.items()}


def _partition(equations: EquationsOfMotion, values: Mapping[Node, float]) -> Partition:
    """The partition of the form, or the best one; ignorable coordinates are never dependent."""
    return equations.partition or best_partition(equations.mechanics, values)


def _refuse_wrong_point(
    equations: EquationsOfMotion, partition: Partition, nodes: FirstApproximation, values: Mapping[Node, float]
) -> None:
    system = equations.system
    left = numbers(nodes.complaint, values)
    names = [f"equation of {name_of(system.coordinates[i])}" for i in partition.r]
    names += [f"constraint {c.name}" for c in system.constraints]
    scale = _TOLERANCE * (1.0 + np.abs(numbers(equations.mechanics.Q, values)).max(initial=0.0))
    wrong = [f"{name}: {value:.6g}" for name, value in zip(names, left, strict=True) if abs(value) > scale]
    if wrong:
        raise VinculumError(
            Finding(
                f"The point is not an equilibrium of {system.name!r}. Residuals of the equations: {', '.join(wrong)}.",
                ["Find one with ", call("equilibrium"), "."],
            )
        )


def _stiffness(known: Mapping[str, np.ndarray]) -> np.ndarray:
    """K = C1 + C2 B + Bᵀ C3 + Bᵀ C4 B + CB - PB - P."""
    B = known["B"]
    W = known["C1"] + known["C2"] @ B + B.T @ known["C3"] + B.T @ known["C4"] @ B
    return W + known["CB"] - known["PB"] - known["P"]


def _first_order(
    equations: EquationsOfMotion,
    partition: Partition,
    who: Roles,
    known: Mapping[str, np.ndarray],
    stiffness: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, tuple[sp.Expr, ...]]:
    """η̇ = F η + H u with η = (x, ẋ, currents); conserved momenta eliminated.

    δp = A_cr ẋ + A_cc δċ + p_q x = 0 gives δċ; put into the other equations it changes A, damping and K.
    """
    place = {number: row for row, number in enumerate(partition.r)}
    x, i, c = ([place[k] for k in group] for group in (who.independent, who.driven, who.conserved))
    A, damping, K, V = known["A"], known["damping"], stiffness, known["V_u"]
    if c:
        inverse = np.linalg.inv(A[np.ix_(c, c)])
        spin, shift = -inverse @ A[np.ix_(c, range(len(A)))], -inverse @ known["momentum_slopes"][c]
        K = K + damping[:, c] @ shift
        damping = damping + damping[:, c] @ spin + A[:, c] @ shift
        A = A + A[:, c] @ spin
    moving = x + i
    M, C = A[np.ix_(moving, moving)], damping[np.ix_(moving, moving)]
    n, total = len(x), len(x) + len(moving)
    F, H = np.zeros((total, total)), np.zeros((total, V.shape[1]))
    F[:n, n : 2 * n] = np.eye(n)
    F[n:, :n] = -np.linalg.solve(M, K[np.ix_(moving, x)])
    F[n:, n:] = -np.linalg.solve(M, C)
    H[n:] = np.linalg.solve(M, V[moving])
    coordinates, velocities = equations.system.coordinates, equations.system.velocities
    states = [coordinates[k] for k in who.independent] + [velocities[k] for k in (*who.independent, *who.driven)]
    return F, H, tuple(states)


def _measured(
    equations: EquationsOfMotion, partition: Partition, states: tuple[sp.Expr, ...], B: np.ndarray
) -> dict[sp.Expr, np.ndarray]:
    """The row of η that each coordinate and velocity is, to first order; a dependent one gives a row of B."""
    system = equations.system
    unit = np.eye(len(states))
    rows = {key: unit[states.index(key)] for key in (*system.coordinates, *system.velocities) if key in states}
    for mu, number in enumerate(partition.s):
        for keys in (system.coordinates, system.velocities):
            parts = [(B[mu, j], keys[i]) for j, i in enumerate(partition.r) if keys[i] in rows]
            rows[keys[number]] = sum((b * rows[key] for b, key in parts), start=np.zeros(len(states)))
    return rows
