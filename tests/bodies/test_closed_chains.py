"""Computed torque in mechanisms whose constraints leave fewer motions than joints: closed loops, mimic joints."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

T = dynamicsymbols._t
FREQUENCY, DAMPING = 4.0, 0.6


def link(name, length, mass):
    J = mass * length**2 / 12
    return f"""<link name="{name}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>
        <inertia ixx="{J / 100}" ixy="0" ixz="0" iyy="{J}" iyz="0" izz="{J}"/></inertial></link>"""


def joint(name, parent, child, x, more=""):
    return f"""<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="{x} 0 0"/><axis xyz="0 1 0"/><dynamics damping="0.02"/>{more}</joint>"""


FIVE_BAR = f"""<robot name="five-bar"><link name="base"/>
    {link("left_upper", 0.2, 0.4)}{link("left_lower", 0.3, 0.3)}{link("right_upper", 0.2, 0.4)}
    {link("right_lower", 0.3, 0.3)}
    {joint("left", "base", "left_upper", -0.1)}{joint("left_elbow", "left_upper", "left_lower", 0.2)}
    {joint("right", "base", "right_upper", 0.1)}{joint("right_elbow", "right_upper", "right_lower", 0.2)}</robot>"""
TIP = (0.3, 0, 0)
POSE = {"left": -2.2, "left_elbow": 0.8, "right": -0.9, "right_elbow": -0.8}


def five_bar(actuated=("left", "right")):
    loop = vn.bodies.Loop("left_lower", "right_lower", point=TIP, other_point=TIP)
    return vn.from_urdf(FIVE_BAR, loops=[loop], actuated=actuated)


def decayed(t, error):
    """The solution of ë + 2ζω ė + ω² e = 0 from rest."""
    s, d = -DAMPING * FREQUENCY, FREQUENCY * np.sqrt(1 - DAMPING**2)
    return error * np.exp(s * t) * (np.cos(d * t) - s / d * np.sin(d * t))


def test_motors_of_a_closed_loop_track_as_designed():
    """Two motors, four joints: both errors obey the designed equation, and the loop stays closed."""
    system = five_bar()
    left, _, right, _ = system.coordinates
    assert system.inputs == tuple(sp.symbols("tau_left tau_right"))
    goals = {"left": -2.2 + sp.sin(T) / 5, "right": -0.9 + (1 - sp.cos(2 * T)) / 10}
    laws = vn.bodies.computed_torque(system, goals, FREQUENCY, DAMPING)
    start = {left: -2.15, right: -0.93, left.diff(): 0.2, right.diff(): 0.0}
    guess = {q: POSE[str(q.func)] for q in system.coordinates}
    motion = vn.simulate(vn.derive(system), start, np.linspace(0, 3, 61), guess=guess, inputs=laws)
    t = motion.t
    assert np.allclose(motion[left] - (-2.2 + np.sin(t) / 5), decayed(t, 0.05), rtol=0, atol=1e-9)
    assert np.allclose(motion[right] - (-0.9 + (1 - np.cos(2 * t)) / 10), decayed(t, -0.03), rtol=0, atol=1e-9)
    assert max(motion.largest_residuals.values()) < 1e-10


def test_on_the_path_the_laws_are_the_inputs_of_servo_constraints():
    """Two roads to the torques: the laws, and the "reactions" of servo constraints on the motors."""
    system = five_bar()
    left, _, right, _ = system.coordinates
    goals = {left: -2.2 + sp.sin(T) / 5, right: -0.9 + (1 - sp.cos(2 * T)) / 10}
    servos = [vn.Servo(q - goal, through=system.inputs, name=f"{q.func} path") for q, goal in goals.items()]
    held = vn.derive(system.bodies.system(constraints=servos))
    start = vn.consistent_state(held, {}, guess={q: POSE[str(q.func)] for q in system.coordinates})
    servo = vn.simulate(held, start, np.linspace(0, 2, 21))
    guided = vn.simulate(
        vn.derive(system), start, np.linspace(0, 2, 21), inputs=vn.bodies.computed_torque(system, goals)
    )
    for u, c in zip(system.inputs, servos, strict=True):
        size = np.abs(guided[u]).max()
        assert np.allclose(guided[u], servo.reactions[c.name], rtol=0, atol=1e-8 * size)


def test_tool_point_of_a_closed_loop_follows_a_path():
    tree = five_bar().bodies
    path = (0.04 * sp.cos(T), None, 0.4 + 0.04 * sp.sin(T))
    laws = vn.bodies.task_path(tree, "left_lower", path, TIP, frequency=8.0)
    guess = {q: POSE[str(q.func)] for q in tree.coordinates}
    motion = vn.simulate(vn.derive(tree.system()), {}, np.linspace(0, 4, 81), guess=guess, inputs=laws)
    q = np.column_stack([motion[x] for x in tree.coordinates])
    tip = vn.bodies.dynamics(tree).position("left_lower", q, TIP)
    goal = np.column_stack([0.04 * np.cos(motion.t), 0.4 + 0.04 * np.sin(motion.t)])
    assert np.abs(tip[motion.t > 3.5][:, [0, 2]] - goal[motion.t > 3.5]).max() < 1e-8
    assert np.abs(tip[0, [0, 2]] - goal[0]).max() > 1e-3


def test_mimic_joint_follows_the_motor():
    """A gripper: one motor, two fingers; the torque also moves the finger that mimics the other."""
    fingers = f"""<robot name="gripper"><link name="palm"/>{link("one", 0.1, 0.2)}{link("two", 0.1, 0.3)}
        {joint("first", "palm", "one", 0.05)}
        {joint("second", "palm", "two", -0.05, '<mimic joint="first" multiplier="-0.5"/>')}</robot>"""
    system = vn.from_urdf(fingers, actuated=True)
    first, second = system.coordinates
    laws = vn.bodies.computed_torque(system, {first: sp.sin(3 * T)}, FREQUENCY, DAMPING)
    motion = vn.simulate(vn.derive(system), {first: 0.1, first.diff(): 3.0}, np.linspace(0, 2, 41), inputs=laws)
    assert np.allclose(motion[first] - np.sin(3 * motion.t), decayed(motion.t, 0.1), rtol=0, atol=1e-9)
    assert np.allclose(motion[second], -motion[first] / 2, rtol=0, atol=1e-12)


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(vn.ModelError, match=r"4 torques .* for 2 degrees of freedom. Give torques to 2 joints"):
        vn.bodies.computed_torque(five_bar(True), {"left": 0, "right": 0})
    with pytest.raises(vn.ModelError, match=r"1 desired motion \(left\) for 2 degrees of freedom"):
        vn.bodies.computed_torque(five_bar(), {"left": 0})
    with pytest.raises(vn.ModelError, match=r"lef is not a coordinate. Did you mean left\?"):
        vn.bodies.computed_torque(five_bar(), {"lef": 0, "right": 0})


def test_actuated_joints_by_name():
    with pytest.raises(vn.ModelError, match=r"'left_elbo' is not a joint. Did you mean left_elbow\?"):
        five_bar(["left", "left_elbo"])
    assert vn.from_urdf(FIVE_BAR, actuated="left").inputs == (sp.Symbol("tau_left"),)


def test_missing_urdf_is_refused_with_its_folder(tmp_path):
    (tmp_path / "arm.urdf").write_text(FIVE_BAR)
    with pytest.raises(vn.ModelError, match=r"there is no file 'amr.urdf' in .*Did you mean arm.urdf\?"):
        vn.from_urdf(tmp_path / "amr.urdf")


def test_closed_loop_in_a_file(tmp_path):
    """The same two motors in a model file."""
    (tmp_path / "arm.urdf").write_text(FIVE_BAR)
    (tmp_path / "arm.toml").write_text(
        """
[tree]
urdf = "arm.urdf"
actuated = ["left", "right"]
loops = [{ first = "left_lower", second = "right_lower", point = [0.3, 0, 0], other_point = [0.3, 0, 0] }]

[simulation]
times = [0, 3]
initial = { left = -2.15, right = -0.93 }
guess = { left_elbow = 0.8, right_elbow = -0.8 }

[simulation.computed_torque]
path = { left = "-2.2 + sin(t)/5", right = -0.9 }
"""
    )
    model = vn.load(tmp_path / "arm.toml")
    motion = vn.simulate(vn.derive(model.system, **model.derivation), **model.simulation)
    assert abs(motion["left"][-1] - (-2.2 + np.sin(3) / 5)) < 1e-8
    assert abs(motion["right"][-1] + 0.9) < 1e-8
