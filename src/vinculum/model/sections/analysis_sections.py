"""[form], [equilibrium], [control], [observer]: arguments of ``derive``, ``equilibrium``, ``stabilize``, ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from vinculum.derivation.program.perturbation import LinearPerturbation, Perturbation
from vinculum.describe.affine import AffineSystem
from vinculum.describe.bodies import BodyTree
from vinculum.describe.system import System
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.scope import spelled
from vinculum.model.reading import Reading
from vinculum.model.sections.given_motion import read_laws
from vinculum.model.sections.motors_and_release import read_characteristics
from vinculum.model.text.location import Path
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
        found["rates"] = by_constraint(reading, ("form", "rates"), raw["rates"], known)
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


def by_constraint(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """One number, a list, or numbers by constraint."""
    if isinstance(raw, dict) and not {"value", "unit"} & set(raw):
        for name in (name for name in raw if name not in known.constraints):
            reading.problem((*path, name), f"{name[:40]} is no constraint.{suggestion(name[:40], known.constraints)}")
        return {name: reading.number((*path, name), entry) for name, entry in raw.items()}
    return reading.number_list(path, raw) if isinstance(raw, list) else reading.number(path, raw)


def _perturbation(reading: Reading, raw: dict[str, Any], known: Symbols) -> Any:
    """The equations that deviations obey, by a matrix or by functions."""
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


def read_equilibrium(reading: Reading, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``equilibrium``."""
    raw = reading.data.get("equilibrium")
    if raw is None:
        return None
    allowed = [*known.states, *known.inputs]
    found = {
        key: reading.table(("equilibrium", key), raw[key], allowed, "coordinate, velocity or input")
        for key in ("given", "near")
        if key in raw
    }
    return found | ({"starts": raw["starts"]} if "starts" in raw else {})


def read_weights(reading: Reading, section: str, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``stabilize`` or ``observe``."""
    raw = reading.data.get(section)
    if raw is None:
        return None
    found: dict[str, Any] = {}
    for key, entry in raw.items():
        path: Path = (section, key)
        if key == "outputs":
            found[key] = reading.listed(path, entry, known.states, "coordinate or velocity")
        elif isinstance(entry, dict) and not {"value", "unit"} & set(entry):
            allowed = known.inputs if key == "input_weights" else known.states
            what = "input" if key == "input_weights" else "state"
            found[key] = reading.table(path, entry, allowed, what, weights=True)
        else:
            found[key] = _numbers(reading, path, entry)
        _refuse_signs(reading, path, entry, found[key])
    return found


def _refuse_signs(reading: Reading, path: Path, raw: Any, found: Any) -> None:
    """Weights are not negative, and those of inputs and outputs positive; a matrix is looked at where it is used."""
    positive, key = path[-1] in ("input_weights", "output_noise"), path[-1]
    if key == "outputs" or found is None:
        return
    if isinstance(found, dict):
        entries = [((*path, text), x) for text in raw for s, x in found.items() if name_of(s) == spelled(text)]
    elif isinstance(found, list):
        entries = [((*path, i), x) for i, x in enumerate(found)]
    else:
        entries = [(path, found)]
    for place, x in entries:
        if isinstance(x, float) and (x < 0 or (positive and x == 0)):
            reading.problem(place, f"it is {x:g}; {'a positive number' if positive else 'zero or more'} is needed.")


def _numbers(reading: Reading, path: Path, raw: Any) -> Any:
    """A number, a list or a matrix."""
    if isinstance(raw, list):
        rows = {len(entry) if isinstance(entry, list) else 0 for entry in raw}
        if len(rows) > 1:
            reading.problem(path, "its rows have different lengths.")
            return None
        return [_numbers(reading, (*path, i), entry) for i, entry in enumerate(raw)]
    return reading.number(path, raw)
