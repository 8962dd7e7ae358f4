"""States at which the equations do not determine the motion, and negative inertias, in the user's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.conditioning import surely_regular
from vinculum.derivation.mechanics.explicit import refuse_dependent
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition, badly_divided, best_partition, partition_complaint
from vinculum.derivation.mechanics.sample_states import Values, numbers
from vinculum.errors import DomainError, Finding, ModelError, SingularError, call
from vinculum.names import listed, name_of

if TYPE_CHECKING:
    from vinculum.derivation.equations import EquationsOfMotion

_SINGULAR = 1e-7  # relative size at which equations count as singular
_ROUNDING = 1e-9  # a share of the largest inertia, below which a negative one is rounding


def singular_at(equations: EquationsOfMotion, known: Values) -> str:
    """A sentence on what the equations no longer determine at a state; empty if everything is determined."""
    mechanics = equations.mechanics
    if equations.form.allows_dependent:
        return ""
    if equations.partition is not None and badly_divided(mechanics, equations.partition, known):
        reason = _no_better_partition(equations, equations.partition, known)
        if reason:
            return reason
    J = equations.mechanics.gradients.at(known)
    vanishing = _vanishing(equations, J)
    if vanishing:
        return f"The constraint {', '.join(vanishing)} has no effect here: its gradient vanishes."
    if mechanics.actuators is not None:
        return ""  # `ServoLimit` watches the realizability determinant
    M = equations.mechanics.inertia.at(known)
    m = len(J)
    bordered = np.block([[M, J.T], [J, np.zeros((m, m))]])
    scale = np.sqrt(np.maximum(np.abs(bordered).max(axis=1, initial=0.0), 1e-300))
    bordered /= np.outer(scale, scale)
    if surely_regular(bordered, _SINGULAR):
        return ""
    _, singular, vectors = np.linalg.svd(bordered)
    if singular[-1] > _SINGULAR * singular[0]:
        return ""
    return _name_undetermined(equations, vectors[-1], known)


def _no_better_partition(equations: EquationsOfMotion, partition: Partition, known: Values) -> str:
    """Why dependent coordinates fail at a state; empty if Vinculum chose them and can choose others."""
    mechanics = equations.mechanics
    problem = partition_complaint(mechanics, partition, known).problem
    if not partition.chosen:
        better = listed(equations.system.coordinates[i] for i in best_partition(mechanics, known).s)
        return f"{problem} Use {better} there, or leave dependent out and let Vinculum choose."
    if set(equations.form.best_partition(mechanics, [known, *equations.samples]).s) != set(partition.s):
        return ""
    return f"{problem} The form {equations.form.name!r} allows no others. Use the form 'voronets'."


def _name_undetermined(equations: EquationsOfMotion, direction: np.ndarray, known: Values) -> str:
    """Name what takes part in the direction (q̈, -λ) that the equations do not determine."""
    system = equations.system
    names = [*map(name_of, system.coordinates), *(c.name for c in system.constraints)]
    n, part = len(system.coordinates), np.abs(direction) > 0.1 * np.abs(direction).max()
    constraints = [name for name, p in zip(names[n:], part[n:], strict=True) if p]
    q = numbers(system.nodes.q, known)
    point = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, q, strict=False))
    if len(constraints) == 1:
        return f"The constraint `{constraints[0]}` becomes singular at {point}: its reaction is no longer determined."
    if constraints:
        quoted = ", ".join(f"`{name}`" for name in constraints)
        return f"The constraints {quoted} become dependent at {point}: their reactions are no longer determined."
    moving = ", ".join(name for name, p in zip(names[:n], part[:n], strict=True) if p)
    return f"The acceleration of {moving} is fixed neither by inertia nor by a constraint at {point}."


def _vanishing(equations: EquationsOfMotion, J: np.ndarray) -> list[str]:
    """Constraints whose gradient is negligible compared with its size at the sample states."""
    usual = equations.kept.get("usual gradients", lambda: _usual_gradients(equations))
    if usual is None or not len(J):
        return []
    small = np.linalg.norm(J, axis=1) < _SINGULAR * usual
    return [c.name for c, is_small in zip(equations.system.constraints, small, strict=True) if is_small]


def _usual_gradients(equations: EquationsOfMotion) -> np.ndarray | None:
    """The median length of every gradient at the sample states; None if there are none."""
    found = []
    for values in equations.samples:
        try:
            found.append(np.linalg.norm(equations.mechanics.gradients.at(values), axis=1))
        except DomainError:
            continue
    return np.median(found, axis=0) if found else None


def refuse_redundant(equations: EquationsOfMotion, values: Values) -> None:
    """Raise where constraints are dependent at a state, unless the form accepts them."""
    system = equations.system
    if system.bodies is not None and len(system.constraints) == len(system.bodies.normalizations):
        return  # norms of different quaternions are independent
    if not equations.form.allows_dependent:
        J, q = equations.mechanics.gradients.at(values), numbers(system.nodes.q, values)
        form = None if "redundant" in equations.form.options() else "multipliers"
        refuse_dependent(J, [c.name for c in system.constraints], system.coordinates, q, form)


def refuse_negative_inertia(mechanics: Mechanics, known: Values, parameters: Mapping[sp.Symbol, float]) -> None:
    """Raise where NᵀM N has a negative eigenvalue at a state, N spanning the velocities with J N = 0."""
    system = mechanics.system
    if system.bodies is not None:
        return  # bodies are checked one by one
    M = mechanics.inertia.at(known)
    if _is_positive_definite(M):
        return
    J = mechanics.gradients.at(known)
    _, sizes, rows = np.linalg.svd(J, full_matrices=True)
    N = rows[int(np.sum(sizes > _ROUNDING * max(sizes.max(initial=0.0), 1e-300))) :].T
    inertias, directions = np.linalg.eigh(N.T @ M @ N)
    if not len(inertias) or inertias[0] >= -_ROUNDING * np.abs(inertias).max():
        return
    motion = np.abs(N @ directions[:, 0])
    moving = [q for q, part in zip(system.coordinates, motion, strict=True) if part > 0.1 * motion.max()]
    negative = ", ".join(f"{name_of(p)} = {x:.6g}" for p, x in parameters.items() if x < 0)
    advice = f"Check {negative}." if negative else "Check its signs."
    raise ModelError(
        f"the kinetic energy of {system.name!r} is negative",
        [f"a motion of {listed(moving)} has negative kinetic energy at this state. {advice}"],
    )


def _is_positive_definite(M: np.ndarray) -> bool:
    """Whether a symmetric matrix has a Cholesky factor."""
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True


def refuse_massless(mechanics: Mechanics, values: Values) -> None:
    """Raise where the mass matrix is singular, and name the coordinates that have no inertia."""
    M = mechanics.inertia.at(values)
    size = np.sqrt(np.maximum(np.abs(np.diag(M)), 1e-300))
    _, singular, vectors = np.linalg.svd(M / np.outer(size, size))
    if singular[-1] > 1e-12 * singular[0]:
        return
    coordinates = mechanics.system.coordinates
    massless = [name_of(c) for c, part in zip(coordinates, vectors[-1], strict=True) if abs(part) > 1e-3]
    raise SingularError(
        Finding(
            f"The mass matrix is singular in {', '.join(massless)}, and Lyapunov's elimination divides by it.",
            ["Use ", call("derive", form="multipliers"), ", which needs only the bordered matrix to be regular."],
        )
    )
