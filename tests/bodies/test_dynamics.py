"""Compiled dynamics: one state and many, derivatives, run-time parameters; laws of mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import sympy as sp

import vinculum as vn
from bodies.pinocchio_model import KINDS, Peer, hinge_forces, random_body, random_state, random_tree, rows
from examples.planar_arms import J, g, l, m, rho
from examples.planar_arms import tree as planar
from vinculum.compile.simd import simd_function
from vinculum.graph import apply, symbol


def states(tree, random, rows):
    drawn = [random_state(tree, random) for _ in range(rows)]
    return tuple(np.array([[s[k] for k in keys] for s in drawn]) for keys in (tree.coordinates, tree.velocities))


@pytest.mark.parametrize("rows", [1, 3, 8, 29])
def test_many_states_at_once(rows, random):
    tree = random_tree(random, 6)
    arm = vn.bodies.dynamics(tree)
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
        arm = vn.bodies.dynamics(tree, method)
        assert np.allclose(arm.forward(q, v, arm.inverse(q, v, a)), a, rtol=0, atol=1e-10)


def test_inverse_is_mass_matrix_and_bias(random):
    tree = random_tree(random, 9)
    arm = vn.bodies.dynamics(tree)
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
    arm = vn.bodies.dynamics(tree)
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
    M = vn.bodies.dynamics(tree).mass_matrix(q[0])
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
    folded, free = vn.bodies.dynamics(tree), vn.bodies.dynamics(tree, fold=False)
    given = [0.3, -0.5, 1.0], [1.0, 2.0, -1.0], [0.1, 0.2, 0.3]
    assert np.allclose(folded.forward(*given), free.forward(*given), rtol=1e-13)
    other = {m[1]: 3.0, l[0]: 0.7, rho[2]: 0.4, J[0]: 0.2, g: 1.6}
    changed = vn.bodies.dynamics(replace(tree, parameters=dict(tree.parameters) | other))
    assert np.allclose(free.with_parameters(other).forward(*given), changed.forward(*given), rtol=1e-13)
    assert not np.allclose(folded.forward(*given), changed.forward(*given), rtol=1e-3)


def test_sines_and_cosines_to_the_last_place(random):
    x = symbol("x")
    code = simd_function([x], [], [apply("sin", x), apply("cos", x)], 4)
    near = np.pi / 2 * np.arange(-400, 400)
    angles = np.concatenate(
        [random.uniform(-9e5, 9e5, 4000), random.normal(size=4000), near, [1e7, -3e12, 0.0, 1e-300]]
    )
    found = code(angles[None, :], np.zeros(0))
    expected = np.array([np.sin(angles), np.cos(angles)])
    assert np.abs(found - expected).max() < 3e-16
    small = np.abs(expected) < 1e-3
    assert np.all(np.abs(found - expected)[small] <= 1e-15 * np.abs(expected[small]) + 1e-310)


def test_code_too_long_for_the_optimizer_is_right_too():
    """Sine and cosine of a sine, which LLVM joins into one call of the C library, beside many operations."""
    x = symbol("x")
    inner = apply("sin", x)
    total = apply("sin", inner) + 2 * apply("cos", inner)
    for k in range(7000):
        total = total * (1 + x * 1e-9) + k * 1e-9
    at = np.array([[0.3, 0.7, -1.1, 2.0, 0.1, 0.2, 0.3, 0.4]])
    expected = np.sin(np.sin(at)) + 2 * np.cos(np.sin(at))
    for k in range(7000):
        expected = expected * (1 + at * 1e-9) + k * 1e-9
    for width in (1, 4):
        assert np.allclose(simd_function([x], [], [total], width)(at, np.zeros(0)), expected, rtol=1e-12)


def test_a_wrong_shape_is_refused():
    with pytest.raises(vn.ModelError, match="expected"):
        vn.bodies.dynamics(planar(3)).forward([0, 0], [0, 0, 0], [0, 0, 0])


def pinocchio_order(peer, tree):
    """For Pinocchio's velocities the places of ours, joints in the user's order, ball joints with three."""
    ours = [
        q
        for body in tree.bodies
        for q in (body.coordinates[:-1] if len(body.coordinates) in (4, 7) else body.coordinates)
    ]
    return [ours.index(s) for slot in peer.slots for s in (slot if len(slot) == 1 else slot[:3])]


@pytest.mark.parametrize("kinds", [("revolute", "prismatic", "cylindrical"), ("spherical", "revolute"), KINDS])
def test_derivatives_of_accelerations_agree_with_pinocchio(kinds, random):
    tree = random_tree(random, 6, kinds)
    peer, arm = Peer(tree), vn.bodies.dynamics(tree)
    state = random_state(tree, random)
    q, v = (np.array([state[key] for key in keys]) for keys in (tree.coordinates, tree.velocities))
    pq, pv = peer.state(state)
    tau_q = random.normal(size=len(q))
    tau = hinge_forces(arm.recursion, tau_q, state)
    expected = pin.computeABADerivatives(peer.model, peer.data, pq, pv, tau)
    agree(tree, peer, expected, lambda arm: arm.forward_derivatives(q, v, tau_q))


@pytest.mark.parametrize("kinds", [("revolute", "prismatic", "cylindrical"), ("spherical", "revolute"), KINDS])
def test_derivatives_of_forces_agree_with_pinocchio(kinds, random):
    tree = random_tree(random, 6, kinds)
    peer, arm = Peer(tree), vn.bodies.dynamics(tree)
    state = random_state(tree, random)
    q, v = (np.array([state[key] for key in keys]) for keys in (tree.coordinates, tree.velocities))
    a = arm.forward(q, v, random.normal(size=len(q)))  # such that quaternions keep their length
    moved = peer.accelerations(state, dict(zip(tree.coordinates, a, strict=True)))
    expected = pin.computeRNEADerivatives(peer.model, peer.data, *peer.state(state), moved)
    agree(tree, peer, expected, lambda arm: arm.inverse_derivatives(q, v, a))


def agree(tree, peer, expected, derivatives):
    """Straight-line and looped code have Pinocchio's derivatives, of which the last is symmetric."""
    places = pinocchio_order(peer, tree)
    upper = np.triu(expected[2])
    whole = (*expected[:2], upper + np.triu(upper, 1).T)
    for method in ("auto", "looped"):
        for found, other in zip(derivatives(vn.bodies.dynamics(tree, method)), whole, strict=True):
            assert np.allclose(found[np.ix_(places, places)], other, rtol=0, atol=1e-11 * np.abs(other).max())


