"""Control laws for trees of bodies, as expressions that `simulate` accepts as ``inputs`` and compiles.

    computed torque        τ = M(q) (q̈_d - 2ζω ė - ω² e) + h(q, q̇),   e = q - q_d(t)
    gravity compensation   τ = h(q, 0)
    task path              the same with q̈ from  J q̈ + J̇ q̇ = p̈_d - 2ζω ė - ω² e,   e = p(q) - p_d(t)

The last one holds the servo constraints p(q) = p_d(t) of `servo_path`: with as many torques as constraints,
J q̈ + γ + c = 0 determines q̈, and inverse dynamics the torques. `derive` finds the same torques as "reactions".
Springs, dampers and friction of the joints are compensated too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.dynamics import Dynamics
from vinculum.derivation.mechanics.lagrange import mechanics
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.servo_path import actuated, servo_path
from vinculum.errors import Finding, ModelError, SingularError, Word, call
from vinculum.expressions import as_expression
from vinculum.graph import (
    ZERO,
    GraphExpression,
    Node,
    SingularMatrix,
    evaluate,
    from_sympy,
    solve,
    substitute,
    symbol,
)
from vinculum.names import listed, name_of

Laws = dict[sp.Expr, sp.Expr]


def computed_torque(
    tree: BodyTree, desired: Mapping[sp.Expr, Any], frequency: float = 10.0, damping: float = 1.0
) -> Laws:
    """Laws {torque: expression} with which every coordinate tracks its desired function of time.

    The error obeys ë + 2ζω ė + ω² e = 0 with ω = ``frequency`` [rad/s] and ζ = ``damping``.
    """
    refuse_incomplete(tree, desired)
    actuators, time = actuated(tree), tree.time
    wanted = []
    for q in tree.coordinates:
        goal = as_expression(desired[q])
        e = symbol(q) - from_sympy(goal)
        rate = symbol(q.diff(time)) - from_sympy(goal.diff(time))
        wanted.append(from_sympy(goal.diff(time, 2)) - 2 * damping * frequency * rate - frequency**2 * e)
    return _laws(tree, actuators, wanted)


def refuse_incomplete(tree: BodyTree, desired: Mapping[sp.Expr, Any]) -> None:
    """Every joint needs a torque, every coordinate a desired motion."""
    actuated(tree)
    missing = [q for q in tree.coordinates if q not in desired]
    if missing:
        raise ModelError("Incomplete path", [f"{listed(missing)} has no desired motion."])


def gravity_compensation(tree: BodyTree) -> Laws:
    """Laws {torque: expression} that hold the arm at rest in any configuration."""
    actuators = actuated(tree)
    still = {symbol(v): ZERO for v in tree.velocities}
    torques = substitute(_inverse(tree, [ZERO] * len(tree.coordinates)), still)
    return {u: GraphExpression(tau) for u, tau in zip(actuators, torques, strict=True)}


def task_path(
    tree: BodyTree,
    body: str,
    path: Sequence[Any] = (None, None, None),
    point: Sequence[Any] = (0, 0, 0),
    *,
    at: Mapping[sp.Expr, float],
    orientation: Any = None,
    joints: Mapping[sp.Expr, Any] | None = None,
    frequency: float = 10.0,
    damping: float = 1.0,
) -> Laws:
    """Laws with which a point of a body follows a path p_d(t) and the servo constraints of `servo_path` hold.

    Pass as many conditions as coordinates: components of ``path`` (None leaves one free), ``orientation``, ``joints``.
    ``at`` is a nonsingular configuration near the path, where the order of elimination is chosen. Off the path every
    residual obeys ë + 2ζω ė + ω² e = 0, so the arm returns to it.
    """
    servos = servo_path(tree, body, path, point, orientation=orientation, joints=joints)
    terms = mechanics(tree.system(constraints=servos))
    pulls = [2 * damping * frequency * rate + frequency**2 * e for e, rate in terms.chains]
    right = [-(gamma + pull) for gamma, pull in zip(terms.gamma, pulls, strict=True)]
    return _laws(tree, actuated(tree), _solved(tree, terms.J, right, at))


def _solved(tree: BodyTree, J: np.ndarray, right: Sequence[Node], at: Mapping[sp.Expr, float]) -> list[Node]:
    values = {symbol(q): float(at[q]) for q in tree.coordinates} | {symbol(tree.time): 0.0}
    values |= {symbol(p): float(x) for p, x in tree.parameters.items()}
    numbers = np.array(evaluate(list(J.ravel()), values)).reshape(J.shape)
    column = np.empty((len(right), 1), dtype=object)
    column[:, 0] = right
    try:
        return list(solve(J, column, numbers).solution[:, 0])
    except SingularMatrix as error:
        pose = ", ".join(f"{name_of(q)} = {float(at[q]):.6g}" for q in tree.coordinates)
        advice = ("Choose another configuration: ", call("task_path", at={Word("coordinate"): Word("value")}), ".")
        raise SingularError(Finding(f"Singular configuration: {pose}.", advice)) from error


def _laws(tree: BodyTree, actuators: Sequence[sp.Expr], accelerations: Sequence[Node]) -> Laws:
    torques = _inverse(tree, accelerations)
    return {u: GraphExpression(tau) for u, tau in zip(actuators, torques, strict=True)}


def _inverse(tree: BodyTree, accelerations: Sequence[Node]) -> list[Node]:
    """τ for given accelerations, as nodes of state, time and parameters."""
    dynamics = Dynamics(tree, fold=False)
    given: dict[Node, Node] = {symbol(("acceleration", i)): a for i, a in enumerate(accelerations)}
    return substitute(dynamics.equations.inverse, given)
