"""Changes to a mechanism before its equations are derived: motors, release of constraints, a program."""

from __future__ import annotations

from typing import Any

import sympy as sp

from vinculum.derivation.program.affine_form import to_affine
from vinculum.derivation.quasi.release import release
from vinculum.describe.affine import AffineSystem
from vinculum.describe.motors import DCMotor, motorize
from vinculum.describe.system import System
from vinculum.errors import About, VinculumError
from vinculum.model import limits
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.scope import english_name
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.names import function_of_time, name_of
from vinculum.units.dimensions import (
    CURRENT,
    ENERGY,
    FORCE,
    INDUCTANCE,
    LENGTH,
    NONE,
    RESISTANCE,
    Dimension,
    over,
)
from vinculum.units.units import is_quantity, read_unit


def declare_motors(reading: Reading, inputs: list[sp.Expr]) -> dict[sp.Expr, Path]:
    """The charge and the voltage of each motor, added to the scope."""
    found: dict[sp.Expr, Path] = {}
    if len(_named(reading)) > limits.MOTORS:
        reading.problem(("motors",), f"{len(_named(reading))} motors were found; at most {limits.MOTORS} are allowed.")
        return found
    for text in _named(reading):
        u = reading.key(("motors", text), text, inputs, "input")
        if u is None:
            reading.lose(f"{kind}_{name_of(v)}" for v in inputs for kind in ("e", "charge"))
        else:
            charge, voltage = f"charge_{name_of(u)}", f"e_{name_of(u)}"
            made = {"A*s": function_of_time(charge), "V": sp.Symbol(voltage)}
            known = {unit: read_unit(unit).dimension if reading.units else None for unit in made}
            new = {name_of(x): Value(x, dimension=known[unit]) for unit, x in made.items()}
            reading.scope = reading.scope.with_values(new)
            found[u] = ("motors", text)
    return found


def _named(reading: Reading) -> list[str]:
    """The inputs that have motors, even if a motor has problems."""
    stated = reading.document.data.get("motors", {})
    return list(stated) if isinstance(stated, dict) else []


def _needed(reading: Reading, path: Path, raw: dict[str, Any]) -> dict[str, Dimension | None]:
    """The dimensions that n k_t i = u requires: for a torque k_t in N·m/A, for a force a gear in 1/m or k_t in N/A."""
    turning, pushing = over(ENERGY, CURRENT), over(FORCE, CURRENT)
    own = reading.scope.values[english_name(str(path[-1]))].dimension
    gear, constant = (_stated(reading, (*path, key), raw.get(key, 1)) for key in ("gear", "torque_constant"))
    pushes = own != ENERGY and (own == FORCE or constant == pushing)
    direct = pushes and (constant == pushing if "gear" in raw and gear is None else gear in (None, NONE))
    k = pushing if direct else turning
    n = NONE if direct or not pushes else over(NONE, LENGTH)
    return {
        "torque_constant": k, "back_emf": k, "resistance": RESISTANCE, "inductance": INDUCTANCE,
        "gear": n if own is not None else None,
    }  # fmt: skip


def _stated(reading: Reading, path: Path, raw: Any) -> Dimension | None:
    """The dimension of a number that is not plain."""
    value = reading.formula(path, raw)
    return None if value is None or (value.number is not None and not is_quantity(raw)) else value.dimension


def add_motors(reading: Reading, system: System, motors: dict[sp.Expr, Path]) -> System:
    """The system with motors in place of inputs."""
    made = read_motors(reading, motors)
    if not made or reading.problems:
        return system
    try:
        return motorize(system, made)
    except VinculumError as error:
        reading.refusal(error, ("motors",))
    return system


def read_motors(reading: Reading, motors: dict[sp.Expr, Path]) -> dict[sp.Expr, DCMotor]:
    """The valid motors, by the input they replace."""
    usable = reading.data.get("motors", {})
    made = {u: _motor(reading, path) for u, path in motors.items() if path[-1] in usable}
    return {u: motor for u, motor in made.items() if motor is not None}


def _motor(reading: Reading, path: Path) -> DCMotor | None:
    raw = reading.data["motors"][path[-1]]
    needed = _needed(reading, path, raw)
    numbers = {key: reading.number((*path, key), entry, needed[key]) for key, entry in raw.items()}
    if None in numbers.values():
        return None
    try:
        return DCMotor(**numbers)  # type: ignore[arg-type]  # none is None
    except VinculumError as error:
        reading.refusal(error, path, {About("option", key): (*path, key) for key in raw})
    return None


def release_constraints(reading: Reading, system: System) -> System:
    """The system with the reactions of its constraints as inputs, if the file requests it."""
    raw = reading.data.get("release")
    if raw is None:
        return system
    characteristics = read_characteristics(reading, ("release", "characteristics"), raw["characteristics"])
    if reading.problems:
        return system
    options: dict[str, Any] = {key: raw[key] for key in ("metric", "exact") if key in raw}
    try:
        free = release(system, characteristics, **options)
    except (VinculumError, ArithmeticError) as error:
        reading.refusal(error, ("release",))
        return system
    new = [u for u in free.inputs if u not in system.inputs]
    reading.scope = reading.scope.with_values({name_of(u): Value(u) for u in new if name_of(u).isidentifier()})
    return free


def read_characteristics(reading: Reading, path: Path, raw: dict[str, Any]) -> dict[sp.Expr, sp.Expr]:
    """Quasi-velocities: new functions of time, added to the scope after all are read."""
    made, new = {}, {}
    for name, entry in raw.items():
        plain, value = reading.declare((*path, name), name), reading.formula((*path, name), entry)
        if plain is not None and value is not None:
            new[plain] = Value(function_of_time(plain), dimension=value.dimension)
            made[function_of_time(plain)] = value.expression
    reading.scope = reading.scope.with_values(new)
    return made


def add_program(reading: Reading, system: System, program: dict[str, sp.Expr]) -> System | AffineSystem:
    """The system with conditions held by all its inputs together."""
    if not program or reading.problems:
        return system
    try:
        return to_affine(system, program)
    except (VinculumError, ArithmeticError) as error:
        reading.refusal(error, ("constraints",))
    return system
