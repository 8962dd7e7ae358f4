"""Units in a description: parameters such as "28.2 g", coordinates and inputs as {symbol: SI unit}.

All numbers become SI. The record keeps ``units``, {symbol: SI unit}, for everything that had one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import sympy as sp

from vinculum.errors import About, Finding, Refused
from vinculum.frozen import FrozenMapping
from vinculum.names import name_of
from vinculum.units.dimensions import Dimension, shown
from vinculum.units.given import fitting, has_unit, in_si
from vinculum.units.units import quantity_of, read_si_unit, read_unit, si_text


def settle_units(record: Any, declared: Sequence[str]) -> tuple[list[Finding], bool]:
    """Replace values with units by numbers in SI, and the fields ``declared`` by their symbols; fill ``units``.

    Returns what was found wrong, and whether anything was stated with a unit.
    """
    units: dict[sp.Expr, str] = dict(record.units)
    problems, before = list[Finding](), len(units)
    for field in declared:
        stated = getattr(record, field)
        if isinstance(stated, Mapping):
            problems += _declared(stated, units, field.removesuffix("s"))
            object.__setattr__(record, field, tuple(stated))
    if isinstance(record.parameters, Mapping) and any(map(has_unit, record.parameters.values())):
        problems += _parameters(record, units)
    object.__setattr__(record, "units", FrozenMapping(units))
    return problems, len(units) > before


def _declared(stated: Mapping[sp.Expr, object], units: dict[sp.Expr, str], kind: str) -> list[Finding]:
    """The units of coordinates, states or inputs, which must be SI units, because results are in SI."""
    problems = []
    for key, unit in stated.items():
        try:
            if not isinstance(unit, str):
                raise Refused(f"its unit is {unit!r}. Write the SI unit as text, as in {{{name_of(key)}: 'm'}}.")
            read_si_unit(unit)
            units[key] = unit
        except Refused as refusal:
            problems.append(Finding(f"the {kind} {name_of(key)}: {refusal}", about=About(kind, name_of(key))))
    return problems


def _parameters(record: Any, units: dict[sp.Expr, str]) -> list[Finding]:
    """Parameters in SI; one that cannot be read keeps a number, so that the other checks can run."""
    numbers, problems = {}, []
    known = dimensions_of(record)
    for key, value in record.parameters.items():
        try:
            numbers[key] = fitting(key, value, known)
            if has_unit(value):
                units[key] = _displayed(value)
        except Refused as refusal:
            numbers[key] = 1.0
            problems.append(Finding(f"the parameter {name_of(key)}: {refusal}", about=About("parameter", name_of(key))))
    object.__setattr__(record, "parameters", numbers)
    return problems


def _displayed(value: Any) -> str:
    """The SI unit of a value: as it was written, if it was written in SI."""
    dimension = in_si(value)[1]
    assert dimension is not None
    found = quantity_of(value)
    return si_text(found[2], dimension) if found is not None else shown(dimension)


def dimensions_of(record: Any) -> dict[sp.Expr, Dimension]:
    """The dimensions of the symbols of a system, or of the system of equations, that have units."""
    found = {}
    for key, unit in getattr(getattr(record, "system", record), "units", {}).items():
        with suppress(Refused):  # a fractional power, such as m¹ᐟ² of a formula
            found[key] = read_unit(unit).dimension
    return found
