"""The table [form] of a file: the form and its options, each read according to its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import sympy as sp

from vinculum.derivation import FORMS, Form
from vinculum.derivation.program.perturbation import LinearPerturbation, Perturbation
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.reading import Reading
from vinculum.model.sections.analysis_sections import Symbols, by_constraint
from vinculum.model.sections.given_motion import read_laws
from vinculum.model.sections.motors_and_release import read_characteristics
from vinculum.model.text.location import Path
from vinculum.names import function_of_time, name_of, suggestion


def read_form(reading: Reading, known: Symbols) -> dict[str, Any]:
    """Arguments of ``derive``: the name of the form and its options."""
    raw = dict(reading.data.get("form", {}))
    found: dict[str, Any] = {"form": raw["name"]} if "name" in raw else {"form": "program"} if known.affine else {}
    form = FORMS[raw.pop("name", found.get("form", "multipliers"))]
    if known.affine and form.name != "program":
        reading.problem(("form", "name"), f"an affine system can only have the form program, not {form.name}.")
        form, found = FORMS["program"], {"form": "program"}
    perturbation = raw.pop("perturbation", None)
    if raw and (
        found or "name" not in reading.document.data["form"]
    ):  # otherwise the name is wrong and has been reported
        _refuse_options(reading, form, raw if perturbation is None else [*raw, "perturbation"])
    _declare_states(reading, form, known)
    if form.name == "program":
        places = ("{}", "v_{}", "v_{}_2", "v_{}_3")  # see `dynamic_extension`
        known.delayed += [function_of_time(place.format(name_of(u))) for u in known.inputs for place in places]
    options = {key: option for key, option in form.options().items() if key in raw}
    for key in sorted(options, key=lambda key: list(OPTION_READERS).index(options[key].kind)):
        found[key] = OPTION_READERS[options[key].kind](reading, ("form", key), raw[key], known)
    if perturbation is not None:
        found["rates"] = _perturbation(reading, perturbation, known)
    return found


def _refuse_options(reading: Reading, form: type[Form], given: Iterable[str]) -> None:
    """Report the keys that the form does not have."""
    known = [*form.options(), *(("perturbation",) if form.name == "program" else ())]
    for key in (key for key in given if key not in known):
        near = suggestion(key, known) or f" It has {', '.join(known)}."
        reading.problem(("form", key), f"the form {form.name} has no {key}.{near}")


def _declare_states(reading: Reading, form: type[Form], known: Symbols) -> None:
    """Names of the states that a form may add, such as p_phi of Routh's equations for a coordinate phi."""
    brought = {name_of(state): state for state in form.new_states(known.coordinates)}
    new = {name: Value(state) for name, state in brought.items() if name not in reading.scope.values}
    reading.scope = reading.scope.with_values(new)
    known.further += [value.expression for value in new.values()]


def read_plain(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """A word, or true or false."""
    return raw


def _number(reading: Reading, path: Path, raw: Any, known: Symbols) -> float | None:
    return reading.number(path, raw)


def _coordinates(reading: Reading, path: Path, raw: Any, known: Symbols) -> list[sp.Expr]:
    return reading.listed(path, raw, known.coordinates, "coordinate")


def _characteristics(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[sp.Expr, sp.Expr]:
    """New names and their expressions, available from here on."""
    found = read_characteristics(reading, path, raw)
    known.further += list(found)
    return found


def _inverse(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """An expression for every velocity, or "newton"."""
    return raw if isinstance(raw, str) else read_laws(reading, path, raw, known.velocities, "velocity")


def _state(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[sp.Expr, float]:
    """Numbers by symbol; the form takes zero for omitted values."""
    return reading.table(path, raw, [*known.states, *known.inputs], "coordinate or velocity")


def _prescription(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """Rates; a formula of parameters stays a formula, so that the law contains its gains."""
    numbers = by_constraint(reading, path, raw, known)
    if isinstance(numbers, dict):
        return {name: _gain(reading, (*path, name), raw[name], number) for name, number in numbers.items()}
    if isinstance(numbers, list):
        return [_gain(reading, (*path, i), raw[i], number) for i, number in enumerate(numbers)]
    return _gain(reading, path, raw, numbers)


def _gain(reading: Reading, path: Path, raw: Any, number: float | None) -> Any:
    return reading.expression(path, raw) if isinstance(raw, str) and number is not None else number


def _input_laws(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[sp.Expr, sp.Expr]:
    return read_laws(reading, path, raw, known.inputs, "input")


def _input_weights(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[sp.Expr, float]:
    return reading.table(path, raw, known.inputs, "input", weights=True)


def _release(reading: Reading, place: Path, raw: Any, known: Symbols) -> dict[str, sp.Expr]:
    """New names for the deviations from constraints."""
    found = {}
    for constraint, name in raw.items():
        path = (*place, constraint)
        if constraint not in known.constraints:
            reading.problem(
                path, f"{constraint[:40]} is not a constraint.{suggestion(constraint[:40], known.constraints)}"
            )
        plain = reading.declare(path, name)
        if plain is not None:
            found[constraint] = function_of_time(plain)
            reading.scope = reading.scope.with_values({plain: Value(function_of_time(plain))})
    known.further += list(found.values())
    return found


def _perturbation(reading: Reading, raw: dict[str, Any], known: Symbols) -> Any:
    """The equations that deviations obey, by a matrix or by functions."""
    path: Path = ("form", "perturbation")
    if len(raw) != 1:
        reading.problem(path, "give either matrix or functions.")
        return None
    if "matrix" in raw:
        rows = [reading.vector((*path, "matrix", i), row) for i, row in enumerate(raw["matrix"])]
        lengths = {len(row) for row in raw["matrix"]}
        if len(lengths) != 1:
            reading.problem((*path, "matrix"), "the rows have different lengths.")
        return LinearPerturbation([row for row in rows if row is not None])
    scope = replace(reading.scope, constraints=tuple(known.constraints), residuals=True)
    functions = {n: reading.expression((*path, "functions", n), z, scope) for n, z in raw["functions"].items()}
    return Perturbation(functions)


OPTION_READERS: dict[str, Callable[[Reading, Path, Any, Symbols], Any]] = {
    # by the kind of option; new names come first, because the others may contain them
    "characteristics": _characteristics,
    "release": _release,
    "choice": read_plain,
    "flag": read_plain,
    "number": _number,
    "coordinates": _coordinates,
    "state": _state,
    "gains": by_constraint,
    "rates": by_constraint,
    "prescription": _prescription,
    "inverse": _inverse,
    "input laws": _input_laws,
    "input weights": _input_weights,
}
