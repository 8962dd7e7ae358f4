"""[study]: arguments of ``study``, and of the motion that is varied."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from vinculum.ensembles.measures import FIRST, KINDS, SETTLED, Measure
from vinculum.ensembles.vary import Distribution, normal, table, uniform
from vinculum.errors import VinculumError
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.scope import Scope
from vinculum.model.reading import Reading
from vinculum.model.sections.analysis_sections import Symbols
from vinculum.model.sections.simulation_sections import MOTION_READERS, read_event
from vinculum.model.text.beside import read_beside
from vinculum.model.text.location import Path
from vinculum.names import gain_symbol
from vinculum.units.dimensions import Dimension

SECTION = "study"
_PLAIN = ("motion", "samples", "sampling", "seed", "keep", "store", "chunk")
_WHAT = "coordinate, velocity, parameter, input or gain"
_OPTIONS = {"direction": FIRST, "band": SETTLED, "target": SETTLED}  # of measures, and the kind that has them


def read_study(reading: Reading, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``study``: what varies, what is kept, and the keys that replace those of the motion."""
    raw = reading.data.get(SECTION)
    if raw is None:
        return None
    found: dict[str, Any] = {key: raw[key] for key in _PLAIN if key in raw}
    found |= {
        key: read(reading, (SECTION, key), raw[key], known)
        for key, read in MOTION_READERS.items()
        if key in raw and key not in _PLAIN
    }
    found["over"] = _read_over(reading, raw, known)
    if "measure" in raw:
        found["measure"] = _read_measures(reading, raw["measure"], known)
    if "until" in raw:
        found["until"] = [read_event(reading, (SECTION, "until", i), e, known) for i, e in enumerate(raw["until"])]
    _check_motion(reading, raw)
    return found


def _check_motion(reading: Reading, raw: Mapping[str, Any]) -> None:
    """The section of the motion must exist; a feedback is needed for the closed loop."""
    motion = raw.get("motion", "simulation")
    needed = ("equilibrium", "control") if motion == "closed_loop" else ("simulation",)
    for section in (section for section in needed if section not in reading.data):
        if section != "simulation" or "times" not in raw:
            reading.problem((SECTION,), f"a study of the {motion.replace('_', ' ')} needs [{section}]. Add it.")


# -- what varies -------------------------------------------------------------------------------------------------


def _read_over(reading: Reading, raw: Mapping[str, Any], known: Symbols) -> Any:
    """{quantity: values or distribution}, or the rows of a table."""
    allowed, scope = _varied(reading, raw, known)
    if "table" in raw:
        for other in (other for other in ("over", "samples", "sampling") if other in raw):
            reading.problem((SECTION, other), f"the runs are the rows of the table. Leave {other} out, or the table.")
        return _read_table(reading, raw["table"], allowed, scope)
    if not raw.get("over"):
        reading.problem((SECTION,), "nothing varies. Write over = { x = [0.1, 0.2] }, for instance.")
        return {}
    found = {}
    for text, entry in raw["over"].items():
        path = (SECTION, "over", text)
        key = reading.key(path, text, allowed, _WHAT, scope)
        values = read_values(reading, path, entry, reading.dimension_of(key))
        if key is not None and values is not None:
            found[key] = values
    _check_samples(reading, raw, found)
    return found


def _varied(reading: Reading, raw: Mapping[str, Any], known: Symbols) -> tuple[list[sp.Expr], Scope]:
    """What may vary, and the scope in which it is written."""
    if raw.get("motion") != "closed_loop":
        return [*known.states, *reading.numbers, *known.inputs], reading.scope
    gains, scope = with_gains(reading, known)
    return [*known.states, *reading.numbers, *gains], scope


def with_gains(reading: Reading, known: Symbols) -> tuple[list[sp.Symbol], Scope]:
    """The gains of a feedback, which have no declaration of their own, and a scope in which they can be written."""
    gains: list[sp.Symbol] = [gain_symbol(u, x) for u in known.inputs for x in (*known.coordinates, *known.velocities)]
    return gains, reading.scope.with_values({k.name: Value(k) for k in gains if k.name not in reading.scope.values})