def test_derivatives_of_a_ball_joint_are_those_along_small_turns(random):
    """δq = ½ Eᵀ δθ at constant ω: ω̇ from `forward` changes as `forward_derivatives` says."""
    tree = vn.BodyTree([random_body(random, "ball", None, "spherical")])
    arm, state = vn.bodies.dynamics(tree), random_state(tree, random)
    q, v = (np.array([state[key] for key in keys]) for keys in (tree.coordinates, tree.velocities))
    omega, moment, h = 2 * rows(q) @ v, random.normal(size=3), 1e-6

    def spin(x, omega, moment):
        x = x / np.linalg.norm(x)
        return 2 * rows(x) @ arm.forward(x, rows(x).T @ omega / 2, 2 * rows(x).T @ moment)

    found = arm.forward_derivatives(q, v, 2 * rows(q).T @ moment)
    for j, e in enumerate(np.eye(3)):
        turn = rows(q).T @ e / 2 * h
        slopes = (
            spin(q + turn, omega, moment) - spin(q - turn, omega, moment),
            spin(q, omega + h * e, moment) - spin(q, omega - h * e, moment),
            spin(q, omega, moment + h * e) - spin(q, omega, moment - h * e),
        )
        for D, slope in zip(found, slopes, strict=True):
            assert np.allclose(D[:, j], slope / (2 * h), rtol=0, atol=1e-7 * max(1, np.abs(D).max()))


LOOPED = [(kinds, count) for kinds in (("revolute",), KINDS) for count in (1, 5, 30, 200)]


@pytest.mark.parametrize(("kinds", "count"), LOOPED)
def test_looped_recursions_agree_with_pinocchio(kinds, count, random):
    """Loops over the hinges of random trees in any order: to 1e-12 of the largest, one state and many."""
    tree = random_tree(random, count, kinds)
    if not tree.coordinates:
        tree = random_tree(random, count, ("free",))
    peer, arm = Peer(tree), vn.bodies.dynamics(tree, "looped")
    drawn = [random_state(tree, random) for _ in range(3)]
    q, v = (np.array([[s[k] for k in keys] for s in drawn]) for keys in (tree.coordinates, tree.velocities))
    tau = random.normal(size=q.shape)
    batch = arm.forward(q, v, tau)
    for i, state in enumerate(drawn):
        expected = pin.aba(peer.model, peer.data, *peer.state(state), peer_forces(tree, tau[i], state, peer))
        for found in (batch[i], arm.forward(q[i], v[i], tau[i])):
            ours = peer.accelerations(state, dict(zip(tree.coordinates, found, strict=True)))
            assert np.abs(ours - expected).max() < 1e-12 * np.abs(expected).max()
        again = arm.inverse(q[i], v[i], batch[i])
        assert np.allclose(
            peer_forces(tree, again, state, peer), peer_forces(tree, tau[i], state, peer), rtol=0,
            atol=1e-12 * max(np.abs(arm.bias(q[i], v[i])).max(), 1.0),
        )  # fmt: skip


