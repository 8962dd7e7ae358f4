"""Coordinates, states and inputs as they are declared: a list of names, or a table from name to unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sympy as sp

from vinculum.model import limits
from vinculum.model.expressions.value import Refused, Value
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.model.units.dimensions import shown
from vinculum.model.units.units import read_unit
from vinculum.names import function_of_time


def coordinates(reading: Reading, path: Path, raw: Any) -> list[sp.Expr]:
    """Functions of time, entered into the scope."""
    return _declared(reading, path, raw, function_of_time)


def inputs(reading: Reading, path: Path, raw: Any) -> list[sp.Expr]:
    """Symbols, entered into the scope."""
    return _declared(reading, path, raw, sp.Symbol)


def _declared(reading: Reading, path: Path, raw: Any, make: Callable[[str], sp.Expr]) -> list[sp.Expr]:
    if len(raw) > limits.COORDINATES:
        reading.problem(path, f"{len(raw)} names are more than {limits.COORDINATES}.")
        return []
    entries = [((*path, i), name, None) for i, name in enumerate(raw)] if isinstance(raw, list) else [
        ((*path, name), name, unit) for name, unit in raw.items()
    ]  # fmt: skip
    found = []
    for place, name, unit in entries:
        plain = reading.declare(place, name)
        if plain is None:
            continue
        made = make(plain)
        reading.scope = reading.scope.with_values({plain: Value(made, dimension=_dimension(reading, place, unit))})
        found.append(made)
        if unit is not None:
            reading.units[made] = unit
    return found


def _dimension(reading: Reading, path: Path, unit: str | None) -> Any:
    """Of a declared unit, which must be one of SI, because plain numbers and results are in SI."""
    if unit is None:
        return None
    try:
        found = read_unit(unit)
    except Refused as refusal:
        reading.problem(path, str(refusal))
        return None
    if not math.isclose(found.factor, 1.0):
        instead = shown(found.dimension) if found.dimension else "rad"
        reading.problem(path, f"{unit} is not a unit of SI, in which results are given. Write {instead}.")
    return found.dimension
