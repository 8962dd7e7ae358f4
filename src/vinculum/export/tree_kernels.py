"""The kernels of a tree of bodies: dynamics, kinematics and Jacobians.

    forward       q̈ of (q, q̇, τ)
    inverse       τ of (q, q̇, q̈)
    bias          h(q, q̇) with gravity
    mass_matrix   M(q), row by row

and for every point its position, rotation and velocity, and the Jacobians of velocity and angular velocity, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vinculum.derivation.bodies.tree_equations import TreeEquations
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.kinematics import nodes_of
from vinculum.errors import ModelError
from vinculum.export.identifiers import distinct, identifier, label_of
from vinculum.export.kernel import Group, Kernel
from vinculum.graph import Node, symbol

Points = Mapping[str, tuple[str, Sequence[Any]]]  # name of a point: body, place in its frame
_AXES = ("x", "y", "z")


def tree_kernels(tree: BodyTree, points: Points | None = None) -> tuple[list[Kernel], dict[Node, float]]:
    """The kernels, and values of the parameters. Without ``points`` the origins of all bodies."""
    equations = TreeEquations(tree)
    labels = [label_of(q) for q in tree.coordinates]
    t = Group("t", (equations.time,), ("t",), "time", scalar=True)
    q = Group("q", equations.q, tuple(labels), "coordinates")
    v = Group("v", equations.v, tuple(label_of(key) for key in tree.velocities), "velocities")
    tau = Group("tau", equations.u, tuple(f"force of {x}" for x in labels), "generalized forces of the actuators")
    a = Group("a", equations.a, tuple(f"{x}_ddot" for x in labels), "accelerations")
    p = Group("p", tuple(map(symbol, tree.parameters)), tuple(map(label_of, tree.parameters)), "parameters")

    def made(name: str, about: str, given: Sequence[Group], result: str, nodes: Sequence[Node], names: Sequence[str],
             what: str) -> Kernel:  # fmt: skip
        return Kernel(name, about, (t, *given, p), (Group(result, tuple(nodes), tuple(names), what),))

    method = "composite" if equations.recursion.size <= 8 else "articulated"
    plain = [""] * len(labels) ** 2
    found = [
        made("forward", "Accelerations from forces.", (q, v, tau), "a", equations.forward(method), a.labels, a.about),
        made("inverse", "Forces for given accelerations.", (q, v, a), "tau", equations.inverse, tau.labels, tau.about),
        made("bias", "M a + h = tau: h with gravity.", (q, v), "h", equations.bias, labels, "bias"),
        made("mass_matrix", "M of M a + h = tau, row by row.", (q,), "M", equations.mass_matrix, plain, "mass matrix"),
    ]
    chosen = points if points is not None else {name: (name, (0, 0, 0)) for name in tree.order}
    _refuse(tree, chosen)
    for name, (body, place) in zip(distinct(map(identifier, chosen)), chosen.values(), strict=True):
        found += _of_point(equations, made, name, body, nodes_of(place), (q, v))
    return found, {symbol(key): float(value) for key, value in tree.parameters.items()}


def _of_point(
    equations: TreeEquations, made: Any, name: str, body: str, place: tuple[Node, ...], given: tuple[Group, Group]
) -> list[Kernel]:
    q, v = given
    slots, nine = [""] * (3 * len(q)), [""] * 9
    jacobian, turning = equations.jacobian(body, place), equations.angular_jacobian(body)
    return [
        made(f"{name}_position", f"Where {name} is.", (q,), "r", equations.position(body, place), _AXES, "position"),
        made(f"{name}_rotation", f"The axes of {body} as columns.", (q,), "R", equations.rotation(body), nine,
             "rotation, row by row"),
        made(f"{name}_velocity", f"The velocity of {name}.", (q, v), "w", equations.velocity(body, place), _AXES,
             "velocity"),
        made(f"{name}_jacobian", f"The velocity of {name} is J v.", (q,), "J", jacobian, slots, "Jacobian, row by row"),
        made(f"{name}_angular_jacobian", f"The angular velocity of {body} is J v.", (q,), "J", turning, slots,
             "Jacobian, row by row"),
    ]  # fmt: skip


def _refuse(tree: BodyTree, points: Points) -> None:
    unknown = [body for body, _ in points.values() if body not in tree.order]
    if unknown:
        raise ModelError("Invalid points", [f"{unknown[0]} is not a body. The bodies are {', '.join(tree.order)}."])
