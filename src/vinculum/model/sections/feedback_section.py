"""[equilibrium], [control], [observer]: arguments of ``equilibrium``, ``stabilize`` and ``observe``."""

from __future__ import annotations

from typing import Any

from vinculum.model.expressions.scope import spelled
from vinculum.model.reading import Reading
from vinculum.model.sections.analysis_sections import Symbols
from vinculum.model.text.location import Path
from vinculum.names import name_of


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
