"""[drawing], and what a model keeps from its file for display: motors, measured curves, a tool point on a path.

A tree of bodies without a drawing is drawn from its joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies import BodyTree
from vinculum.model.expressions.arithmetic import number
from vinculum.model.expressions.scope import Curve, Scope, english_name
from vinculum.model.model import Arrow, Circle, Drawing, Led, Measured, Segment
from vinculum.model.reading import Reading
from vinculum.model.sections.motors_and_release import read_motors
from vinculum.model.text.location import Path
from vinculum.names import suggestion
from vinculum.units.dimensions import Dimension, shown


def read_drawing(reading: Reading, tree: BodyTree | None, constraints: Sequence[str] = ()) -> Drawing | None:
    """The drawing of a file, or None; arrows may contain the reactions of the constraints."""
    raw = reading.data.get("drawing")
    if raw is None:
        return None
    reading.scope = reading.scope.without_dimensions()
    points = {name: _point(reading, name, entry, tree) for name, entry in raw.get("points", {}).items()}
    curves = [_curve(reading, i, entry, points) for i, entry in enumerate(raw.get("curves", []))]
    if len({len(place) for place in points.values() if place}) > 1:
        reading.problem(
            ("drawing", "points"), "some points have two coordinates and some three. Use two or three for all."
        )
    segments = [_segment(reading, i, entry, points) for i, entry in enumerate(raw.get("segments", []))]
    circles = [_circle(reading, i, entry, points) for i, entry in enumerate(raw.get("circles", []))]
    scope = replace(reading.scope, constraints=tuple(constraints))
    arrows = [_arrow(reading, i, entry, points, scope) for i, entry in enumerate(raw.get("arrows", []))]
    traces = raw.get("traces", [])
    for i, name in enumerate(traces):
        _known(reading, ("drawing", "traces", i), name, points)
    wheels = [circle for circle in circles if circle is not None]
    forces = [arrow for arrow in arrows if arrow is not None]
    return _in_its_plane(Drawing(points, [*curves, *segments], wheels, traces, forces))


def _in_its_plane(drawing: Drawing) -> Drawing:
    """Reduce the drawing to two coordinates if the third one of every point is zero, as on bodies that move in a plane.

    Circles in space have their own planes; those without a normal are in the xy plane.
    """
    if {len(place) for place in drawing.points.values()} != {3}:
        return drawing
    flat = [axis for axis in range(3) if all(place[axis] == 0 for place in drawing.points.values())]
    turned = any(circle.normal is not None for circle in drawing.circles) or (drawing.circles and flat != [2])
    if len(flat) != 1 or turned:
        return drawing
    kept = [axis for axis in range(3) if axis not in flat]
    points = {name: tuple(place[k] for k in kept) for name, place in drawing.points.items()}
    return replace(drawing, points=points, arrows=[_flat_arrow(arrow, flat[0], kept) for arrow in drawing.arrows])


def _flat_arrow(arrow: Arrow, flat: int, kept: Sequence[int]) -> Arrow:
    """An arrow in a coordinate plane: x to the right and z up have -y toward the viewer."""
    own = arrow.components
    if arrow.force is not None:
        return replace(arrow, force=tuple(own[k] for k in kept))
    return replace(arrow, torque=-own[1] if flat == 1 else own[flat])


def _point(reading: Reading, name: str, raw: Any, tree: BodyTree | None) -> tuple[sp.Expr, ...]:
    """Coordinates, or a point of a body."""
    path: Path = ("drawing", "points", name)
    if isinstance(raw, list):
        if len(raw) not in (2, 3):
            reading.problem(path, f"a point needs two or three coordinates; found {len(raw)}.")
        return reading.vector(path, raw) or ()
    if tree is None:
        if "tree" not in reading.data:  # otherwise its problems have been reported
            said = "this file has no tree of bodies. Give the coordinates of the point in a list."
            reading.problem((*path, "body"), said)
        return ()
    names = [body.name for body in tree.bodies]
    if raw["body"] not in names:
        reading.problem((*path, "body"), f"{raw['body'][:40]} is not a body.{suggestion(raw['body'][:40], names)}")
        return ()
    place = reading.vector((*path, "point"), raw.get("point", [0, 0, 0]))
    return () if place is None else tuple(tree.position(raw["body"], place))


def _known(reading: Reading, path: Path, name: str, points: dict[str, Any]) -> None:
    if name not in points:
        reading.problem(path, f"{name[:40]} is not a point of the drawing.{suggestion(name[:40], points)}")


def _segment(reading: Reading, i: int, raw: Any, points: dict[str, Any]) -> Segment:
    given = {"points": raw} if isinstance(raw, list) else raw
    for k, name in enumerate(given["points"]):
        _known(reading, ("drawing", "segments", i, k), name, points)
    if len(given["points"]) < 2:
        reading.problem(("drawing", "segments", i), "a line needs at least two points.")
    return Segment(**given)


def _curve(reading: Reading, i: int, raw: dict[str, Any], points: dict[str, Any]) -> Segment:
    """A line through new points, which are added to the others."""
    places = _along(reading, ("drawing", "curves", i), raw)
    names = [f"{raw.get('name') or 'curve'} {i + 1}.{k}" for k in range(len(places))]
    points |= dict(zip(names, places, strict=True))
    return Segment(names, raw.get("closed", False), raw.get("name", ""), scenery=True)


def _along(reading: Reading, path: Path, raw: dict[str, Any]) -> list[tuple[sp.Expr, ...]]:
    """The points of a curve, by substituting numbers for its variable."""
    along = reading.declare((*path, "along"), raw["along"])
    first, last = (reading.number((*path, key), raw[key]) for key in ("from", "to"))
    if len(raw["points"]) not in (2, 3):
        reading.problem((*path, "points"), f"a point needs two or three coordinates; found {len(raw['points'])}.")
    places: list[tuple[sp.Expr, ...]] = []
    if along is None or first is None or last is None:
        return places
    for value in np.linspace(first, last, raw.get("count", 41)):
        inner = reading.scope.with_values({along: number(float(value))})
        place = reading.vector((*path, "points"), raw["points"], inner)
        if place is None:
            break  # report a problem only once
        places.append(place)
    return places


def _circle(reading: Reading, i: int, raw: dict[str, Any], points: dict[str, Any]) -> Circle | None:
    path: Path = ("drawing", "circles", i)
    _known(reading, (*path, "center"), raw["center"], points)
    given: dict[str, Any] = {"center": raw["center"], "name": raw.get("name", "")}
    for key in ("radius", "angle"):
        if key in raw:
            given[key] = reading.expression((*path, key), raw[key])
    if "normal" in raw:
        given["normal"] = reading.vector((*path, "normal"), raw["normal"])
    return None if any(value is None for value in given.values()) else Circle(**given)


def _arrow(reading: Reading, i: int, raw: dict[str, Any], points: dict[str, Any], scope: Scope) -> Arrow | None:
    """A force or a torque at a point."""
    path: Path = ("drawing", "arrows", i)
    _known(reading, (*path, "at"), raw["at"], points)
    kinds = [key for key in ("force", "torque") if key in raw]
    if len(kinds) != 1:
        reading.problem(path, "an arrow is a force or a torque. Give one of them.")
        return None
    kind, dimension = kinds[0], len(points.get(raw["at"], ()))
    count = len(raw[kind]) if isinstance(raw[kind], list) else 1
    wanted = 1 if kind == "torque" and dimension == 2 else dimension
    if dimension and count != wanted:
        needed = "one number" if wanted == 1 else f"{wanted} components"
        reading.problem((*path, kind), f"a {kind} at {raw['at'][:40]} needs {needed}; found {count}.")
        return None
    many = isinstance(raw[kind], list)
    found = (reading.vector if many else reading.expression)((*path, kind), raw[kind], scope)
    return None if found is None else Arrow(raw["at"], name=raw.get("name", ""), **{kind: found})


def read_for_display(reading: Reading, motors: dict[sp.Expr, Path]) -> dict[str, Any]:
    """Arguments of `Model`: motors, curves, led."""
    return {"motors": read_motors(reading, motors), "curves": _measured_curves(reading), "led": _tool_point(reading)}


def _measured_curves(reading: Reading) -> dict[str, Measured]:
    found = {}
    for name, raw in reading.data.get("splines", {}).items():
        curve = reading.scope.macros[english_name(name)]
        points, values = (reading.number_list(("splines", name, key), raw[key]) for key in ("points", "values"))
        if isinstance(curve, Curve) and points is not None and values is not None:
            units = (_unit_of(curve.argument), _unit_of(curve.dimension))
            found[english_name(name)] = Measured(tuple(points), tuple(values), curve.pieces, units)
    return found


def _unit_of(dimension: Dimension | None) -> str:
    return "" if not dimension else shown(dimension)


def _tool_point(reading: Reading) -> Led | None:
    """The point of a body that follows [tree.path] or [simulation.task_path]."""
    for path in (("tree", "path"), ("simulation", "task_path")):
        raw = reading.data.get(path[0], {}).get(path[1])
        if raw and raw.get("position"):
            return Led(raw["body"], reading.vector((*path, "point"), raw.get("point", [0, 0, 0])) or (0, 0, 0))
    return None
