"""Lagrange's equations of a tree of bodies with M and h from recursions instead of differentiated energies."""

from __future__ import annotations

from vinculum.derive.bodies.recursion import recursion
from vinculum.derive.explicit import Explicit
from vinculum.derive.mechanics import Mechanics, Terms
from vinculum.derive.reference import Samples, numbers
from vinculum.describe import System
from vinculum.describe.bodies.energies import spring_potential
from vinculum.graph import Node, gradient, symbols, vector


def recursive_terms(system: System) -> Terms:
    """M, h (gravity included) and V_q (the springs only) of the tree the system was made from."""
    nodes = system.nodes
    steps = recursion(system.bodies)
    return Terms(steps.mass_matrix(), steps.bias(), vector(gradient(spring_potential(system.bodies), nodes.q)), steps)


def tree_accelerations(mechanics: Mechanics, samples: Samples) -> Explicit | None:
    """q̈ by the recursions, where nothing but norms of quaternions constrains the tree; else None."""
    system, steps = mechanics.system, mechanics.recursion
    if steps is None or len(system.constraints) != len(system.bodies.normalizations):
        return None
    corrections = _corrections(mechanics)
    found, pivots = steps.accelerations(mechanics.Q, corrections)
    v = system.nodes.v
    return Explicit(
        rates=(*v, *found),
        velocities=v,
        accelerations=tuple(found),
        reactions=tuple(-(system.bodies.norm_inertia * c) for c in mechanics.corrections),
        pivots=tuple(pivots),
        numbers=tuple(numbers(pivots, samples[0])),
    )


def _corrections(mechanics: Mechanics) -> dict[Node, Node]:
    """c of every norm, by the first symbol of its quaternion."""
    found: dict[Node, Node] = {}
    for c, norm in zip(mechanics.corrections, mechanics.position, strict=True):
        present = symbols([norm]) if norm is not None else set()
        found |= {hinge.q[0]: c for hinge in mechanics.recursion.hinges if len(hinge.q) == 4 and hinge.q[0] in present}
    return found
