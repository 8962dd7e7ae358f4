"""The transformation from a parent's frame to its child's, in sparse steps.

A `Screw` turns by an angle about a coordinate axis and shifts along it; z-screw, x-screw, z-screw reach any frame, and
with Denavit-Hartenberg frames the first is not needed. A `Shift` moves without turning, a `Turn` is any rotation. Each
step transforms free vectors in both directions, velocities (ω, v) outward, and forces (n, f), inertias (m, h, Σ) and
articulated inertias (A, B, C) inward. Moments and inertias are about the origin of the frame; Σ = ∫ρρᵀdm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.graph import ZERO, Node, lift
from vinculum.graph.vectors import Matrix, Vector, cross, dot, matrix_times, plus, times, transposed

ROUNDING = 4e-15
UPPER = [(i, j) for i in range(3) for j in range(i, 3)]  # entries of a symmetric matrix

Six = tuple[Vector, Vector]  # (ω, v), or (n, f)
Inertia = tuple[Any, Vector, Matrix]  # m, h = ∫ρ dm, Σ = ∫ρρᵀ dm
Articulated = tuple[Matrix, Matrix, Matrix]  # A, B, C of n = A ω + B v, f = Bᵀ ω + C v


def skew(a: Vector) -> Matrix:
    """[a]×."""
    x, y, z = a
    return ((0, -z, y), (z, 0, -x), (-y, x, 0))


def matrix_plus(*matrices: Matrix) -> Matrix:
    """The sum of matrices."""
    return tuple(plus(*rows) for rows in zip(*matrices, strict=True))


def _is_zero(x: Any) -> bool:
    return x is ZERO or (isinstance(x, (int, float)) and x == 0)


def plain(x: Any) -> Any:
    """A constant node as a number, which is cheaper to compute with; anything else unchanged."""
    return float(x.value) if isinstance(x, Node) and x.op == "constant" else x


@dataclass(frozen=True)
class Screw:
    """A turn (c, s) about coordinate axis k and a shift d along it."""

    k: int
    c: Any
    s: Any
    d: Any

    def outwards(self, a: Vector) -> Vector:
        """A free vector in the axes after the step."""
        i, j = (self.k + 1) % 3, (self.k + 2) % 3
        return self._place(self.c * a[i] + self.s * a[j], self.c * a[j] - self.s * a[i], a[self.k])

    def inwards(self, a: Vector) -> Vector:
        """A free vector in the axes before the step."""
        i, j = (self.k + 1) % 3, (self.k + 2) % 3
        return self._place(self.c * a[i] - self.s * a[j], self.c * a[j] + self.s * a[i], a[self.k])

    def _place(self, i: Any, j: Any, k: Any) -> Vector:
        result = [0, 0, 0]
        result[(self.k + 1) % 3], result[(self.k + 2) % 3], result[self.k] = i, j, k
        return tuple(result)

    @property
    def r(self) -> Vector:
        """The shift as a vector, the same before and after the turn."""
        return self._place(0, 0, self.d)

    def motion(self, x: Six) -> Six:
        """(ω, v) of the new origin in the new axes."""
        return self.outwards(x[0]), self.outwards(plus(x[1], cross(x[0], self.r)))

    def force(self, x: Six) -> Six:
        """(n, f) about the old origin in the old axes."""
        f = self.inwards(x[1])
        return plus(self.inwards(x[0]), cross(self.r, f)), f

    def inertia(self, x: Inertia) -> Inertia:
        """m, h, Σ about the old origin in the old axes."""
        return shift_inertia(x[0], self.inwards(x[1]), self.tensor(x[2]), self.r)

    def tensor(self, X: Matrix) -> Matrix:
        """Rᵀ X R with v = s (X_ii - X_jj) + c (X_ij + X_ji): X_ii - s v, X_jj + s v, c v - X_ji, c v - X_ij."""
        i, j, k = (self.k + 1) % 3, (self.k + 2) % 3, self.k
        Y = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
        Y[k][k] = X[k][k]
        if _is_zero(self.c):
            Y[i][i], Y[j][j], Y[i][j], Y[j][i] = X[j][j], X[i][i], -X[j][i], -X[i][j]
        elif _is_zero(self.s):
            Y[i][i], Y[j][j], Y[i][j], Y[j][i] = X[i][i], X[j][j], X[i][j], X[j][i]
        else:
            v = self.s * (X[i][i] - X[j][j]) + self.c * (X[i][j] + X[j][i])
            sv, cv = self.s * v, self.c * v
            Y[i][i], Y[j][j], Y[i][j], Y[j][i] = X[i][i] - sv, X[j][j] + sv, cv - X[j][i], cv - X[i][j]
        Y[i][k], Y[j][k] = self.c * X[i][k] - self.s * X[j][k], self.c * X[j][k] + self.s * X[i][k]
        Y[k][i], Y[k][j] = self.c * X[k][i] - self.s * X[k][j], self.c * X[k][j] + self.s * X[k][i]
        return tuple(map(tuple, Y))

    def articulated(self, x: Articulated) -> Articulated:
        """A, B, C about the old origin in the old axes."""
        A, B, C = (self.tensor(X) for X in x)
        return articulated_shift(A, B, C, self.r)


@dataclass(frozen=True)
class Shift:
    """A shift r without a turn."""

    r: Vector

    def outwards(self, a: Vector) -> Vector:
        """The same vector."""
        return a

    inwards = outwards

    def motion(self, x: Six) -> Six:
        """(ω, v) of the new origin."""
        return x[0], plus(x[1], cross(x[0], self.r))

    def force(self, x: Six) -> Six:
        """(n, f) about the old origin."""
        return plus(x[0], cross(self.r, x[1])), x[1]

    def inertia(self, x: Inertia) -> Inertia:
        """m, h, Σ about the old origin."""
        return shift_inertia(*x, self.r)

    def articulated(self, x: Articulated) -> Articulated:
        """A, B, C about the old origin."""
        return articulated_shift(*x, self.r)


@dataclass(frozen=True)
class Turn:
    """Any rotation R, the new axes as columns in the old ones."""

    R: Matrix

    def outwards(self, a: Vector) -> Vector:
        """Rᵀ a."""
        return times(transposed(self.R), a)

    def inwards(self, a: Vector) -> Vector:
        """R a."""
        return times(self.R, a)

    @property
    def r(self) -> Vector:
        """No shift."""
        return (0, 0, 0)

    def motion(self, x: Six) -> Six:
        """(ω, v) in the new axes."""
        return self.outwards(x[0]), self.outwards(x[1])

    def force(self, x: Six) -> Six:
        """(n, f) in the old axes."""
        return self.inwards(x[0]), self.inwards(x[1])

    def inertia(self, x: Inertia) -> Inertia:
        """m, h, Σ in the old axes."""
        return x[0], self.inwards(x[1]), symmetric(self.tensor(x[2]))

    def tensor(self, X: Matrix) -> Matrix:
        """R X Rᵀ."""
        return matrix_times(matrix_times(self.R, X), transposed(self.R))

    def articulated(self, x: Articulated) -> Articulated:
        """A, B, C in the old axes."""
        return symmetric(self.tensor(x[0])), self.tensor(x[1]), symmetric(self.tensor(x[2]))


Stage = Screw | Shift | Turn


def screw(k: int, angle: float, d: float) -> Screw:
    """A constant screw about coordinate axis k."""
    c, s = snap(np.array([np.cos(angle), np.sin(angle)]))
    return Screw(k, lift(float(c)), lift(float(s)), lift(float(d)))


def snap(X: np.ndarray) -> np.ndarray:
    """Round entries that are 0, 1 or -1 up to rounding errors."""
    nearest = np.round(X)
    return np.where(np.abs(X - nearest) < ROUNDING, nearest, X)


def flat(inertia: Inertia) -> list[Node]:
    """m, h, Σ as ten numbers."""
    m, h, S = inertia
    return [lift(x) for x in (m, *h, *(S[i][j] for i, j in UPPER))]


def of_stage(stage: Stage) -> list[Node]:
    """The numbers of a step."""
    if isinstance(stage, Screw):
        return [lift(x) for x in (stage.c, stage.s, stage.d)]
    return [lift(x) for x in (stage.r if isinstance(stage, Shift) else [x for row in stage.R for x in row])]


def plain_inertia(inertia: Inertia) -> Inertia:
    """Constants as numbers."""
    m, h, S = inertia
    return plain(m), tuple(map(plain, h)), tuple(tuple(map(plain, row)) for row in S)


def plain_stage(stage: Stage) -> Stage:
    """Constants as numbers."""
    if isinstance(stage, Screw):
        return Screw(stage.k, plain(stage.c), plain(stage.s), plain(stage.d))
    if isinstance(stage, Shift):
        return Shift(tuple(map(plain, stage.r)))
    return Turn(tuple(tuple(map(plain, row)) for row in stage.R))


def symmetric(X: Matrix) -> Matrix:
    """X with the lower triangle replaced by the upper one."""
    return tuple(tuple(X[min(i, j)][max(i, j)] for j in range(3)) for i in range(3))


def shift_inertia(m: Any, h: Vector, S: Matrix, r: Vector) -> Inertia:
    """Inertia about an origin that lies at -r: h + m r, Σ + r hᵀ + h rᵀ + m r rᵀ."""
    moved = plus(h, tuple(m * x for x in r))
    rows = [[S[i][j] + r[i] * h[j] + moved[i] * r[j] for j in range(3)] for i in range(3)]
    return m, moved, symmetric(rows)


def articulated_shift(A: Matrix, B: Matrix, C: Matrix, r: Vector) -> Articulated:
    """B + [r]C and A + [r]Bᵀ + ([r]Bᵀ)ᵀ + [r]C[r]ᵀ = A + [r]Bᵀ + B'[r]ᵀ with B' the new B."""
    if all(_is_zero(x) for x in r):
        return A, B, C
    X = skew(r)
    moved = matrix_plus(B, matrix_times(X, C))
    return symmetric(matrix_plus(A, matrix_times(X, transposed(B)), matrix_times(moved, transposed(X)))), moved, C


def moment(S: Matrix, U: Matrix) -> Vector:
    """∫ρ × (U ρ) dm from Σ = ∫ρρᵀdm: (UΣ)_zy - (UΣ)_yz and cyclic permutations."""
    W = [[dot(U[i], S[j]) if i != j else 0 for j in range(3)] for i in range(3)]
    return tuple(W[j][i] - W[i][j] for i, j in ((1, 2), (2, 0), (0, 1)))


def acceleration_matrix(w: Vector, a: Vector) -> Matrix:
    """U = [ω̇]× + [ω]×[ω]×, with which a point ρ of the body has the acceleration v̇ + U ρ."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return (
        (-(yy + zz), xy - a[2], xz + a[1]),
        (xy + a[2], -(xx + zz), yz - a[0]),
        (xz - a[1], yz + a[0], -(xx + yy)),
    )
