"""The linear model of equations at an equilibrium. Any other point is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.first_approximation import FirstApproximation, first_approximation
from vinculum.analyze.ignorable import Roles, ignorable, roles
from vinculum.analyze.linear_model import LinearModel, NormalForm, StateRows, first_order
from vinculum.analyze.servo import refuse_servo
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.mechanics.partition import Partition, best_partition, refuse_nonholonomic
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.derivation.mechanics.singular import refuse_negative_inertia
from vinculum.errors import Finding, ModelError, VinculumError, call
from vinculum.graph import Node, symbol
from vinculum.names import name_of

_TOLERANCE = 1e-7
_NAMES = ("A", "G", "D", "C1", "C2", "C3", "C4", "CB", "PB", "P", "B", "V_u", "damping", "momentum_slopes")


def linearize(equations: EquationsOfMotion, at: Mapping[sp.Expr, float]) -> LinearModel:
    """The strict first approximation at an equilibrium or steady motion.

    ``at`` is an `Equilibrium`, or values of all coordinates and inputs (velocities of ignorable coordinates too). A
    point that violates the constraints or is not an equilibrium is an error that lists the residual of each equation.
    """
    refuse_servo(equations.system)
    refuse_nonholonomic(equations.system)
    values = _values(equations, at)
    refuse_negative_inertia(equations.mechanics, values, {p: values[symbol(p)] for p in equations.system.parameters})
    partition = _partition(equations, values)
    nodes = first_approximation(equations.mechanics, partition, [values])
    _refuse_wrong_point(equations, partition, nodes, values)
    known = {name: numbers(getattr(nodes, name), values) for name in FirstApproximation.__dataclass_fields__}
    arrays: dict[str, Any] = {name: known[name] for name in _NAMES}
    K, roles_of = _stiffness(known), roles(equations, partition.s)
    rows, states = _state_rows(partition, roles_of), _states(equations, roles_of)
    F, H = first_order(known["A"], known["damping"], K, known["V_u"], known["momentum_slopes"], rows)
    return LinearModel(
        equations=equations,
        at=at if isinstance(at, Equilibrium) else Equilibrium(dict(at), {}, 0.0),
        states=states,
        inputs=tuple(equations.system.inputs),
        **arrays,
        stiffness=K,
        normal_form=_normal_form(known),
        system_matrix=F,
        input_matrix=H,
        rows=rows,
        critical=len(partition.s) + len(roles_of.conserved),
        measured=_measured(equations, partition, states, known["B"]),
    )


def _state_rows(partition: Partition, roles_of: Roles) -> StateRows:
    row = {number: row for row, number in enumerate(partition.r)}
    groups = (roles_of.independent, roles_of.driven, roles_of.conserved)
    return StateRows(*(tuple(row[number] for number in group) for group in groups))


def _states(equations: EquationsOfMotion, roles_of: Roles) -> tuple[sp.Expr, ...]:
    coordinates, velocities = equations.system.coordinates, equations.system.velocities
    moving = (*roles_of.independent, *roles_of.driven)
    return (*(coordinates[i] for i in roles_of.independent), *(velocities[i] for i in moving))


def _normal_form(known: Mapping[str, np.ndarray]) -> NormalForm:
    """a = -A⁻¹ ∂R/∂r, h = -A⁻¹ ∂R/∂s, b = -A⁻¹ (G - D); then K = -A (a + hB)."""
    parts = (known["slopes_r"], known["slopes_s"], known["damping"])
    return NormalForm(*(-np.linalg.solve(known["A"], part) for part in parts))


def _values(equations: EquationsOfMotion, at: Mapping[sp.Expr, float]) -> dict[Node, float]:
    system = equations.system
    rest = dict.fromkeys(system.velocities, 0.0) | dict.fromkeys(ignorable(equations), 0.0)
    parameters = dict(system.parameters) | (dict(at.parameters) if isinstance(at, Equilibrium) else {})
    complete = {system.time: 0.0} | parameters | rest | dict(at)
    missing = [key for key in (*system.coordinates, *system.inputs) if key not in complete]
    if missing:
        names = ", ".join(map(name_of, missing))
        raise ModelError(
            "Invalid point at=", [Finding(f"No value for {names}.", ["Find the point with ", call("equilibrium"), "."])]
        )
    return {symbol(key): float(value) for key, value in complete.items()}


def _partition(equations: EquationsOfMotion, values: Mapping[Node, float]) -> Partition:
    """The partition of the form, or the best conditioned one; ignorable coordinates are never dependent."""
    return equations.partition or best_partition(equations.mechanics, values)


def _refuse_wrong_point(
    equations: EquationsOfMotion, partition: Partition, nodes: FirstApproximation, values: Mapping[Node, float]
) -> None:
    system = equations.system
    left = numbers(nodes.residual, values)
    names = [f"equation of {name_of(system.coordinates[i])}" for i in partition.r]
    names += [f"constraint {c.name}" for c in system.constraints]
    scale = _TOLERANCE * (1.0 + np.abs(numbers(equations.mechanics.Q, values)).max(initial=0.0))
    wrong = [f"{name}: {value:.6g}" for name, value in zip(names, left, strict=True) if abs(value) > scale]
    if wrong:
        raise VinculumError(
            Finding(
                f"The point is not an equilibrium of {system.name!r}. Residuals: {', '.join(wrong)}.",
                ["Find one with ", call("equilibrium"), "."],
            )
        )


def _stiffness(known: Mapping[str, np.ndarray]) -> np.ndarray:
    """K = C1 + C2 B + Bᵀ C3 + Bᵀ C4 B + CB - PB - P."""
    B = known["B"]
    W = known["C1"] + known["C2"] @ B + B.T @ known["C3"] + B.T @ known["C4"] @ B
    return W + known["CB"] - known["PB"] - known["P"]


def _measured(
    equations: EquationsOfMotion, partition: Partition, states: tuple[sp.Expr, ...], B: np.ndarray
) -> dict[sp.Expr, np.ndarray]:
    """Each coordinate and velocity to first order, as a row of η; a dependent one gives a row of B."""
    system = equations.system
    unit = np.eye(len(states))
    rows = {key: unit[states.index(key)] for key in (*system.coordinates, *system.velocities) if key in states}
    for mu, number in enumerate(partition.s):
        for keys in (system.coordinates, system.velocities):
            parts = [(B[mu, j], keys[i]) for j, i in enumerate(partition.r) if keys[i] in rows]
            rows[keys[number]] = sum((b * rows[key] for b, key in parts), start=np.zeros(len(states)))
    return rows
