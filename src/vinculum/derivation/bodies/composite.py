"""The mass matrix by composite bodies and its sparse factorization (Featherstone 2008, chapters 6 and 8).

A hinge moves everything it carries as one rigid body. The momentum of that body, transformed inwards along the path,
has the component M_ij at every hinge on the way. Entries between branches are zero and remain zero in M = Lᵀ D L.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vinculum.derivation.bodies.hinges import Hinge
from vinculum.derivation.bodies.newton_euler import carry_inwards
from vinculum.describe.bodies.transforms import Inertia, Six, matrix_plus
from vinculum.graph import ONE, ZERO, Node, lift
from vinculum.graph.node import divide
from vinculum.graph.vectors import plus


def starts(hinges: Sequence[Hinge]) -> list[int]:
    """The index of every hinge's first velocity."""
    widths = [hinge.joint.width for hinge in hinges]
    return [sum(widths[:i]) for i in range(len(widths))]


def mass_matrix(hinges: Sequence[Hinge]) -> np.ndarray:
    """M (velocities, velocities) as nodes."""
    first = starts(hinges)
    size = first[-1] + hinges[-1].joint.width
    M = np.full((size, size), ZERO, dtype=object)
    carried_bodies = composites(hinges)
    for i, hinge in enumerate(hinges):
        for k, momentum in enumerate(hinge.joint.momenta(carried_bodies[i])):
            _fill(M, hinges, first, i, k, momentum)
    for i, hinge in enumerate(hinges):
        M[first[i], first[i]] = M[first[i], first[i]] + hinge.rotor
    return M


def composites(hinges: Sequence[Hinge]) -> list[Inertia]:
    """For every hinge the inertia of all it carries, as one body."""
    found = [hinge.inertia for hinge in hinges]
    for i in reversed(range(len(hinges))):
        if hinges[i].parent >= 0:
            inertia = found[i]
            for stage in reversed(hinges[i].stages):
                inertia = stage.inertia(inertia)
            m, h, S = found[hinges[i].parent]
            found[hinges[i].parent] = m + inertia[0], plus(h, inertia[1]), matrix_plus(S, inertia[2])
    return found


def _fill(M: np.ndarray, hinges: Sequence[Hinge], first: list[int], i: int, k: int, momentum: Six) -> None:
    column, j = first[i] + k, i
    while True:
        for row, value in enumerate(hinges[j].joint.component(momentum), start=first[j]):
            M[row, column] = M[column, row] = lift(value)
        if hinges[j].parent < 0:
            return
        momentum, j = carry_inwards(hinges[j], momentum), hinges[j].parent


def ancestors(hinges: Sequence[Hinge]) -> list[int]:
    """λ(i): for every velocity the one before it on the way to the ground, or -1."""
    first, above = starts(hinges), []
    for i, hinge in enumerate(hinges):
        parent = hinge.parent
        last = first[parent] + hinges[parent].joint.width - 1 if parent >= 0 else -1
        above += [last, *range(first[i], first[i] + hinge.joint.width - 1)]
    return above


def solve(M: np.ndarray, right: Sequence[Any], above: Sequence[int]) -> tuple[list[Node], list[Node]]:
    """x of M x = b by M = Lᵀ D L along the tree, without fill-in, and the pivots D."""
    H, x = M.copy(), [lift(b) for b in right]
    reciprocal: list[Node] = [ONE] * len(H)
    for k in reversed(range(len(H))):
        reciprocal[k] = divide(ONE, H[k, k])
        i = above[k]
        while i >= 0:
            factor = H[k, i] * reciprocal[k]
            j = i
            while j >= 0:
                H[i, j] = H[i, j] - factor * H[k, j]
                j = above[j]
            H[k, i] = factor
            x[i] = x[i] - factor * x[k]
            i = above[i]
    for k in range(len(H)):
        x[k] = x[k] * reciprocal[k]
        i = above[k]
        while i >= 0:
            x[k] = x[k] - H[k, i] * x[i]
            i = above[i]
    return x, [H[k, k] for k in range(len(H))]
