"""Energies and forces of a tree of bodies, from the velocities of its bodies.

T = ½ Σ_a ( m |v_C|² + (J ω, ω) ) + ½ Σ G² J_m q̇²,     V = -Σ_a m (g, r_C) + ½ Σ k (q - q_0)²
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from vinculum.describe.bodies.body import Body
from vinculum.describe.bodies.kinematics import Motion, node_of, nodes_of, quaternion_rows
from vinculum.graph import ZERO, Node, apply, lift, select, symbol
from vinculum.graph.node import compare
from vinculum.graph.vectors import cross, dot, plus, times

if TYPE_CHECKING:
    from vinculum.describe.bodies.tree import BodyTree

_HALF = Fraction(1, 2)


def kinetic_energy(tree: BodyTree) -> Node:
    """T of all bodies and rotors."""
    parts = [_of_body(tree.body(name), tree.motions[name]) for name in tree.order]
    parts += [_of_rotors(body) + _of_norm(tree, body) for body in tree.bodies]
    return _sum(parts)


def _of_body(body: Body, motion: Motion) -> Node:
    mass, center = node_of(body.mass), nodes_of(body.center_of_mass)
    J = tuple(nodes_of(row) for row in body.inertia_matrix)
    v = plus(motion.v, cross(motion.omega, center))
    return lift(_HALF * (mass * dot(v, v) + dot(times(J, motion.omega), motion.omega)))


def _of_rotors(body: Body) -> Node:
    rotors = zip(body.rates, body.each("rotor_inertia"), body.each("gear_ratio"), strict=True)
    return _sum(_HALF * node_of(G) ** 2 * node_of(Jm) * symbol(rate) ** 2 for rate, Jm, G in rotors)


def _of_norm(tree: BodyTree, body: Body) -> Node:
    """½ μ (q·q̇)² of a quaternion: zero on |q| = 1, it only makes the mass matrix nonsingular in four coordinates."""
    if not body.kind.quaternion:
        return ZERO
    q = [symbol(x) for x in body.coordinates[-4:]]
    rates = [symbol(x) for x in body.rates[-4:]]
    return _HALF * lift(tree.norm_inertia) * dot(q, rates) ** 2


def gravity_potential(tree: BodyTree) -> Node:
    """-Σ m (g, r_C)."""
    g = nodes_of(tree.gravity)
    parts = []
    for name in tree.order:
        body = tree.body(name)
        center, _ = tree.motions[name].at(nodes_of(body.center_of_mass))
        parts.append(-(node_of(body.mass) * dot(g, center)))
    return _sum(parts)


def potential_energy(tree: BodyTree) -> Node:
    """V of gravity and springs."""
    return gravity_potential(tree) + spring_potential(tree)


def spring_potential(tree: BodyTree) -> Node:
    """½ Σ k (q - q_0)²."""
    return _sum(
        _HALF * node_of(k) * (symbol(q) - node_of(rest)) ** 2
        for body in tree.bodies
        for q, k, rest in zip(body.coordinates, body.each("stiffness"), body.each("rest"), strict=True)
    )


def joint_forces(tree: BodyTree) -> dict[sp.Expr, Node]:
    """Torques, damping and Coulomb friction on every coordinate that has any."""
    forces: dict[sp.Expr, Node] = {}
    for body in tree.bodies:
        for q, force in zip(body.coordinates, _forces(body), strict=True):
            if force is not ZERO:
                forces[q] = force
    return forces


def _forces(body: Body) -> list[Node]:
    acting = _torques(body)
    for i, rate in enumerate(map(symbol, body.rates)):
        acting[i] = acting[i] - node_of(body.each("damping")[i]) * rate - _friction(body.each("friction")[i], rate)
    return acting


def _torques(body: Body) -> list[Node]:
    """Inputs along the coordinates; for a quaternion 2 Eᵀ τ with moments in body axes."""
    tau = [symbol(u) for u in body.torques]
    if not tau:
        return [ZERO] * len(body.coordinates)
    if not body.kind.quaternion:
        return tau
    rows = quaternion_rows([symbol(x) for x in body.coordinates[-4:]])
    return [*tau[:-3], *(lift(2 * dot(column, tau[-3:])) for column in zip(*rows, strict=True))]


def _friction(given: Any, rate: Node) -> Node:
    """Coulomb friction against the velocity: one magnitude, or one for each direction (both positive)."""
    if not isinstance(given, (list, tuple)):
        return node_of(given) * apply("sign", rate)
    forward, backward = (node_of(x) for x in given)
    return select(compare("less", ZERO, rate), forward, select(compare("less", rate, ZERO), -backward, ZERO))


def _sum(parts: Iterable[Node]) -> Node:
    total = ZERO
    for part in parts:
        total = total + part
    return total
