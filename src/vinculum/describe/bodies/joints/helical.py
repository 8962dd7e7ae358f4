"""The helical joint, a screw: a turn θ about an axis and a travel of pitch·θ/2π along it, S = (z; h z), h = pitch/2π.

It is a rotary and a linear axis with one coordinate: with S = S_rotary + h S_linear all its methods are sums of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any

from vinculum.describe.bodies.joints.elementary import Angle, Elementary, at_origin, cosine_sine
from vinculum.describe.bodies.joints.joint import Joint, Part, Triple
from vinculum.describe.bodies.joints.linear import LinearAxis
from vinculum.describe.bodies.joints.rotary import RotaryAxis
from vinculum.describe.bodies.kinematics import Motion, node_of
from vinculum.describe.bodies.transforms import Articulated, Inertia, Screw, Six
from vinculum.graph import Node, apply, lift
from vinculum.graph.vectors import Vector, plus, scaled
from vinculum.units.dimensions import LENGTH
from vinculum.units.given import fields_in_si

ROTARY, LINEAR = RotaryAxis(), LinearAxis()


@dataclass(frozen=True)
class ScrewAxis(Elementary):
    """The coordinate is the angle."""

    turns = True

    travel: Node  # h, the travel along the axis per radian

    def move(self, motion: Motion, axis: Vector, q: Sequence[Node], rates: Sequence[Node]) -> Motion:
        """A shift by h q and a turn by q."""
        shifted = LINEAR.move(motion, axis, [self.travel * q[0]], [self.travel * rates[0]])
        return ROTARY.move(shifted, axis, q, rates)

    def step(self, q: Sequence[Node], delta: float, d: Any) -> Screw:
        """A turn by q + δ and a shift by h q + d."""
        return Screw(2, *cosine_sine(q[0], delta), self.travel * q[0] + lift(d))

    def at_zero(self, step: Screw) -> Screw:
        """No turn and no shift."""
        return Screw(step.k, 1, 0, 0)

    def split(self, inertia: Inertia) -> tuple[Inertia, None]:
        """A screw moves everything it carries."""
        return inertia, None

    def component(self, wrench: Six) -> Vector:
        """The moment about the axis and h times the force along it."""
        return (ROTARY.component(wrench)[0] + self.travel * LINEAR.component(wrench)[0],)

    def add(self, motion: Six, rates: Vector) -> Six:
        """ω + z ν, v + h z ν."""
        return ROTARY.add(LINEAR.add(motion, (self.travel * rates[0],)), rates)

    def advance(self, omega: Vector, alpha: Vector, a: Vector, rate: Sequence[Any], acceleration: Sequence[Any]) -> Any:
        """A shift with the rate h q̇, then a turn."""
        *_, a = LINEAR.advance(omega, alpha, a, [self.travel * rate[0]], [self.travel * acceleration[0]])
        return ROTARY.advance(omega, alpha, a, rate, acceleration)

    def momenta(self, inertia: Inertia) -> list[Six]:
        """Those of the turn and h times those of the shift."""
        return [self._joined(ROTARY.momenta(inertia)[0], LINEAR.momenta(inertia)[0])]

    def columns(self, body: Articulated) -> list[Six]:
        """Those of the turn and h times those of the shift."""
        return [self._joined(ROTARY.columns(body)[0], LINEAR.columns(body)[0])]

    def _joined(self, turning: Six, shifting: Six) -> Six:
        n, f = (plus(a, scaled(self.travel, b)) for a, b in zip(turning, shifting, strict=True))
        return n, f

    def numbers(self, step: Screw, q: Sequence[Node]) -> list[Node]:
        """Angle and shift at q = 0, travel."""
        c, s, d = at_origin(step, q[0])
        return [apply("atan2", s, c), d, self.travel]

    @classmethod
    def from_table(cls, q: Sequence[Node], table: Iterator[Node], angle: Angle) -> tuple[ScrewAxis, Screw]:
        """The angle at q = 0 is already in cosine and sine."""
        _, d, travel = (next(table) for _ in range(3))
        return cls(travel), Screw(2, *angle(), travel * q[0] + d)


@dataclass(frozen=True)
class Helical(Joint):
    """A screw: for every full turn the body travels ``pitch`` along the axis; negative for a left-handed thread.

    The pitch is the lead of a ball screw as catalogs give it, in meters per turn, and may be a symbol among the
    parameters. The coordinate is the angle θ, the displacement pitch·θ/2π. A torque u on the joint does the work u θ̇;
    a force F along the axis acts like the torque F·pitch/2π.

    >>> from vinculum import Body
    >>> Body("nut", None, joint=Helical(pitch=0.005), axis=(0, 0, 1), mass=2, inertia=0.01)
    Body("nut" on the ground, helical, mass 2)
    """

    name = "helical"
    labels = ("",)
    lengths = (False,)
    slides = True

    pitch: Any = field(metadata={"about": "Travel of a helical joint along its axis for one turn.", "length": True})

    def __post_init__(self) -> None:
        fields_in_si(self, {"pitch": LENGTH}, "Invalid helical joint")

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """One screw about the axis."""
        return [Part(ScrewAxis(node_of(self.pitch) / lift(2 * pi)), axes[0], (0,))]
