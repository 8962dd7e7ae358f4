"""Trees to measure on."""

import numpy as np

import vinculum as vn


def chain(n, seed=3):
    """A serial chain with random twists, lengths and full inertias: no sparsity to be lucky with."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        own = shape(random)
        rows.append(dict(a=random.normal(), d=random.normal(), alpha=random.uniform(-2, 2), name=f"b{i}", **own))
    return vn.BodyTree(vn.bodies.denavit_hartenberg(rows, convention="modified"))


def branching(n, seed=5):
    """A tree of n bodies on revolute joints about random axes, each on any of those before it."""
    random = np.random.default_rng(seed)
    parents = [None, *(f"b{random.integers(0, i)}" for i in range(1, n))]
    return vn.BodyTree([_link(random, f"b{i}", parent) for i, parent in enumerate(parents)])


def _link(random, name, parent):
    axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return vn.Body(name, parent, origin=random.normal(size=3), rotation=axes * np.linalg.det(axes), **shape(random))


def shape(random):
    """Mass, center of mass and inertia of six point masses."""
    points, masses = random.normal(size=(6, 3)) / 5, random.uniform(0.1, 1, 6)
    center = masses @ points / masses.sum()
    points = points - center
    J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    return dict(mass=masses.sum(), center_of_mass=center, inertia=J)


def urdf(n, seed=1):
    """A tree of n links on revolute and prismatic joints, each on one of the twenty before it."""
    random = np.random.default_rng(seed)
    links = ['<link name="l0"/>']
    for i in range(1, n + 1):
        root = random.normal(size=(3, 3)) / 10
        J = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        xx, xy, xz, yy, yz, zz = J[np.triu_indices(3)]
        inertia = f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
        mass = f'<origin xyz="{_text(random, 0.1)}"/><mass value="{random.uniform(0.5, 1)}"/>'
        place = f'<origin xyz="{_text(random, 0.3)}" rpy="{_text(random, 1.0)}"/><axis xyz="{_text(random, 1.0)}"/>'
        ends = f'<parent link="l{random.integers(max(0, i - 20), i)}"/><child link="l{i}"/>'
        kind = "continuous" if random.random() < 0.8 else "prismatic"
        limit = "" if kind == "continuous" else '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
        links.append(f'<link name="l{i}"><inertial>{mass}{inertia}</inertial></link>')
        links.append(f'<joint name="j{i}" type="{kind}">{ends}{place}<dynamics damping="0.1"/>{limit}</joint>')
    return f'<robot name="large">{"".join(links)}</robot>'


def _text(random, scale):
    return " ".join(map(str, random.normal(scale=scale, size=3)))
