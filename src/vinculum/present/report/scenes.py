"""The drawing of the mechanism as a description for the page's script: shapes between points, points as columns.

A point is a list of keys of the motion's table, one for each direction. Shapes are bars (bodies), lines (scenery),
discs (circles with a spoke), wheels (of a tree), rings (other circles) and single points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.model.examine import Results
from vinculum.model.model import Arrow, Circle, Drawing
from vinculum.present.animation import drawing_for
from vinculum.present.drawing import lone_points, refuse_strangers, thin_axes, values_of
from vinculum.present.report.charts import Charts
from vinculum.present.report.tables import Table
from vinculum.present.shapes import color_numbers
from vinculum.present.svg import SERIES

_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Animation:
    """A motion that can be played: its table, the charts shown next to it, and the table that sizes the picture."""

    name: str
    run: str
    group: str
    box: str


def animations(results: Results, charts: Charts) -> list[Animation]:
    """All motions of the results: closed loops first, each with the motion without feedback."""
    found = []
    several = len(results.points) > 1
    for i, point in enumerate(results.points, start=1):
        where = f", equilibrium {i}" if several else ""
        for kind, words, motion in (("closed", "With", point.closed_motion), ("held", "Without", point.held_motion)):
            if point.closed_motion is not None and motion is not None:
                charts.table(f"{kind}-{i}", motion)
                found.append(Animation(f"{words} feedback{where}", f"{kind}-{i}", f"closed-{i}", f"closed-{i}"))
    if results.motion is not None:
        charts.table("motion", results.motion)
        found.append(Animation("Requested motion" if found else "Motion", "motion", "motion", "motion"))
    return found


def stage(results: Results, charts: Charts, shown: Sequence[Animation]) -> dict[str, Any] | None:
    """The description of the drawing, whose columns are added to the table of every motion; None without a motion."""
    if not shown:
        return None
    tables = [charts.tables[one.run] for one in shown]
    drawing = drawing_for(tables[0].motion, [results.model])
    refuse_strangers(drawing)
    keys = _columns(drawing)
    for table in tables:
        _fill(table, keys)
    scene = _described(drawing, _flat(results, drawing, tables))
    known = bool(results.model.units)
    return scene | {"unit": "m" if known else "", "units": {"force": "N", "torque": "N·m"} if known else {}}


# -- columns ------------------------------------------------------------------------------------------------------


def _columns(drawing: Drawing) -> dict[str, sp.Expr]:
    """{key: expression} of everything that a drawing needs."""
    keys: dict[str, sp.Expr] = {}
    for name, point in drawing.points.items():
        keys |= dict(zip(_keys(name, len(point)), point, strict=True))
    for i, circle in enumerate(drawing.circles):
        keys[f"circle {i} radius"] = circle.radius
        keys |= {} if circle.angle is None else {f"circle {i} angle": circle.angle}
        keys |= dict(zip(_normal(i), circle.normal or (), strict=False))
    for i, arrow in enumerate(drawing.arrows):
        keys |= dict(zip(_arrow_keys(i, arrow), arrow.components, strict=True))
    return keys


def _keys(name: str, dimension: int) -> list[str]:
    return [f"drawn {name} {axis}" for axis in _AXES[:dimension]]


def _arrow_keys(i: int, arrow: Arrow) -> list[str]:
    own = ("turn",) if len(arrow.components) == 1 else _AXES
    return [f"arrow {i} {axis}" for axis in own[: len(arrow.components)]]


def _normal(i: int) -> list[str]:
    return [f"circle {i} normal {axis}" for axis in _AXES]


def _fill(table: Table, keys: dict[str, sp.Expr]) -> None:
    values = values_of(table.motion, list(keys.values())).T
    for (key, expression), column in zip(keys.items(), values, strict=True):
        table.column(key, column, expression)


def _flat(results: Results, drawing: Drawing, tables: Sequence[Table]) -> list[int]:
    """The axes of the picture: bodies that stay in a plane during all motions are drawn in it."""
    dimension = len(next(iter(drawing.points.values())))
    every = list(range(dimension))
    if dimension == 2 or results.model.drawing is not None:
        return every
    columns = [[t.columns[_keys(name, 3)[k]] for t in tables for name in drawing.points] for k in every]
    thin = thin_axes(np.array([[np.nanmin(c), np.nanmax(c)] for c in map(np.concatenate, columns)]))
    return [k for k in every if not thin[k]] if sum(thin) == 1 else every


# -- shapes -------------------------------------------------------------------------------------------------------


def _described(drawing: Drawing, axes: list[int]) -> dict[str, Any]:
    dimension = len(next(iter(drawing.points.values())))
    points = {name: [_keys(name, dimension)[k] for k in axes] for name in drawing.points}
    shapes: list[dict[str, Any]] = [
        {"kind": "line" if s.scenery else "bar", "name": s.name, "points": list(s.points), "closed": s.closed}
        for s in drawing.segments
    ]
    shapes += [_circle(i, circle, dimension) for i, circle in enumerate(drawing.circles)]
    shapes += [{"kind": "point", "name": name, "points": [name]} for name in lone_points(drawing)]
    numbers = color_numbers([(shape["kind"], shape["name"]) for shape in shapes])
    for shape, chosen in zip(shapes, numbers, strict=True):
        shape["color"] = "--muted" if chosen is None else SERIES[chosen % len(SERIES)]
    arrows = [
        {
            "name": arrow.name or kind,
            "kind": kind,
            "at": arrow.at,
            "keys": _arrow_keys(i, arrow),
            "color": _arrow_color(i),
        }
        for i, arrow in enumerate(drawing.arrows)
        for kind in ["force" if arrow.force is not None else "torque"]
    ]
    traces = list(drawing.traces)
    return {"dimension": len(axes), "points": points, "shapes": shapes, "traces": traces, "arrows": arrows}


def _arrow_color(i: int) -> str:
    """Colors from the end of the series: the shapes begin with the others."""
    return SERIES[-2 - i % (len(SERIES) - 1)]


def _circle(i: int, circle: Circle, dimension: int) -> dict[str, Any]:
    kind = "wheel" if circle.normal is not None else "ring" if circle.angle is None else "disc"
    own: dict[str, Any] = {"kind": "disc" if circle.angle is not None else kind, "name": circle.name}
    own |= {"points": [circle.center], "radius": f"circle {i} radius"}
    own |= {} if circle.angle is None else {"angle": f"circle {i} angle"}
    return own | ({"normal": _normal(i)} if circle.normal is not None and dimension == 3 else {})


def legend(scene: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, color) of the shapes that have a name and a color."""
    named = {s["name"]: s["color"] for s in scene["shapes"] if s["name"] and s["kind"] not in ("point", "line")}
    return list(named.items()) + [(arrow["name"], arrow["color"]) for arrow in scene["arrows"]]
