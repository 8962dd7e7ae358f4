"""A satellite: a free hull with reaction wheels and panels on ball joints, nothing outside."""

from __future__ import annotations

import numpy as np
import sympy as sp

import vinculum as vn

u = sp.symbols("u1:4")


def satellite():
    shape = dict(mass=100, inertia=(20, 25, 30, 1, -2, 0.5), center_of_mass=(0.02, 0.01, -0.03))
    bodies = [vn.Body("hull", None, joint="free", **shape)]
    for i, axis in enumerate(np.eye(3)):
        wheel = dict(mass=2, inertia=0.02 * np.eye(3) + 0.01 * np.outer(axis, axis), torque=u[i])
        bodies.append(vn.Body(f"wheel{i + 1}", "hull", axis=axis, origin=(0.1 * i, 0.05, -0.1), **wheel))
    for i, side in enumerate((1, -1)):
        panel = dict(mass=5, center_of_mass=(0, side, 0), inertia=(2, 0.1, 2))
        bodies.append(vn.Body(f"panel{i + 1}", "hull", joint="spherical", origin=(0, 0.8 * side, 0), **panel))
    return vn.BodyTree(bodies, gravity=(0, 0, 0), name="satellite")


def momenta(tree, q, v):
    """Linear and angular momentum about the origin, inertial axes, row by row."""
    machine, P, L = vn.bodies.dynamics(tree), 0, 0
    for body in tree.bodies:
        center = [float(x) for x in body.center_of_mass]
        r, rate = machine.position(body.name, q, center), machine.velocity(body.name, q, v, center)
        R, omega = machine.rotation(body.name, q), machine.angular_velocity(body.name, q, v)
        spin = np.einsum("kij,jl,kml,km->ki", R, np.array(body.inertia_matrix, dtype=float), R, omega)
        P, L = P + float(body.mass) * rate, L + float(body.mass) * np.cross(r, rate) + spin
    return P, L


def test_momentum_is_kept_while_the_wheels_turn_the_hull():
    """Over a minute with torques on the wheels: momentum and its moment to 1e-10, and quaternions of length one."""
    tree = satellite()
    q = {str(x.func): x for x in tree.coordinates}
    start = {q["hull_qw"]: 1.0, q["panel1_qw"]: 1.0, q["panel2_qw"]: 1.0}
    speeds = {"panel1_qx": 0.2, "panel2_qz": -0.3, "hull_qy": 0.1, "hull_x": 0.01, "wheel1": 10.0}
    start |= {q[name].diff(): speed for name, speed in speeds.items()}
    laws = {u[0]: sp.sin(tree.time) / 10, u[1]: sp.cos(tree.time / 3) / 20, u[2]: -sp.cos(tree.time) / 50}
    motion = vn.simulate(vn.derive(tree.system()), start, np.linspace(0, 60, 121), inputs=laws)
    states = [np.column_stack([motion[x] for x in keys]) for keys in (tree.coordinates, tree.velocities)]
    for momentum in momenta(tree, *states):
        assert np.abs(momentum - momentum[0]).max() < 1e-10 * np.abs(momentum).max()
    assert motion.energy_error < 1e-10
    assert max(motion.largest_residuals.values()) < 1e-12
    hull = states[0][:, 3:7]
    assert np.abs(hull[-1] - hull[0]).max() > 0.1  # it did turn
