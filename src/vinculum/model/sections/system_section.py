"""[system]: a mechanism stated by its energies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from vinculum.describe.constraints import Constraint
from vinculum.describe.system import System
from vinculum.errors import VinculumError
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.model.units import dimensions
from vinculum.model.units.dimensions import ENERGY, product, raised

_POWER = product([ENERGY, raised(dimensions.TIME, Fraction(-1))])


def read_system(
    reading: Reading, coordinates: list[sp.Expr], inputs: list[sp.Expr], constraints: list[Constraint], name: str
) -> System | None:
    """The system; None when a part of it is wrong."""
    raw = reading.data["system"]
    before = len(reading.problems.found)
    energies = {
        key: reading.expression(("system", key), raw.get(key, 0), dimension=wanted)
        for key, wanted in (("kinetic_energy", ENERGY), ("potential_energy", ENERGY), ("dissipation", _POWER))
    }
    forces = read_forces(reading, ("system", "forces"), raw.get("forces", {}), coordinates)
    if len(reading.problems.found) > before or reading.problems:
        return None
    try:
        return System(
            coordinates, **energies, forces=forces, constraints=constraints, parameters=dict(reading.numbers),
            inputs=inputs, name=name,
        )  # fmt: skip
    except VinculumError as error:
        reading.refusal(error, ("system",))
    return None


def read_forces(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[sp.Expr, sp.Expr]:
    """Generalized forces: energy over the dimension of the coordinate, where both are known."""
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
