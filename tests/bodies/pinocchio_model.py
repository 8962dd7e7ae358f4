"""A tree of bodies in Pinocchio, and random trees."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import vinculum as vn
from vinculum.describe.bodies.joints import Helical, LinearAxis, RotaryAxis, ScrewAxis
from vinculum.graph import evaluate, symbol

KINDS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical", "free", "fixed")


def random_rotation(random):
    Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def random_inertia(random):
    """Six point masses somewhere: an inertia that a body can have."""
    points, masses = random.normal(size=(6, 3)), random.uniform(0.1, 1, 6)
    points -= masses @ points / masses.sum()
    return sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))


def random_body(random, name, parent, joint):
    axis = random.normal(size=3)
    if joint == "universal":
        axis = (axis, random.normal(size=3))
    if joint == "helical":
        joint = Helical(pitch=random.normal())
    return vn.Body(
        name, parent, axis=axis, origin=random.normal(size=3), rotation=random_rotation(random), joint=joint,
        mass=random.uniform(0.5, 2), center_of_mass=random.normal(size=3), inertia=random_inertia(random),
    )  # fmt: skip


def random_tree(random, count, kinds=KINDS, **options):
    """A tree of ``count`` bodies in shuffled order, with one or two roots."""
    bodies = []
    for i in range(count):
        parent = None if i == 0 or (i == 1 and count > 4) else f"b{random.integers(0, i)}"
        bodies.append(random_body(random, f"b{i}", parent, kinds[random.integers(len(kinds))]))
    return vn.BodyTree([bodies[i] for i in random.permutation(count)], **options)


class Peer:
    """The same tree in Pinocchio, each joint made of Pinocchio's elementary ones."""

    def __init__(self, tree, on_free_base=False):
        self.tree = tree
        self.model = pin.Model()
        self.model.gravity.linear = np.array(tree.gravity, dtype=float)
        base = 0
        if on_free_base:
            base = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        self.joint, self.slots = {None: (base, pin.SE3.Identity())}, []
        for name in tree.order:
            self._add(tree.body(name))
        self.data = self.model.createData()

    def _add(self, body):
        parent, offset = self.joint[body.parent]
        placement = offset * pin.SE3(body.turned, np.array(body.origin, dtype=float))
        for part in body.parts:
            parent = self.model.addJoint(parent, peer_joint(part), placement, f"{body.name}{part.places}")
            self.slots.append([body.coordinates[i] for i in part.places])
            placement = pin.SE3.Identity()
        J = np.array(body.inertia_matrix, dtype=float)
        inertia = pin.Inertia(float(body.mass), np.array(body.center_of_mass, dtype=float), J)
        self.model.appendBodyToJoint(parent, inertia, placement)
        self.joint[body.name] = (parent, placement)

    def state(self, values):
        """Pinocchio's q and v of a state {symbol: number}."""
        q, v = [], []
        for slot in self.slots:
            x = np.array([values[s] for s in slot])
            dx = np.array([values[s.diff()] for s in slot])
            q += list(x) if len(slot) == 1 else [*x[1:], x[0]]
            v += list(dx) if len(slot) == 1 else list(2 * rows(x) @ dx)
        return np.array(q), np.array(v)

    def accelerations(self, values, found):
        """Pinocchio's acceleration vector from q̈."""
        a = []
        for slot in self.slots:
            x = np.array([values[s] for s in slot])
            own = np.array([found[s] for s in slot])
            a += list(own) if len(slot) == 1 else list(2 * rows(x) @ own)
        return np.array(a)


def peer_joint(part):
    """Pinocchio's joint; its pitch is the travel per radian."""
    axis = np.array(part.axis)
    if isinstance(part.joint, RotaryAxis):
        return pin.JointModelRevoluteUnaligned(axis)
    if isinstance(part.joint, LinearAxis):
        return pin.JointModelPrismaticUnaligned(axis)
    if isinstance(part.joint, ScrewAxis):
        return pin.JointModelHelicalUnaligned(axis, float(part.joint.travel.value))
    return pin.JointModelSpherical()


def rows(q):
    w, x, y, z = q
    return np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def random_state(tree, random):
    """Coordinates and velocities, quaternions of unit length."""
    values = {}
    for body in tree.bodies:
        x, dx = random.normal(size=(2, len(body.coordinates)))
        if body.joint in ("spherical", "free"):
            x[-4:] /= np.linalg.norm(x[-4:])
            dx[-4:] -= x[-4:] * (x[-4:] @ dx[-4:])
        values |= dict(zip(body.coordinates, x, strict=True))
        values |= {q.diff(): float(d) for q, d in zip(body.coordinates, dx, strict=True)}
    return {key: float(value) for key, value in values.items()}


def hinge_forces(steps, applied, state):
    """Pinocchio's joint forces from generalized forces in the coordinates."""
    values = {symbol(key): x for key, x in state.items()}
    forces = steps.hinge_forces([*map(float, applied)])
    return np.array(evaluate([x for row in forces for x in row], values))