def peer_forces(tree, applied, state, peer):
    """τ of Pinocchio's joints: Q itself, or for a quaternion ½ E Q."""
    place, found = {x: i for i, x in enumerate(tree.coordinates)}, []
    for slot in peer.slots:
        own = np.array([applied[place[x]] for x in slot])
        found += list(own) if len(slot) == 1 else list(rows(np.array([state[x] for x in slot])) @ own / 2)
    return np.array(found)


def test_looped_and_straight_line_code_agree(random):
    """Forces, bias and mass matrix, with springs, dampers, friction, rotors, run-time parameters and a moving base."""
    t, k, m = sp.symbols("t k m")
    tree = random_tree(random, 9, base_velocity=(sp.sin(t), 0, t), base_angular_velocity=(0, sp.cos(t), 0))
    extra = dict(damping=0.3, stiffness=k, rest=0.2, friction=0.4, rotor_inertia=0.05, gear_ratio=3)
    first = next(i for i, b in enumerate(tree.bodies) if b.joint in ("revolute", "prismatic"))
    bodies = [replace(b, mass=m, **extra) if i == first else b for i, b in enumerate(tree.bodies)]
    tree = replace(tree, bodies=bodies, parameters={k: 2.0, m: 1.5})
    q, v = states(tree, random, 3)
    a = random.normal(size=q.shape)
    for fold in (True, False):
        one, two = (vn.bodies.dynamics(tree, method, fold=fold) for method in ("articulated", "looped"))
        if not fold:
            one, two = (arm.with_parameters({k: 5.0, m: 0.7}) for arm in (one, two))
        for what, given in (("forward", (q, v, a, 0.3)), ("inverse", (q, v, a, 0.3)), ("bias", (q, v, 0.3)),
                            ("mass_matrix", (q,))):  # fmt: skip
            x, y = (getattr(arm, what)(*given) for arm in (one, two))
            assert np.allclose(x, y, rtol=0, atol=1e-12 * np.abs(x).max()), what
        for x, y in zip(*(arm.inverse_derivatives(q, v, a, 0.3) for arm in (one, two)), strict=True):
            assert np.allclose(x, y, rtol=0, atol=1e-12 * np.abs(x).max())


def test_the_method_is_chosen_by_size_and_named(random):
    for count, name in ((2, "composite"), (20, "articulated"), (60, "looped")):
        arm = vn.bodies.dynamics(random_tree(random, count, ("revolute",)))
        assert f"{name} (chosen:" in repr(arm)
    assert "method       looped\n" in repr(vn.bodies.dynamics(random_tree(random, 2, ("revolute",)), "looped"))
    with pytest.raises(vn.ModelError, match="Known: auto, composite, articulated, looped"):
        vn.bodies.dynamics(random_tree(random, 2, ("revolute",)), "unlooped")


def test_a_large_tree_is_simulated_by_loops_over_its_hinges(random):
    """Two hundred bodies: energy is kept, and the accelerations are those of the recursion written out."""
    from vinculum.graph import evaluate, expand_calls, order

    tree = random_tree(random, 200, ("revolute", "prismatic", "revolute", "spherical"))
    equations = vn.derive(tree.system())
    rates = equations.explicit().rates
    assert any(node.op == "call" for node in order(rates))
    state = random_state(tree, random)
    values = {symbol(key): x for key, x in state.items()} | dict.fromkeys(equations.mechanics.corrections, 0.0)
    found = evaluate(rates, values)
    assert np.allclose(found, evaluate(expand_calls(rates), values), rtol=0, atol=1e-12 * np.abs(found).max())
    start = {q: state[q] for q in tree.coordinates} | {q.diff(): 0.1 * state[q.diff()] for q in tree.coordinates}
    motion = vn.simulate(equations, start, (0, 0.01), method="rk4", step=1e-3)
    assert motion.outcome.kind == "finished"
    assert motion.energy_error < 1e-10


def test_stiff_solver_on_a_large_tree():
    """Forty pendulums with strong dampers on one axis: differences take the place of the compiled Jacobian."""
    shape = dict(mass=1.0, center_of_mass=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    bodies = [vn.Body(f"b{i}", None, axis=(0, 1, 0), damping=30.0, **shape) for i in range(40)]
    tree = vn.BodyTree(bodies)
    motion = vn.simulate(vn.derive(tree.system()), dict.fromkeys(tree.coordinates, 0.0), (0, 2), method="auto")
    assert "bdf" in motion.method
    single = vn.simulate(vn.derive(vn.BodyTree(bodies[:1]).system()), {tree.coordinates[0]: 0.0}, (0, 2))
    assert motion[tree.coordinates[7]][-1] == pytest.approx(single[tree.coordinates[0]][-1], rel=1e-6)
