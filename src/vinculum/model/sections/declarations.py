"""Declarations of a file: coordinates, states and inputs, parameters, definitions, splines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import sympy as sp

from vinculum.describe.spline import pieces_through
from vinculum.errors import Refused, VinculumError
from vinculum.model import limits
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.expression import parse_expression
from vinculum.model.expressions.scope import Curve, Macro, english_name, name_problem
from vinculum.model.expressions.syntax import translate
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.names import function_of_time, suggestion
from vinculum.units import dimensions
from vinculum.units.dimensions import Dimension, shown
from vinculum.units.units import is_quantity, quantity_of, read_si_unit, si_text


def declare_coordinates(reading: Reading, path: Path, raw: Any) -> list[sp.Expr]:
    """Functions of time, added to the scope."""
    return _declare_all(reading, path, raw, function_of_time)


def declare_inputs(reading: Reading, path: Path, raw: Any) -> list[sp.Expr]:
    """Symbols, added to the scope."""
    return _declare_all(reading, path, raw, sp.Symbol)


def _declare_all(reading: Reading, path: Path, raw: Any, make: Callable[[str], sp.Expr]) -> list[sp.Expr]:
    if len(raw) > limits.COORDINATES:
        reading.problem(path, f"{len(raw)} names were found; at most {limits.COORDINATES} are allowed.")
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
        reading.scope = reading.scope.with_values(
            {plain: Value(made, dimension=_declared_dimension(reading, place, unit))}
        )
        found.append(made)
        if unit is not None:
            reading.units[made] = unit
    return found


def _declared_dimension(reading: Reading, path: Path, unit: str | None) -> Any:
    """The dimension of a declared unit. It must be an SI unit, because plain numbers and results are in SI."""
    if unit is None:
        return None
    try:
        return read_si_unit(unit)
    except Refused as refusal:
        reading.problem(path, str(refusal))
    return None


_WITH_ARGUMENTS = re.compile(r"\s*([^\s()]+)\s*\(([^()]*)\)\s*")


def read_parameters(reading: Reading, raw: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Each parameter becomes a symbol with a number; it may be a formula of those above it.

    A change without a unit is in SI and has the dimension given in the file.
    """
    known = {english_name(name): name for name in raw}
    for name in (name for name in changes if english_name(name) not in known):
        near = suggestion(name[:40], known)
        reading.problem(("parameters",), f"{name[:40]} is not a parameter.{near}")
    changed = {english_name(name): value for name, value in changes.items()}
    for name, entry in raw.items():
        path = ("parameters", name)
        plain, value = reading.declare(path, name), reading.formula(path, entry)
        dimension = _dimension(entry, value)
        if plain in changed:
            value = reading.formula(path, changed[plain])
            own = _dimension(changed[plain], value)
            if own not in (None, dimension) and dimension is not None:
                wanted, found = dimensions.shown(dimension), dimensions.shown(own)
                reading.problem(path, f"it was set to a value in {found}, but {wanted} is needed.")
        number = None if value is None else _number(reading, path, value)
        if plain is not None:
            _declare(reading, plain, number, dimension, _unit(entry, dimension))


def _number(reading: Reading, path: Path, value: Value) -> float | None:
    return value.number if value.number is not None else reading.evaluated(path, value.expression)


def _unit(entry: Any, dimension: Dimension | None) -> str:
    """The unit to display: as written if it is an SI unit, otherwise the SI unit."""
    match = quantity_of(entry)
    written = str(entry["unit"]) if isinstance(entry, dict) else match[2] if match is not None else ""
    if dimension is None or not written:
        return "" if dimension is None else dimensions.shown(dimension)
    return si_text(written, dimension)


def _declare(reading: Reading, name: str, number: float | None, dimension: Dimension | None, unit: str) -> None:
    """Add the symbol of a parameter, its number and its unit."""
    parameter = sp.Symbol(name)
    reading.scope = reading.scope.with_values({name: Value(parameter, dimension=dimension)})
    if number is not None:
        reading.numbers[parameter] = number
    else:
        reading.unusable.add(parameter)
    if dimension is not None:
        reading.units[parameter] = unit


