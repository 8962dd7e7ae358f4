"""The helical joint: a screw against equations by hand, Pinocchio, and the balance of energy."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from bodies.pinocchio_model import Peer, random_body, random_state, random_tree
from vinculum.bodies import Helical, dynamics
from vinculum.describe.bodies.joints import JOINTS, Joint, Part, RotaryAxis, ScrewAxis
from vinculum.graph import evaluate, from_sympy, symbol

theta, phi = dynamicsymbols("theta phi")
p, m, u, g = sp.symbols("p m u g")
t = sp.Symbol("t")
METHODS = ("composite", "articulated", "looped")


def nut(**options):
    """A nut on an upright screw, its center of mass off the axis."""
    return vn.Body("nut", None, joint=Helical(pitch=p), axis=(0, 0, 1), mass=m, center_of_mass=(0.3, 0, 0.1),
                   inertia=(0.02, 0.03, 0.04), angle=theta, torque=u, **options)  # fmt: skip


def test_one_turn_is_one_pitch():
    tree = vn.BodyTree([nut()], parameters={p: 0.005, m: 2.0})
    place = tree.position("nut", (0.3, 0, 0)).subs({p: 0.005})
    assert sp.Matrix([[0.3, 0, 0]]) == place.subs(theta, 0).T
    assert np.allclose(np.array(place.subs(theta, 2 * sp.pi).evalf().tolist(), dtype=float).ravel(), [0.3, 0, 0.005])


def test_a_nut_on_an_upright_screw():
    """(J_z + m c² + m h²) θ̈ = u - m g h with h = p/2π: weight acts like the torque m g p/2π."""
    tree = vn.BodyTree([nut(damping=0.1)], parameters={p: 0.4, m: 2.0}, gravity=(0, 0, -9.81))
    h = 0.4 / (2 * np.pi)
    inertia = 0.04 + 2 * 0.3**2 + 2 * h**2
    expected = (1.5 - 2 * 9.81 * h - 0.1 * 0.7) / inertia
    for method in METHODS:
        for fold in (True, False):
            arm = dynamics(tree, method, fold=fold)
            assert arm.forward([0.2], [0.7], [1.5])[0] == pytest.approx(expected, rel=1e-14)
            assert arm.mass_matrix([0.2])[0, 0] == pytest.approx(inertia, rel=1e-14)
    h = 0.1 / (2 * np.pi)
    for method in METHODS:
        arm = dynamics(tree, method, fold=False).with_parameters({p: 0.1})
        expected = (1.5 - 2 * 9.81 * h) / (0.04 + 2 * 0.3**2 + 2 * h**2)
        assert arm.forward([0.2], [0.0], [1.5])[0] == pytest.approx(expected, rel=1e-14)


def by_hand(h):
    """T and V of a screw that carries a pendulum, from positions of points differentiated by SymPy."""
    c, s = sp.cos(theta), sp.sin(theta)
    R1 = sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    c, s = sp.cos(phi), sp.sin(phi)
    R2 = R1 * sp.Matrix([[1, 0, 0], [0, c, -s], [0, s, c]])
    carrier = sp.Matrix([0, 0, h * theta])
    masses = [(2.0, carrier + R1 * sp.Matrix([0.3, 0, 0.1])), (0.7, carrier + R1 * sp.Matrix([0.5, 0, 0])
               + R2 * sp.Matrix([0, 0, -0.4]))]  # fmt: skip
    T = sum(mass * r.diff(t).dot(r.diff(t)) / 2 for mass, r in masses)
    V = sum(mass * g * r[2] for mass, r in masses)
    for R, J in ((R1, (0.02, 0.03, 0.04)), (R2, (0.05, 0.06, 0.02))):
        W = R.T * R.diff(t)
        omega = sp.Matrix([W[2, 1], W[0, 2], W[1, 0]])
        T += sum(j * w**2 for j, w in zip(J, omega, strict=True)) / 2
    return T, V


def test_lagrange_equations_by_hand():
    """A pendulum on a screw: M q̈ + h = τ from T and V by hand, against the recursions."""
    bob = vn.Body("bob", "nut", axis=(1, 0, 0), origin=(0.5, 0, 0), mass=0.7, center_of_mass=(0, 0, -0.4),
                  inertia=(0.05, 0.06, 0.02), angle=phi)  # fmt: skip
    tree = vn.BodyTree([nut(), bob], gravity=(0, 0, -g), parameters={p: 0.9, m: 2.0, g: 9.81})
    q, rates, a = [theta, phi], [theta.diff(t), phi.diff(t)], sp.symbols("a1 a2")
    T, V = by_hand(sp.Float(0.9) / (2 * sp.pi))
    L = T - V
    second = dict(zip((x.diff(t) for x in rates), a, strict=True))
    forces = [(L.diff(v).diff(t) - L.diff(x)).xreplace(second) for x, v in zip(q, rates, strict=True)]
    values = {theta.diff(t): 0.8, phi.diff(t): -1.3, theta: 0.4, phi: 0.9, a[0]: 0.6, a[1]: -2.0, g: 9.81}
    expected = [float(f.subs(values).evalf()) for f in forces]
    for method in METHODS:
        found = dynamics(tree, method).inverse([0.4, 0.9], [0.8, -1.3], [0.6, -2.0])
        assert np.allclose(found, expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_energies_and_recursions_agree_on_a_moving_base(method, random):
    """The same tree with and without its recursions, on a base that moves and turns."""
    kinds = ("helical", "revolute", "prismatic", "spherical", "helical")
    tree = random_tree(random, 5, kinds, base_velocity=(sp.sin(t), 0, t), base_angular_velocity=(0, sp.cos(t), 0))
    assert any(body.kind.name == "helical" for body in tree.bodies)
    state = random_state(tree, random) | {tree.time: 0.4}
    system = tree.system()
    expected = vn.derive(replace(system, bodies=None)).accelerations(state)
    q, v = ([state[key] for key in keys] for keys in (tree.coordinates, tree.velocities))
    found = dict(zip(tree.coordinates, dynamics(tree, method).forward(q, v, np.zeros(len(q)), 0.4), strict=True))
    scale = max(abs(found[x]) for x in tree.coordinates)
    assert all(abs(found[x] - expected[x.diff(t, 2)]) < 1e-11 * scale for x in tree.coordinates)


@pytest.mark.parametrize("count", [3, 9, 40])
def test_screws_agree_with_pinocchio(count, random):
    """One state and many, straight-line code and loops; derivatives too."""
    tree = random_tree(random, count, ("helical",))
    peer, states = Peer(tree), [random_state(tree, random) for _ in range(5)]
    q, v = (np.array([[s[k] for k in keys] for s in states]) for keys in (tree.coordinates, tree.velocities))
    tau = random.normal(size=q.shape)
    places = [tree.coordinates.index(slot[0]) for slot in peer.slots]
    for method in METHODS if count < 40 else ("looped",):
        arm = dynamics(tree, method)
        found = arm.forward(q, v, tau)
        for i, state in enumerate(states):
            expected = pin.aba(peer.model, peer.data, *peer.state(state), tau[i][places])
            assert np.abs(found[i][places] - expected).max() < 1e-11 * np.abs(expected).max()
            assert np.allclose(arm.inverse(q[i], v[i], found[i]), tau[i], rtol=0, atol=1e-10)
        slopes = arm.inverse_derivatives(q[0], v[0], found[0])
        theirs = pin.computeRNEADerivatives(peer.model, peer.data, *peer.state(states[0]), found[0][places])
        for D, E in zip(slopes[:2], theirs[:2], strict=True):
            assert np.allclose(D[np.ix_(places, places)], E, rtol=0, atol=1e-11 * np.abs(E).max())


def test_energy_is_kept_on_a_tree_of_many_joints(random):
    tree = random_tree(random, 6, ("helical", "revolute", "spherical", "prismatic"))
    state = {key: 0.3 * x if key in tree.velocities else x for key, x in random_state(tree, random).items()}
    motion = vn.simulate(vn.derive(tree.system()), state, (0, 0.3))
    assert motion.outcome.kind == "finished"
    assert motion.energy_error < 1e-10


def test_energy_balances_on_a_moving_base(random):
    """Power equals the rate of energy: the base, torques and dampers do work on screws, turns and shifts."""
    bodies = [random_body(random, f"b{i}", f"b{i - 1}" if i else None, kind)
              for i, kind in enumerate(("helical", "revolute", "helical", "prismatic"))]  # fmt: skip
    bodies[0] = replace(bodies[0], damping=0.3, rotor_inertia=0.02, gear_ratio=5)
    tree = vn.BodyTree(bodies, base_velocity=(sp.sin(3 * t), 0, t), base_angular_velocity=(0, 0, sp.cos(t)))
    start = dict.fromkeys(tree.coordinates, 0.2)
    motion = vn.simulate(vn.derive(tree.system()), start, (0, 0.3))
    assert motion.outcome.kind == "finished"
    assert motion.energy_error < 1e-9


def test_the_energy_is_half_the_mass_matrix(random):
    tree = random_tree(random, 7, ("helical", "universal", "planar"))
    state = random_state(tree, random)
    q, v = (np.array([state[key] for key in keys]) for keys in (tree.coordinates, tree.velocities))
    T = evaluate([from_sympy(tree.system().kinetic_energy)], {symbol(k): x for k, x in state.items()})[0]
    for method in METHODS:
        M = dynamics(tree, method).mass_matrix(q)
        assert v @ M @ v / 2 == pytest.approx(T, rel=1e-12)


def test_a_pitch_is_asked_for_and_checked():
    body = dict(mass=1, inertia=0.1)
    with pytest.raises(vn.ModelError, match=r"helical joint of 'nut' needs its pitch. Use joint=vn.bodies.Helical"):
        vn.BodyTree([vn.Body("nut", joint="helical", **body)])
    assert Helical(pitch="5 mm").pitch == pytest.approx(0.005)
    for wrong in (None, float("nan"), float("inf")):
        with pytest.raises(vn.ModelError, match="the pitch of the helical joint of 'nut' is"):
            vn.BodyTree([vn.Body("nut", joint=Helical(pitch=wrong), **body)])
    with pytest.raises(vn.ModelError, match=r"p of 'nut' has no value"):
        vn.BodyTree([vn.Body("nut", joint=Helical(pitch=p), **body)])


FILE = """
[parameters]
lead = {lead}

