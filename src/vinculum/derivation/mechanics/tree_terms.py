"""Lagrange's equations of a tree of bodies with M and h from recursions instead of differentiated energies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vinculum.derivation.bodies.newton_euler import Support
from vinculum.derivation.bodies.recursion import LOOPED_FROM, Recursion, recursion
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Samples, numbers
from vinculum.describe import System
from vinculum.describe.bodies.energies import spring_potential
from vinculum.graph import ZERO, Node, Routine, call_routine, gradient, lift, symbol, symbols, vector


@dataclass(frozen=True, eq=False)
class TreeTerms:
    """M, h (gravity included) and V_q (the springs only) of the tree a system was made from, made when asked for."""

    system: System

    @cached_property
    def recursion(self) -> Recursion:
        """The recursions of the tree."""
        return recursion(self.system.bodies)

    @cached_property
    def M(self) -> np.ndarray:
        """(n, n) by composite bodies."""
        return self.recursion.mass_matrix()

    @cached_property
    def h(self) -> np.ndarray:
        """(n) by the recursion of Newton and Euler."""
        return self.recursion.bias()

    @cached_property
    def slope(self) -> np.ndarray:
        """(n) of the springs."""
        return vector(gradient(spring_potential(self.system.bodies), self.system.nodes.q))


def tree_accelerations(mechanics: Mechanics, samples: Samples) -> Explicit | None:
    """q̈ by the recursions, where nothing but norms of quaternions constrains the tree; else None."""
    system, steps = mechanics.system, mechanics.recursion
    if steps is None or len(system.constraints) != len(system.bodies.normalizations):
        return None
    corrections = _corrections(mechanics)
    if steps.size > LOOPED_FROM and steps.numeric:
        found, pivots = _looped(steps, mechanics.Q, corrections), []
    else:
        found, pivots = steps.accelerations(mechanics.Q, corrections)
    v = system.nodes.v
    return Explicit(
        rates=(*v, *found),
        velocities=v,
        accelerations=tuple(found),
        reactions=tuple(-(system.bodies.norm_inertia * c) for c in mechanics.corrections),
        pivots=tuple(pivots),
        numbers=tuple(numbers(pivots, samples[0])),
    )


def _corrections(mechanics: Mechanics) -> dict[Node, Node]:
    """c of every norm, by the first symbol of its quaternion."""
    found: dict[Node, Node] = {}
    for c, norm in zip(mechanics.corrections, mechanics.position, strict=True):
        present = symbols([norm]) if norm is not None else set()
        found |= {hinge.q[0]: c for hinge in mechanics.recursion.hinges if len(hinge.q) == 4 and hinge.q[0] in present}
    return found


@dataclass(frozen=True, eq=False)
class ForwardDynamics:
    """q̈ of a tree under given generalized forces, written out."""

    recursion: Recursion
    forces: tuple[Node, ...]

    def __call__(self) -> list[Node]:
        return self.recursion.accelerations(self.forces, {}, "articulated")[0]


def _looped(steps: Recursion, Q: Sequence[Node] | np.ndarray, corrections: dict[Node, Node]) -> list[Node]:
    """q̈ as the results of a call, for which the compiler has loops over the hinges; corrections act along q."""
    q, v = (tuple(map(symbol, keys)) for keys in (steps.tree.coordinates, steps.tree.velocities))
    u, ground = (tuple(symbol((name, i)) for i in range(k)) for name, k in (("force", len(q)), ("ground", 9)))
    given = replace(steps, base=Support(ground[:3], ground[3:6], ground[6:]))
    routine = Routine("forward dynamics", (*q, *v, *u, *ground), ForwardDynamics(given, u), steps)
    base = [lift(x) for x in (*steps.base.omega, *steps.base.alpha, *steps.base.a)]
    found = call_routine(routine, (*q, *v, *Q, *base), len(q))
    for hinge, rows in zip(steps.hinges, steps.places, strict=True):
        for i in rows:
            found[i] = found[i] - corrections.get(hinge.q[0], ZERO) * q[i]
    return found