def read_values(reading: Reading, path: Path, raw: Any, dimension: Dimension | None) -> Any:
    """A list of numbers, or a distribution."""
    if isinstance(raw, list):
        return _alike(reading, path, raw, dimension)
    kinds = [kind for kind in ("from", "uniform", "normal") if kind in raw]
    if (
        len(kinds) != 1
        or (kinds == ["from"]) != ("to" in raw and "count" in raw)
        or (kinds != ["from"] and len(raw) > 1)
    ):
        reading.problem(
            path, "write { from = 0, to = 1, count = 11 }, { uniform = [0, 1] } or { normal = [0, 0.1] }, with numbers."
        )
        return None
    if kinds == ["from"]:
        ends = [reading.number((*path, key), raw[key], dimension) for key in ("from", "to")]
        alike = None not in ends and (dimension is not None or reading.alike(path, {k: raw[k] for k in ("from", "to")}))
        return None if not alike else np.linspace(ends[0], ends[1], raw["count"])  # type: ignore[arg-type]
    numbers = _alike(reading, (*path, kinds[0]), raw[kinds[0]], dimension)
    try:
        return None if numbers is None else (uniform if kinds == ["uniform"] else normal)(*numbers)
    except VinculumError as error:
        reading.problem((*path, kinds[0]), str(error))
    return None


def _alike(reading: Reading, path: Path, raw: list[Any], dimension: Dimension | None) -> list[float] | None:
    """A list of numbers, of one dimension also where none is declared."""
    found = reading.number_list(path, raw, dimension)
    declared = found is None or dimension is not None
    return found if declared or reading.alike(path, dict(enumerate(raw))) else None


_VALUES = {"from": {"from", "to", "count"}, "uniform": {"uniform"}, "normal": {"normal"}}


def _check_samples(reading: Reading, raw: Mapping[str, Any], found: Mapping[Any, Any]) -> None:
    drawn = any(isinstance(values, Distribution) for values in found.values())
    if drawn and "samples" not in raw:
        reading.problem((SECTION,), "something is drawn from a distribution. Write samples = 1000, for instance.")
    for key in ("samples", "sampling", "seed"):
        if key in raw and not drawn and not reading.problems:
            reading.problem((SECTION, key), f"nothing is drawn from a distribution. Leave {key} out.")


def _read_table(reading: Reading, name: str, allowed: list[sp.Expr], scope: Scope) -> Any:
    """One run for every row of a CSV file whose header names what varies."""
    path = (SECTION, "table")
    try:
        rows = list(csv.reader(io.StringIO(read_beside(reading.document.folder, name).decode("utf-8-sig"))))
        header, *lines = [row for row in rows if row]
        keys = [reading.key(path, text.strip(), allowed, _WHAT, scope) for text in header]
        columns = list(zip(*[_numbers(row, header) for row in lines], strict=True))
        return table(dict(zip(keys, columns, strict=True))) if columns and None not in keys else {}
    except (ValueError, csv.Error) as error:  # also a VinculumError
        reading.problem(path, f"{str(error).rstrip('.')}.")
    return {}


def _numbers(row: list[str], header: list[str]) -> list[float]:
    """The numbers of a row of a table."""
    if len(row) != len(header):
        raise ValueError(f"a row of the table has {len(row)} entries, its header {len(header)}: {','.join(row)[:60]}")
    found = [float(text) for text in row]
    if not all(map(math.isfinite, found)):
        raise ValueError(f"a row of the table has an entry that is not a finite number: {','.join(row)[:60]}")
    return found


# -- what is kept ------------------------------------------------------------------------------------------------


def _read_measures(reading: Reading, raw: Mapping[str, Any], known: Symbols) -> dict[str, Measure]:
    found = {name: _read_measure(reading, (SECTION, "measure", name), entry, known) for name, entry in raw.items()}
    return {name: measure for name, measure in found.items() if measure is not None}


def _read_measure(reading: Reading, path: Path, raw: Mapping[str, Any], known: Symbols) -> Measure | None:
    kinds = [kind for kind in KINDS if kind in raw]
    if len(kinds) != 1:
        reading.problem(path, f'write one of {", ".join(KINDS)}, such as {{ maximum = "x" }}.')
        return None
    kind = kinds[0]
    for key in (key for key, owner in _OPTIONS.items() if key in raw and owner != kind):
        reading.problem((*path, key), f"{kind} has no {key}. Leave it out.")
    if kind == SETTLED and "band" not in raw:
        reading.problem(path, "settling_time needs a band, the distance that counts as settled. Write band = 0.01.")
        return None
    value = reading.formula((*path, kind), raw[kind], replace(reading.scope, constraints=tuple(known.constraints)))
    if value is None:
        return None
    read = {key: reading.number((*path, key), raw[key], value.dimension) for key in ("band", "target") if key in raw}
    numbers: dict[str, Any] = {key: number for key, number in read.items() if number is not None}
    try:
        return (
            None
            if None in numbers.values()
            else Measure(kind, value.expression, raw.get("direction", "any"), **numbers)
        )
    except VinculumError as error:
        reading.problem(path, str(error))
    return None
