"""Loops close the way they are stated, and contacts that imply each other need no help."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from vinculum.bodies import Loop, Rolling


def arm_and_box(kind, **loop):
    """An arm of four joints that holds a free box."""
    axes = ((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0))
    shape = dict(mass=1, inertia=0.1, center_of_mass=(0, 0, 0.2))
    bodies = [vn.Body("box", None, joint="free", mass=1, inertia=0.2)]
    for i, axis in enumerate(axes):
        bodies.append(vn.Body(f"a{i}", f"a{i - 1}" if i else None, axis=axis, origin=(0, 0, 0.4 * bool(i)), **shape))
    return vn.BodyTree(bodies, loops=[Loop("a3", "box", kind, point=(0, 0, 0.2), **loop)])


def rotations(tree, state):
    """The axes of the two bodies at a state."""
    machine = vn.bodies.dynamics(tree)
    q = [state[x] for x in tree.coordinates]
    return machine.rotation("a3", q), machine.rotation("box", q)


@pytest.mark.parametrize("kind", ["frame", "axis", "line"])
def test_loops_close_the_way_they_are_stated(kind, random):
    """From twenty random guesses: frames not turned, axes not reversed."""
    tree = arm_and_box(kind, axis=(1, 0, 0), other_axis=(0, 1, 0))
    equations = vn.derive(tree.system())
    for _ in range(20):
        guess = {q: random.normal() for q in tree.coordinates}
        R, S = rotations(tree, vn.consistent_state(equations, {}, guess=guess))
        if kind == "frame":
            assert np.allclose(R, S, rtol=0, atol=1e-8)
        else:
            assert np.allclose(R[:, 0], S[:, 1], rtol=0, atol=1e-8)


def test_a_planar_loop_whose_axes_point_opposite_ways_is_refused():
    """Before, the bars would have closed with one axis reversed."""
    shape = dict(mass=1, center_of_mass=(0.5, 0, 0), inertia=0.1)
    bars = [
        vn.Body("one", None, **shape),
        vn.Body("two", "one", origin=(1, 0, 0), **shape),
        vn.Body("three", "two", origin=(1, 0, 0), **shape),
    ]
    closed = dict(kind="axis", point=(1, 0, 0), other_point=(1, 0, 0))
    assert len(vn.BodyTree(bars, loops=[Loop("three", None, **closed)]).constraints) == 2
    with pytest.raises(vn.ModelError, match="reverse other_axis"):
        vn.BodyTree(bars, loops=[Loop("three", None, other_axis=(0, 0, -1), **closed)])


def wheel(name, y, parent="chassis"):
    return vn.Body(name, parent, axis=(0, 1, 0), origin=(0, y, 0), mass=1, inertia=(0.01, 0.02, 0.01))


def vehicle(joint, *more, wheels=("left", "right")):
    chassis = vn.Body(
        "chassis", None, joint=joint, origin=(0, 0, 0.3), mass=5, inertia=0.3, center_of_mass=(-0.1, 0, 0)
    )
    contacts = [Rolling(name, 0.3, axis=(0, 1, 0)) for name in wheels]
    return vn.BodyTree([chassis, wheel("left", 0.4), wheel("right", -0.4), *more], contacts=contacts)


@pytest.mark.parametrize("joint", ["planar", "free"])
def test_two_wheels_on_one_axle_turn_in_a_circle(joint):
    """One sideways row is left out; the chassis turns at r (ω_right - ω_left) / width, at every heading."""
    tree = vehicle(joint)
    assert tree.omitted == ("right rolling across",)
    q = {str(x.func): x for x in tree.coordinates}
    start = {q["left"].diff(): 2.0, q["right"].diff(): 3.0}
    equations = vn.derive(tree.system())
    motion = vn.simulate(equations, start, (0, 1), method="rk4", step=1e-3)
    assert max(motion.largest_residuals.values()) < 1e-9
    assert motion.energy_error < 1e-9
    turning = motion[q["chassis_angle"].diff()] if joint == "planar" else _yaw_rate(motion, q)
    slip = turning - 0.3 * (motion[q["right"].diff()] - motion[q["left"].diff()]) / 0.8
    assert np.abs(slip).max() < 1e-9


def _yaw_rate(motion, q):
    """2 (w ż - z ẇ) of a chassis that only turns about z and pitches about its axle, from the velocity of the axle."""
    w, x, y, z = (motion[q[f"chassis_q{k}"]] for k in "wxyz")
    dw, dx, dy, dz = (motion[q[f"chassis_q{k}"].diff()] for k in "wxyz")
    return 2 * (-z * dw - y * dx + x * dy + w * dz)


def test_a_cart_on_four_wheels():
    """The fourth wheel touches the ground where the other three do, and each axle slips sideways as one."""
    fork = vn.Body("fork", "chassis", origin=(1, 0, 0), mass=0.5, inertia=0.01)
    tree = vehicle(
        "free", fork, wheel("third", 0.4, "fork"), wheel("fourth", -0.4, "fork"),
        wheels=("left", "right", "third", "fourth"),
    )  # fmt: skip
    assert tree.omitted == ("right rolling across", "fourth rolling height", "fourth rolling across")
    system = tree.system()
    state = vn.consistent_state(vn.derive(system), {"fork": 0.3, "dot(left)": 2.0})
    q = {str(x.func): x for x in tree.coordinates}
    velocity = np.array(vn.bodies.dynamics(tree).velocity("fourth", [state[x] for x in tree.coordinates],
                                                          [state[x.diff()] for x in tree.coordinates]))  # fmt: skip
    R = vn.bodies.dynamics(tree).rotation("fork", [state[x] for x in tree.coordinates])
    assert abs(velocity @ R[:, 1]) < 1e-12
    assert velocity @ R[:, 0] == pytest.approx(0.3 * state[q["fourth"].diff()], rel=1e-12)


def test_a_contact_that_others_do_not_imply_is_kept():
    """A third wheel across the axle is not implied: nothing is left out, and the vehicle cannot move."""
    chassis = vn.Body("chassis", None, joint="planar", mass=5, inertia=0.3)
    blades = [vn.bodies.Sliding("chassis", (0, 1, 0), point=(x, 0, 0), name=f"blade {x}") for x in (0, 1)]
    tree = vn.BodyTree([chassis], contacts=blades)
    assert tree.omitted == ()
    assert len(tree.constraints) == 2
