"""What a file asks: form, simulation and closed loop, as arguments of their verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation import FORMS, Form
from vinculum.describe.affine import AffineSystem
from vinculum.describe.bodies import BodyTree
from vinculum.describe.system import System
from vinculum.model.expressions.value import Value
from vinculum.model.reading import Reading
from vinculum.model.sections.laws import read_laws, read_torques
from vinculum.model.sections.motors_and_release import read_characteristics
from vinculum.model.text.location import Path
from vinculum.model.units import dimensions
from vinculum.names import TIME, function_of_time, name_of, suggestion


@dataclass
class Symbols:
    """The symbols that questions may name: of the mechanism, and those that a form brings."""

    coordinates: list[sp.Expr]
    velocities: list[sp.Expr]
    inputs: list[sp.Expr]
    constraints: list[str]
    affine: bool = False
    tree: BodyTree | None = None
    further: list[sp.Expr] = field(default_factory=list)  # quasi-velocities, release parameters, momenta

    @classmethod
    def of(cls, system: System | AffineSystem, tree: BodyTree | None = None) -> Symbols:
        """Of a mechanism that could be made."""
        if isinstance(system, AffineSystem):
            return cls(list(system.states), [], list(system.inputs), list(system.constraint_names), affine=True)
        names = [constraint.name for constraint in system.constraints]
        return cls(list(system.coordinates), list(system.velocities), list(system.inputs), names, tree=tree)

    @classmethod
    def declared(
        cls, reading: Reading, coordinates: list[sp.Expr], inputs: list[sp.Expr], motors: Mapping[sp.Expr, Path]
    ) -> Symbols:
        """Of a mechanism with problems, so that the questions are read all the same."""
        charges = [function_of_time(f"charge_{name_of(u)}") for u in motors]
        acting = [u for u in inputs if u not in motors] + [sp.Symbol(f"e_{name_of(u)}") for u in motors]
        q = [*coordinates, *charges]
        return cls(
            q, [x.diff(TIME) for x in q], acting, list(reading.data.get("constraints", {})), "affine" in reading.data
        )

    @property
    def states(self) -> list[sp.Expr]:
        """Everything a state may contain."""
        return [*self.coordinates, *self.velocities, *self.further]


def read_form(reading: Reading, known: Symbols) -> dict[str, Any]:
    """Arguments of ``derive``: the name of the form and its options."""
    raw = dict(reading.data.get("form", {}))
    found: dict[str, Any] = {"form": raw["name"]} if "name" in raw else {"form": "program"} if known.affine else {}
    form = FORMS[raw.pop("name", found.get("form", "multipliers"))]
    if known.affine and form.name != "program":
        reading.problem(("form", "name"), f"an affine system has the form program alone, not {form.name}.")
        form, found = FORMS["program"], {"form": "program"}
    perturbation = raw.pop("perturbation", None)
    if raw and (found or "name" not in reading.document.data["form"]):  # else the name is wrong, and was reported
        _refuse_options(reading, form, raw if perturbation is None else [*raw, "perturbation"])
    _declare_states(reading, form, known)
    options = {key: option for key, option in form.options().items() if key in raw}
    for key in sorted(options, key=lambda key: list(OPTION_READERS).index(options[key].kind)):
        found[key] = OPTION_READERS[options[key].kind](reading, ("form", key), raw[key], known)
    if perturbation is not None:
        found["rates"] = _perturbation(reading, perturbation, known)
    return found


def _refuse_options(reading: Reading, form: type[Form], given: Iterable[str]) -> None:
    """Note the keys that the form does not have."""
    known = [*form.options(), *(("perturbation",) if form.name == "program" else ())]
    for key in (key for key in given if key not in known):
        near = suggestion(key, known) or f" It has {', '.join(known)}."
        reading.problem(("form", key), f"the form {form.name} has no {key}.{near}")


def _declare_states(reading: Reading, form: type[Form], known: Symbols) -> None:
    """Names of the states that a form may bring, as p_phi of Routh's equations for a coordinate phi."""
    brought = {name_of(state): state for state in form.new_states(known.coordinates)}
    new = {name: Value(state) for name, state in brought.items() if name not in reading.scope.values}
    reading.scope = reading.scope.with_values(new)
    known.further += [value.expression for value in new.values()]


