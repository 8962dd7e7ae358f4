"""A shift along an axis: S = (0; z)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vinculum.describe.bodies.joints.elementary import Angle, Elementary, at_origin, without
from vinculum.describe.bodies.joints.rotary import gained
from vinculum.describe.bodies.kinematics import Motion
from vinculum.describe.bodies.transforms import Articulated, Inertia, Screw, Six, screw
from vinculum.graph import ZERO, Node, lift
from vinculum.graph.vectors import Matrix, Vector, cross, plus, scaled, times


@dataclass(frozen=True)
class LinearAxis(Elementary):
    """The coordinate is the displacement."""

    line = False

    def move(self, motion: Motion, axis: Vector, q: Sequence[Node], rates: Sequence[Node]) -> Motion:
        """p moves by q along the axis."""
        shift = scaled(q[0], axis)
        v = plus(motion.v, cross(motion.omega, shift), scaled(rates[0], axis))
        return Motion(motion.R, plus(motion.p, times(motion.R, shift)), motion.omega, v)

    def step(self, q: Sequence[Node], delta: float, d: Any) -> Screw:
        """A shift by q + d."""
        constant = screw(2, delta, 0.0)
        return Screw(2, constant.c, constant.s, q[0] + lift(d))

    def at_zero(self, step: Screw) -> Screw:
        """No shift."""
        return Screw(step.k, step.c, step.s, 0)

    def split(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The body does not rotate relative to its parent: Σ moves to the parent."""
        m, h, S = inertia
        zero = (ZERO, ZERO, ZERO)
        return (m, h, (zero, zero, zero)), (ZERO, zero, S)

    def component(self, wrench: Six) -> Vector:
        """The force along the axis."""
        return (wrench[1][2],)

    def add(self, motion: Six, rates: Vector) -> Six:
        """v + z ν."""
        return motion[0], plus(motion[1], (ZERO, ZERO, rates[0]))

    def advance(self, omega: Vector, alpha: Vector, a: Vector, rate: Sequence[Any], acceleration: Sequence[Any]) -> Any:
        """v̇ + 2 [ω, z q̇] + z q̈."""
        x, y, z = gained(omega, rate[0], acceleration[0])
        return omega, alpha, plus(a, (2 * x, 2 * y, z))

    def momenta(self, inertia: Inertia) -> list[Six]:
        """n = h×z, f = m z."""
        m, (x, y, _), _ = inertia
        return [((y, -x, ZERO), (ZERO, ZERO, m))]

    def columns(self, body: Articulated) -> list[Six]:
        """The last columns of B and C."""
        _, B, C = body
        return [(tuple(row[2] for row in B), C[2])]

    def remainder(self, body: Articulated, columns: Sequence[Six], inverse: Matrix, rotor: Node) -> Articulated:
        """I - U D⁻¹ Uᵀ; without a rotor it has no inertia along the axis."""
        A, B, C = super().remainder(body, columns, inverse, rotor)
        return (A, B, C) if rotor is not ZERO else (A, without(B, False, True), without(C, True, True))

    def numbers(self, step: Screw, q: Sequence[Node]) -> list[Node]:
        """Cosine and sine of the constant turn, shift at q = 0."""
        return at_origin(step, q[0])

    @classmethod
    def from_table(cls, q: Sequence[Node], table: Iterator[Node], angle: Angle) -> tuple[LinearAxis, Screw]:
        """The turn is constant; the shift grows with q."""
        return cls(), Screw(2, next(table), next(table), next(table) + q[0])
