"""The interface of elementary joints.

The velocities ν are the rates q̇ of the coordinates or, for a ball joint, the angular velocity. In a frame that moves
with the body (z along the axis, if there is one) the joint adds S ν to the velocity (ω, v) of the body; S is its motion
subspace. The recursions of the dynamics (Featherstone 2008) use S only through these methods:

| method         | result                                                                                    |
|----------------|-------------------------------------------------------------------------------------------|
| `component`    | Sᵀ (n, f): the force along the joint                                                      |
| `add`          | (ω, v) + S ν                                                                              |
| `advance`      | ω, ω̇, v̇ of the frame after the joint                                                      |
| `momenta`      | I S of a rigid body                                                                       |
| `columns`      | U = I S of an articulated body                                                            |
| `invert`       | D⁻¹ of D = Sᵀ U + rotor                                                                   |
| `remainder`    | I - U D⁻¹ Uᵀ: the inertia that the parent feels through the joint                         |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from vinculum.describe.bodies.kinematics import Motion
from vinculum.describe.bodies.transforms import ROUNDING, Articulated, Inertia, Screw, Six, Stage, symmetric
from vinculum.graph import ONE, ZERO, Node, apply, lift, substitute
from vinculum.graph.node import divide
from vinculum.graph.vectors import Matrix, Vector

Angle = Callable[[], tuple[Node, Node]]  # gives cosine and sine of the joint's angle
_KEEP_TWO, _KEEP_ALL = (True, True, False), (True, True, True)


class Elementary(ABC):
    """An elementary joint. The methods that are not abstract fit a joint with one coordinate and an axis."""

    size: ClassVar[int] = 1  # coordinates
    width: ClassVar[int] = 1  # velocities ν
    home: ClassVar[tuple[float, ...]] = (0.0,)  # coordinates at which the frames coincide
    axial: ClassVar[bool] = True  # has an axis, the z axis of its frame
    line: ClassVar[bool] = True  # the position of the axis matters, not only its direction
    turns: ClassVar[bool] = False  # its step contains cosine and sine of the coordinate
    normalized: ClassVar[bool] = False  # the coordinates are a unit quaternion

    # -- description -----------------------------------------------------------------------------------------

    @abstractmethod
    def move(self, motion: Motion, axis: Vector, q: Sequence[Node], rates: Sequence[Node]) -> Motion:
        """The motion of the frame after the joint from that of the frame before it, in the user's axes."""

    # -- frames ----------------------------------------------------------------------------------------------

    @abstractmethod
    def step(self, q: Sequence[Node], delta: float, d: Any) -> Stage:
        """From the frame before to that after the joint, which at q = 0 is turned by δ about z and shifted by d."""

    @abstractmethod
    def at_zero(self, step: Any) -> Stage:
        """The step at the value of the coordinate where it is simplest."""

    @abstractmethod
    def split(self, inertia: Inertia) -> tuple[Inertia, Inertia | None]:
        """(inertia that stays, inertia that may be assigned to the parent because the joint does not move it)."""

    # -- coordinates and velocities --------------------------------------------------------------------------

    def velocity_map(self, q: Sequence[Any]) -> Matrix:
        """G of ν = G q̇."""
        return ((1,),)

    def velocities(self, q: Sequence[Any], rates: Sequence[Any]) -> Vector:
        """ν of q̇, and ν̇ of q̈."""
        return tuple(rates)

    def displacement(self, q: Sequence[Any], delta: Sequence[Any]) -> Vector:
        """δq of a small motion δ = ν dt."""
        return tuple(delta)

    def forces(self, q: Sequence[Any], generalized: Sequence[Any]) -> Vector:
        """τ along ν from forces along the coordinates."""
        return tuple(generalized)

    def generalized(self, q: Sequence[Any], forces: Sequence[Any]) -> Vector:
        """Gᵀ τ: forces along the coordinates from those along ν."""
        return tuple(forces)

    # -- recursions ------------------------------------------------------------------------------------------

    @abstractmethod
    def component(self, wrench: Six) -> Vector:
        """Sᵀ (n, f)."""

    @abstractmethod
    def add(self, motion: Six, rates: Vector) -> Six:
        """(ω, v) + S ν."""

    @abstractmethod
    def advance(self, omega: Vector, alpha: Vector, a: Vector, rate: Sequence[Any], acceleration: Sequence[Any]) -> Any:
        """ω, ω̇, v̇ of the frame after the joint, from those of a frame that does not move with it."""

    @abstractmethod
    def momenta(self, inertia: Inertia) -> list[Six]:
        """I S: the momentum (n, f) of a rigid body for a unit of each velocity."""

    @abstractmethod
    def columns(self, body: Articulated) -> list[Six]:
        """U = I S of an articulated body."""

    def invert(self, body: Articulated, columns: Sequence[Six], rotor: Node) -> tuple[Matrix, list[Node]]:
        """D⁻¹ of D = Sᵀ U + rotor, and the divisor."""
        D = self.component(columns[0])[0] + rotor
        return ((divide(ONE, D),),), [D]

    def remainder(self, body: Articulated, columns: Sequence[Six], inverse: Matrix, rotor: Node) -> Articulated:
        """I - U D⁻¹ Uᵀ."""
        (n, f), reciprocal, (A, B, C) = columns[0], inverse[0][0], body
        nD, fD = tuple(x * reciprocal for x in n), tuple(x * reciprocal for x in f)
        A = symmetric([[A[i][j] - nD[i] * n[j] for j in range(3)] for i in range(3)])
        B = tuple(tuple(B[i][j] - nD[i] * f[j] for j in range(3)) for i in range(3))
        C = symmetric([[C[i][j] - fD[i] * f[j] for j in range(3)] for i in range(3)])
        return A, B, C

    # -- loops over many joints of the same kind -------------------------------------------------------------

    @abstractmethod
    def numbers(self, step: Any, q: Sequence[Node]) -> list[Node]:
        """The numbers that `from_table` reads; if the joint turns, the angle at q = 0 comes first."""

    @classmethod
    @abstractmethod
    def from_table(cls, q: Sequence[Node], table: Iterator[Node], angle: Angle) -> tuple[Elementary, Stage]:
        """The joint and its step with numbers from a table."""


def without(X: Matrix, row: bool, column: bool) -> Matrix:
    """X with its last row and column, which vanish identically, set to zero."""
    rows, columns = (_KEEP_TWO if vanishes else _KEEP_ALL for vanishes in (row, column))
    return tuple(tuple(X[i][j] if rows[i] and columns[j] else ZERO for j in range(3)) for i in range(3))


def cosine_sine(q: Node, delta: float) -> tuple[Node, Node]:
    """cos and sin of q + δ; a quarter turn costs nothing."""
    quarter = round(delta / (np.pi / 2))
    if abs(delta - quarter * np.pi / 2) < ROUNDING:
        c, s = apply("cos", q), apply("sin", q)
        return [(c, s), (-s, c), (-c, -s), (s, -c)][quarter % 4]
    return apply("cos", q + lift(delta)), apply("sin", q + lift(delta))


def at_origin(step: Screw, q: Node) -> list[Node]:
    """Cosine, sine and shift of a step at q = 0."""
    return substitute([lift(x) for x in (step.c, step.s, step.d)], {q: ZERO})
