"""Invalid trees, all findings at once; numbering; kinematics."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from bodies.pinocchio_model import random_state, random_tree
from vinculum.graph import evaluate, from_sympy, symbol

LINK = dict(mass=1.0, inertia=(0.1, 0.1, 0.1))


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ([vn.Body("a", "b", **LINK), vn.Body("b", "a", **LINK)], ["closed loop of parents", "Loop("]),
        ([vn.Body("a", "bass", **LINK), vn.Body("base", None, **LINK)], ["'bass'", "Did you mean base?"]),
        ([vn.Body("a", None, mass=-1.0)], ["mass of 'a' is -1"]),
        ([vn.Body("a", None), vn.Body("b", "a")], ["nothing carried by the joint of 'a'", "'b'"]),
        ([vn.Body("a", None, mass=1, inertia=(1, 1, 3))], ["no rigid body has the inertia of 'a'", "1, 1, 3"]),
        ([vn.Body("a", None, mass=1, inertia=(1, 1, -0.5))], ["negative principal moment"]),
        ([vn.Body("a", None, axis=(0, 0, 0), **LINK)], ["axis of 'a'", "no direction"]),
        ([vn.Body("a", None, **LINK), vn.Body("a", None, **LINK)], ["2 bodies are called 'a'"]),
        ([vn.Body("a", None, joint="revolut", **LINK)], ["Did you mean revolute?"]),
        ([vn.Body("a", None, rotation=np.diag([1, 1, -1]), **LINK)], ["not a rotation matrix"]),
        ([vn.Body("a", None, joint="universal", **LINK)], ["needs two axes"]),
        ([vn.Body("a", None, mass=0, center_of_mass=(1, 0, 0), inertia=1)], ["no mass"]),
        ([vn.Body("a", None, joint="spherical", damping=1, **LINK)], ["damping of 'a'"]),
        ([vn.Body("a", None, torque=sp.symbols("u v"), **LINK)], ["2 torques"]),
        ([], ["no bodies"]),
        ([vn.Body("a", None, mass=sp.Symbol("m"), inertia=1)], ["m of 'a' has no value", "parameters={m: number}"]),
        ([vn.Body("a", None, angle=sp.Symbol("x"), **LINK)], ["not a function of time", "dynamicsymbols('x')"]),
        (
            [
                vn.Body("a", None, angle=dynamicsymbols("x"), **LINK),
                vn.Body("b", "a", angle=dynamicsymbols("x"), **LINK),
            ],
            ["'b' and 'a' both move with x"],
        ),
        ([vn.Body("a", None, origin=(1, 2), **LINK)], ["origin of 'a' is (1, 2)", "three components"]),
        ([vn.Body("a", None, center_of_mass=5, **LINK)], ["center_of_mass of 'a' is 5", "three components"]),
        ([vn.Body("a", None, origin=(0, 0, np.inf), **LINK)], ["origin of 'a' is inf"]),
        ([vn.Body("a", None, mass=1j)], ["mass of 'a' is 1j", "Give a number"]),
        ([vn.Body("a", None, mass=None)], ["mass of 'a' is None", "Give a number"]),
        ([vn.Body("", None, **LINK)], ["a body has no name"]),
        ([{"name": "a"}], ["is not a body"]),
    ],
)
def test_what_cannot_be_right_is_refused(bodies, words):
    with pytest.raises(vn.ModelError) as refusal:
        vn.BodyTree(bodies)
    assert all(word in str(refusal.value) for word in words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gravity": 9.81}, ["gravity is 9.81"]),
        ({"base_velocity": (1, 2)}, ["base_velocity is (1, 2)"]),
        ({"loops": ["a"]}, ["'a' is not a loop"]),
        ({"loops": [vn.bodies.Loop("a", "a")]}, ["both ends are on 'a'"]),
        ({"loops": [vn.bodies.Loop("a", None, point=(np.nan, 0, 0))]}, ["its point is (nan, 0, 0)"]),
        ({"base_rotation": sp.diag(2, 1, 1)}, ["rotation matrix of t"]),
    ],
)
def test_what_the_base_cannot_do_is_refused(options, words):
    with pytest.raises(vn.ModelError) as refusal:
        vn.bodies.dynamics(vn.BodyTree([vn.Body("a", None, **LINK)], **options)).forward([0.0], [0.0], [0.0])
    assert all(word in str(refusal.value) for word in words)


def test_accelerations_that_nothing_determines_are_named():
    """A point mass on the axis of its joint; two sliders in line of which the first has no mass."""
    with pytest.raises(vn.ModelError, match="nothing that a moves has inertia"):
        vn.bodies.dynamics(vn.BodyTree([vn.Body("a", None, mass=1)])).forward([0.0], [0.0], [0.0])
    slider = dict(joint="prismatic", axis=(0, 0, 1))
    tree = vn.BodyTree([vn.Body("a", None, **slider), vn.Body("b", "a", **slider, **LINK)])
    for method in ("composite", "articulated", "looped"):
        with pytest.raises(vn.VinculumError, match="not determined"):
            vn.bodies.dynamics(tree, method).forward([0.0] * 2, [0.0] * 2, [0.0] * 2)


def test_massless_bodies_between_others_and_several_roots():
    """A universal joint made of two revolute ones with a massless cross moves as one; roots do not feel each other."""
    rod = dict(mass=1.0, center_of_mass=(0.1, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    one = vn.BodyTree([vn.Body("rod", None, joint="universal", axis=((1, 0, 0), (0, 1, 0)), **rod)])
    cross = [vn.Body("cross", None, axis=(1, 0, 0)), vn.Body("rod", "cross", axis=(0, 1, 0), **rod)]
    other = [vn.Body("far", None, joint="spherical", origin=(5, 0, 0), **rod)]
    q, v, tau = [0.3, -0.5], [1.0, 2.0], [0.1, -0.2]
    expected = vn.bodies.dynamics(one).forward(q, v, tau)
    for method in ("composite", "articulated", "looped"):
        arm = vn.bodies.dynamics(vn.BodyTree([*cross, *other]), method)
        found = arm.forward([*q, 1, 0, 0, 0], [*v, 0, 0.5, 0, 0], [*tau, 0, 0, 0, 0])
        assert np.allclose(found[:2], expected, rtol=1e-13)


def test_all_findings_at_once():
    with pytest.raises(vn.ModelError) as refusal:
        vn.BodyTree([vn.Body("a", None, mass=-1), vn.Body("b", "a", mass=1, inertia=(1, 1, 3))])
    assert len(refusal.value.findings) == 2


def test_numbering_incidence_and_paths(random):
    tree = random_tree(random, 12)
    S, inverse = tree.incidence, tree.inverse_incidence
    assert np.array_equal(S @ inverse, np.eye(12, dtype=int))
    place = {name: i for i, name in enumerate(tree.order)}
    for name in tree.order:
        parent = tree.body(name).parent
        assert parent is None or place[parent] < place[name]
        assert [tree.order[i] for i in np.flatnonzero(inverse[:, place[name]])] == list(tree.paths[name])


def test_results_do_not_depend_on_the_order_of_bodies(random):
    tree = random_tree(random, 8)
    other = vn.BodyTree(tree.bodies[::-1])
    state = random_state(tree, random)
    q, v = ([state[k] for k in keys] for keys in (tree.coordinates, tree.velocities))
    shuffled = [tree.coordinates.index(x) for x in other.coordinates]
    one = vn.bodies.dynamics(tree).forward(q, v, np.ones(len(q)))
    two = vn.bodies.dynamics(other).forward(np.array(q)[shuffled], np.array(v)[shuffled], np.ones(len(q)))
    assert np.allclose(one[shuffled], two, rtol=1e-11, atol=1e-11 * np.abs(one).max())


def test_kinematics_symbolic_and_compiled_agree_with_differences(random):
    tree = random_tree(random, 7)
    name, point = tree.order[-1], (0.3, -0.2, 0.5)
    arm = vn.bodies.dynamics(tree)
    state = random_state(tree, random)
    q, v = (np.array([state[k] for k in keys]) for keys in (tree.coordinates, tree.velocities))
    values = {symbol(key): x for key, x in state.items()}
    symbolic = evaluate([from_sympy(x) for x in tree.position(name, point)], values)
    assert np.allclose(symbolic, arm.position(name, q, point), rtol=0, atol=1e-13)
    h = 1e-6
    slope = (arm.position(name, q + h * v, point) - arm.position(name, q - h * v, point)) / (2 * h)
    assert np.allclose(arm.velocity(name, q, v, point), slope, rtol=0, atol=1e-7)
    assert np.allclose(arm.jacobian(name, q, point) @ v, arm.velocity(name, q, v, point), rtol=0, atol=1e-12)
    R = arm.rotation(name, q)
    assert np.allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-14)


def test_angular_velocity_is_that_of_the_rotation(random):
    tree = random_tree(random, 5)
    name = tree.order[-1]
    state = random_state(tree, random)
    values = {symbol(key): x for key, x in state.items()}
    arm = vn.bodies.dynamics(tree)
    q, v = (np.array([state[k] for k in keys]) for keys in (tree.coordinates, tree.velocities))
    h = 1e-6
    rate = (arm.rotation(name, q + h * v) - arm.rotation(name, q - h * v)) / (2 * h) @ arm.rotation(name, q).T
    omega = evaluate([from_sympy(x) for x in tree.angular_velocity(name)], values)
    assert np.allclose(omega, (rate[2, 1], rate[0, 2], rate[1, 0]), rtol=0, atol=1e-7)
    assert np.allclose(omega, arm.angular_velocity(name, q, v), rtol=0, atol=1e-13)
    J = np.array(evaluate([from_sympy(x) for x in tree.angular_jacobian(name)], values)).reshape(3, -1)
    assert np.allclose(J, arm.angular_jacobian(name, q), rtol=0, atol=1e-13)
    assert np.allclose(J @ v, omega, rtol=0, atol=1e-12)


def test_denavit_hartenberg_conventions_describe_one_arm(random):
    """The same arm by both tables: A_i = Rz Tz Tx Rx, and Rx Tx of the link before with Rz Tz of this one."""
    d, a, alpha = random.normal(size=(3, 4))
    rows = dict(mass=1.0, inertia=0.1)
    standard = [dict(d=d[i], a=a[i], alpha=alpha[i], name=f"s{i}", **rows) for i in range(4)]
    before = [(0.0, 0.0), *zip(a[:-1], alpha[:-1], strict=True)]
    modified = [dict(d=d[i], a=x, alpha=y, name=f"m{i}", **rows) for i, (x, y) in enumerate(before)]
    trees = [
        vn.BodyTree(vn.bodies.denavit_hartenberg(t, convention=c))
        for t, c in ((standard, "standard"), (modified, "modified"))
    ]
    q = random.normal(size=4)
    point = (a[3], 0, 0)
    ends = [
        vn.bodies.dynamics(trees[0]).position("s3", q, (a[3], 0, d[3])),
        vn.bodies.dynamics(trees[1]).position("m3", q, point),
    ]
    assert np.allclose(*ends, rtol=0, atol=1e-14)
    T = np.eye(4)
    for i in range(4):
        turn, shift = np.eye(4), np.eye(4)
        turn[:3, :3], shift[:3, :3] = vn.bodies.rotation_rpy(yaw=q[i]), vn.bodies.rotation_rpy(roll=alpha[i])
        turn[2, 3], shift[0, 3] = d[i], a[i]
        T = T @ turn @ shift
    assert np.allclose(ends[0], T[:3, 3], rtol=0, atol=1e-14)


def test_spring_damper_friction_and_rotor():
    phi = dynamicsymbols("phi")
    wheel = vn.Body("wheel", None, inertia=0.5, angle=phi, stiffness=3.0, rest=0.2, damping=0.7, friction=(0.4, 0.9),
                    rotor_inertia=0.01, gear_ratio=10)  # fmt: skip
    tree = vn.BodyTree([wheel])
    equations = vn.derive(tree.system())
    for rate, friction in ((2.0, 0.4), (-2.0, -0.9)):
        found = equations.accelerations({phi: 1.0, phi.diff(): rate})[phi.diff().diff()]
        expected = (-3.0 * 0.8 - 0.7 * rate - friction) / (0.5 + 1.0)
        assert found == pytest.approx(expected, rel=1e-15)
        assert vn.bodies.dynamics(tree).forward([1.0], [rate], [0.0])[0] == pytest.approx(expected, rel=1e-15)


def test_the_tree_is_drawn(tmp_path, random):
    tree = random_tree(random, 6)
    vn.bodies.draw_tree(tree, tmp_path / "tree.png")
    vn.bodies.draw_tree(tree, tmp_path / "tree.html")
    assert (tmp_path / "tree.png").stat().st_size > 1000
    assert all(f"{i} {name}" in (tmp_path / "tree.html").read_text() for i, name in enumerate(tree.order, start=1))