def _plain(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """A word, or true or false."""
    return raw


def _number(reading: Reading, path: Path, raw: Any, known: Symbols) -> float | None:
    return reading.number(path, raw)


def _coordinates(reading: Reading, path: Path, raw: Any, known: Symbols) -> list[sp.Expr]:
    return reading.listed(path, raw, known.coordinates, "coordinate")


def _characteristics(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[sp.Expr, sp.Expr]:
    """New names and their expressions, which may be used from here on."""
    found = read_characteristics(reading, path, raw)
    known.further += list(found)
    return found


def _inverse(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """An expression for every velocity, or "newton"."""
    return raw if isinstance(raw, str) else read_laws(reading, path, raw, known.velocities, "velocity")


def _state(reading: Reading, path: Path, raw: Any, known: Symbols) -> dict[sp.Expr, float]:
    """Numbers by symbol; what is left out is zero, but for an affine system."""
    given = reading.table(path, raw, [*known.states, *known.inputs], "coordinate or velocity")
    rest = () if known.affine else (*known.coordinates, *known.velocities, *known.inputs)
    return dict.fromkeys(rest, 0.0) | given


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
                path, f"{constraint[:40]} is no constraint.{suggestion(constraint[:40], known.constraints)}"
            )
        plain = reading.declare(path, name)
        if plain is not None:
            found[constraint] = function_of_time(plain)
            reading.scope = reading.scope.with_values({plain: Value(function_of_time(plain))})
    known.further += list(found.values())
    return found


def _by_constraint(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """One number, a list, or numbers by constraint."""
    if isinstance(raw, dict) and not {"value", "unit"} & set(raw):
        for name in (name for name in raw if name not in known.constraints):
            reading.problem((*path, name), f"{name[:40]} is no constraint.{suggestion(name[:40], known.constraints)}")
        return {name: reading.number((*path, name), entry) for name, entry in raw.items()}
    return reading.number_list(path, raw) if isinstance(raw, list) else reading.number(path, raw)


def _perturbation(reading: Reading, raw: dict[str, Any], known: Symbols) -> Any:
    """The equations that deviations obey, by a matrix or by functions."""
    from vinculum.derivation.program.perturbation import (  # a later stage, for its records
        LinearPerturbation,
        Perturbation,
    )

    path: Path = ("form", "perturbation")
    if len(raw) != 1:
        reading.problem(path, "give either a matrix or functions.")
        return None
    if "matrix" in raw:
        rows = [reading.vector((*path, "matrix", i), row) for i, row in enumerate(raw["matrix"])]
        lengths = {len(row) for row in raw["matrix"]}
        if len(lengths) != 1:
            reading.problem((*path, "matrix"), "its rows have different lengths.")
        return LinearPerturbation([row for row in rows if row is not None])
    scope = replace(reading.scope, constraints=tuple(known.constraints), residuals=True)
    functions = {n: reading.expression((*path, "functions", n), z, scope) for n, z in raw["functions"].items()}
    return Perturbation(functions)


OPTION_READERS: dict[str, Callable[[Reading, Path, Any, Symbols], Any]] = {
    # by the kind of an option, new names first, since the others may contain them
    "characteristics": _characteristics,
    "release": _release,
    "choice": _plain,
    "flag": _plain,
    "number": _number,
    "coordinates": _coordinates,
    "state": _state,
    "rates": _by_constraint,
    "prescription": _by_constraint,
    "inverse": _inverse,
    "input laws": _input_laws,
    "input weights": _input_weights,
}


# -- motion ----------------------------------------------------------------------------------------------------


def read_motion(reading: Reading, section: str, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``simulate``, of the motion or of the closed loop."""
    raw = reading.data.get(section)
    if raw is None:
        return None
    path: Path = (section,)
    found: dict[str, Any] = {}
    for key in ("initial", "guess", "limits"):
        if key in raw:
            allowed = known.inputs if key == "limits" else known.states
            found[key] = reading.table((*path, key), raw[key], allowed, "input" if key == "limits" else "state")
    if "fixed" in raw:
        found["fixed"] = reading.listed((*path, "fixed"), raw["fixed"], known.states, "state")
    if "times" in raw:
        found["times"] = _times(reading, path, raw)
    for key, dimension in (("step", dimensions.TIME), ("tolerance", dimensions.NONE)):
        if key in raw:
            found[key] = reading.number((*path, key), raw[key], dimension)
    found |= {key: raw[key] for key in ("method", "dense") if key in raw}
    if "stabilization" in raw:
        found["stabilization"] = _stabilization(reading, (*path, "stabilization"), raw["stabilization"], known)
    if section == "simulation":
        found.setdefault("initial", {})
        found |= _driven(reading, raw, known)
    return found


def _times(reading: Reading, path: Path, raw: dict[str, Any]) -> Any:
    """(start, end), or all instants."""
    place = (*path, "times")
    read = [reading.number((*place, i), entry, dimensions.TIME) for i, entry in enumerate(raw["times"])]
    found = [instant for instant in read if instant is not None]
    if len(found) < len(read):
        return None
    backwards = len(found) == 2 and found[1] < found[0]
    if len(found) < 2 or not (backwards or all(a < b for a, b in pairwise(found))):
        reading.problem(place, "give start and end, as [0, 10], or instants in rising order.")
        return None
    if "samples" in raw:
        if len(found) != 2:
            reading.problem((*path, "samples"), "samples belong to times with start and end alone.")
        return np.linspace(found[0], found[-1], raw["samples"])
    return tuple(found)


def _stabilization(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """By name, or with gains or an accuracy."""
    if isinstance(raw, str):
        return raw
    from vinculum.simulation.stabilization.stabilization import (  # a later stage, for its records
        Baumgarte,
        Guaranteed,
        Sampled,
    )

    kind = {"baumgarte": Baumgarte, "sampled": Sampled, "guaranteed": Guaranteed}[raw["kind"]]
    takes = {"baumgarte": ("rate", "alpha", "beta"), "sampled": ("rate",), "guaranteed": ("epsilon", "sampled")}
    given: dict[str, Any] = {}
    for key, entry in raw.items():
        if key == "kind":
            continue
        if key not in takes[raw["kind"]]:
            reading.problem((*path, key), f"{raw['kind']} takes {', '.join(takes[raw['kind']])}, not {key}.")
        elif key == "sampled":
            given[key] = entry
        else:
            given[key] = _by_constraint(reading, (*path, key), entry, known)
    if raw["kind"] == "guaranteed" and "epsilon" not in raw:
        reading.problem(path, "the accuracy is missing. Write epsilon = 1e-6, for instance.")
        return None
    return None if any(value is None for value in given.values()) else kind(**given)


def _driven(reading: Reading, raw: dict[str, Any], known: Symbols) -> dict[str, Any]:
    """Laws of the inputs, and events."""
    found: dict[str, Any] = {}
    if "inputs" in raw:
        found["inputs"] = read_laws(reading, ("simulation", "inputs"), raw["inputs"], known.inputs, "input")
    torques = read_torques(reading, raw, known.tree, known.coordinates)
    if torques:
        found["inputs"] = {**torques, **found.get("inputs", {})}
    if "events" in raw:
        found["events"] = [_event(reading, i, entry, known) for i, entry in enumerate(raw["events"])]
    return found


def _event(reading: Reading, i: int, raw: dict[str, Any], known: Symbols) -> Any:
    from vinculum.simulation.problem.events import Event  # a later stage, for its record

    scope = replace(reading.scope, constraints=tuple(known.constraints))
    path: Path = ("simulation", "events", i, "expression")
    value = reading.equation(path, raw["expression"], scope)
    options = {key: raw[key] for key in ("name", "direction", "terminal") if key in raw}
    return None if value is None else Event(value.expression, **options)
