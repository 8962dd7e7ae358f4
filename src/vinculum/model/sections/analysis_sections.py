"""What a file asks: form, simulation and closed loop, as arguments of their verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

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
    """Arguments of ``derive``."""
    raw = reading.data.get("form", {})
    path: Path = ("form",)
    found: dict[str, Any] = {key: raw[key] for key in ("redundant", "kind") if key in raw}
    if "name" in raw:
        found["form"] = raw["name"]
    if known.affine:
        if raw.get("name", "program") != "program":
            reading.problem(("form", "name"), f"an affine system has the form program alone, not {raw['name']}.")
        found["form"] = "program"
    for key in ("dependent", "cyclic"):
        if key in raw:
            found[key] = reading.listed((*path, key), raw[key], known.coordinates, "coordinate")
    if "characteristics" in raw:
        found["characteristics"] = read_characteristics(reading, ("form", "characteristics"), raw["characteristics"])
        known.further += list(found["characteristics"])
    if "release" in raw:
        found["release"] = _release(reading, raw["release"], known)
    if raw.get("name") == "routh":
        _declare_momenta(reading, known)
    found |= _choices(reading, raw, known)
    return found


def _choices(reading: Reading, raw: dict[str, Any], known: Symbols) -> dict[str, Any]:
    """The choices that contain formulas or numbers."""
    found: dict[str, Any] = {}
    if "inverse" in raw:
        found["inverse"] = raw["inverse"] if isinstance(raw["inverse"], str) else read_laws(
            reading, ("form", "inverse"), raw["inverse"], known.velocities, "velocity"
        )  # fmt: skip
    if "rates" in raw:
        found["rates"] = _by_constraint(reading, ("form", "rates"), raw["rates"], known)
    if "perturbation" in raw:
        found["rates"] = _perturbation(reading, raw["perturbation"], known)
    if "free" in raw:
        found["free"] = read_laws(reading, ("form", "free"), raw["free"], known.inputs, "input")
    if "weights" in raw:
        found["weights"] = reading.table(("form", "weights"), raw["weights"], known.inputs, "input", weights=True)
    if "at" in raw:
        given = reading.table(("form", "at"), raw["at"], [*known.states, *known.inputs], "coordinate or velocity")
        rest = () if known.affine else (*known.coordinates, *known.velocities, *known.inputs)
        found["at"] = dict.fromkeys(rest, 0.0) | given
    return found


def _release(reading: Reading, raw: dict[str, str], known: Symbols) -> dict[str, sp.Expr]:
    """New names for the deviations from constraints."""
    found = {}
    for constraint, name in raw.items():
        path = ("form", "release", constraint)
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


def _declare_momenta(reading: Reading, known: Symbols) -> None:
    """p_phi for a coordinate phi, which Routh's equations may have as a state."""
    momenta = {f"p_{name_of(q)}": function_of_time(f"p_{name_of(q)}") for q in known.coordinates}
    new = {name: Value(p) for name, p in momenta.items() if name not in reading.scope.values}
    reading.scope = reading.scope.with_values(new)
    known.further += [value.expression for value in new.values()]


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
