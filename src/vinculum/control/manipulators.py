"""Control laws for trees of bodies, as expressions that `simulate` accepts as ``inputs`` and compiles.

    computed torque        τ = M(q) (q̈_d - 2ζω ė - ω² e) + h(q, q̇),   e = q - q_d(t)
    gravity compensation   τ = h(q, 0)
    task path              the same with q̈ from  J q̈ + J̇ q̇ = p̈_d - 2ζω ė - ω² e,   e = p(q) - p_d(t)

The last one holds the servo constraints p(q) = p_d(t) of `servo_path`: with as many torques as constraints,
J q̈ + γ + c = 0 determines q̈, and inverse dynamics the torques. `derive` finds the same torques as "reactions".
Springs, dampers and friction of the joints are compensated too. In a closed loop some joints have no motor: then as
many joints or components follow a path as there are torques, and `tracking_laws` finds the torques and the reactions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.dynamics import Dynamics
from vinculum.control.tracking import tracking_laws
from vinculum.derivation.mechanics.lagrange import mechanics
from vinculum.describe import Servo, System
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.joint_dimensions import of_coordinates
from vinculum.describe.bodies.servo_path import actuated, servo_path
from vinculum.errors import Finding, Formula, ModelError, SingularError, Word, call
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
from vinculum.names import listed, name_of, suggestion
from vinculum.units.dimensions import RATE, Dimension
from vinculum.units.given import number_in_si, numbers_in_si

Laws = dict[sp.Expr, sp.Expr]


def computed_torque(
    tree: BodyTree | System,
    desired: Mapping[sp.Expr | str, Any],
    frequency: float = 10.0,
    damping: float = 1.0,
    *,
    at: Mapping[sp.Expr, float] | None = None,
) -> Laws:
    """Laws {torque: expression} with which every coordinate tracks its desired function of time.

    The error obeys ë + 2ζω ė + ω² e = 0 with ω = ``frequency`` [rad/s] and ζ = ``damping``. ``tree`` may also be a
    system, such as that of `from_urdf`. If it has constraints (closed loops, mimic joints), ``desired`` contains as
    many coordinates as there are degrees of freedom and torques; the others follow. The order of elimination is then
    chosen on the path, or at the configuration ``at``.
    """
    frequency = number_in_si(frequency, RATE, "frequency", "Invalid path")
    at = None if at is None else numbers_in_si(at, _dimensions(tree), "Invalid configuration")
    tree = tree.bodies if isinstance(tree, System) and _is_free_tree(tree) else tree
    goals = {q: as_expression(goal) for q, goal in _by_coordinate(tree, desired).items()}
    refuse_incomplete(tree, goals)
    if isinstance(tree, System) or len(goals) < len(tree.coordinates):
        system = tree if isinstance(tree, System) else tree.system()
        servos = [Servo(q - goal, through=system.inputs, name=f"{name_of(q)} path") for q, goal in goals.items()]
        return tracking_laws(system, servos, frequency, damping, at)
    time, wanted = tree.time, []
    for q in tree.coordinates:
        e = symbol(q) - from_sympy(goals[q])
        rate = symbol(q.diff(time)) - from_sympy(goals[q].diff(time))
        wanted.append(from_sympy(goals[q].diff(time, 2)) - 2 * damping * frequency * rate - frequency**2 * e)
    return _laws(tree, actuated(tree), wanted)


def _dimensions(tree: BodyTree | System) -> dict[sp.Expr, Dimension]:
    """The dimensions of the coordinates of a tree."""
    bodies = tree.bodies if isinstance(tree, BodyTree) else getattr(tree.bodies, "bodies", ())
    pairs = (zip(b.coordinates, of_coordinates(b.joint), strict=False) for b in bodies)
    return {q: dimension for pair in pairs for q, dimension in pair}


def _is_free_tree(system: System) -> bool:
    """Whether a system is its tree of bodies without any constraint."""
    return system.bodies is not None and system.bodies.moves(system) and not system.constraints


def _by_coordinate(tree: BodyTree | System, desired: Mapping[sp.Expr | str, Any]) -> dict[sp.Expr, Any]:
    """The desired motions by coordinate; a name as text stands for the coordinate."""
    if not isinstance(desired, Mapping):
        advice = ["Use ", call("computed_torque", desired={Word("coordinate"): Formula("function of t")}), "."]
        raise ModelError("Invalid path", [Finding(f"it is {desired!r}.", advice)])
    names = {name_of(q): q for q in tree.coordinates}
    found = {names.get(q, q) if isinstance(q, str) else q: goal for q, goal in desired.items()}
    unknown = [q for q in found if q not in tree.coordinates]
    if unknown:
        raise ModelError(
            "Invalid path",
            [
                f"{label} is not a coordinate.{suggestion(label, names) or f' The coordinates are {listed(names)}.'}"
                for label in map(name_of, unknown)
            ],
        )
    return found


def refuse_incomplete(tree: BodyTree | System, desired: Mapping[sp.Expr, Any]) -> None:
    """Every coordinate needs a desired motion and a torque; with constraints, every degree of freedom."""
    missing = [q for q in tree.coordinates if q not in desired]
    if not missing and isinstance(tree, BodyTree):
        actuated(tree)
    elif not tree.constraints and missing:
        verb = "has" if len(missing) == 1 else "have"
        raise ModelError("Incomplete path", [f"{listed(missing)} {verb} no desired motion."])
    else:
        _refuse_wrong_count(tree, desired)


def _refuse_wrong_count(tree: BodyTree | System, desired: Mapping[sp.Expr, Any]) -> None:
    """As many desired motions and torques as degrees of freedom."""
    freedom = len(tree.coordinates) - len(tree.constraints)
    of_freedom = f"for {freedom} degree{'s' * (freedom != 1)} of freedom"
    found = []
    if len(desired) != freedom:
        found.append(
            f"{len(desired)} desired motion{'s' * (len(desired) != 1)} ({listed(desired) or 'none'}) {of_freedom}: the "
            f"constraints determine the other coordinates. Give {freedom} of {listed(tree.coordinates)}."
        )
    if len(tree.inputs) != freedom:
        found.append(
            f"{len(tree.inputs)} torque{'s' * (len(tree.inputs) != 1)} ({listed(tree.inputs) or 'none'}) {of_freedom}. "
            f"Give torques to {freedom} joints, in a URDF with from_urdf(..., actuated=[joints])."
        )
    if found:
        raise ModelError("the path does not determine the torques", found)


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
    at: Mapping[sp.Expr, float] | None = None,
    orientation: Any = None,
    joints: Mapping[sp.Expr, Any] | None = None,
    frequency: float = 10.0,
    damping: float = 1.0,
) -> Laws:
    """Laws with which a point of a body follows a path p_d(t) and the servo constraints of `servo_path` hold.

    Pass as many conditions as torques: components of ``path`` (None leaves one free), ``orientation``, ``joints``.
    ``at`` is a nonsingular configuration near the path, where the order of elimination is chosen; without it, states
    on the path are used. Off the path every residual obeys ë + 2ζω ė + ω² e = 0, so the arm returns to it.
    """
    frequency = number_in_si(frequency, RATE, "frequency", "Invalid path")
    at = None if at is None else numbers_in_si(at, _dimensions(tree), "Invalid configuration")
    servos = servo_path(tree, body, path, point, orientation=orientation, joints=joints)
    if at is None or tree.constraints:
        return tracking_laws(tree.system(), servos, frequency, damping, at)
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
