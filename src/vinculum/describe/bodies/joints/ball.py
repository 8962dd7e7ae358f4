"""A rotation about a point: S = (1; 0). The coordinates are a unit quaternion with ω = 2 E(q) q̇ in body axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vinculum.describe.bodies.joints.elementary import Angle, Elementary
from vinculum.describe.bodies.kinematics import Motion, quaternion_matrix, quaternion_rows, rates_of, turn_motion
from vinculum.describe.bodies.transforms import Articulated, Inertia, Shift, Six, Stage, Turn, symmetric
from vinculum.graph import ONE, ZERO, Node, lift
from vinculum.graph.node import divide
from vinculum.graph.vectors import Matrix, Vector, cross, dot, matrix_times, minus, plus, transposed


@dataclass(frozen=True)
class BallCenter(Elementary):
    """The coordinates are qw, qx, qy, qz."""

    size = 4
    width = 3
    home = (1.0, 0.0, 0.0, 0.0)
    axial = False
    normalized = True

    def move(self, motion: Motion, axis: Vector, q: Sequence[Node], rates: Sequence[Node]) -> Motion:
        """R is rotated by the quaternion, and 2 E(q) q̇ is added to ω."""
        return turn_motion(motion, quaternion_matrix(q), rates_of(q, rates))

    def step(self, q: Sequence[Node], delta: float = 0.0, d: Any = ZERO) -> Turn:
        """The rotation of the quaternion; constant parts are separate steps."""
        return Turn(tuple(tuple(lift(x) for x in row) for row in quaternion_matrix(q)))

    def at_zero(self, step: Turn) -> Stage:
        """No turn."""
        return Shift((0, 0, 0))

    def split(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The joint does not move a mass at its center."""
        m, h, S = inertia
        zero = (ZERO, ZERO, ZERO)
        return (ZERO, h, S), (m, zero, (zero, zero, zero))

    def velocity_map(self, q: Sequence[Any]) -> Matrix:
        """G = 2 E(q)."""
        return tuple(tuple(2 * x for x in row) for row in quaternion_rows(q))

    def velocities(self, q: Sequence[Any], rates: Sequence[Any]) -> Vector:
        """ω = 2 E(q) q̇; also ω̇ = 2 E(q) q̈, since E(q̇) q̇ = 0."""
        return rates_of(q, rates)

    def displacement(self, q: Sequence[Any], delta: Sequence[Any]) -> Vector:
        """δq = ½ Eᵀ(q) δθ."""
        return tuple(dot(column, delta) / 2 for column in zip(*quaternion_rows(q), strict=True))

    def forces(self, q: Sequence[Any], generalized: Sequence[Any]) -> Vector:
        """τ = ½ E(q) Q, which solves Gᵀ τ = Q."""
        return tuple(dot(row, generalized) / 2 for row in quaternion_rows(q))

    def generalized(self, q: Sequence[Any], forces: Sequence[Any]) -> Vector:
        """2 Eᵀ(q) τ."""
        return tuple(2 * dot(column, forces) for column in zip(*quaternion_rows(q), strict=True))

    def component(self, wrench: Six) -> Vector:
        """The moment."""
        return tuple(wrench[0])

    def add(self, motion: Six, rates: Vector) -> Six:
        """ω + ν."""
        return plus(motion[0], rates), motion[1]

    def advance(self, omega: Vector, alpha: Vector, a: Vector, rate: Sequence[Any], acceleration: Sequence[Any]) -> Any:
        """ω + ν, ω̇ + [ω, ν] + ν̇."""
        alpha = plus(alpha, cross(omega, rate), acceleration)
        return plus(omega, rate), alpha, a

    def momenta(self, inertia: Inertia) -> list[Six]:
        """n = ∫ρ×(e×ρ)dm, f = e×h for the three directions e."""
        _, (x, y, z), S = inertia
        return [
            ((S[1][1] + S[2][2], -S[0][1], -S[0][2]), (ZERO, -z, y)),
            ((-S[0][1], S[0][0] + S[2][2], -S[1][2]), (z, ZERO, -x)),
            ((-S[0][2], -S[1][2], S[0][0] + S[1][1]), (-y, x, ZERO)),
        ]

    def columns(self, body: Articulated) -> list[Six]:
        """All columns of A and Bᵀ."""
        A, B, _ = body
        return [(tuple(A[k]), tuple(B[k])) for k in range(3)]

    def invert(self, body: Articulated, columns: Sequence[Six], rotor: Node) -> tuple[Matrix, list[Node]]:
        """A⁻¹ by the adjugate, and the determinant."""
        A, around = body[0], ((1, 2), (2, 0), (0, 1))
        adjugate = symmetric([[A[a][c] * A[b][d] - A[a][d] * A[b][c] for c, d in around] for a, b in around])
        determinant = dot(A[0], adjugate[0])
        reciprocal = divide(ONE, determinant)
        return tuple(tuple(x * reciprocal for x in row) for row in adjugate), [determinant]

    def remainder(self, body: Articulated, columns: Sequence[Six], inverse: Matrix, rotor: Node) -> Articulated:
        """C - Bᵀ A⁻¹ B; the joint transmits no moment."""
        _, B, C = body
        zero = ((ZERO,) * 3,) * 3
        through = matrix_times(matrix_times(transposed(B), inverse), B)
        return zero, zero, symmetric(tuple(minus(a, b) for a, b in zip(C, through, strict=True)))

    def numbers(self, step: Turn, q: Sequence[Node]) -> list[Node]:
        """None."""
        return []

    @classmethod
    def from_table(cls, q: Sequence[Node], table: Iterator[Node], angle: Angle) -> tuple[BallCenter, Turn]:
        """From the quaternion alone."""
        joint = cls()
        return joint, joint.step(q)
