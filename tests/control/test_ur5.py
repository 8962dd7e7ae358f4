"""A UR5 with its base joint: the vertical axis is ignorable, and still a state that a controller holds."""

from __future__ import annotations

import numpy as np
import sympy as sp

import vinculum as vn

# Denavit-Hartenberg table and masses as published by the maker; the links are taken as balls of a plausible size
ROWS = (
    {"d": 0.089159, "alpha": np.pi / 2}, {"a": -0.425}, {"a": -0.39225},
    {"d": 0.10915, "alpha": np.pi / 2}, {"d": 0.09465, "alpha": -np.pi / 2}, {"d": 0.0823},
)  # fmt: skip
MASSES = (3.7, 8.393, 2.275, 1.219, 1.219, 0.1879)
TORQUES = sp.symbols("u1:7")


def test_position_control_of_all_six_joints():
    links = [
        {**row, "name": f"q{k + 1}", "mass": m, "inertia": (0.01 * m, 0.01 * m, 0.012 * m), "torque": TORQUES[k]}
        for k, (row, m) in enumerate(zip(ROWS, MASSES, strict=True))
    ]
    equations = vn.derive(vn.BodyTree(vn.bodies.denavit_hartenberg(links)).system())
    q = equations.system.coordinates
    pose = dict(zip(q, (0.4, -1.2, 1.0, -0.5, 0.7, 0.2), strict=True))
    rest = vn.equilibrium(equations, pose)
    assert abs(rest[TORQUES[0]]) < 1e-9  # gravity does not load the vertical axis
    linear = vn.linearize(equations, at=rest)
    assert linear.states == (*q, *(joint.diff() for joint in q))
    law = vn.stabilize(linear, dict.fromkeys(q, 10000.0), 1.0)
    assert law.roots.real.max() < 0
    gain = np.asarray(law.gain)
    assert abs(gain[0, 0]) > 10  # the base joint is fed back
    loop = vn.close_loop(equations, law)
    assert vn.stability(vn.linearize(loop, at=rest)).kind == "asymptotically stable"
    start = {joint: pose[joint] + (0.3 if joint == q[0] else 0.02) for joint in q} | {joint.diff(): 0.0 for joint in q}
    motion = vn.simulate(loop, start, (0, 8))
    for joint in q:
        assert abs(motion[joint][-1] - pose[joint]) < 1e-3
