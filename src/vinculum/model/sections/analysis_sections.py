"""[equilibrium], [control], [observer]: arguments of ``equilibrium`` or ``steady``, ``design`` and ``observe``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from vinculum.describe.affine import AffineSystem
from vinculum.describe.bodies import BodyTree
from vinculum.describe.system import System
from vinculum.model.expressions.scope import english_name
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.names import TIME, function_of_time, name_of, suggestion
from vinculum.options import mixed_keys


@dataclass
class Symbols:
    """The symbols that these sections may use: those of the mechanism, and those that a form adds."""

    coordinates: list[sp.Expr]
    velocities: list[sp.Expr]
    inputs: list[sp.Expr]
    constraints: list[str]
    affine: bool = False
    tree: BodyTree | None = None
    further: list[sp.Expr] = field(default_factory=list)  # quasi-velocities, release parameters, momenta
    delayed: list[sp.Expr] = field(default_factory=list)  # inputs as functions of time: a program may make them states

    @classmethod
    def of(cls, system: System | AffineSystem, tree: BodyTree | None = None) -> Symbols:
        """The symbols of a valid mechanism."""
        if isinstance(system, AffineSystem):
            return cls(list(system.states), [], list(system.inputs), list(system.constraint_names), affine=True)
        names = [constraint.name for constraint in system.constraints]
        return cls(list(system.coordinates), list(system.velocities), list(system.inputs), names, tree=tree)

    @classmethod
    def declared(
        cls, reading: Reading, coordinates: list[sp.Expr], inputs: list[sp.Expr], motors: Mapping[sp.Expr, Path]
    ) -> Symbols:
        """The symbols of a mechanism with problems, to read the other sections anyway."""
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


def by_constraint(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """One number, a list, or numbers by constraint."""
    if isinstance(raw, dict) and not {"value", "unit"} & set(raw):
        for name in (name for name in raw if name not in known.constraints):
            reading.problem(
                (*path, name), f"{name[:40]} is not a constraint.{suggestion(name[:40], known.constraints)}"
            )
        return {name: reading.number((*path, name), entry) for name, entry in raw.items()}
    return reading.number_list(path, raw) if isinstance(raw, list) else reading.number(path, raw)


def read_equilibrium(reading: Reading, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``equilibrium`` or ``steady``, and ``drop`` of ``linearize``."""
    raw = reading.data.get("equilibrium")
    if raw is None:
        return None
    if raw.get("moving") and raw.get("steady") is False:
        reading.problem(("equilibrium", "moving"), "moving is for steady motions. Remove steady = false.")
    return {key: _of_equilibrium(reading, ("equilibrium", key), entry, known) for key, entry in raw.items()}


def _of_equilibrium(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """One argument of ``equilibrium``, ``steady`` or ``linearize``."""
    if path[-1] in ("given", "near"):
        return reading.table(path, raw, [*known.states, *known.inputs], "coordinate, velocity or input")
    if path[-1] in ("moving", "drop"):
        return reading.listed(path, raw, known.coordinates, "coordinate")
    if path[-1] == "modes":
        return {name: _root(reading, (*path, name), entry) for name, entry in raw.items()}
    return _borders(reading, path, raw, known) if path[-1] == "borders" else raw


def _root(reading: Reading, path: Path, raw: Any) -> complex:
    """A root: a number, or [real, imaginary]."""
    if not isinstance(raw, list):
        return complex(reading.number(path, raw) or 0.0)
    parts = [reading.number((*path, i), x) for i, x in enumerate(raw)]
    return complex(*(part or 0.0 for part in parts))


def _borders(reading: Reading, path: Path, raw: dict[str, Any], known: Symbols) -> dict[str, Any]:
    """Arguments of ``stability_borders``."""
    allowed = [*known.states, *known.inputs, *reading.numbers]
    over = reading.key((*path, "over"), raw["over"], allowed, "parameter, coordinate, velocity or input")
    unit = reading.dimension_of(over)
    between = [reading.number((*path, "between", i), entry, unit) for i, entry in enumerate(raw["between"])]
    return {**raw, "over": over, "between": tuple(between)}


def read_weights(reading: Reading, section: str, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``design`` or ``observe``."""
    raw = reading.data.get(section)
    if raw is None:
        return None
    for problem in mixed_keys(raw):
        reading.problem((section,), problem)
    return {key: _argument(reading, (section, key), entry, known) for key, entry in raw.items()}


def _argument(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    """One argument of a controller or an observer."""
    key = path[-1]
    if key in ("outputs", "integral"):
        return reading.listed(path, raw, known.states, "coordinate or velocity")
    if key == "inputs":
        return reading.listed(path, raw, known.inputs, "input")
    if key == "order":
        return raw
    if key == "gain":
        return _gains(reading, path, raw, known)
    if key == "pid":
        return _pid(reading, path, raw, known)
    found = _weights(reading, path, raw, known)
    if key != "poles":
        _refuse_signs(reading, path, raw, found)
    return found


def _weights(reading: Reading, path: Path, raw: Any, known: Symbols) -> Any:
    if not isinstance(raw, dict) or {"value", "unit"} & set(raw):
        return _numbers(reading, path, raw)
    of_inputs = path[-1] == "input_weights"
    allowed, what = (known.inputs, "input") if of_inputs else (known.states, "state")
    return reading.table(path, raw, allowed, what, weights=True)


def _gains(reading: Reading, path: Path, raw: dict[str, Any], known: Symbols) -> dict[sp.Expr, dict[sp.Expr, float]]:
    """Gains by input and state."""
    found = {}
    for text, row in raw.items():
        u = reading.key((*path, text), text, known.inputs, "input")
        gains = reading.table((*path, text), row, known.states, "state", weights=True)
        if u is not None:
            found[u] = gains
    return found


def _pid(reading: Reading, path: Path, raw: dict[str, Any], known: Symbols) -> dict[str, Any]:
    """Arguments of ``pid`` after the linear model."""
    found: dict[str, Any] = {
        "output": reading.key((*path, "output"), raw["output"], known.states, "coordinate or velocity"),
        "input": reading.key((*path, "input"), raw["input"], known.inputs, "input"),
    }
    return found | {key: reading.number((*path, key), raw[key]) for key in raw if key not in found}


def _refuse_signs(reading: Reading, path: Path, raw: Any, found: Any) -> None:
    """Weights must not be negative, those of inputs and outputs must be positive; a matrix is checked at its use."""
    positive = path[-1] in ("input_weights", "output_noise")
    if found is None:
        return
    if isinstance(found, dict):
        entries = [((*path, text), x) for text in raw for s, x in found.items() if name_of(s) == english_name(text)]
    elif isinstance(found, list):
        entries = [((*path, i), x) for i, x in enumerate(found)]
    else:
        entries = [(path, found)]
    for place, x in entries:
        if isinstance(x, float) and (x < 0 or (positive and x == 0)):
            reading.problem(place, f"it is {x:g}; it must be {'a positive number' if positive else 'zero or more'}.")


def _numbers(reading: Reading, path: Path, raw: Any) -> Any:
    """A number, a list or a matrix."""
    if isinstance(raw, list):
        rows = {len(entry) if isinstance(entry, list) else 0 for entry in raw}
        if len(rows) > 1:
            reading.problem(path, "the rows have different lengths.")
            return None
        return [_numbers(reading, (*path, i), entry) for i, entry in enumerate(raw)]
    return reading.number(path, raw)
