"""A mechanism as lines in space, at chosen instants of its motion: numbers only, independent of how they are drawn.

Points are expressions of the model. A segment is a line through points; a circle is a line from its center to the rim
and once around; the spoke shows the rotation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies import Body, BodyTree
from vinculum.errors import ModelError
from vinculum.expressions import as_expression
from vinculum.model.model import Arrow, Circle, Drawing, Led, Segment
from vinculum.names import suggestion
from vinculum.present.arrows import with_arrows
from vinculum.present.strokes import Scene, Stroke, values_of
from vinculum.present.wheels import Wheel, wheels
from vinculum.simulation.trajectory.between import resampled
from vinculum.simulation.trajectory.live_run import LiveRun

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory

_AROUND = 40  # vertices of a circle
_FLAT = 1e-9  # fraction of its size by which a planar mechanism may leave its plane


def scene(motion: Trajectory, drawing: Drawing, frames: int = 240, arrows: bool = False) -> Scene:
    """A drawing along a motion, at equally spaced instants; with ``arrows``, its forces and torques too.

    The instants lie between the samples, see `between.py`; a motion from a file has its samples only. The paths of
    points go through all samples.
    """
    refuse_strangers(drawing)
    seen, paths = _at_frames(motion, frames), _places(motion, {name: drawing.points[name] for name in drawing.traces})
    places = _places(seen, drawing.points)
    strokes = [_segment(s, places) for s in drawing.segments]
    strokes += [_circle(seen, c, places[c.center]) for c in drawing.circles]
    strokes += [Stroke(name, "point", places[name][:, None]) for name in lone_points(drawing)]
    found = Scene(seen.t, tuple(strokes), paths)
    return with_arrows(found, motion, seen, drawing, places) if arrows and drawing.arrows else found


def _at_frames(motion: Trajectory, frames: int) -> Trajectory:
    """The motion at equally spaced instants, or at the samples nearest to them if it comes from a file."""
    if not isinstance(motion.run, LiveRun):
        rows = _instants(motion.t, frames)
        return replace(motion, t=motion.t[rows], run=motion.run.at_rows(rows))
    times = np.linspace(motion.t[0], motion.t[-1], frames if len(motion.t) > 1 else 1)
    return replace(motion, t=times, run=resampled(motion.run, times))


def lone_points(drawing: Drawing) -> list[str]:
    """The points that belong to no line and no circle."""
    used = {p for s in drawing.segments for p in s.points} | {c.center for c in drawing.circles}
    return [name for name in drawing.points if name not in used]


def flattened(found: Scene) -> Scene:
    """Project a scene that stays in a coordinate plane onto that plane; leave any other unchanged."""
    thin = thin_axes(np.stack(found.box, axis=1))
    if found.dimension == 2 or thin.sum() != 1:
        return found
    strokes = tuple(replace(s, places=s.places[..., ~thin]) for s in found.strokes)
    return replace(found, strokes=strokes, paths={name: path[:, ~thin] for name, path in found.paths.items()})


def thin_axes(box: np.ndarray) -> np.ndarray:
    """The directions in which a box [(low, high), ...] has no size."""
    sizes = box[:, 1] - box[:, 0]
    return sizes <= _FLAT * max(sizes)


def refuse_strangers(drawing: Drawing) -> None:
    """Raise an error for undefined points, and for a mixture of points in the plane and in space."""
    named = [p for s in drawing.segments for p in s.points] + [c.center for c in drawing.circles] + [*drawing.traces]
    named += [arrow.at for arrow in drawing.arrows]
    problems = [
        f"{name!r} is not a point of the drawing.{suggestion(name, drawing.points)}"
        for name in dict.fromkeys(named)
        if name not in drawing.points
    ]
    sizes = {name: len(point) for name, point in drawing.points.items()}
    if not drawing.points:
        problems.append("It has no points.")
    elif set(sizes.values()) not in ({2}, {3}):
        shown = ", ".join(f"{name} {size}" for name, size in sizes.items())
        problems.append(f"All points need two coordinates, or all need three; found {shown}.")
    else:
        problems += [problem for arrow in drawing.arrows if (problem := _wrong_arrow(arrow, max(sizes.values())))]
    if problems:
        raise ModelError("Invalid drawing", problems)


def _wrong_arrow(arrow: Arrow, dimension: int) -> str:
    """What is wrong with an arrow, or an empty text."""
    if (arrow.force is None) == (arrow.torque is None):
        return f"The arrow at {arrow.at!r} needs a force or a torque, and not both."
    wanted = 1 if arrow.force is None and dimension == 2 else dimension
    found = len(arrow.components)
    return "" if found == wanted else f"The arrow at {arrow.at!r} needs {wanted} components; found {found}."


def _instants(t: np.ndarray, frames: int) -> np.ndarray:
    """Indices of the samples nearest to equally spaced instants, including the first and last."""
    if len(t) == 1:
        return np.zeros(1, dtype=int)
    passed = np.abs(t - t[0])  # runs may go backward
    even = np.linspace(0, passed[-1], min(frames, len(t)))
    after = np.clip(np.searchsorted(passed, even), 1, len(t) - 1)
    nearer = np.where(even - passed[after - 1] <= passed[after] - even, after - 1, after)
    return np.unique(nearer)


def _places(motion: Trajectory, points: Mapping[str, Sequence[sp.Expr]]) -> dict[str, np.ndarray]:
    """Every point at every sample, (samples, 2 or 3)."""
    if not points:
        return {}
    values = iter(values_of(motion, [c for point in points.values() for c in point]).T)
    return {name: np.stack([next(values) for _ in point], axis=1) for name, point in points.items()}


def _segment(segment: Segment, places: Mapping[str, np.ndarray]) -> Stroke:
    """The line through its points, and back to the first one if it is closed."""
    points = [*segment.points, segment.points[0]] if segment.closed else segment.points
    kind = "line" if segment.scenery else "bar"
    return Stroke(segment.name, kind, np.stack([places[point] for point in points], axis=1))


def _circle(motion: Trajectory, circle: Circle, center: np.ndarray) -> Stroke:
    """From the center to the rim and once around, beginning where the spoke points."""
    angle = sp.S.Zero if circle.angle is None else circle.angle
    numbers = values_of(motion, [circle.radius, angle, *(circle.normal or ())])
    around = numbers[:, 1, None] + np.linspace(0, 2 * np.pi, _AROUND + 1)
    first, second = _plane(numbers[:, 2:], center.shape[1])
    rim = np.cos(around)[..., None] * first[:, None] + np.sin(around)[..., None] * second[:, None]
    middle = center[:, None]
    places = middle + numbers[:, 0, None, None] * rim
    if circle.angle is None:
        return Stroke(circle.name, "ring", places)
    return Stroke(circle.name, "disc", np.concatenate([middle, places], axis=1))


def _plane(normals: np.ndarray, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that span the plane of a circle, at every frame."""
    frames = len(normals)
    if dimension == 2:
        return np.tile([1.0, 0.0], (frames, 1)), np.tile([0.0, 1.0], (frames, 1))
    if not normals.shape[1]:
        return np.tile([1.0, 0.0, 0.0], (frames, 1)), np.tile([0.0, 1.0, 0.0], (frames, 1))
    normal = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    aside = np.eye(3)[np.argmin(np.abs(normal[0]))]
    first = np.cross(np.broadcast_to(aside, normal.shape), normal)
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normal, first)


