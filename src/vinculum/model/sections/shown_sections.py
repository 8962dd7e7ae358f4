"""What a model keeps of its file beside the mechanism, to be shown: motors, measured curves, a point led along a path.

It is read a second time, after everything was found to be right.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from vinculum.model.expressions.scope import Curve, spelled
from vinculum.model.model import Led, Measured
from vinculum.model.reading import Reading
from vinculum.model.sections.motors_and_release import made_motors
from vinculum.model.text.location import Path
from vinculum.model.units.dimensions import Dimension, shown


def shown_sections(reading: Reading, motors: dict[sp.Expr, Path]) -> dict[str, Any]:
    """Arguments of `Model`: motors, curves, led."""
    return {"motors": made_motors(reading, motors), "curves": _curves(reading), "led": _led(reading)}


def _curves(reading: Reading) -> dict[str, Measured]:
    found = {}
    for name, raw in reading.data.get("splines", {}).items():
        curve = reading.scope.macros[spelled(name)]
        points, values = (reading.number_list(("splines", name, key), raw[key]) for key in ("points", "values"))
        if isinstance(curve, Curve) and points is not None and values is not None:
            units = (_unit(curve.argument), _unit(curve.dimension))
            found[spelled(name)] = Measured(tuple(points), tuple(values), curve.pieces, units)
    return found


def _unit(dimension: Dimension | None) -> str:
    return "" if not dimension else shown(dimension)


def _led(reading: Reading) -> Led | None:
    """The point of a body that [tree.path] or [simulation.task_path] leads."""
    for path in (("tree", "path"), ("simulation", "task_path")):
        raw = reading.data.get(path[0], {}).get(path[1])
        if raw and raw.get("position"):
            return Led(raw["body"], reading.vector((*path, "point"), raw.get("point", [0, 0, 0])) or (0, 0, 0))
    return None
