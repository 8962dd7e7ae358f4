"""[constraints], [system], [affine]: a mechanism stated by its energies, or by its rates F(x, t) + B(x, t) N."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from vinculum.describe.affine import AffineSystem
from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo
from vinculum.describe.system import System
from vinculum.errors import VinculumError
from vinculum.model import limits
from vinculum.model.reading import Reading
from vinculum.model.sections.declarations import declare_coordinates, declare_inputs
from vinculum.model.text.location import Path
from vinculum.names import TIME, name_of
from vinculum.units import dimensions
from vinculum.units.dimensions import ENERGY, product, raised

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
        reading.problem(
            path, f'a constraint needs exactly one of {", ".join(KINDS)}, as in {{holonomic = "x - y"}}; {found}.'
        )
        return None, None
    if "through" in raw and kinds[0] != "servo":
        reading.problem((*path, "through"), f"through is only for servo constraints; this one is {kinds[0]}.")
    return kinds[0], raw[kinds[0]]


def affine_constraints(reading: Reading) -> dict[str, sp.Expr]:
    """The constraints of an affine system: formulas of states and time."""
    found = {}
    for name, raw in reading.data.get("constraints", {}).items():
        if isinstance(raw, dict) and set(raw) != {"program"}:
            reading.problem(("constraints", name), "a constraint of an affine system must be a formula of its states.")
            continue
        value = reading.equation(("constraints", name), raw["program"] if isinstance(raw, dict) else raw)
        if value is not None and not value.expression.has(TIME):
            reading.problem(("constraints", name), "the constraint contains no state.")
        elif value is not None:
            found[name] = value.expression
    return found


_POWER = product([ENERGY, raised(dimensions.TIME, Fraction(-1))])


def read_system(
    reading: Reading, coordinates: list[sp.Expr], inputs: list[sp.Expr], constraints: list[Constraint], name: str
) -> System | None:
    """The system; None if a part of it has problems."""
    raw = reading.data["system"]
    before = len(reading.problems.found)
    energies = {
        key: reading.expression(("system", key), raw.get(key, 0), dimension=wanted)
        for key, wanted in (("kinetic_energy", ENERGY), ("potential_energy", ENERGY), ("dissipation", _POWER))
    }
    forces = read_forces(reading, ("system", "forces"), raw.get("forces", {}), coordinates)
    ignored = reading.listed(("system", "ignored"), raw.get("ignored", []), coordinates, "coordinate")
    if len(reading.problems.found) > before or reading.problems:
        return None
    try:
        return System(
            coordinates, energies["kinetic_energy"], energies["potential_energy"], forces, energies["dissipation"],
            constraints=constraints, parameters=dict(reading.numbers), inputs=inputs, name=name, ignored=ignored,
            units=dict(reading.units),
        )  # fmt: skip
    except VinculumError as error:
        reading.refusal(error, ("system",))
    return None


def read_forces(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[sp.Expr, sp.Expr]:
    """Generalized forces, with the dimension of energy over coordinate if known."""
    found = {}
    for text, entry in raw.items():
        place = (*path, text)
        key = reading.key(place, text, coordinates, "coordinate")
        own = reading.dimension_of(key)
        wanted = None if own is None else product([ENERGY, raised(own, Fraction(-1))])
        force = reading.expression(place, entry, dimension=wanted)
        if key is not None and force is not None:
            found[key] = force
    return found


def declare_states(reading: Reading) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """States and inputs; a state dot(x) needs x among the states."""
    raw = reading.data["affine"]
    stated = raw["states"]
    plain = [name for name in stated if not name.startswith("dot(")]
    units = {name: stated[name] for name in plain} if isinstance(stated, dict) else plain
    known = declare_coordinates(reading, ("affine", "states"), units)
    rates = [q.diff() for q in known]
    states = [
        reading.key(("affine", "states"), name, [*known, *rates], "state") for name in stated
    ]  # fmt: skip
    return [s for s in states if s is not None], declare_inputs(reading, ("affine", "inputs"), raw.get("inputs", []))


def read_affine(reading: Reading, states: list[sp.Expr], inputs: list[sp.Expr], name: str) -> AffineSystem | None:
    """The affine system; None if a part of it has problems."""
    raw = reading.data["affine"]
    rates = {}
    size = 0
    for text, entry in raw["rates"].items():
        path = ("affine", "rates", text)
        state, rate = reading.key(path, text, states, "state"), reading.formula(path, entry)
        if state is not None and rate is not None:
            rates[state] = rate.expression
            size += rate.size
    if size * len(inputs) > limits.SPLIT:
        reading.problem(
            ("affine", "rates"), f"{size} operations with {len(inputs)} inputs are too many. Simplify the rates."
        )
        return None
    for state in (state for state in states if state not in rates):
        if not any(text == name_of(state) for text in raw["rates"]):
            reading.problem(
                ("affine", "rates"),
                f'the rate of the state {name_of(state)} is missing. Write "{name_of(state)}" = ...',
            )
    split = {state: _split(reading, state, rate, inputs) for state, rate in rates.items()}
    energy = reading.expression(("affine", "energy"), raw["energy"]) if "energy" in raw else None
    power = reading.expression(("affine", "power"), raw["power"]) if "power" in raw else sp.S.Zero
    constraints = affine_constraints(reading)
    if reading.problems:
        return None
    try:
        return AffineSystem(
            states, [split[s][0] for s in states], inputs, [split[s][1] for s in states], constraints,
            dict(reading.numbers), energy, power, name, units=dict(reading.units),
        )  # fmt: skip
    except VinculumError as error:
        reading.refusal(error, ("affine",))
    return None


def _split(reading: Reading, state: sp.Expr, rate: sp.Expr, inputs: list[sp.Expr]) -> tuple[sp.Expr, list[sp.Expr]]:
    """The entry of F and the row of B; a rate that is not linear in the inputs is reported."""
    row = [rate.diff(u) for u in inputs]
    bent = [u for u in inputs if any(entry.has(u) for entry in row)]
    if bent:
        names = ", ".join(map(name_of, bent))
        reading.problem(("affine", "rates", name_of(state)), f"the rate is not linear in the input {names}.")
    return rate.xreplace(dict.fromkeys(inputs, sp.S.Zero)), row
