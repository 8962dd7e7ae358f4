"""Trees of any shape against Pinocchio, to rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import sympy as sp

import vinculum as vn
from bodies.pinocchio_model import KINDS, Peer, hinge_forces, random_body, random_state, random_tree
from vinculum.derivation.bodies import recursion
from vinculum.graph import evaluate, symbol

CASES = [(kind, 4) for kind in KINDS[:-1]] + [("all", n) for n in (3, 8, 15, 30)]


@pytest.mark.parametrize(("kind", "count"), CASES)
def test_accelerations_forces_and_mass_matrix(kind, count, random):
    tree = random_tree(random, count, KINDS if kind == "all" else ("revolute", kind))
    peer, steps = Peer(tree), recursion(tree)
    state = random_state(tree, random)
    values = {symbol(key): x for key, x in state.items()}
    q, v = peer.state(state)
    tau_q = random.normal(size=len(tree.coordinates))
    for method in ("composite", "articulated"):
        nodes, _ = steps.accelerations([*map(float, tau_q)], {}, method)
        found = dict(zip(tree.coordinates, evaluate(nodes, values), strict=True))
        tau = hinge_forces(steps, tau_q, state)
        expected = pin.aba(peer.model, peer.data, q, v, tau)
        error = np.abs(peer.accelerations(state, found) - expected).max() / np.abs(expected).max()
        assert error < 1e-12
    again = evaluate(list(steps.inverse_dynamics(nodes)), values)
    assert np.allclose(hinge_forces(steps, again, state), tau, rtol=0, atol=1e-12 * np.abs(again).max())


def test_axes_that_are_parallel_up_to_printed_digits(random):
    """Quarter turns given as 1.5708 and the like, as URDF files have them: to rounding all the same."""
    bodies = []
    for i in range(8):
        turn = vn.bodies.rotation_rpy(
            random.choice([0.0, 1.5708, -1.57079632679, 1e-7]) if i % 2 else 0.0, 3.14159265359, 0.0
        )
        own = random_body(random, f"b{i}", f"b{i - 1}" if i else None, "revolute")
        bodies.append(replace(own, axis=(0, 0, 1), rotation=turn))
    tree = vn.BodyTree(bodies)
    peer, state = Peer(tree), random_state(tree, random)
    q, v = ([state[key] for key in keys] for keys in (tree.coordinates, tree.velocities))
    expected = pin.rnea(peer.model, peer.data, *peer.state(state), np.zeros(8))
    for method in ("articulated", "looped"):
        assert np.abs(vn.bodies.dynamics(tree, method).bias(q, v) - expected).max() < 1e-14 * np.abs(expected).max()


@pytest.mark.parametrize("count", [9, 30])
@pytest.mark.parametrize("base", ["translating", "turning", "tumbling"])
def test_moving_base(base, count, random):
    """The base imposed: Pinocchio gets it as a free base with the accelerations it has at this instant."""
    t = sp.Symbol("t")
    options = {"base_velocity": (sp.sin(2 * t), sp.cos(t) / 2, t**2 / 3)}
    if base == "turning":
        options["base_angular_velocity"] = (sp.cos(t), 2 * sp.cos(t), -sp.cos(t))
    if base == "tumbling":
        options["base_rotation"] = sp.rot_axis3(-sp.sin(t)) * sp.rot_axis1(-(t**2))
    tree = random_tree(random, count, **options)
    peer, now = Peer(tree, on_free_base=True), 0.7
    state = random_state(tree, random)
    accelerations = random.normal(size=len(tree.coordinates))
    found = recursion(tree).inverse_dynamics([*map(float, accelerations)])
    values = {symbol(key): x for key, x in state.items()} | {symbol(tree.time): now}
    q, v, a = _base_state(tree, now)
    own_q, own_v = peer.state(state)
    own_a = peer.accelerations(state, dict(zip(tree.coordinates, accelerations, strict=True)))
    tau = pin.rnea(peer.model, peer.data, np.r_[q, own_q], np.r_[v, own_v], np.r_[a, own_a])
    hinge = hinge_forces(recursion(tree), evaluate(list(found), values), state)
    assert np.abs(hinge - tau[6:]).max() < 1e-12 * np.abs(tau).max()


def _base_state(tree, now):
    """Pinocchio's coordinates, velocity and acceleration of the base, the latter in its axes."""
    base = tree.base
    numbers = {}
    for key in ("position", "velocity", "acceleration", "rotation", "angular_velocity", "angular_acceleration"):
        numbers[key] = np.array(getattr(base, key).subs(tree.time, now).evalf(20).tolist(), dtype=float)
    R = numbers["rotation"]
    velocity, omega, acceleration, alpha = (
        R.T @ numbers[key][:, 0] for key in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    )
    quaternion = pin.Quaternion(R).coeffs()
    return (
        np.r_[numbers["position"][:, 0], quaternion],
        np.r_[velocity, omega],
        np.r_[acceleration - np.cross(omega, velocity), alpha],
    )


def test_pinocchio_itself_needs_our_renumbering(random):
    """The trap of the paper's weaker numbering: joints that are not added depth first give a wrong crba."""
    parents = (None, "b0", "b0", "b1")
    bodies = [random_body(random, f"b{i}", parent, "revolute") for i, parent in enumerate(parents)]
    tree = vn.BodyTree(bodies)
    assert tree.order == ("b0", "b1", "b3", "b2")
    state = random_state(tree, random)
    M = vn.bodies.dynamics(tree).mass_matrix([state[q] for q in tree.coordinates])
    peer = Peer(tree)
    expected = np.triu(pin.crba(peer.model, peer.data, peer.state(state)[0]))
    place = [tree.order.index(body.name) for body in bodies]
    assert np.allclose(np.triu(M[np.ix_(np.argsort(place), np.argsort(place))]), expected, rtol=0, atol=1e-12)
