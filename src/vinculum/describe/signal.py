"""Measured signals: a function of time through recorded points, for inputs, base motions and programs.

u(t) = u_k + (u_k+1 - u_k) (t - t_k)/(t_k+1 - t_k)   between="linear",
u(t) = u_k                                           between="hold",
u(t) = a cubic with two continuous derivatives       between="spline".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.spline import pieces_through
from vinculum.errors import ModelError, VinculumError
from vinculum.graph.splines import STATED, Pieces, Spline
from vinculum.names import TIME, listed, suggestion
from vinculum.units.dimensions import TIME as SECONDS
from vinculum.units.given import number_in_si

BETWEEN = {"hold": 0, "linear": 1, "spline": 3}  # degrees
BEYOND = ("refuse", *STATED)
COLUMNS = ("time", "t")  # names of the times in a table


def signal(
    times: Any, values: Any = None, *, between: str = "linear", beyond: str = "refuse", name: str = "signal"
) -> sp.Expr:
    """A measured signal as an expression of the time t, for ``inputs={u: vn.signal(...)}`` and for any formula.

    ``times, values`` are arrays, lists that may have units (["0 ms", "20 ms"], ["0 kN", "2 kN"]), or a table and the
    name of its column: a CSV file, a pandas DataFrame (its column ``time`` or ``t``, or its index) or an xarray
    Dataset. A Series or DataArray has its own times. ``between`` the points the signal is "linear", a cubic "spline"
    or a "hold" of the last value. ``beyond`` the first and last point it is refused, held ("hold") or "zero". A run
    stops at every point and continues from it, so corners are exact.

    >>> force = signal([0, 1, 3], [0, 2, 0], beyond="zero", name="force")
    >>> force
    force(t)
    >>> [float(force.subs(sp.Symbol("t"), at)) for at in (-1, 0.5, 2, 5)]
    [0.0, 1.0, 1.0, 0.0]
    """
    t, u = read_signal(times, values)
    return Spline(TIME, signal_pieces(t, u, between, beyond, name))


def signal_pieces(times: np.ndarray, values: np.ndarray, between: str, beyond: str, name: str) -> Pieces:
    """The polynomials of a signal; with values beyond the points, one more before and one more after them."""
    problems = [
        f"{key}={given!r} is not known; use {', '.join(map(repr, known))}."
        for key, given, known in (("between", between, BETWEEN), ("beyond", beyond, BEYOND))
        if given not in known
    ]
    problems += _wrong_numbers(times, values)
    if problems:
        raise ModelError(f"Invalid signal {name!r}", problems)
    knots, rows = _between(times, values, BETWEEN[between], name)
    if beyond == "refuse":
        return Pieces(name, list(knots), rows, times[-1], 0, beyond)
    first, last = (0.0, 0.0) if beyond == "zero" else (values[0], values[-1])
    outer = [[(c if j == 0 else 0.0) for c in (first, last)] for j in range(len(rows))]
    rows = [[before, *row, after] for (before, after), row in zip(outer, rows, strict=True)]
    return Pieces(name, [2 * times[0] - times[-1], *knots, times[-1]], rows, times[-1], 0, beyond)


def _between(times: np.ndarray, values: np.ndarray, degree: int, name: str) -> tuple[np.ndarray, list[list[float]]]:
    """The knots, and c_jk of the pieces that begin there."""
    if degree == 0:
        return times[:-1], [list(values[:-1])]
    if degree == 1:
        return times[:-1], [list(values[:-1]), list(np.diff(values) / np.diff(times))]
    made = pieces_through(times, values, min(degree, len(times) - 1), name)
    return np.array(made.knots), [list(row) for row in made.rows]


def _wrong_numbers(times: np.ndarray, values: np.ndarray) -> list[str]:
    """What is wrong with the points."""
    if times.ndim != 1 or times.shape != values.shape:
        return [f"the times have the shape {times.shape} and the values {values.shape}; give one value for each time."]
    if len(times) < 2:
        return [f"a signal needs at least two points; got {len(times)}."]
    for what, numbers in (("time", times), ("value", values)):
        if not np.isfinite(numbers).all():
            place = int(np.argmin(np.isfinite(numbers)))
            return [f"{what} {place + 1} of {len(numbers)} is {numbers[place]}. Leave out points without a number."]
    falls = np.flatnonzero(np.diff(times) <= 0)
    if len(falls):
        k = int(falls[0])
        return [f"time {k + 2} is {times[k + 1]:.9g}, after {times[k]:.9g}. Times must increase, each once."]
    return []


# -- tables ------------------------------------------------------------------------------------------------------


def read_signal(times: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times and values from arrays, a Series, a DataArray, or a table and the name of its column."""
    if isinstance(values, str):
        return _column(times, values)
    if values is None:
        return _with_own_times(times)
    times = number_in_si(times, SECONDS, "times", "Invalid signal")
    values = number_in_si(values, None, "values", "Invalid signal")
    return _numbers(times, "times"), _numbers(values, "values")


