"""[parameters] and [definitions]: named numbers, and named formulas with or without arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from vinculum.describe.files import dimensions
from vinculum.describe.files.characters import translate
from vinculum.describe.files.expression import parsed
from vinculum.describe.files.reading import Reading
from vinculum.describe.files.scope import Macro, name_problem, spelled
from vinculum.describe.files.units import QUANTITY
from vinculum.describe.files.value import Value
from vinculum.names import suggestion

_WITH_ARGUMENTS = re.compile(r"\s*([^\s()]+)\s*\(([^()]*)\)\s*")


def read_parameters(reading: Reading, raw: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Each parameter becomes a symbol with a number; one may be a formula of those above it."""
    known = {spelled(name): name for name in raw}
    for name in (name for name in changes if spelled(name) not in known):
        reading.problem(
            ("parameters",), f"{name[:40]} is no parameter, so that it cannot be set.{suggestion(name[:40], known)}"
        )
    changed = {spelled(name): value for name, value in changes.items()}
    for name, entry in raw.items():
        path = ("parameters", name)
        plain = reading.declare(path, name)
        value = reading.formula(path, changed.get(spelled(name), entry))
        number = None if value is None else value.number
        if value is not None and number is None:
            number = reading.evaluated(path, value.expression)
        if plain is None:
            continue
        parameter = sp.Symbol(plain)
        stated = isinstance(entry, (str, dict))
        dimension = value.dimension if value is not None and stated and _has_unit(entry, value) else None
        reading.scope = reading.scope.with_values({plain: Value(parameter, dimension=dimension)})
        if number is not None:
            reading.numbers[parameter] = number
        if dimension is not None:
            reading.units[parameter] = dimensions.shown(dimension)


def _has_unit(entry: Any, value: Value) -> bool:
    """Whether a unit was written, or the dimension follows from those of other parameters."""
    written = isinstance(entry, dict) or QUANTITY.fullmatch(entry) is not None
    return written or value.number is None


def read_definitions(reading: Reading, raw: Mapping[str, Any]) -> None:
    """Each definition may use what stands above it."""
    for name, entry in raw.items():
        path = ("definitions", name)
        called = _WITH_ARGUMENTS.fullmatch(name)
        if called is not None:
            _macro(reading, path, called[1], [part.strip() for part in called[2].split(",")], entry)
            continue
        plain = reading.declare(path, name)
        value = reading.formula(path, entry)
        if plain is not None:
            reading.scope = reading.scope.with_values({plain: value if value is not None else _stand_in(plain)})


def _stand_in(name: str) -> Value:
    """Something under the name of a definition that failed, so that its uses are not reported as well."""
    return Value(sp.Symbol(name))


def _macro(reading: Reading, path: tuple, name: str, arguments: list[str], entry: Any) -> None:
    """A definition with arguments; its body is read once with plain symbols to find its faults."""
    plain = reading.declare(path, name)
    for argument in arguments:
        if name_problem(argument):
            reading.problem(path, name_problem(argument))
            return
    spelled_out = [spelled(argument) for argument in arguments]
    trial = reading.scope.with_values({a: Value(sp.Symbol(a)) for a in spelled_out})
    if reading.formula(path, entry, trial) is None or plain is None:
        return
    tree, _ = parsed(str(entry))
    assert tree is not None
    made = Macro(tuple(spelled_out), tree, translate(str(entry)), reading.scope)
    reading.scope = replace(reading.scope, macros={**reading.scope.macros, plain: made})
