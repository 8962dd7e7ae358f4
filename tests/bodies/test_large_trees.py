"""Trees of thousands of bodies: right to rounding, and work that grows with the number of bodies, not faster."""

from __future__ import annotations

import sys

import numpy as np
import pinocchio as pin
import pytest
import sympy as sp

import vinculum as vn
from benchmarks.chains import urdf
from bodies.newton_euler import joint_forces
from bodies.pinocchio_model import KINDS, Peer, hinge_forces, random_state, random_tree
from vinculum.graph import DeferredExpression


def calls(work):
    """The number of calls of Python functions that some work makes."""
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def first_acceleration(text):
    """From the file to q̈ by both roads: the compiled recursion and the derived equations."""
    system = vn.from_urdf(text)
    tree = system.bodies
    n = len(tree.coordinates)
    q, v = np.full(n, 0.1), np.full(n, 0.2)
    damping = -0.1 * v
    compiled = vn.bodies.dynamics(tree).forward(q, v, np.zeros(n))
    state = dict(zip(tree.coordinates, q, strict=True)) | dict(zip(tree.velocities, v, strict=True))
    derived = np.array(list(vn.derive(system).accelerations(state).values()))
    return tree, q, v, damping, compiled, derived


def test_links_from_urdf_agree_with_pinocchio():
    """More than 150 joints would cost gigabytes: Pinocchio's Data has tables with n³ entries."""
    tree, q, v, damping, compiled, derived = first_acceleration(urdf(150))
    peer = Peer(tree)
    state = dict(zip(tree.coordinates, q, strict=True)) | dict(zip(tree.velocities, v, strict=True))
    places = {slot[0]: i for i, slot in enumerate(peer.slots)}
    expected = pin.aba(peer.model, peer.data, *peer.state(state), damping)
    expected = np.array([expected[places[x]] for x in tree.coordinates])
    assert np.abs(compiled - expected).max() < 1e-12 * np.abs(expected).max()
    assert np.abs(derived - expected).max() < 1e-12 * np.abs(expected).max()


def test_a_thousand_links_from_urdf_by_both_roads():
    _, _, _, _, compiled, derived = first_acceleration(urdf(1000))
    assert np.array_equal(compiled, derived) or np.abs(compiled - derived).max() < 1e-12 * np.abs(compiled).max()


@pytest.mark.parametrize("count", [30, 1000])
def test_a_thousand_bodies_on_all_joints_obey_newton_and_euler(count, random):
    """In shuffled order, with ball joints and free bodies: the forces of the textbook, and back to the motion."""
    tree = random_tree(random, count, KINDS)
    arm, state = vn.bodies.dynamics(tree, "looped"), random_state(tree, random)
    given = acceleration_of(tree, state, random)
    q, v, a = (
        np.array([values[key] for key in keys])
        for values, keys in ((state, tree.coordinates), (state, tree.velocities), (given, tree.coordinates))
    )
    tau = arm.inverse(q, v, a)
    rates = {q: state[q.diff()] for q in tree.coordinates}
    expected = joint_forces(tree, state, rates, given)
    expected = np.concatenate([expected[tuple(q.value for q in hinge.q)] for hinge in arm.recursion.hinges])
    found = hinge_forces(arm.recursion, tau, state)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    again = arm.forward(q, v, tau)
    assert np.abs(again - a).max() < 1e-9 * np.abs(a).max()


def acceleration_of(tree, state, random):
    """Random q̈ that keep the length of every quaternion: q·q̈ = -|q̇|²."""
    found = {}
    for body in tree.bodies:
        a = random.normal(size=len(body.coordinates))
        if body.kind.quaternion:
            x, dx = (np.array([state[key] for key in keys[-4:]]) for keys in (body.coordinates, body.rates))
            a[-4:] -= x * (x @ a[-4:] + dx @ dx)
        found |= dict(zip(body.coordinates, a, strict=True))
    return found


def test_the_work_grows_with_the_number_of_links():
    """Twice the links, at most 2.2 times the calls, from the text to the first acceleration."""
    texts = [urdf(n) for n in (100, 200, 400)]
    first_acceleration(texts[0])  # what is imported and compiled once
    few, some, many = (calls(lambda text=text: first_acceleration(text)) for text in texts)
    assert some < 2.2 * few
    assert many < 2.2 * some


def test_no_energies_are_built_unless_they_are_asked_for(random):
    """Not by the recursions and not by the equations; asked for, they are those of the bodies one by one."""
    tree = random_tree(random, 60, ("revolute", "prismatic"))
    system = tree.system()
    equations = vn.derive(system)
    state = random_state(tree, random)
    equations.accelerations(state)
    energies = (system.kinetic_energy, system.potential_energy)
    assert all(isinstance(x, DeferredExpression) and "node" not in vars(x) for x in energies)
    T, V = (float(x.xreplace({key: sp.Float(y) for key, y in state.items()})) for x in energies)
    peer = Peer(tree)
    q, v = peer.state(state)
    assert pytest.approx(pin.computeKineticEnergy(peer.model, peer.data, q, v), rel=1e-12) == T
    assert pytest.approx(pin.computePotentialEnergy(peer.model, peer.data, q), rel=1e-11) == V


def test_a_large_tree_pickles_with_its_equations(random):
    import pickle

    tree = random_tree(random, 40, ("revolute",))
    system, state = tree.system(), random_state(tree, random)
    expected = vn.derive(system).accelerations(state)
    again = pickle.loads(pickle.dumps(system))
    found = vn.derive(again).accelerations(state)
    assert again.bodies.moves(again)
    assert np.allclose(list(found.values()), list(expected.values()), rtol=1e-12)
