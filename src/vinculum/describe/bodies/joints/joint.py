"""The joints users can choose, each a sequence of elementary joints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from vinculum.describe.bodies.joints.ball import BallCenter
from vinculum.describe.bodies.joints.elementary import Elementary
from vinculum.describe.bodies.joints.linear import LinearAxis
from vinculum.describe.bodies.joints.rotary import RotaryAxis
from vinculum.notebook_repr import html

Triple = tuple[Any, Any, Any]  # numbers, or nodes if they contain symbols

_UNITS: tuple[Triple, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Part:
    """An elementary joint, its unit axis in the body's frame and the indices of its coordinates among the body's."""

    joint: Elementary
    axis: Triple
    places: tuple[int, ...]


JOINTS: dict[str, type[Joint]] = {}


@dataclass(frozen=True)
class Joint(ABC):
    """The connection of a body to its parent. Numbers such as a pitch are fields of the subclass."""

    name: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]  # of the coordinates, after the body's name
    lengths: ClassVar[tuple[bool, ...]]  # which coordinates are lengths; the others have no unit
    axes: ClassVar[int] = 1  # how many the user gives
    quaternion: ClassVar[bool] = False  # the last four coordinates are a unit quaternion
    slides: ClassVar[bool] = False  # drawn with a rod along its axis
    loose: ClassVar[bool] = False  # drawn without a rod to the parent

    def __init_subclass__(cls) -> None:
        JOINTS[cls.name] = cls

    @abstractmethod
    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """The elementary joints from the parent outwards; ``axes`` are unit vectors in the body's frame."""

    @property
    def torques(self) -> int:
        """The number of inputs that act on it; a ball joint has three moments."""
        return len(self.labels) - (1 if self.quaternion else 0)

    @classmethod
    def required(cls) -> list[str]:
        """Names of the numbers that must be given."""
        return [f.name for f in fields(cls) if f.default is MISSING]

    def numbers(self) -> dict[str, Any]:
        """The given numbers by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        return self.name

    _repr_html_ = html


def joint_of(given: str | Joint) -> Joint:
    """The joint with a short name such as "revolute"."""
    return JOINTS[given]() if isinstance(given, str) else given


class Revolute(Joint):
    """One angle about the axis."""

    name, labels, lengths = "revolute", ("",), (False,)

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """A rotary axis."""
        return [Part(RotaryAxis(), axes[0], (0,))]


class Prismatic(Joint):
    """One displacement along the axis."""

    name, labels, lengths = "prismatic", ("",), (True,)
    slides = True

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """A linear axis."""
        return [Part(LinearAxis(), axes[0], (0,))]


class Cylindrical(Joint):
    """A displacement along the axis and an angle about it."""

    name, labels, lengths = "cylindrical", ("shift", "angle"), (True, False)
    slides = True

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """A linear, then a rotary axis."""
        return [Part(LinearAxis(), axes[0], (0,)), Part(RotaryAxis(), axes[0], (1,))]


class Universal(Joint):
    """An angle about the first axis, then one about the second."""

    name, labels, lengths = "universal", ("1", "2"), (False, False)
    axes = 2

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """Two rotary axes."""
        return [Part(RotaryAxis(), axis, (i,)) for i, axis in enumerate(axes)]


class Planar(Joint):
    """Two displacements in the plane normal to the axis, and the angle about it."""

    name, labels, lengths = "planar", ("x", "y", "angle"), (True, True, False)
    loose = True

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """Two linear axes and a rotary one."""
        first, second = across(axes[0])
        return [Part(LinearAxis(), first, (0,)), Part(LinearAxis(), second, (1,)), Part(RotaryAxis(), axes[0], (2,))]


class Spherical(Joint):
    """A ball joint: a unit quaternion qw, qx, qy, qz."""

    name, labels, lengths = "spherical", ("qw", "qx", "qy", "qz"), (False,) * 4
    axes = 0
    quaternion = True

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """A ball center."""
        return [Part(BallCenter(), _UNITS[2], (0, 1, 2, 3))]


class Free(Joint):
    """No joint at all: three displacements and a unit quaternion."""

    name, labels, lengths = "free", ("x", "y", "z", "qw", "qx", "qy", "qz"), (True,) * 3 + (False,) * 4
    axes = 0
    quaternion = True
    loose = True

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """Three linear axes and a ball center."""
        return [*(Part(LinearAxis(), unit, (i,)) for i, unit in enumerate(_UNITS)),
                Part(BallCenter(), _UNITS[2], (3, 4, 5, 6))]  # fmt: skip


class Fixed(Joint):
    """A weld."""

    name, labels, lengths = "fixed", (), ()
    axes = 0

    def parts(self, axes: Sequence[Triple]) -> list[Part]:
        """None."""
        return []


def across(axis: Sequence[float]) -> tuple[Triple, Triple]:
    """Two unit vectors that make a right-handed frame with the axis; x and y for the axis z."""
    n = np.asarray(axis, dtype=float)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        if abs(n[k]) == 1.0:
            return _UNITS[i], _triple(n[k] * np.array(_UNITS[j]))
    first = np.cross(n, _UNITS[int(np.argmin(np.abs(n)))])
    first /= np.linalg.norm(first)
    second = np.cross(n, first)
    return _triple(first), _triple(second)


def _triple(a: np.ndarray) -> Triple:
    return float(a[0]), float(a[1]), float(a[2])
