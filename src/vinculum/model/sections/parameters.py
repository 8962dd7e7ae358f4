"""[parameters] and [definitions]: named numbers, and named formulas with or without arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import sympy as sp

from vinculum.model.expressions.characters import translate
from vinculum.model.expressions.expression import parsed
from vinculum.model.expressions.scope import Macro, name_problem, spelled
from vinculum.model.expressions.value import Value
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.model.units import dimensions
from vinculum.model.units.dimensions import Dimension
from vinculum.model.units.units import is_quantity, quantity_of, read_unit
from vinculum.names import function_of_time, suggestion

_WITH_ARGUMENTS = re.compile(r"\s*([^\s()]+)\s*\(([^()]*)\)\s*")


def read_parameters(reading: Reading, raw: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Each parameter becomes a symbol with a number; one may be a formula of those above it.

    A change without a unit is in SI and has the dimension that the file states.
    """
    known = {spelled(name): name for name in raw}
    for name in (name for name in changes if spelled(name) not in known):
        near = suggestion(name[:40], known)
        reading.problem(("parameters",), f"{name[:40]} is no parameter, so that it cannot be set.{near}")
    changed = {spelled(name): value for name, value in changes.items()}
    for name, entry in raw.items():
        path = ("parameters", name)
        plain, value = reading.declare(path, name), reading.formula(path, entry)
        dimension = _dimension(entry, value)
        if plain in changed:
            value = reading.formula(path, changed[plain])
            own = _dimension(changed[plain], value)
            if own not in (None, dimension) and dimension is not None:
                wanted, found = dimensions.shown(dimension), dimensions.shown(own)
                reading.problem(path, f"it is set to a number with {found} where {wanted} is needed.")
        number = None if value is None else _number(reading, path, value)
        if plain is not None:
            _declare(reading, plain, number, dimension, _unit(entry, dimension))


def _number(reading: Reading, path: Path, value: Value) -> float | None:
    return value.number if value.number is not None else reading.evaluated(path, value.expression)


def _unit(entry: Any, dimension: Dimension | None) -> str:
    """The unit to show: as it is written where the number stays what it is in SI, else that of SI."""
    match = quantity_of(entry)
    written = str(entry["unit"]) if isinstance(entry, dict) else match[2] if match is not None else ""
    if dimension is None or not written:
        return "" if dimension is None else dimensions.shown(dimension)
    return written if math.isclose(read_unit(written).factor, 1.0) else dimensions.shown(dimension)


def _declare(reading: Reading, name: str, number: float | None, dimension: Dimension | None, unit: str) -> None:
    """Enter the symbol of a parameter, its number and its unit."""
    parameter = sp.Symbol(name)
    reading.scope = reading.scope.with_values({name: Value(parameter, dimension=dimension)})
    if number is not None:
        reading.numbers[parameter] = number
    else:
        reading.unusable.add(parameter)
    if dimension is not None:
        reading.units[parameter] = unit


def _dimension(entry: Any, value: Value | None) -> Dimension | None:
    """Where a unit was written, or where the dimension follows from those of other parameters."""
    written = is_quantity(entry)
    follows = isinstance(entry, str) and value is not None and value.number is None
    return value.dimension if value is not None and (written or follows) else None


def read_definitions(reading: Reading, raw: Mapping[str, Any]) -> None:
    """Each definition may use what stands above it."""
    for name, entry in raw.items():
        path = ("definitions", name)
        called = _WITH_ARGUMENTS.fullmatch(name)
        if called is not None:
            _macro(reading, path, called[1], [part.strip() for part in called[2].split(",")], entry)
            continue
        plain, value = reading.declare(path, name), reading.formula(path, entry)
        if plain is not None and value is not None:
            reading.scope = reading.scope.with_values({plain: value})
        elif plain is not None:
            reading.scope = reading.scope.with_failed(plain)


def _macro(reading: Reading, path: Path, name: str, arguments: list[str], entry: Any) -> None:
    """A definition with arguments; it is not known in its own body, so that it cannot call itself."""
    plain = reading.declare(path, name)
    if plain is not None:
        reading.scope = reading.scope.with_function(plain, _made_macro(reading, path, arguments, entry))


def _made_macro(reading: Reading, path: Path, arguments: list[str], entry: Any) -> Macro | None:
    """Its body is read once with functions of time, of which dot can be taken, to find its faults."""
    for problem in filter(None, map(name_problem, arguments)):
        reading.problem(path, problem)
        return None
    names = tuple(map(spelled, arguments))
    trial = reading.scope.with_values({name: Value(function_of_time(name)) for name in names})
    if reading.formula(path, entry, trial) is None:
        return None
    tree, _ = parsed(str(entry))
    if tree is None:
        reading.problem(path, "a definition with arguments is a formula; a number with a unit needs none.")
        return None
    return Macro(names, tree, translate(str(entry)), reading.scope)
