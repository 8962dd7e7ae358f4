"""A model, usually read from a file: one mechanism, what to compute about it and what to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from vinculum.describe.affine import AffineSystem
from vinculum.describe.system import System
from vinculum.notebook_repr import html

if TYPE_CHECKING:
    from vinculum.describe.bodies import BodyTree
    from vinculum.describe.motors import DCMotor
    from vinculum.graph.splines import Pieces


@dataclass(frozen=True)
class Segment:
    """A polygonal line through named points, for a body or a rod; ``closed`` joins its ends.

    ``scenery`` is a floor, a track or a path instead of a body: drawn thin, without color or joints.
    """

    points: Sequence[str]
    closed: bool = False
    name: str = ""
    scenery: bool = False


@dataclass(frozen=True)
class Circle:
    """A circle about a named point: a wheel or a ball. ``angle`` turns the spoke that shows its rotation."""

    center: str
    radius: sp.Expr
    angle: sp.Expr | None = None
    normal: Sequence[sp.Expr] | None = None  # of its plane; None for the plane of the drawing
    name: str = ""


@dataclass(frozen=True)
class Arrow:
    """A force or a torque, drawn to scale at a named point.

    In the plane a torque is one number, positive counterclockwise. Expressions may contain inputs and reactions,
    `vn.reaction("rod")`.
    """

    at: str
    force: Sequence[sp.Expr] | None = None
    torque: sp.Expr | Sequence[sp.Expr] | None = None
    name: str = ""

    @property
    def components(self) -> tuple[sp.Expr, ...]:
        """Two or three components of the vector, or the torque in the plane."""
        own = self.force if self.force is not None else self.torque
        return tuple(own) if isinstance(own, Sequence) else () if own is None else (own,)


@dataclass(frozen=True)
class Drawing:
    """What to draw, in the coordinates of the model: all points have two coordinates, or all have three."""

    points: Mapping[str, Sequence[sp.Expr]] = field(default_factory=dict)
    segments: Sequence[Segment] = ()
    circles: Sequence[Circle] = ()
    traces: Sequence[str] = ()  # points whose paths are drawn
    arrows: Sequence[Arrow] = ()  # forces and torques, drawn on demand


@dataclass(frozen=True)
class Measured:
    """A curve through measured points, with the units of points and values if given."""

    points: Sequence[float]
    values: Sequence[float]
    pieces: Pieces
    units: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Led:
    """The tool point: a point of a body, in the body's frame, that follows a path."""

    body: str
    point: Sequence[sp.Expr | float]


@dataclass(frozen=True)
class Model:
    """A mechanism and what to compute about it. Fields that are None are not computed.

    Each mapping holds the arguments of its function: ``vn.derive(model.system, **model.derivation)``.
    """

    system: System | AffineSystem  # motors and released constraints already applied
    tree: BodyTree | None = None  # the tree of bodies it came from, if any
    derivation: Mapping[str, Any] = field(default_factory=dict)  # of derive: form, dependent, characteristics, ...
    simulation: Mapping[str, Any] | None = None  # of simulate: initial, times, method, tolerance, inputs, events, ...
    equilibrium: Mapping[str, Any] | None = None  # of equilibrium or steady: given, near, ...; drop of linearize
    control: Mapping[str, Any] | None = None  # of stabilize: state_weights, input_weights, ...; or poles, gain, pid
    observer: Mapping[str, Any] | None = None  # of observe: outputs, state_noise, output_noise, order
    closed_loop: Mapping[str, Any] | None = None  # limits, and initial, times of the closed loop's motion
    attraction: Mapping[str, Any] | None = None  # of region_of_attraction and attraction_estimate: over, time, ...
    stability_map: Mapping[str, Any] | None = None  # of stability_region: over; loop: open or closed
    digital: Mapping[str, Any] | None = None  # of Digital: period, delay, limits, ...; motion, design, plant
    study: Mapping[str, Any] | None = None  # of study: over, measure, samples, ...; motion: which one is varied
    drawing: Drawing | None = None
    description: str = ""
    source: Path | None = None  # the file it was read from
    units: Mapping[sp.Expr, str] = field(default_factory=dict)  # of parameters and coordinates, if the file gives them
    meanings: Mapping[sp.Expr, str] = field(default_factory=dict)  # descriptions of the symbols
    motors: Mapping[sp.Expr, DCMotor] = field(default_factory=dict)  # by the input that each replaces
    curves: Mapping[str, Measured] = field(default_factory=dict)  # through measured points, as formulas use them
    led: Led | None = None  # the tool point on the path of a tree; drawn if there is no drawing

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def digital_motion(self) -> str:
        """The motion whose law acts at samples: simulation, closed_loop or none."""
        default = "closed_loop" if self.control is not None else "simulation"
        return "" if self.digital is None else self.digital.get("motion", default)

    _repr_html_ = html
