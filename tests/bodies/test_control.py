"""Control laws of manipulators."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import puma560

a, b = dynamicsymbols("a b")
u, w = sp.symbols("u w")
T = dynamicsymbols._t


def arm(torques=(u, w), **options):
    shape = dict(mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    first = vn.Body("first", None, axis=(0, -1, 0), angle=a, torque=torques[0], damping=0.3, **shape)
    second = vn.Body("second", "first", axis=(0, -1, 0), origin=(1, 0, 0), angle=b, torque=torques[1], **shape)
    return vn.BodyTree([first, second], **options)


def test_computed_torque_error_decays_as_designed():
    tree = arm()
    laws = vn.bodies.computed_torque(tree, {a: sp.sin(T), b: 1 + T / 5}, frequency=3.0, damping=0.5)
    start = {a: 0.2, b: 1.0, a.diff(): 1.0, b.diff(): 0.2}
    motion = vn.simulate(vn.derive(tree.system()), start, np.linspace(0, 2, 41), inputs=laws)
    s, d = -1.5, 3.0 * np.sqrt(0.75)
    error = 0.2 * np.exp(s * motion.t) * (np.cos(d * motion.t) - s / d * np.sin(d * motion.t))
    assert np.allclose(motion[a] - np.sin(motion.t), error, rtol=0, atol=1e-11)
    assert np.allclose(motion[b], 1 + motion.t / 5, rtol=0, atol=1e-11)


def test_gravity_compensation_holds_any_pose():
    tree = arm()
    laws = vn.bodies.gravity_compensation(tree)
    motion = vn.simulate(vn.derive(tree.system()), {a: 0.7, b: -1.1}, (0, 1), inputs=laws)
    assert np.allclose(motion[a], 0.7, rtol=0, atol=1e-12)
    assert np.allclose(motion[b], -1.1, rtol=0, atol=1e-12)


def test_task_path_draws_a_circle():
    tree = arm()
    path = (1.2 + 0.3 * sp.cos(2 * T), None, 0.3 * sp.sin(2 * T))
    pose = {a: 0.7, b: -1.3}
    laws = vn.bodies.task_path(tree, "second", path, (1, 0, 0), at=pose, frequency=8.0)
    motion = vn.simulate(vn.derive(tree.system()), pose, np.linspace(0, 4, 81), inputs=laws)
    tip = vn.bodies.dynamics(tree).position("second", np.column_stack([motion[a], motion[b]]), (1, 0, 0))
    goal = np.column_stack([1.2 + 0.3 * np.cos(2 * motion.t), 0.3 * np.sin(2 * motion.t)])
    late = motion.t > 3.5
    assert np.abs(tip[late][:, [0, 2]] - goal[late]).max() < 1e-8
    assert np.abs(tip[0, [0, 2]] - goal[0]).max() > 1e-2


def torques_along(tree, constraints, laws, state):
    """The torques by the equations of the servo constraints, and by the laws."""
    found = vn.derive(tree.system(constraints=constraints)).recover(state)
    from vinculum.graph import evaluate, from_sympy, symbol

    values = {symbol(key): x for key, x in state.items()}
    return [found[c.name] for c in constraints], evaluate([from_sympy(law) for law in laws.values()], values)


def test_task_path_is_what_servo_constraints_ask_for(random):
    """On the path the laws give the torques that come out of the servo constraints, to rounding; both draw the path."""
    tree = arm()
    path = (1.2 + 0.3 * sp.cos(2 * T), None, 0.3 * sp.sin(2 * T))
    servos = vn.bodies.servo_path(tree, "second", path, (1, 0, 0))
    assert [(c.name, c.through) for c in servos] == [("second x", (u, w)), ("second z", (u, w))]
    equations = vn.derive(tree.system(constraints=servos))
    start = vn.consistent_state(equations, {}, guess={a: 0.7, b: -1.3})
    motion = vn.simulate(equations, start, np.linspace(0, 4, 81))
    assert max(motion.largest_residuals.values()) < 1e-12
    laws = vn.bodies.task_path(tree, "second", path, (1, 0, 0), at={a: 0.7, b: -1.3})
    keys = (a, b, a.diff(), b.diff())
    for i in range(0, 81, 16):
        state = {key: float(motion[key][i]) for key in keys} | {tree.time: float(motion.t[i])}
        one, two = torques_along(tree, servos, laws, state)
        assert np.allclose(one, two, rtol=0, atol=1e-12 * np.abs(one).max())
    guided = vn.simulate(vn.derive(tree.system()), {key: start[key] for key in keys}, motion.t, inputs=laws)
    assert np.allclose(guided[a], motion[a], rtol=0, atol=1e-9)


def test_servo_path_of_the_puma_in_position_and_orientation():
    """Six conditions for six torques: the hand goes along a line and keeps its orientation, without drift."""
    tree = puma560.tree(driven=True)
    pose = {x: value + 0.1 for x, value in puma560.NOMINAL.items()}
    here, R = ([[sp.N(x.subs(pose)) for x in row] for row in M.tolist()]
               for M in (tree.position("link6"), tree.rotation("link6")))  # fmt: skip
    line = [x + k * (1 - sp.cos(T)) / 10 for (x,), k in zip(here, (1, -1, 0.5), strict=True)]
    equations = vn.derive(tree.system(constraints=vn.bodies.servo_path(tree, "link6", line, orientation=R)))
    start = vn.consistent_state(equations, {}, guess=pose)
    motion = vn.simulate(equations, start, (0, 1), method="rk4", step=1e-3)
    assert motion.outcome.kind == "finished"
    assert max(motion.largest_residuals.values()) < 1e-9
    hand = vn.bodies.dynamics(tree)
    q = np.column_stack([motion[x] for x in puma560.q])
    moved = hand.position("link6", q[-1]) - hand.position("link6", q[0])
    assert np.allclose(moved, (1 - np.cos(1)) / 10 * np.array([1, -1, 0.5]), rtol=0, atol=1e-9)
    assert np.allclose(hand.rotation("link6", q[-1]), hand.rotation("link6", q[0]), rtol=0, atol=1e-9)


def test_what_cannot_be_controlled_is_refused():
    with pytest.raises(vn.ModelError, match="'second' has no torque"):
        vn.bodies.gravity_compensation(arm((u, None)))
    with pytest.raises(vn.ModelError, match="b has no desired motion"):
        vn.bodies.computed_torque(arm(), {a: 0})
    with pytest.raises(vn.ModelError, match="Give one condition for each torque"):
        vn.bodies.task_path(arm(), "second", (T, None, None), at={a: 0.7, b: -1.3})
    with pytest.raises(vn.errors.SingularError, match="Singular configuration: a = 0, b = 0"):
        vn.bodies.task_path(arm(), "second", (T, None, 0), (1, 0, 0), at={a: 0.0, b: 0.0})
