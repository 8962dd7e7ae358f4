"""Numbers with units that a user gives in Python: text such as "28.2 g", or quantities of pint. All become SI.

A plain number is in SI already; nothing is known about its dimension. Text is read with the units of model files and
never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from vinculum.errors import About, Finding, ModelError, Refused
from vinculum.names import name_of
from vinculum.units.dimensions import RATE, TIME, Dimension, over, shown
from vinculum.units.units import in_hertz, quantity_of, read_unit

_TOUCHING = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)([A-Za-zµμΩ°%].*)")
_SI = {"[length]": "meter", "[mass]": "kilogram", "[time]": "second", "[current]": "ampere",
       "[temperature]": "kelvin", "[substance]": "mole", "[luminosity]": "candela"}  # fmt: skip


def has_unit(value: object) -> bool:
    """Whether a value is text, or a quantity of pint."""
    return not isinstance(value, (int, float)) and (isinstance(value, str) or _is_pint(value))


def in_si(value: Any) -> tuple[Any, Dimension | None]:
    """A value in SI units and its dimension; a plain number is returned unchanged, with an unknown dimension (None).

    >>> in_si("30 cm"), in_si(0.3)
    ((0.3, (('[length]', Fraction(1, 1)),)), (0.3, None))
    """
    if isinstance(value, str):
        return _from_text(value)
    return _from_pint(value) if _is_pint(value) else (value, None)


def _from_text(text: str) -> tuple[float, Dimension]:
    found = quantity_of(text)
    if found is None:
        near = _TOUCHING.fullmatch(text[:60])
        advice = f'"{near[1]} {near[2]}", with a space' if near else 'a number, or a number with a unit, as "28.2 g"'
        raise Refused(f"it is the text {text[:40]!r}. Write {advice}.")
    unit = read_unit(found[2])
    return float(found[1]) * unit.factor, unit.dimension


def _is_pint(value: object) -> bool:
    """Whether a value is a quantity of pint, which need not be installed twice or loaded to find out."""
    return all(hasattr(type(value), name) for name in ("m_as", "dimensionality", "magnitude"))


def _from_pint(quantity: Any) -> tuple[Any, Dimension]:
    powers = {base: Fraction(power).limit_denominator(1000) for base, power in quantity.dimensionality.items()}
    strange = [base for base in powers if base not in _SI]
    if strange:
        raise Refused(f"its unit {quantity.units} has the dimension {', '.join(strange)}; mechanics does not use it.")
    unit = " * ".join(f"{_SI[base]} ** ({power})" for base, power in powers.items()) or "radian"
    return quantity.m_as(unit), tuple(sorted(powers.items()))


# -- numbers for symbols -------------------------------------------------------------------------------------------


def known_dimension(key: object, known: Mapping[Any, Dimension]) -> Dimension | None:
    """The dimension of a symbol or of a derivative of one; None if it is unknown."""
    if key in known or not isinstance(key, sp.Derivative):
        return known.get(key)
    own = known.get(key.expr)
    return None if own is None else over(own, *[TIME] * key.derivative_count)


def fitting(key: object, value: Any, known: Mapping[Any, Dimension]) -> Any:
    """A value in SI; raises `Refused` if it has another dimension than its symbol."""
    if not has_unit(value):
        return value
    number, found = in_si(value)
    needed = known_dimension(key, known)
    if found is not None and needed is not None and found != needed:
        wanted = shown(needed) if needed else "rad or another pure number"
        raise Refused(f"its unit is {shown(found)}, but {wanted} is needed.")
    if needed == RATE:
        written = value if isinstance(value, str) else f"{value.magnitude} {value.units}"
        counted = in_hertz(written)
        if counted:
            raise Refused(f"Hz counts turns, but an angular frequency is in rad/s: {counted}")
    return number


def numbers_in_si(given: Mapping[Any, Any], known: Mapping[Any, Dimension], subject: str) -> dict[Any, Any]:
    """Values by symbol, in SI. Raises `ModelError` with all that do not fit."""
    if set(map(type, given.values())) <= {int, float} or not any(map(has_unit, given.values())):
        return dict(given)
    found, problems = {}, []
    for key, value in given.items():
        try:
            found[key] = fitting(key, value, known)
        except Refused as refusal:
            problems.append(Finding(f"{name_of(key)}: {refusal}"))
    if problems:
        raise ModelError(subject, problems)
    return found


def column_in_si(key: Any, given: Any, known: Mapping[Any, Dimension], subject: str) -> Any:
    """A list of values of one symbol, or one value, in SI; anything without units is returned unchanged."""
    if isinstance(given, (list, tuple)) and any(map(has_unit, given)):
        if known_dimension(key, known) is None:
            _refuse_mixed(key, given, subject)
        return [numbers_in_si({key: value}, known, subject)[key] for value in given]
    return numbers_in_si({key: given}, known, subject)[key]


def _refuse_mixed(key: Any, given: Sequence[Any], subject: str) -> None:
    """Raise for values of different dimensions, where the dimension of their symbol is unknown."""
    try:
        found = dict.fromkeys(in_si(value)[1] for value in given if has_unit(value))
    except Refused as refusal:
        raise ModelError(subject, [Finding(f"{name_of(key)}: {refusal}")]) from None
    if len(found) > 1:
        units = " and ".join(shown(dimension) for dimension in found if dimension is not None)
        said = f"the values of {name_of(key)} are in {units}. Write all of them in one of these units."
        raise ModelError(subject, [Finding(said)])


def times_in_si(times: Any) -> Any:
    """Instants in seconds; times without units stay as they are."""
    if isinstance(times, Sequence) and not isinstance(times, str) and any(map(has_unit, times)):
        return np.array([_seconds(time) for time in times])
    return _seconds(times) if _is_pint(times) else times


def duration(value: Any, name: str) -> Any:
    """A duration in seconds; a plain number is returned unchanged."""
    try:
        return _seconds(value) if has_unit(value) else value
    except Refused as refusal:
        raise ModelError("Invalid time", [Finding(f"{name}: {refusal}")]) from None


def _seconds(time: Any) -> Any:
    return fitting("times", time, {"times": TIME})


# -- numbers of a known dimension ----------------------------------------------------------------------------------


def entries_in_si(value: Any, needed: Dimension | None) -> Any:
    """A value, or each value in nested lists and tables, in SI; raises `Refused` for a unit of another dimension.

    >>> entries_in_si(["2 cm", 0.5], (("[length]", Fraction(1)),))
    [0.02, 0.5]
    """
    if isinstance(value, (list, tuple)):
        return type(value)([entries_in_si(entry, needed) for entry in value])
    if isinstance(value, dict):
        return {key: entries_in_si(entry, needed) for key, entry in value.items()}
    return fitting("", value, {} if needed is None else {"": needed})


def number_in_si(value: Any, needed: Dimension | None, name: str, subject: str) -> Any:
    """The same for one argument; raises `ModelError`."""
    try:
        return entries_in_si(value, needed)
    except Refused as refusal:
        raise ModelError(subject, [Finding(f"{name}: {refusal}")]) from None


def fields_in_si(record: Any, needed: Mapping[str, Dimension | None], subject: str) -> None:
    """Replace the fields of a frozen record by numbers in SI; raises `ModelError` with all that do not fit."""
    problems = []
    for name, dimension in needed.items():
        value = getattr(record, name)
        if value is None or isinstance(value, (int, float)):
            continue
        try:
            object.__setattr__(record, name, entries_in_si(value, dimension))
        except Refused as refusal:
            problems.append(Finding(f"{name}: {refusal}", about=About("option", name)))
    if problems:
        raise ModelError(subject, problems)