def _with_own_times(series: Any) -> tuple[np.ndarray, np.ndarray]:
    """A pandas Series, or an xarray DataArray with one dimension."""
    if hasattr(series, "dims") and hasattr(series, "coords") and not hasattr(series, "data_vars"):
        if len(series.dims) != 1 or series.dims[0] not in series.coords:
            raise VinculumError(f"A signal has one dimension with a coordinate; this array has {tuple(series.dims)}.")
        return _numbers(series[series.dims[0]], "times"), _numbers(series, "values")
    if hasattr(series, "index") and hasattr(series, "to_numpy") and not hasattr(series, "columns"):
        return _numbers(series.index, "times"), _numbers(series, "values")
    raise VinculumError(
        f"{type(series).__name__} contains no times. Use vn.signal(times, values) or vn.signal(table, 'column')."
    )


def _column(table: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(table, (str, Path)):
        table = csv_columns(Path(table).read_text(encoding="utf-8"), str(table))
    known = [str(key) for key in (table.data_vars if hasattr(table, "data_vars") else table)]
    if name not in known:
        raise VinculumError(f"There is no column {name!r}; the columns are {listed(known)}.{suggestion(name, known)}")
    if hasattr(table, "data_vars"):
        return _with_own_times(table[name])
    time = next((key for key in COLUMNS if key in known), None)
    if time is not None:
        return _numbers(table[time], "times"), _numbers(table[name], "values")
    if hasattr(table, "index") and hasattr(table, "columns"):
        return _with_own_times(table[name])
    raise VinculumError(f"There is no column 'time' or 't'; the columns are {listed(known)}.")


def _numbers(given: Any, what: str) -> np.ndarray:
    """Doubles; time differences become seconds."""
    found = np.asarray(given)
    if found.dtype.kind == "m":
        return found / np.timedelta64(1, "s")
    if found.dtype.kind == "M":
        raise VinculumError(f"The {what} are dates. Subtract the first: times - times[0].")
    try:
        return found.astype(float)
    except (TypeError, ValueError):
        raise VinculumError(f"The {what} are not numbers: {str(found.ravel()[:3].tolist())[:60]}") from None


def csv_columns(text: str, where: str) -> dict[str, np.ndarray]:
    """The columns of numbers of a CSV text with a header; cells without a number become NaN."""
    import csv

    rows = [row for row in csv.reader(text.splitlines()) if row and not row[0].lstrip().startswith("#")]
    if not rows:
        raise VinculumError(f"{where} is empty.")
    head, body = [cell.strip() for cell in rows[0]], rows[1:]
    odd = next((k for k, row in enumerate(body) if len(row) != len(head)), None)
    if odd is not None:
        raise VinculumError(f"row {odd + 2} of {where} has {len(body[odd])} cells; the header has {len(head)}.")
    return {name: np.array([_cell(row[j]) for row in body]) for j, name in enumerate(head)}


def _cell(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
