"""A turn about an axis: S = (z; 0)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vinculum.describe.bodies.joints.elementary import Angle, Elementary, at_origin, cosine_sine, without
from vinculum.describe.bodies.kinematics import Motion, turn_motion
from vinculum.describe.bodies.transforms import Articulated, Inertia, Screw, Six
from vinculum.graph import ZERO, Node, apply, lift
from vinculum.graph.vectors import Matrix, Vector, plus, scaled, turn


@dataclass(frozen=True)
class RotaryAxis(Elementary):
    """The coordinate is the angle."""

    turns = True

    def move(self, motion: Motion, axis: Vector, q: Sequence[Node], rates: Sequence[Node]) -> Motion:
        """R is rotated, and q̇ along the axis is added to ω."""
        R = turn(axis, apply("cos", q[0]), apply("sin", q[0]))
        return turn_motion(motion, R, scaled(rates[0], axis))

    def step(self, q: Sequence[Node], delta: float, d: Any) -> Screw:
        """A turn by q + δ."""
        return Screw(2, *cosine_sine(q[0], delta), lift(d))

    def at_zero(self, step: Screw) -> Screw:
        """No turn."""
        return Screw(step.k, 1, 0, step.d)

    def split(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The joint does not move a rod on the axis: m, h_z and Σ_zz move to the parent."""
        m, h, S = inertia
        zero = (ZERO, ZERO, ZERO)
        rod = (zero, zero, (ZERO, ZERO, S[2][2]))
        rest = (S[0], S[1], (S[2][0], S[2][1], ZERO))
        return (ZERO, (h[0], h[1], ZERO), rest), (m, (ZERO, ZERO, h[2]), rod)

    def component(self, wrench: Six) -> Vector:
        """The moment about the axis."""
        return (wrench[0][2],)

    def add(self, motion: Six, rates: Vector) -> Six:
        """ω + z ν."""
        return plus(motion[0], (ZERO, ZERO, rates[0])), motion[1]

    def advance(self, omega: Vector, alpha: Vector, a: Vector, rate: Sequence[Any], acceleration: Sequence[Any]) -> Any:
        """ω + z q̇, ω̇ + [ω, z q̇] + z q̈."""
        gain = gained(omega, rate[0], acceleration[0])
        return (omega[0], omega[1], omega[2] + rate[0]), plus(alpha, gain), a

    def momenta(self, inertia: Inertia) -> list[Six]:
        """n = ∫ρ×(z×ρ)dm, f = z×h."""
        _, (x, y, _), S = inertia
        return [((-S[0][2], -S[1][2], S[0][0] + S[1][1]), (-y, x, ZERO))]

    def columns(self, body: Articulated) -> list[Six]:
        """The last columns of A and Bᵀ."""
        A, B, _ = body
        return [(A[2], B[2])]

    def remainder(self, body: Articulated, columns: Sequence[Six], inverse: Matrix, rotor: Node) -> Articulated:
        """I - U D⁻¹ Uᵀ; without a rotor it has no inertia about the axis."""
        A, B, C = super().remainder(body, columns, inverse, rotor)
        return (A, B, C) if rotor is not ZERO else (without(A, True, True), without(B, True, False), C)

    def numbers(self, step: Screw, q: Sequence[Node]) -> list[Node]:
        """Angle and shift at q = 0."""
        c, s, d = at_origin(step, q[0])
        return [apply("atan2", s, c), d]

    @classmethod
    def from_table(cls, q: Sequence[Node], table: Iterator[Node], angle: Angle) -> tuple[RotaryAxis, Screw]:
        """The angle at q = 0 is already in cosine and sine."""
        next(table)
        return cls(), Screw(2, *angle(), next(table))


def gained(omega: Vector, rate: Any, acceleration: Any) -> Vector:
    """[ω, z q̇] + z q̈."""
    return omega[1] * rate, -(omega[0] * rate), acceleration
