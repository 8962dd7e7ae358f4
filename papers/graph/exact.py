"""Small trees in exact arithmetic, with a kinetic energy that differentiates positions and knows no theorem.

Polynomials over the rationals in c_a, s_a, φ̇_a, φ̈_a, m_a, V_1, V̇_1, Ω_0, g, reduced modulo c² + s² = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from sympy import QQ, ring

from vinculum.derivation.bodies.theorem import Arc, Tree, direction_cosines
from vinculum.graph.vectors import IDENTITY, NULL, Matrix, Vector, cross, dot, matrix_times, plus, times, transposed

SKEW = [(1, 2, 2, 3), (2, 3, 6, 7), (-4, 4, -7, 9), (2, -6, 9, 11)]  # axes and their lengths
SHAPES = {
    "pendulum": (-1,),
    "planar 2R": (-1, 0),
    "planar 3R": (-1, 0, 1),
    "skew 2R": (-1, 0),
    "skew 3R": (-1, 0, 1),
    "tree of four": (-1, 0, 0, 1),
    "two roots": (-1, 0, -1),
}


@dataclass(frozen=True, eq=False)
class Exact:
    """A tree whose scalars are polynomials."""

    R: Any  # the ring
    generators: dict[str, Any]
    tree: Tree

    def __getitem__(self, name: str) -> Any:
        return self.generators[name]

    @property
    def n(self) -> int:
        return len(self.tree.arcs)

    @property
    def rates(self) -> list[Any]:
        return [self[f"w{i}"] for i in range(self.n)]

    def vector(self, name: str) -> Vector:
        return tuple(self[f"{name}{i}"] for i in range(3))

    def reduced(self, p: Any) -> Any:
        """Modulo c² + s² = 1: zero if and only if p vanishes on every configuration."""
        return self.R(p).rem([self[f"c{i}"] ** 2 + self[f"s{i}"] ** 2 - 1 for i in range(self.n)])

    def by_angle(self, p: Any, i: int) -> Any:
        """∂/∂φ_i by the chain rule."""
        p = self.R(p)
        return p.diff(self[f"s{i}"]) * self[f"c{i}"] - p.diff(self[f"c{i}"]) * self[f"s{i}"]

    def by_time(self, p: Any) -> Any:
        """d/dt of a polynomial of angles, velocities and V_1."""
        p = self.R(p)
        turns = (self.by_angle(p, i) * self[f"w{i}"] + p.diff(self[f"w{i}"]) * self[f"dw{i}"] for i in range(self.n))
        return sum(turns) + sum(p.diff(self[f"V{i}"]) * self[f"dV{i}"] for i in range(3))

    @cached_property
    def places(self) -> list[tuple[Matrix, Vector, Vector]]:
        """Rotation and origin of every body in the axes of the base, and its center of mass."""
        found: list[tuple[Matrix, Vector, Vector]] = []
        for a in self.tree.arcs:
            before, origin = found[a.parent][:2] if a.parent >= 0 else (IDENTITY, (self.R.zero,) * 3)
            turn = ((a.c, -a.s, 0), (a.s, a.c, 0), (0, 0, 1))
            Q = matrix_times(before, matrix_times(transposed(a.A), turn))
            p = plus(origin, times(before, a.r))
            found.append((Q, p, plus(p, times(Q, a.rho))))
        return found

    def angular_velocity(self, i: int) -> Vector:
        """In the axes of the body, from RᵀṘ."""
        Q = self.places[i][0]
        W = matrix_times(transposed(Q), [[self.by_time(k) for k in row] for row in Q])
        base = times(transposed(matrix_times(self.tree.R0, Q)), self.tree.Omega0)
        return plus((W[2][1], W[0][2], W[1][0]), base)

    def velocity(self, place: Vector) -> Vector:
        """Of a point given in the axes of the base, in inertial axes."""
        moving = times(self.tree.R0, [self.by_time(k) for k in place])
        return plus(self.tree.V1, cross(self.tree.Omega0, times(self.tree.R0, place)), moving)

    @cached_property
    def energy(self) -> Any:
        """½ Σ m |d r_C/dt|² + (J_C ω, ω)."""
        total = self.R.zero
        for i, a in enumerate(self.tree.arcs):
            v, omega = self.velocity(self.places[i][2]), self.angular_velocity(i)
            total += a.m * dot(v, v) / 2 + dot(times(about_center(a), omega), omega) / 2
        return total

    @cached_property
    def equations(self) -> list[Any]:
        """d/dt ∂T/∂φ̇_b - ∂T/∂φ_b."""
        return [self.by_time(self.energy.diff(w)) - self.by_angle(self.energy, b) for b, w in enumerate(self.rates)]

    def potential(self, g: Vector) -> Any:
        """-Σ m (g, r_C)."""
        return -sum(a.m * dot(g, place[2]) for a, place in zip(self.tree.arcs, self.places, strict=True))

    def values(self, polynomials: Sequence[Any], seed: int = 0) -> np.ndarray:
        """Numbers at a random rational configuration."""
        random = np.random.default_rng([2002, seed])
        point = {name: QQ(int(random.integers(1, 20)), 10) for name in self.generators}
        for i in range(self.n):
            h = QQ(int(random.integers(1, 20)), 20)
            point |= {f"c{i}": (1 - h**2) / (1 + h**2), f"s{i}": 2 * h / (1 + h**2)}
        given = [(self[name], x) for name, x in point.items()]
        return np.array([float(self.R(p).evaluate(given)) for p in polynomials])


def about_center(a: Arc) -> Matrix:
    """J_C from J about the hinge."""
    square = dot(a.rho, a.rho)
    shifted = [[a.m * ((square if i == j else 0) - a.rho[i] * a.rho[j]) for j in range(3)] for i in range(3)]
    return [[a.J[i][j] - shifted[i][j] for j in range(3)] for i in range(3)]


@cache
def exact(shape: str, base: str = "fixed") -> Exact:
    """A tree of `SHAPES` on a base that is fixed, translating or turning."""
    parents = SHAPES[shape]
    names = [f"{k}{i}" for k in ("c", "s", "w", "dw", "m") for i in range(len(parents))]
    names += [f"{k}{i}" for k in ("V", "dV", "O", "g") for i in range(3)]
    R, *generators = ring(names, QQ)
    get = dict(zip(names, generators, strict=True))
    arcs = [_arc(R, get, shape, i, parent) for i, parent in enumerate(parents)]
    V = tuple(get[f"V{i}"] for i in range(3)) if base != "fixed" else NULL
    O = tuple(get[f"O{i}"] for i in range(3)) if base == "turning" else NULL
    return Exact(R, get, Tree(arcs, V, O, _rational(R, SKEW[3]) if base == "turning" else IDENTITY))


def _rational(R: Any, axis: tuple[int, ...]) -> Matrix:
    x, y, z, length = (QQ(k) for k in axis)
    rows = direction_cosines((x / length, y / length, z / length))
    return tuple(tuple(R.one * k for k in row) for row in rows)


def _arc(R: Any, get: dict[str, Any], shape: str, i: int, parent: int) -> Arc:
    one, m = R.one, get[f"m{i}"]
    A = _rational(R, SKEW[i]) if "R" not in shape or "skew" in shape else IDENTITY
    A = IDENTITY if shape == "pendulum" else A
    r = (one * QQ(2 + i, 3), one * QQ(1, 2 + i), one * QQ(i, 5))
    rho = (one * QQ(1, 2), one * QQ(i + 1, 7), one * QQ(2, 5))
    S = [[QQ(3 + i), QQ(1, 3), QQ(1, 5)], [QQ(1, 3), QQ(4), QQ(2, 7)], [QQ(1, 5), QQ(2, 7), QQ(5 + i, 2)]]
    square = dot(rho, rho)
    J = [[one * S[a][b] + m * ((square if a == b else 0) - rho[a] * rho[b]) for b in range(3)] for a in range(3)]
    return Arc(parent, A, r, rho, m, tuple(map(tuple, J)), get[f"c{i}"], get[f"s{i}"])
