"""A path that a body of a tree is led along: a point, its orientation, further joints."""

from __future__ import annotations

from typing import Any

import sympy as sp

from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.model.units.dimensions import LENGTH, NONE


def read_path(reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]) -> dict[str, Any]:
    """Arguments of ``servo_path``: body, path, point, orientation, joints; a component left out is free."""
    reading.body((*path, "body"), raw["body"])
    asked = raw.get("position", {})
    axes = {axis: reading.expression((*path, "position", axis), entry, None, LENGTH) for axis, entry in asked.items()}
    found: dict[str, Any] = {"body": raw["body"], "path": tuple(axes.get(axis) for axis in "xyz")}
    if "point" in raw:
        found["point"] = reading.vector((*path, "point"), raw["point"], None, LENGTH)
    if "orientation" in raw:
        rows = enumerate(raw["orientation"])
        found["orientation"] = [reading.vector((*path, "orientation", i), row, None, NONE) for i, row in rows]
    if "joints" in raw:
        found["joints"] = _joints(reading, (*path, "joints"), raw["joints"], coordinates)
    return found


def _joints(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[sp.Expr, sp.Expr | None]:
    keys = {text: reading.key((*path, text), text, coordinates, "coordinate") for text in raw}
    return {
        q: reading.expression((*path, text), raw[text], None, reading.dimension_of(q))
        for text, q in keys.items()
        if q is not None
    }
