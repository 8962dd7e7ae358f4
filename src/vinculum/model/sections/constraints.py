"""[constraints]: by name, each of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo
from vinculum.model.reading import Reading
from vinculum.names import TIME

KINDS = ("holonomic", "nonholonomic", "servo", "program")


def read_constraints(reading: Reading, inputs: Sequence[sp.Expr]) -> tuple[list[Constraint], dict[str, sp.Expr]]:
    """The constraints of a mechanism, and those of its program."""
    found: list[Constraint] = []
    program: dict[str, sp.Expr] = {}
    for name, raw in reading.data.get("constraints", {}).items():
        path = ("constraints", name)
        kind, formula = _kind(reading, name, raw)
        if kind is None:
            continue
        value = reading.equation((*path, kind) if isinstance(raw, dict) and kind in raw else path, formula)
        if value is None:
            continue
        if kind == "program":
            program[name] = value.expression
        elif kind == "servo":
            through = reading.listed((*path, "through"), raw.get("through", []), inputs, "input")
            found.append(Servo(value.expression, through, name))
        else:
            found.append((Holonomic if kind == "holonomic" else Nonholonomic)(value.expression, name))
    return found, program


def _kind(reading: Reading, name: str, raw: Any) -> tuple[str | None, Any]:
    """The kind of a constraint and its formula; a bare formula is holonomic unless it contains a velocity."""
    path = ("constraints", name)
    if not isinstance(raw, dict):
        return ("nonholonomic" if isinstance(raw, str) and "dot(" in raw else "holonomic"), raw
    kinds = [kind for kind in KINDS if kind in raw]
    if len(kinds) != 1:
        found = "none was found" if not kinds else f"{' and '.join(kinds)} were found"
        reading.problem(path, f'a constraint has one kind of {", ".join(KINDS)}, as {{holonomic = "x - y"}}; {found}.')
        return None, None
    if "through" in raw and kinds[0] != "servo":
        reading.problem((*path, "through"), f"through belongs to a servo constraint; this one is {kinds[0]}.")
    return kinds[0], raw[kinds[0]]


def affine_constraints(reading: Reading) -> dict[str, sp.Expr]:
    """Those of an affine system: formulas of states and time."""
    found = {}
    for name, raw in reading.data.get("constraints", {}).items():
        if isinstance(raw, dict) and set(raw) != {"program"}:
            reading.problem(("constraints", name), "a constraint of an affine system is a formula of its states alone.")
            continue
        value = reading.equation(("constraints", name), raw["program"] if isinstance(raw, dict) else raw)
        if value is not None and not value.expression.has(TIME):
            reading.problem(("constraints", name), "this contains no state.")
        elif value is not None:
            found[name] = value.expression
    return found
