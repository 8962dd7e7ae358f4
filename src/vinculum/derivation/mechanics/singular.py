"""Where equations stop determining the motion: found next to it, and named in the user's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vinculum.derivation.mechanics.partition import badly_divided, partition_complaint
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import DomainError
from vinculum.names import name_of

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion

_SINGULAR = 1e-7  # relative size at which equations count as singular


def singular_at(equations: EquationsOfMotion, known: Values) -> str:
    """What the equations no longer determine at a state, or nothing."""
    mechanics = equations.mechanics
    if equations.redundant == "least_squares":
        return ""
    if equations.partition is not None and badly_divided(mechanics, equations.partition, known):
        found = partition_complaint(mechanics, equations.partition, known)
        return f"{found.problem} Leave dependent out to let Vinculum choose."
    vanishing = vanishing_constraints(equations, known)
    if vanishing:
        return f"The constraint {', '.join(vanishing)} does not act here: its gradient vanishes."
    if mechanics.actuators is not None:
        return ""  # servo constraints have a condition of their own, the realizability determinant
    M, J = numbers(mechanics.M, known), numbers(mechanics.J, known)
    m = len(J)
    bordered = np.block([[M, J.T], [J, np.zeros((m, m))]])
    scale = np.sqrt(np.maximum(np.abs(bordered).max(axis=1, initial=0.0), 1e-300))
    _, singular, vectors = np.linalg.svd(bordered / np.outer(scale, scale))
    if singular[-1] > _SINGULAR * singular[0]:
        return ""
    return _blamed(equations, vectors[-1], known)


def _blamed(equations: EquationsOfMotion, direction: np.ndarray, known: Values) -> str:
    """Name what takes part in the direction (q̈, -λ) that the equations do not determine."""
    system = equations.system
    names = [*map(name_of, system.coordinates), *(c.name for c in system.constraints)]
    n, part = len(system.coordinates), np.abs(direction) > 0.1 * np.abs(direction).max()
    constraints = [name for name, p in zip(names[n:], part[n:], strict=True) if p]
    q = numbers(system.nodes.q, known)
    point = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, q, strict=False))
    if len(constraints) == 1:
        return f"The constraint `{constraints[0]}` loses its hold at {point}: its reaction is no longer determined."
    if constraints:
        quoted = ", ".join(f"`{name}`" for name in constraints)
        return f"The constraints {quoted} become dependent at {point}: their reactions are no longer determined."
    moving = ", ".join(name for name, p in zip(names[:n], part[:n], strict=True) if p)
    return f"The acceleration of {moving} is fixed neither by inertia nor by a constraint at {point}."


def vanishing_constraints(equations: EquationsOfMotion, known: Values) -> list[str]:
    """Constraints whose gradient is next to nothing beside what it is at generic states."""
    J = numbers(equations.mechanics.J, known)
    usual = [np.linalg.norm(rows, axis=1) for rows in _generic_gradients(equations)]
    if not usual or not len(J):
        return []
    small = np.linalg.norm(J, axis=1) < _SINGULAR * np.median(usual, axis=0)
    return [c.name for c, is_small in zip(equations.system.constraints, small, strict=True) if is_small]


def _generic_gradients(equations: EquationsOfMotion) -> list[np.ndarray]:
    found = []
    for values in equations.generic:
        try:
            found.append(numbers(equations.mechanics.J, values))
        except DomainError:
            continue
    return found