def _dimension(entry: Any, value: Value | None) -> Dimension | None:
    """The dimension of a parameter, from its unit or from the dimensions of other parameters."""
    written = is_quantity(entry)
    follows = isinstance(entry, str) and value is not None and value.number is None
    return value.dimension if value is not None and (written or follows) else None


def read_definitions(reading: Reading, raw: Mapping[str, Any]) -> None:
    """Each definition may use those above it."""
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
    """A definition with arguments; it is unknown in its own body, so it cannot call itself."""
    plain = reading.declare(path, name)
    if plain is not None:
        reading.scope = reading.scope.with_function(plain, _read_macro(reading, path, arguments, entry))


def _read_macro(reading: Reading, path: Path, arguments: list[str], entry: Any) -> Macro | None:
    """Read its body once, with functions of time (for dot) as arguments, to find its faults."""
    for problem in filter(None, map(name_problem, arguments)):
        reading.problem(path, problem)
        return None
    names = tuple(map(english_name, arguments))
    trial = reading.scope.with_values({name: Value(function_of_time(name)) for name in names})
    if reading.formula(path, entry, trial) is None:
        return None
    tree, _ = parse_expression(str(entry))
    if tree is None:
        reading.problem(path, "a definition with arguments must be a formula, not a number with a unit.")
        return None
    return Macro(names, tree, translate(str(entry)), reading.scope)


def read_splines(reading: Reading) -> None:
    """Each spline becomes a function, added to the scope."""
    stated = reading.data.get("splines", {})
    count = sum(len(raw["points"]) + len(raw["values"]) for raw in stated.values()) // 2
    if count > limits.POINTS:
        reading.problem(("splines",), f"the splines have {count} points; at most {limits.POINTS} are allowed.")
        return
    for name, raw in stated.items():
        path = ("splines", name)
        plain = reading.declare(path, name)
        if plain is not None:
            reading.scope = reading.scope.with_function(plain, _spline(reading, path, plain, raw))


def _spline(reading: Reading, path: Path, name: str, raw: dict[str, Any]) -> Curve | None:
    points, argument = read_column(reading, (*path, "points"), raw["points"])
    values, dimension = read_column(reading, (*path, "values"), raw["values"])
    if points is None or values is None:
        return None
    found = _wrong_point(points, values, raw)
    if found is not None:
        reading.problem((*path, *found[0]), found[1])
        return None
    try:
        return Curve(pieces_through(points, values, raw.get("degree", 5), name), argument, dimension)
    except VinculumError as error:
        reading.refusal(error, path)
    return None


def _wrong_point(points: list[float], values: list[float], raw: dict[str, Any]) -> tuple[Path, str] | None:
    """The first problem with the points, and its position."""
    if len(points) != len(values):
        return (), f"there are {len(points)} points and {len(values)} values. Give one value for each point."
    for i, (before, point) in enumerate(pairwise(points), start=1):
        if point <= before:
            now, last = (_written(raw["points"][k]) for k in (i, i - 1))
            what = f"is {now} again" if point == before else f"is {now}, after {last}"
            return ("points", i), f"point {i + 1} {what}. List the points in increasing order, each once."
    degree, count = raw.get("degree", 5), len(points)
    if count <= degree:
        instead = f"Write degree = {count - 1}, or give more points." if count > 1 else "Give at least two points."
        return (), f"{count} points are too few for degree {degree}, which needs {degree + 1} points. {instead}"
    return None


def _written(entry: Any) -> str:
    return f"{entry['value']} {entry['unit']}" if isinstance(entry, dict) else str(entry)[:40]


def read_column(reading: Reading, path: Path, raw: list[Any]) -> tuple[list[float] | None, Dimension | None]:
    """The numbers in SI, and their dimension if one has a unit; the first with another dimension is reported."""
    dimension: Dimension | None = None
    for i, entry in enumerate(raw):
        value = reading.formula((*path, i), entry) if is_quantity(entry) else None
        if value is None:
            continue
        if dimension is not None and value.dimension != dimension:
            found, before = shown(value.dimension), shown(dimension)
            reading.problem((*path, i), f"its dimension is {found}, but the points before it are in {before}.")
            return None, dimension
        dimension = value.dimension
    return reading.number_list(path, raw), dimension
