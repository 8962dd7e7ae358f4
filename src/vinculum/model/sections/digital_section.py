"""[digital]: arguments of ``Digital``, and how the plant differs from the model."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from vinculum.model.reading import Reading
from vinculum.model.sections.analysis_sections import Symbols
from vinculum.model.sections.given_motion import read_laws
from vinculum.model.sections.mechanism_sections import read_forces
from vinculum.model.text.location import Path
from vinculum.names import name_of
from vinculum.units import dimensions
from vinculum.units.dimensions import ENERGY, product, raised

SECTION = "digital"
_PLAIN = ("motion", "design", "seed", "anti_windup")
_DESIGNED = ("state_weights", "input_weights")  # keys of [control] that a design at the samples knows
_OBSERVED = ("outputs", "state_noise", "output_noise", "order")


def read_digital(reading: Reading, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``Digital``: times, numbers by input and by measured quantity; ``plant``: what differs."""
    raw = reading.data.get(SECTION)
    if raw is None:
        return None
    found: dict[str, Any] = {key: raw[key] for key in _PLAIN if key in raw}
    found.setdefault("motion", "closed_loop" if "control" in reading.data else "simulation")
    for key in (key for key in ("period", "delay") if key in raw):
        found[key] = _duration(reading, (SECTION, key), raw[key])
    for key in (key for key in ("before", "limits", "disturbances") if key in raw):
        found[key] = reading.table((SECTION, key), raw[key], known.inputs, "input")
    for key, allowed in (("noise", known.states), ("resolution", [*known.states, *known.inputs])):
        if key in raw:
            found[key] = reading.table((SECTION, key), raw[key], allowed, "measured quantity")
    if "rates" in raw:
        found["rates"] = _rates(reading, raw["rates"], known)
    if "loads" in raw:
        found["loads"] = read_laws(reading, (SECTION, "loads"), raw["loads"], known.inputs, "input")
    found["plant"] = _plant(reading, raw.get("plant", {}), known)
    _check(reading, raw, found, known)
    return found


def _duration(reading: Reading, path: Path, raw: Any) -> float | None:
    """A time in seconds."""
    value = reading.number(path, raw, dimensions.TIME)
    if value is not None and not (value > 0 if path[-1] == "period" else value >= 0):
        least = "positive" if path[-1] == "period" else "at least 0"
        reading.problem(path, f"the {path[-1]} is {value:g} s; it must be {least}.")
    return value


def _rates(reading: Reading, raw: Mapping[str, Any], known: Symbols) -> dict[sp.Expr, float]:
    """Numbers by input, with its dimension per time."""
    found = {}
    for text, entry in raw.items():
        path = (SECTION, "rates", text)
        key = reading.key(path, text, known.inputs, "input")
        own = reading.dimension_of(key)
        wanted = None if own is None else product([own, raised(dimensions.TIME, Fraction(-1))])
        value = reading.number(path, entry, wanted)
        if key is not None and value is not None:
            found[key] = value
    return found


def _plant(reading: Reading, raw: Mapping[str, Any], known: Symbols) -> dict[str, Any]:
    """What differs: parameters, forces and energies."""
    path = (SECTION, "plant")
    found: dict[str, Any] = {}
    if "parameters" in raw:
        found["parameters"] = reading.table(
            (*path, "parameters"), raw["parameters"], list(reading.numbers), "parameter"
        )
    if "forces" in raw:
        found["forces"] = read_forces(reading, (*path, "forces"), raw["forces"], known.coordinates)
    for key in (key for key in ("kinetic_energy", "potential_energy") if key in raw):
        found[key] = reading.expression((*path, key), raw[key], dimension=ENERGY)
        if known.tree is not None:
            reading.problem((*path, key), "the energies of a tree are those of its bodies. Change parameters instead.")
    if known.affine and set(found) - {"parameters"}:
        reading.problem(path, "an affine system has neither energies nor forces. Change parameters instead.")
    return found


# -- checks ------------------------------------------------------------------------------------------------------


def _check(reading: Reading, raw: Mapping[str, Any], found: Mapping[str, Any], known: Symbols) -> None:
    """The sections that are needed, numbers that must be positive, and keys that exclude each other."""
    closed = found["motion"] == "closed_loop"
    for section in ("equilibrium", "control", "closed_loop") if closed else ("simulation",):
        if section not in reading.data:
            which = "feedback at samples needs" if closed else "laws at samples need"
            reading.problem((SECTION,), f"{which} [{section}]. Add it.")
    for key in ("limits", "rates", "resolution", "noise", "disturbances"):
        for name, value in found.get(key, {}).items():
            if not value > 0:
                reading.problem((SECTION, key), f"{key} of {name_of(name)} is {value:g}; it must be positive.")
    for u in (u for u in found.get("loads", {}) if u in found.get("disturbances", {})):
        reading.problem((SECTION, "loads"), f"{name_of(u)} has a load and a disturbance. Use one of them.")
    if found.get("design") == "sampled":
        _check_design(reading, closed)
    if not closed and "noise" in raw:
        reading.problem((SECTION, "noise"), "the laws of [simulation] read the state itself. Leave noise out.")


def _check_design(reading: Reading, closed: bool) -> None:
    """A design at the samples knows weights, not poles, gains or integrals."""
    if not closed:
        reading.problem((SECTION, "design"), "the laws of [simulation] are not designed. Leave design out.")
        return
    control, observer = reading.data.get("control", {}), reading.data.get("observer", {})
    strange = [key for key in control if key not in _DESIGNED] or [key for key in observer if key not in _OBSERVED]
    strange += ['order = "reduced"'] if observer.get("order") == "reduced" else []
    if strange:
        reading.problem(
            (SECTION, "design"),
            f"a design at the samples uses state_weights, input_weights and a full observer; {strange[0]} was found. "
            'Use design = "continuous".',
        )
