"""Recorded motions: tables over time from xarray, pandas, arrays or files, with what each column means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Equations
from vinculum.errors import VinculumError
from vinculum.expressions import as_expression
from vinculum.names import suggestion, variable_name

TIME = ("time", "t")


@dataclass(frozen=True, eq=False)
class Recording:
    """One recorded run: what was measured, and when."""

    times: np.ndarray  # (instants), increasing
    columns: tuple[str, ...]
    expressions: Mapping[str, sp.Expr]  # of every column
    measured: np.ndarray  # (instants, columns), not a number where nothing was measured

    @property
    def ranges(self) -> np.ndarray:
        """The range of every column; its size, or one, if it is constant."""
        low, high = np.nanmin(self.measured, axis=0), np.nanmax(self.measured, axis=0)
        size = np.maximum(high - low, np.abs(high))
        return np.where(size > 0, size, 1.0)


def read_recordings(measured: Any, equations: Equations, outputs: Mapping[str, sp.Expr]) -> list[Recording]:
    """All recorded runs, checked."""
    many = isinstance(measured, Sequence) and not isinstance(measured, str | Path)
    tables = list(measured) if many else [measured]
    if not tables:
        raise VinculumError("No measurements were given.")
    return [_recording(_table(one), equations, outputs, k if many else None) for k, one in enumerate(tables)]


def _table(one: Any) -> dict[str, np.ndarray]:
    """The columns by name, whatever holds them."""
    if isinstance(one, str | Path):
        one = _file(Path(one))
    if hasattr(one, "data_vars"):  # xarray
        return {str(name): np.asarray(one[name]) for name in (*one.coords, *one.data_vars)}
    if hasattr(one, "to_dict") and hasattr(one, "columns"):  # pandas
        found = {str(name): np.asarray(one[name]) for name in one.columns}
        return found if any(name in found for name in TIME) else {"time": np.asarray(one.index)} | found
    if isinstance(one, Mapping):
        names = {key: key if isinstance(key, str) else variable_name(key) for key in one}
        return {names[key]: np.asarray(column) for key, column in one.items()}
    raise VinculumError(f"A recording must be a dataset, a table, {{name: array}} or a file; got {type(one).__name__}.")


def _file(path: Path) -> Any:
    """A CSV file with a header, or a NetCDF file."""
    if not path.exists():
        raise VinculumError(f"There is no file {path}.")
    if path.suffix == ".csv":
        return _csv(path)
    if path.suffix == ".nc":
        import xarray as xr

        with xr.open_dataset(path) as found:
            return found.load()
    raise VinculumError(f"{path} is neither a .csv nor an .nc file.")


def _csv(path: Path) -> dict[str, np.ndarray]:
    """The columns under a header; an empty cell is a value that was not measured, and # begins a comment."""
    lines = (line.partition("#")[0] for line in path.read_text(encoding="utf-8-sig").splitlines())
    rows = [(number, line.split(",")) for number, line in enumerate(lines, 1) if line.strip()]
    if len(rows) < 2:
        raise VinculumError(f"{path} has no rows of numbers under a header such as time,x.")
    names = [cell.strip().strip('"') for cell in rows[0][1]]
    wrong = next((number for number, cells in rows if len(cells) != len(names)), None)
    if wrong is not None:
        raise VinculumError(f"Line {wrong} of {path} does not have {len(names)} cells, as its header has.")
    table = [[_number(cell, path, number) for cell in cells] for number, cells in rows[1:]]
    return dict(zip(names, np.array(table).T, strict=True))


def _number(cell: str, path: Path, line: int) -> float:
    try:
        return float(cell.strip() or "nan")
    except ValueError:
        raise VinculumError(
            f"Line {line} of {path} has {cell.strip()!r} where a number should be. Leave a cell empty that was not "
            "measured, and separate cells by commas."
        ) from None


def _recording(
    table: Mapping[str, np.ndarray], equations: Equations, outputs: Mapping[str, sp.Expr], number: int | None
) -> Recording:
    where = "the measurements" if number is None else f"run {number}"
    time = next((_real(table[name], name, where) for name in TIME if name in table), None)
    if time is None:
        raise VinculumError(f"There is no column time in {where}; its columns are {', '.join(table)}.")
    known = {variable_name(key): key for key in (*equations.user_symbols, *equations.extra)} | dict(outputs)
    missing = [name for name in outputs if name not in table]
    if missing:
        raise VinculumError(f"There is no column {missing[0]} in {where}.{suggestion(missing[0], table)}")
    columns = tuple(name for name in table if name in known and name not in TIME)
    if not columns:
        raise VinculumError(
            f"No column of {where} is a state ({', '.join(known)}); its columns are {', '.join(table)}. Say what they "
            "are with outputs={column: expression}."
        )
    numbers = {name: _real(table[name], name, where) for name in columns}
    _refuse_shapes(time, numbers, where)
    measured = np.column_stack(list(numbers.values()))
    return Recording(time, columns, {name: as_expression(known[name]) for name in columns}, measured)


def _real(column: np.ndarray, name: str, where: str) -> np.ndarray:
    """A column of real numbers; raises for text, dates and complex numbers."""
    if np.issubdtype(column.dtype, np.datetime64) or np.issubdtype(column.dtype, np.timedelta64):
        advice = f"Write ({name} - {name}[0]) / np.timedelta64(1, 's')."
        raise VinculumError(f"{name} of {where} holds dates; it must hold seconds. {advice}")
    try:
        if np.iscomplexobj(column):
            raise ValueError
        return column.astype(float)
    except (TypeError, ValueError):
        found = next((x for x in column.ravel() if not isinstance(x, (int, float, np.number))), column.ravel()[0])
        raise VinculumError(f"{name} of {where} has {found!r} where a real number should be.") from None


def _refuse_shapes(time: np.ndarray, columns: Mapping[str, np.ndarray], where: str) -> None:
    if time.ndim != 1 or len(time) < 2 or not np.isfinite(time).all() or np.any(np.diff(time) <= 0):
        raise VinculumError(f"The times of {where} must be at least two finite numbers that increase.")
    for name, column in columns.items():
        if column.shape != time.shape:
            raise VinculumError(f"{name} of {where} has the shape {column.shape}; the times have {time.shape}.")
        if np.isinf(column).any() or np.isnan(column).all():
            raise VinculumError(f"{name} of {where} has no finite numbers, or infinite ones.")
