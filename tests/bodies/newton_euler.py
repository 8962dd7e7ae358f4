"""Newton's and Euler's equations of a tree in inertial axes with plain numbers, body by body.

Written from the textbook for tests: no frames of hinges, no graph, no tables. Pinocchio cannot hold a tree of a
thousand bodies, because its ``Data`` has tables with n³ entries.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from bodies.pinocchio_model import rows
from vinculum.describe.bodies.joints import LinearAxis, RotaryAxis


def joint_forces(tree, q, v, a):
    """{coordinates of an elementary joint: force along it, or the moment in body axes of a ball joint}."""
    still = np.zeros(3)
    motion = {None: (np.eye(3), still, still, still, still)}  # R, p, ω, α, acceleration of the origin
    joints, wrenches = {}, {None: np.zeros(6)}
    for name in tree.order:
        body = tree.body(name)
        R, p, omega, alpha, acc = motion[body.parent]
        p, acc = moved(p, acc, omega, alpha, R @ np.array(body.origin, dtype=float))
        R = R @ body.turned
        joints[name] = []
        for part in body.parts:
            slot = [body.coordinates[i] for i in part.places]
            x, dx, ddx = (np.array([given[key] for key in slot]) for given in (q, v, a))
            n = R @ np.array(part.axis, dtype=float)
            travel = slide(part, x, dx, ddx)
            if travel is not None:
                s, ds, dds = travel
                p, acc = moved(p, acc, omega, alpha, n * s)
                acc = acc + 2 * np.cross(omega, n * ds) + n * dds
            if not isinstance(part.joint, LinearAxis):
                R, own, gained = turned(part, R, n, x, dx, ddx)
                alpha = alpha + gained + np.cross(omega, own)
                omega = omega + own
            joints[name].append((part, slot, n, p, R))
        motion[name] = (R, p, omega, alpha, acc)
        wrenches[name] = needed(body, motion[name], np.array(tree.gravity, dtype=float))
    found = {}
    for name in reversed(tree.order):
        moment, force = wrenches[name][:3], wrenches[name][3:]
        for part, slot, n, p, R in joints[name]:
            found[tuple(slot)] = component(part, n, R, moment - np.cross(p, force), force)
        wrenches[tree.body(name).parent] += wrenches[name]
    return found


def moved(p, acc, omega, alpha, d):
    """Position and acceleration of a point at a distance d in the same body."""
    return p + d, acc + np.cross(alpha, d) + np.cross(omega, np.cross(omega, d))


def slide(part, x, dx, ddx):
    """Displacement, velocity and acceleration along the axis; None without one."""
    if len(x) == 4 or isinstance(part.joint, RotaryAxis):
        return None
    lead = 1.0 if isinstance(part.joint, LinearAxis) else float(part.joint.travel.value)
    return lead * x[0], lead * dx[0], lead * ddx[0]


def turned(part, R, n, x, dx, ddx):
    """The axes after the joint, and its own angular velocity and acceleration."""
    if len(x) == 1:
        R = R @ Rotation.from_rotvec(np.array(part.axis, dtype=float) * x[0]).as_matrix()
        return R, n * dx[0], n * ddx[0]
    R = R @ Rotation.from_quat([*x[1:], x[0]]).as_matrix()
    return R, R @ (2 * rows(x) @ dx), R @ (2 * rows(x) @ ddx)


def needed(body, motion, gravity):
    """Moment about the inertial origin and force that the motion of a body needs."""
    R, p, omega, alpha, acc = motion
    c = R @ np.array(body.center_of_mass, dtype=float)
    J = R @ np.array(body.inertia_matrix, dtype=float) @ R.T
    center, a_c = moved(p, acc, omega, alpha, c)
    force = float(body.mass) * (a_c - gravity)
    return np.r_[J @ alpha + np.cross(omega, J @ omega) + np.cross(center, force), force]


def component(part, n, R, moment, force):
    """The part of a wrench along the joint."""
    if part.joint.size == 4:
        return R.T @ moment
    if isinstance(part.joint, RotaryAxis):
        return np.array([n @ moment])
    if isinstance(part.joint, LinearAxis):
        return np.array([n @ force])
    return np.array([n @ moment + float(part.joint.travel.value) * (n @ force)])