[tree.bodies.nut]
joint = "{joint}"
{pitch}
axis = [0, 0, 1]
mass = {mass}
center_of_mass = [{arm}, 0, 0]
inertia = {inertia}
"""
PLAIN = dict(lead=0.005, joint="helical", pitch='pitch = "2*lead"', mass=2, arm=0.1, inertia=0.01)


def test_a_screw_in_a_model_file():
    with_units = PLAIN | dict(lead='"5 mm"', mass='"2 kg"', arm='"10 cm"', inertia='"0.01 kg*m^2"')
    for keys in (PLAIN, with_units):
        system = vn.model.loads(FILE.format(**keys)).system
        tree = system.bodies
        assert tree.body("nut").kind.name == "helical"
        arm = dynamics(tree)
        assert arm.position("nut", [2 * np.pi])[2] == pytest.approx(0.01, rel=1e-14)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pitch": ""}, "a helical joint needs its pitch"),
        ({"joint": "revolute"}, "a revolute joint has no pitch"),
        ({"pitch": 'pitch = "2*led"'}, "led"),
        ({"lead": '"5 mm"', "mass": '"2 kg"', "arm": '"10 cm"', "inertia": '"0.01 kg*m^2"', "pitch": 'pitch = "5 kg"'},
         "kg"),
    ],
)  # fmt: skip
def test_a_wrong_screw_in_a_model_file_is_refused(change, words):
    with pytest.raises(vn.VinculumError, match=words):
        vn.model.loads(FILE.format(**PLAIN | change))


def test_a_screw_is_drawn_with_its_travel():
    from vinculum.present.drawing import drawing_of

    tree = vn.BodyTree([nut()], parameters={p: 0.4, m: 2.0})
    drawing = drawing_of(tree)
    assert "joint of nut" in drawing.points
    assert "helical" in repr(tree.body("nut"))
    assert [joint for *_, joint in tree.graph.edges(data="joint")] == ["helical"]


def test_a_joint_can_be_defined_elsewhere(random):
    """A gimbal of three axes and a screw that follows: known by name as soon as its class exists."""

    class Gimbal(Joint):
        name, labels, lengths = "gimbal", ("1", "2", "3"), (False,) * 3
        axes = 0

        def parts(self, axes):
            units = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
            kinds = [RotaryAxis(), RotaryAxis(), ScrewAxis(from_sympy(sp.Float(0.1)))]
            return [Part(kind, unit, (i,)) for i, (kind, unit) in enumerate(zip(kinds, units, strict=True))]

    try:
        tree = random_tree(random, 4, ("gimbal", "revolute"))
        peer, state = Peer(tree), random_state(tree, random)
        q, v = (np.array([state[k] for k in keys]) for keys in (tree.coordinates, tree.velocities))
        places = [tree.coordinates.index(slot[0]) for slot in peer.slots]
        expected = pin.aba(peer.model, peer.data, *peer.state(state), np.zeros(len(q)))
        for method in METHODS:
            found = dynamics(tree, method).forward(q, v, np.zeros(len(q)))
            assert np.abs(found[places] - expected).max() < 1e-11 * np.abs(expected).max()
    finally:
        del JOINTS["gimbal"]


def test_a_screw_is_copied_and_sent():
    body = nut()
    for twin in (copy.deepcopy(body), pickle.loads(pickle.dumps(body))):
        assert twin.joint == body.joint
        assert twin.coordinates == body.coordinates
