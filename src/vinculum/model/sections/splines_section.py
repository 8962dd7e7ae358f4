"""[splines]: curves through measured points, used in formulas as functions of one argument."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from vinculum.describe.spline import pieces_through
from vinculum.errors import VinculumError
from vinculum.model import limits
from vinculum.model.expressions.scope import Curve
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.model.units.dimensions import Dimension, shown
from vinculum.model.units.units import is_quantity


def read_splines(reading: Reading) -> None:
    """Each spline becomes a function, entered into the scope."""
    stated = reading.data.get("splines", {})
    count = sum(len(raw["points"]) + len(raw["values"]) for raw in stated.values()) // 2
    if count > limits.POINTS:
        reading.problem(("splines",), f"the splines have {count} points; {limits.POINTS} are read.")
        return
    for name, raw in stated.items():
        path = ("splines", name)
        plain = reading.declare(path, name)
        if plain is not None:
            reading.scope = reading.scope.with_function(plain, _curve(reading, path, plain, raw))


def _curve(reading: Reading, path: Path, name: str, raw: dict[str, Any]) -> Curve | None:
    points, argument = _column(reading, (*path, "points"), raw["points"])
    values, dimension = _column(reading, (*path, "values"), raw["values"])
    if points is None or values is None:
        return None
    found = _misplaced(points, values, raw)
    if found is not None:
        reading.problem((*path, *found[0]), found[1])
        return None
    try:
        return Curve(pieces_through(points, values, raw.get("degree", 5), name), argument, dimension)
    except VinculumError as error:
        reading.refusal(error, path)
    return None


def _misplaced(points: list[float], values: list[float], raw: dict[str, Any]) -> tuple[Path, str] | None:
    """The first thing that is wrong with the points, and where."""
    if len(points) != len(values):
        return (), f"{len(points)} points and {len(values)} values were found. Give a value for each point."
    for i, (before, point) in enumerate(pairwise(points), start=1):
        if point <= before:
            now, last = (_written(raw["points"][k]) for k in (i, i - 1))
            what = f"is {now} again" if point == before else f"is {now}, after {last}"
            return ("points", i), f"point {i + 1} {what}. The points stand in rising order, each once."
    degree, count = raw.get("degree", 5), len(points)
    if count <= degree:
        instead = f"Write degree = {count - 1}, or give more points." if count > 1 else "Give at least two points."
        return (), f"{count} points are too few for degree {degree}, which needs {degree + 1}. {instead}"
    return None


def _written(entry: Any) -> str:
    return f"{entry['value']} {entry['unit']}" if isinstance(entry, dict) else str(entry)[:40]


def _column(reading: Reading, path: Path, raw: list[Any]) -> tuple[list[float] | None, Dimension | None]:
    """The numbers in SI, and their dimension where a unit is written beside one of them; the first odd one is told."""
    dimension: Dimension | None = None
    for i, entry in enumerate(raw):
        value = reading.formula((*path, i), entry) if is_quantity(entry) else None
        if value is None:
            continue
        if dimension is not None and value.dimension != dimension:
            found, before = shown(value.dimension), shown(dimension)
            reading.problem((*path, i), f"its dimension is {found}, that of those before {before}.")
            return None, dimension
        dimension = value.dimension
    return reading.number_list(path, raw), dimension
