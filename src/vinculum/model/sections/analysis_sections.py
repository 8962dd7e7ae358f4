"""[equilibrium], [control], [observer]: arguments of ``equilibrium``, ``stabilize`` and ``observe``."""

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
    """Weights must not be negative, those of inputs and outputs must be positive; a matrix is checked at its use."""
    positive, key = path[-1] in ("input_weights", "output_noise"), path[-1]
    if key == "outputs" or found is None:
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
