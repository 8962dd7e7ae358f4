"""[signals]: measured functions of time, from a column of a CSV file or from lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.describe.signal import COLUMNS, csv_columns, signal_pieces
from vinculum.errors import ModelError, VinculumError
from vinculum.model import limits
from vinculum.model.expressions.arithmetic import Refused
from vinculum.model.expressions.scope import Curve
from vinculum.model.reading import Reading
from vinculum.model.sections.declarations import read_column
from vinculum.model.text.beside import read_beside
from vinculum.model.text.location import Path
from vinculum.names import listed, suggestion
from vinculum.units.dimensions import TIME, Dimension, shown
from vinculum.units.units import read_unit

_FROM_FILE, _FROM_LISTS = ("file", "column", "time", "unit", "time_unit"), ("times", "values")
_Column = tuple[np.ndarray, Dimension | None]


def read_signals(reading: Reading) -> None:
    """Each signal becomes a function of time, added to the scope."""
    left = limits.SAMPLES
    for name, raw in reading.data.get("signals", {}).items():
        path = ("signals", name)
        plain = reading.declare(path, name)
        if plain is None:
            continue
        curve = _curve(reading, path, plain, raw, left)
        left -= 0 if curve is None else len(curve.pieces.knots)
        reading.scope = reading.scope.with_function(plain, curve)


def _curve(reading: Reading, path: Path, name: str, raw: dict[str, Any], left: int) -> Curve | None:
    stated = [key for key in ("file", "times") if key in raw]
    if len(stated) != 1:
        reading.problem(path, "give either file and column, or times and values.")
        return None
    odd = [key for key in (_FROM_LISTS if stated == ["file"] else _FROM_FILE) if key in raw]
    if odd:
        reading.problem((*path, odd[0]), f"{odd[0]} does not belong to a signal with {stated[0]}. Leave it out.")
        return None
    found = (_from_file if stated == ["file"] else _from_lists)(reading, path, raw)
    if found is None:
        return None
    (times, argument), (values, dimension) = found
    if argument not in (None, TIME):
        reading.problem(path, f"its times are in {shown(argument)}; s is needed.")
        return None
    if len(times) > left:
        reading.problem(path, f"the signals have more than {limits.SAMPLES} points.")
        return None
    return _made(reading, path, name, raw, times, values, TIME if reading.units else None, dimension)


def _made(
    reading: Reading, path: Path, name: str, raw: dict[str, Any], times: np.ndarray, values: np.ndarray,
    argument: Dimension | None, dimension: Dimension | None,
) -> Curve | None:  # fmt: skip
    try:
        pieces = signal_pieces(times, values, raw.get("between", "linear"), raw.get("beyond", "refuse"), name)
    except ModelError as error:
        reading.problem(path, " ".join(map(str, error.findings)))
        return None
    except VinculumError as error:
        reading.refusal(error, path)
        return None
    return Curve(pieces, argument, dimension)


def _from_lists(reading: Reading, path: Path, raw: dict[str, Any]) -> tuple[_Column, _Column] | None:
    columns = []
    for key in _FROM_LISTS:
        if key not in raw:
            reading.problem(path, f"{key} is missing.")
            return None
        numbers, dimension = read_column(reading, (*path, key), raw[key])
        if numbers is None:
            return None
        columns.append((np.array(numbers), dimension))
    return columns[0], columns[1]


def _from_file(reading: Reading, path: Path, raw: dict[str, Any]) -> tuple[_Column, _Column] | None:
    try:
        content = read_beside(reading.document.folder, raw["file"], limits.TABLE)
        table = csv_columns(content.decode("utf-8-sig"), raw["file"][:60])
    except ValueError as error:  # also a VinculumError
        reading.problem((*path, "file"), f"{str(error).rstrip('.')}.")
        return None
    time = raw.get("time") or next((name for name in COLUMNS if name in table), "time")
    wanted = {"time": time, "column": raw.get("column", "")}
    for key, name in wanted.items():
        if name not in table:
            columns, near = listed(list(table)[:20]), suggestion(name, table)
            said = f"there is no column {name!r}" if name else "column is missing"
            reading.problem((*path, key) if key in raw else path, f"{said}; the columns are {columns}.{near}")
            return None
    units = [_unit(reading, path, key, raw) for key in ("time_unit", "unit")]
    if None in units:
        return None
    pairs = [
        (table[name] * factor, dimension) for name, (factor, dimension) in zip(wanted.values(), units, strict=True)
    ]
    return pairs[0], pairs[1]


def _unit(reading: Reading, path: Path, key: str, raw: dict[str, Any]) -> Any:
    """(factor to SI, dimension) of a column; seconds for the time."""
    if key not in raw:
        return 1.0, (TIME if key == "time_unit" else None)
    try:
        found = read_unit(raw[key])
    except Refused as refusal:
        reading.problem((*path, key), str(refusal))
        return None
    return found.factor, found.dimension
