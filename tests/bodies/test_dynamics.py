"""Compiled dynamics: one state and many, derivatives, run-time parameters; laws of mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from bodies.pinocchio_model import random_state, random_tree
from examples.planar_arms import J, g, l, m, rho
from examples.planar_arms import tree as planar
from vinculum.compile.lanes import lanes
from vinculum.graph import apply, symbol


def states(tree, random, rows):
    drawn = [random_state(tree, random) for _ in range(rows)]
    return tuple(np.array([[s[k] for k in keys] for s in drawn]) for keys in (tree.coordinates, tree.velocities))


@pytest.mark.parametrize("rows", [1, 3, 8, 29])
def test_many_states_at_once(rows, random):
    tree = random_tree(random, 6)
    arm = vn.dynamics(tree)
    q, v = states(tree, random, rows)
    tau = random.normal(size=q.shape)
    batch = arm.forward(q, v, tau)
    assert batch.shape == q.shape
    for i in range(rows):
        assert np.allclose(batch[i], arm.forward(q[i], v[i], tau[i]), rtol=1e-11, atol=1e-11 * np.abs(batch[i]).max())


def test_forward_undoes_inverse(random):
    tree = random_tree(random, 14, ("revolute", "prismatic", "universal", "planar"))
    q, v = states(tree, random, 5)
    a = random.normal(size=q.shape)
    for method in ("composite", "articulated"):
        arm = vn.dynamics(tree, method)
        assert np.allclose(arm.forward(q, v, arm.inverse(q, v, a)), a, rtol=0, atol=1e-10)


def test_inverse_is_mass_matrix_and_bias(random):
    tree = random_tree(random, 9)
    arm = vn.dynamics(tree)
    q, v = states(tree, random, 4)
    a = random.normal(size=q.shape)
    whole = arm.inverse(q, v, a)
    parts = np.einsum("kij,kj->ki", arm.mass_matrix(q), a) + arm.bias(q, v)
    norm = tree.norm_inertia  # the mass matrix of a quaternion also holds μ q qᵀ
    for body in tree.bodies:
        if body.joint in ("spherical", "free"):
            places = [tree.coordinates.index(x) for x in body.coordinates[-4:]]
            x = q[:, places]
            parts[:, places] -= norm * x * (x * a[:, places]).sum(axis=1, keepdims=True)
    assert np.allclose(whole, parts, rtol=0, atol=1e-12 * np.abs(whole).max())


def test_derivatives(random):
    tree = random_tree(random, 5, ("revolute", "prismatic", "cylindrical"))
    arm = vn.dynamics(tree)
    (q,), (v,) = states(tree, random, 1)
    tau, h = random.normal(size=q.shape), 1e-6
    by_q, by_v, by_tau = arm.forward_derivatives(q, v, tau)
    for found, place in ((by_q, 0), (by_v, 1), (by_tau, 2)):
        given = np.array([q, v, tau])
        for j in range(len(q)):
            step = np.zeros_like(given)
            step[place, j] = h
            slope = (arm.forward(*(given + step)) - arm.forward(*(given - step))) / (2 * h)
            assert np.allclose(found[:, j], slope, rtol=0, atol=1e-6 * max(1, np.abs(found).max()))


def test_kinetic_energy_is_half_the_mass_matrix_in_the_velocities(random):
    tree = random_tree(random, 6)
    q, v = states(tree, random, 1)
    M = vn.dynamics(tree).mass_matrix(q[0])
    assert np.linalg.eigvalsh(M)[0] > 0
    values = dict(zip((*tree.coordinates, *tree.velocities), (*q[0], *v[0]), strict=True))
    from vinculum.graph import evaluate, from_sympy

    T = evaluate([from_sympy(tree.system().kinetic_energy)], {symbol(k): x for k, x in values.items()})[0]
    assert pytest.approx(v[0] @ M @ v[0] / 2, rel=1e-13) == T


@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
def test_recursions_and_differentiated_energies_agree(form, random):
    """The same system with and without its tree: M and h from recursions, or from T and V."""
    system = random_tree(random, 4).system()
    state = {**random_state(system.bodies, random)}
    one = vn.derive(system, form).accelerations(state)
    two = vn.derive(replace(system, bodies=None), form).accelerations(state)
    scale = max(map(abs, one.values()))
    assert all(abs(one[key] - two[key]) < 1e-11 * scale for key in one)


def test_turning_base_agrees_with_differentiated_energies(random):
    t = sp.Symbol("t")
    kinds = ("revolute", "prismatic", "universal")
    tree = random_tree(random, 3, kinds, base_velocity=(sp.sin(t), 0, t), base_angular_velocity=(0, sp.cos(t), 0))
    system = tree.system()
    state = random_state(tree, random) | {tree.time: 0.4}
    one, two = (vn.derive(s).accelerations(state) for s in (system, replace(system, bodies=None)))
    scale = max(map(abs, one.values()))
    assert all(abs(one[key] - two[key]) < 1e-12 * scale for key in one)


def test_run_time_parameters_are_a_choice():
    tree = planar(3)
    folded, free = vn.dynamics(tree), vn.dynamics(tree, fold=False)
    given = [0.3, -0.5, 1.0], [1.0, 2.0, -1.0], [0.1, 0.2, 0.3]
    assert np.allclose(folded.forward(*given), free.forward(*given), rtol=1e-13)
    other = {m[1]: 3.0, l[0]: 0.7, rho[2]: 0.4, J[0]: 0.2, g: 1.6}
    changed = vn.dynamics(replace(tree, parameters=dict(tree.parameters) | other))
    assert np.allclose(free.with_parameters(other).forward(*given), changed.forward(*given), rtol=1e-13)
    assert not np.allclose(folded.forward(*given), changed.forward(*given), rtol=1e-3)


def test_sines_and_cosines_to_the_last_place(random):
    x = symbol("x")
    code = lanes([x], [], [apply("sin", x), apply("cos", x)], 4)
    near = np.pi / 2 * np.arange(-400, 400)
    angles = np.concatenate(
        [random.uniform(-9e5, 9e5, 4000), random.normal(size=4000), near, [1e7, -3e12, 0.0, 1e-300]]
    )
    found = code(angles[None, :], np.zeros(0))
    expected = np.array([np.sin(angles), np.cos(angles)])
    assert np.abs(found - expected).max() < 3e-16
    small = np.abs(expected) < 1e-3
    assert np.all(np.abs(found - expected)[small] <= 1e-15 * np.abs(expected[small]) + 1e-310)


def test_a_wrong_shape_is_refused():
    with pytest.raises(vn.ModelError, match="expected"):
        vn.dynamics(planar(3)).forward([0, 0], [0, 0, 0], [0, 0, 0])
