"""A rigid body on its joint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies.joint_dimensions import OF_BODIES, OF_PLACES, QUANTITIES, of_coordinates, of_quantity
from vinculum.describe.bodies.joints import JOINTS, Joint, Part, joint_of
from vinculum.expressions import as_expression
from vinculum.graph import apply, from_sympy
from vinculum.names import function_of_time, velocity_of
from vinculum.notebook_repr import html
from vinculum.units.dimensions import Dimension
from vinculum.units.given import fields_in_si

Scalar = Any  # a number or a SymPy expression in parameters


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """A rigid body and the joint that connects it to its parent (``None``: the ground).

    At zero coordinates the body's frame is at ``origin`` in the parent's frame, rotated by ``rotation`` (3×3, the
    body's axes as columns). ``joint`` is a name ("revolute", "prismatic", "cylindrical", "universal", "planar",
    "spherical", "free", "fixed") or an object such as `Helical(pitch=...)`. Its ``axis`` passes through the origin and
    is given in the body's axes; a universal joint has two. ``center_of_mass`` and ``inertia`` (about the center of
    mass: a number, three principal moments, six xx yy zz xy xz yz, or 3×3) are in the body's frame. Numbers may be
    symbols with values in the tree's ``parameters``, or have units: ``mass="300 g"``.

    ``angle`` names the coordinates (``dynamicsymbols``; by default made from the body's name). ``torque`` names the
    inputs that act along them: one per coordinate, or three moments in body axes for a ball joint. ``damping``,
    ``stiffness`` (zero force at ``rest``), ``friction`` (Coulomb; one number or a pair for the two directions) and
    ``rotor_inertia`` (seen through ``gear_ratio`` as gear_ratio² · rotor_inertia) are one number for each coordinate,
    or one for all. ``identified=True`` accepts an inertia that no rigid body has, common in published arm data.

    >>> Body("link", None, axis=(0, 1, 0), origin=(0, 0, 1), mass=2, center_of_mass=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    Body("link" on the ground, revolute, mass 2)
    """

    name: str
    parent: str | None = None
    axis: Sequence[Any] = (0, 0, 1)
    origin: Sequence[Scalar] = (0, 0, 0)
    mass: Scalar = 0
    center_of_mass: Sequence[Scalar] = (0, 0, 0)
    inertia: Any = 0
    angle: Any = None
    joint: str | Joint = "revolute"
    rotation: Any = None
    torque: Any = None
    damping: Any = 0
    stiffness: Any = 0
    rest: Any = 0
    friction: Any = 0
    rotor_inertia: Any = 0
    gear_ratio: Any = 1
    identified: bool = False

    def __post_init__(self) -> None:
        fields_in_si(self, OF_BODIES | OF_PLACES, f"Invalid body {self.name!r}")
        if str(self.joint) in JOINTS:  # others are refused with the tree
            fields_in_si(self, of_joint_quantities(self), f"Invalid body {self.name!r}")

    @cached_property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """The functions of time that give the body's pose relative to its parent."""
        if self.angle is not None:
            return tuple(self.angle) if isinstance(self.angle, (list, tuple)) else (self.angle,)
        labels = self.kind.labels
        return tuple(function_of_time(f"{self.name}_{label}" if label else self.name) for label in labels)

    @cached_property
    def rates(self) -> tuple[sp.Expr, ...]:
        """The derivatives of the coordinates."""
        return tuple(map(velocity_of, self.coordinates))

    @cached_property
    def torques(self) -> tuple[sp.Expr, ...]:
        """The inputs that act on the joint."""
        if self.torque is None:
            return ()
        return tuple(self.torque) if isinstance(self.torque, (list, tuple)) else (self.torque,)

    @cached_property
    def axes(self) -> list[tuple[Any, Any, Any]]:
        """The unit axes of the joint in the body's frame, numbers or nodes: one, or two for a universal joint."""
        given = self.axis if self.kind.axes == 2 else [self.axis]
        return [_unit(axis) for axis in given]

    @cached_property
    def kind(self) -> Joint:
        """The joint as an object."""
        return joint_of(self.joint)

    @cached_property
    def parts(self) -> list[Part]:
        """The joint as a sequence of elementary joints."""
        return self.kind.parts(self.axes if self.kind.axes else [])

    @cached_property
    def turned(self) -> np.ndarray:
        """The constant rotation, the body's axes as columns in the parent's (3, 3); nodes if it contains symbols."""
        if self.rotation is None:
            return np.eye(3)
        entries = np.array(self.rotation, dtype=object)
        if not has_symbols(entries.ravel()):
            return entries.astype(float)
        return np.array([from_sympy(as_expression(x)) for x in entries.ravel()], dtype=object).reshape(entries.shape)

    @cached_property
    def inertia_matrix(self) -> tuple[tuple[Scalar, ...], ...]:
        """The inertia about the center of mass as a symmetric matrix."""
        return inertia_matrix(self.inertia)

    def each(self, quantity: str) -> tuple[Any, ...]:
        """Damping, stiffness, ... for every coordinate."""
        value = getattr(self, quantity)
        count = len(self.coordinates)
        if isinstance(value, (list, tuple)) and not (quantity == "friction" and count == 1):
            return tuple(value)
        return (value,) * count

    def __repr__(self) -> str:
        where = f'"{self.parent}"' if self.parent is not None else "the ground"
        return f'Body("{self.name}" on {where}, {self.joint}, mass {self.mass})'

    _repr_html_ = html


def of_joint_quantities(body: Body) -> dict[str, Dimension | None]:
    """The dimensions of damping, stiffness, ... of a body; unknown (None) where its coordinates differ in dimension."""
    kinds = set(of_coordinates(body.joint))
    if len(kinds) != 1:
        return dict.fromkeys(QUANTITIES)
    (q,) = kinds
    return {key: of_quantity(key, q, None) for key in QUANTITIES}


def has_symbols(values: Iterable[Any]) -> bool:
    """Whether numbers contain symbols."""
    return any(isinstance(x, sp.Basic) and not x.is_number for x in values)


def _unit(axis: Sequence[Any]) -> tuple[Any, Any, Any]:
    """The axis scaled to unit length, exactly for an axis along x, y or z."""
    if has_symbols(axis):
        n = [from_sympy(as_expression(x)) for x in axis]
        size = apply("sqrt", n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        return n[0] / size, n[1] / size, n[2] / size
    numbers = [float(x) for x in axis]
    length = math.hypot(*numbers)
    return tuple(x / length for x in numbers)  # type: ignore[return-value]  # three


def inertia_matrix(given: Any) -> tuple[tuple[Scalar, ...], ...]:
    """A 3×3 inertia from a number, three principal moments, six xx yy zz xy xz yz, or nine."""
    entries = [x if isinstance(x, (int, float)) else as_expression(x) for x in np.array(given, dtype=object).ravel()]
    zero = 0
    if len(entries) == 1:
        entries = entries * 3
    if len(entries) == 3:
        x, y, z = entries
        return ((x, zero, zero), (zero, y, zero), (zero, zero, z))
    if len(entries) == 6:
        xx, yy, zz, xy, xz, yz = entries
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if len(entries) != 9:
        raise ValueError(f"an inertia has 1, 3, 6 or 9 numbers, found {len(entries)}")
    return tuple(tuple(entries[3 * i : 3 * i + 3]) for i in range(3))