Point = Sequence[Any]

TOOL = "the tool point"


def drawing_of(tree: BodyTree, led: Led | None = None) -> Drawing:
    """Lines from each joint to the next joints, loop points and the tool point ``led``; if there are none of these, to
    the center of mass. Paths are drawn of the tool point, or otherwise of the far ends of the last bodies.
    """
    if tree.base.place is None:  # drawn where its base is
        tree = replace(tree, base_velocity=None)
    points: dict[str, Point] = {}
    segments = []
    for name in (None, *tree.order):
        label = name or "base"
        points[label] = tree.position(name)
        ends = _ends(tree, name, led)
        for number, end in enumerate(ends, start=1):
            far = f"end of {label}" if len(ends) == 1 else f"end {number} of {label}"
            points[far] = tree.position(name, end)
            segments.append(Segment([label, far], name=label))
    for body in tree.bodies:
        if body.kind.slides:
            points[f"joint of {body.name}"] = tree.position(body.parent, body.origin)
            segments.append(Segment([f"joint of {body.name}", body.name], name=body.name))
    leaves = [name for name in tree.order if not any(body.parent == name for body in tree.bodies)]
    circles = _add_wheels(tree, wheels(tree, leaves), points, segments)
    if led is not None and led.body in tree.order:
        points[TOOL] = tree.position(led.body, led.point)
        return Drawing(points, segments, circles, traces=[TOOL])
    return Drawing(points, segments, circles, traces=[_tip(segments, name) for name in leaves])


def _add_wheels(
    tree: BodyTree, found: Sequence[Wheel], points: dict[str, Point], segments: list[Segment]
) -> list[Circle]:
    """A circle for each wheel and ball, with a spoke in place of the axes of its body."""
    circles = []
    for wheel in found:
        name, center, rim = wheel.body, f"center of {wheel.body}", f"rim of {wheel.body}"
        segments[:] = [s for s in segments if s.name != name or not s.points[-1].startswith("end ")]
        points |= {center: tree.position(name, wheel.center), rim: tree.position(name, wheel.rim)}
        segments.append(Segment([center, rim], name=name))
        normal = None if wheel.axis is None else tuple(tree.rotation(name) * sp.Matrix(list(wheel.axis)))
        circles.append(Circle(center, wheel.radius, normal=normal, name=name))
    used = {p for s in segments for p in s.points}
    for name in [p for p in points if p.startswith("end ") and p not in used]:
        del points[name]
    return circles


def _ends(tree: BodyTree, name: str | None, led: Led | None = None) -> list[Point]:
    """The points of a body to which lines are drawn, in its frame."""
    ends: list[Point] = [b.origin for b in tree.bodies if b.parent == name and not b.kind.loose]
    for loop in tree.loops:
        ends += [loop.point] if loop.first == name else []
        ends += [loop.other_point] if loop.second == name else []
    if led is not None and led.body == name:
        ends.append(led.point)
    if ends or name is None:
        return [end for end in ends if not _zero(end)]
    return _own_ends(tree.body(name))


def _own_ends(body: Body) -> list[Point]:
    """The center of mass of a last body, or three axes as long as its radius of gyration."""
    if not _zero(body.center_of_mass):
        return [body.center_of_mass]
    moments = sum(body.inertia_matrix[i][i] for i in range(3))
    if body.mass == 0 or moments == 0:
        return []
    radius = sp.sqrt(moments / (2 * as_expression(body.mass)))
    return [(radius, 0, 0), (0, radius, 0), (0, 0, radius)]


def _zero(point: Point) -> bool:
    return all(as_expression(x).is_zero for x in point)


def _tip(segments: Sequence[Segment], name: str) -> str:
    """The far end of a body."""
    own = [s for s in segments if s.name == name and s.points[0] == name]
    return own[0].points[-1] if len(own) == 1 else name
