"""Random motions to differentiate: systems of every kind, with starts that the constraints determine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.random_systems import Maker, random_system, t


@dataclass(frozen=True)
class Motion:
    """A system with known starts, a guess for the others, laws of its inputs, and what to differentiate by."""

    system: vn.System
    initial: dict[Any, float]
    guess: dict[Any, float]
    inputs: dict[Any, Any]
    by: tuple[Any, ...]
    end: float

    @property
    def call(self) -> dict[str, Any]:
        return dict(initial=self.initial, guess=self.guess, inputs=self.inputs)


def _by(system, initial, random):
    """Two parameters and two starts."""
    keys, starts = list(system.parameters), list(initial)
    chosen = [keys[k] for k in random.choice(len(keys), 2, replace=False)]
    return tuple(chosen + [starts[k] for k in random.choice(len(starts), 2, replace=False)])


def anything(seed: int) -> Motion:
    """Every kind of term, holonomic and nonholonomic constraints, linear and not, two inputs.

    It ends at t = 1, before seed 5 and its neighbors come to rest under a homogeneous constraint.
    """
    random = np.random.default_rng(seed)
    n = 2 + seed % 3
    holonomic = int(random.integers(0, n))
    system = random_system(seed, n, holonomic, int(random.integers(0, n - holonomic)))
    free = []
    for constraint in system.constraints:
        q = system.coordinates[int(constraint.name[-1]) - 1]
        free += [q, q.diff(t)] if constraint.name.startswith("holds") else [q.diff(t)]
    given = [key for key in (*system.coordinates, *system.velocities) if key not in free]
    initial = {key: float(random.normal(0, 0.5)) for key in given}
    u1, u2 = system.inputs
    inputs = {u1: sp.Float(random.uniform(0.2, 1)) * sp.sin(2 * t), u2: sp.Float(random.uniform(0.2, 1)) * sp.cos(t)}
    return Motion(system, initial, {}, inputs, _by(system, initial, random), 1.0)


def _links(make: Maker, joint: tuple[Any, Any]):
    """Uniform rods from a joint: energies, and the end of the last one."""
    g, (x, y), T, V = make.number(8, 10), joint, 0, 0
    for angle in make.q:
        l, m = make.number(0.5, 1), make.number(0.5, 2)
        cx, cy = x + l * sp.sin(angle) / 2, y - l * sp.cos(angle) / 2
        T += m * (cx.diff(t) ** 2 + cy.diff(t) ** 2) / 2 + m * l**2 * angle.diff(t) ** 2 / 24
        V += m * g * cy
        x, y = x + l * sp.sin(angle), y - l * sp.cos(angle)
    return sp.expand(T), V, x, y


def chain(seed: int) -> Motion:
    """Rods that hang one on the other, with friction between them."""
    random = np.random.default_rng(seed)
    make = Maker(random, 1 + seed % 4)
    T, V, _, _ = _links(make, (0, 0))
    turns = [b - a for a, b in zip([0, *make.v[:-1]], make.v, strict=True)]
    losses = sum(make.number(0.05, 0.3) * turn**2 / 2 for turn in turns)
    system = vn.System(make.q, T, V, dissipation=losses, parameters=make.parameters, name=f"chain {seed}")
    initial = {key: float(random.uniform(-1, 1)) for key in (*system.coordinates, *system.velocities)}
    return Motion(system, initial, {}, {}, _by(system, initial, random), 1.5)


def loop(seed: int) -> Motion:
    """Three to five rods whose last end is held at a point: closed loops with one to three freedoms."""
    random = np.random.default_rng(seed)
    n = 3 + seed % 3
    make = Maker(random, n)
    T, V, x, y = _links(make, (0, 0))
    pose = dict(zip(make.q, (float(a) for a in np.linspace(-1.2, 2.6, n) + random.uniform(-0.3, 0.3, n)), strict=True))
    held = [sp.Symbol("x_e"), sp.Symbol("y_e")]
    place = [float(e.subs(pose).subs(make.parameters)) for e in (x, y)]
    losses = make.number(0.05, 0.3) * make.v[0] ** 2 / 2
    parameters = {**make.parameters, **dict(zip(held, place, strict=True))}
    closed = [vn.Holonomic(x - held[0], name="loop x"), vn.Holonomic(y - held[1], name="loop y")]
    system = vn.System(make.q, T, V, dissipation=losses, constraints=closed, parameters=parameters, name=f"loop {seed}")
    given = [*make.q[: n - 2]]
    initial = {q: pose[q] for q in given} | {q.diff(t): float(random.uniform(-1, 1)) for q in given}
    guess = {q: pose[q] for q in make.q[n - 2 :]}
    return Motion(system, initial, guess, {}, _by(system, initial, random), 0.5)


def cart(seed: int) -> Motion:
    """A sleigh on a runner that pulls trailers, each on an axle: one nonholonomic constraint for each of them."""
    random = np.random.default_rng(seed)
    trailers = seed % 3
    x, y = dynamicsymbols("x y")
    angles = list(dynamicsymbols(f"a0:{trailers + 1}"))
    make = Maker(random, trailers + 3)
    make.q, make.v = [x, y, *angles], [q.diff(t) for q in (x, y, *angles)]
    px, py, T, constraints = x, y, 0, []
    for k, angle in enumerate(angles):
        m, inertia, a = make.number(0.5, 2), make.number(0.1, 0.5), make.number(0.3, 0.8)
        if k > 0:  # the axle of a trailer is its length behind the one before; that of the sleigh is at (x, y)
            px, py = px - a * sp.cos(angle), py - a * sp.sin(angle)
        ahead = a if k == 0 else a / 3
        cx, cy = px + ahead * sp.cos(angle), py + ahead * sp.sin(angle)
        T += m * (cx.diff(t) ** 2 + cy.diff(t) ** 2) / 2 + inertia * angle.diff(t) ** 2 / 2
        constraints.append(vn.Nonholonomic(sp.cos(angle) * py.diff(t) - sp.sin(angle) * px.diff(t), name=f"axle {k}"))
    losses = make.number(0.05, 0.3) * make.v[0] ** 2 / 2
    V = make.number(0.5, 2) * (x**2 + y**2) / 2
    system = vn.System(
        make.q, T, V, dissipation=losses, constraints=constraints, parameters=make.parameters, name=f"cart {seed}"
    )
    initial = {q: float(random.uniform(-0.5, 0.5)) for q in make.q}
    initial |= {x.diff(t): float(random.uniform(0.5, 1)), angles[0].diff(t): float(random.uniform(-1, 1))}
    return Motion(system, initial, {}, {}, _by(system, initial, random), 1.5)


KINDS = {"anything": anything, "chain": chain, "loop": loop, "cart": cart}
