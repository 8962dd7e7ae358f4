"""[attraction] and [stability_map]: arguments of ``region_of_attraction`` and ``stability_region``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from vinculum.model.expressions.scope import Scope
from vinculum.model.reading import Reading
from vinculum.model.sections.analysis_sections import Symbols
from vinculum.model.sections.study_section import read_values, with_gains
from vinculum.names import name_of
from vinculum.units import dimensions

ATTRACTION, MAP = "attraction", "stability_map"
_MOST_CELLS = 10_000  # of a map, and starts of a region


def read_attraction(reading: Reading, known: Symbols) -> dict[str, Any] | None:
    """Arguments of ``region_of_attraction``; ``weights`` and ``directions`` of ``attraction_estimate``."""
    raw = reading.data.get(ATTRACTION)
    if raw is None:
        return None
    what = "coordinate or velocity"
    found: dict[str, Any] = {
        "over": _over(reading, ATTRACTION, raw["over"], known.states, what, reading.scope, (1, 2)),
        "time": reading.number((ATTRACTION, "time"), raw["time"], dimensions.TIME),
    }
    if "within" in raw:
        found["within"] = reading.number((ATTRACTION, "within"), raw["within"])
    if "fixed" in raw:
        found["fixed"] = reading.listed((ATTRACTION, "fixed"), raw["fixed"], known.states, what)
    if "weights" in raw:
        found["weights"] = reading.table((ATTRACTION, "weights"), raw["weights"], known.states, "state", weights=True)
    if "directions" in raw:
        found["directions"] = raw["directions"]
    _check_positive(reading, found)
    needed = ("equilibrium", "control") if known.inputs else ("equilibrium",)
    _check_sections(reading, ATTRACTION, "a region of attraction", needed)
    return found


def read_stability_map(reading: Reading, known: Symbols) -> dict[str, Any] | None:
    """``over`` of ``stability_region``, and of which loop."""
    raw = reading.data.get(MAP)
    if raw is None:
        return None
    loop = raw.get("loop", "closed" if "control" in reading.data else "open")
    gains, scope = with_gains(reading, known) if loop == "closed" else ([], reading.scope)
    what = "parameter or gain" if gains else "parameter"
    over = _over(reading, MAP, raw["over"], [*reading.numbers, *gains], what, scope, (2,))
    needed = ("equilibrium", "control") if loop == "closed" else ("equilibrium",)
    _check_sections(reading, MAP, f"a map of the {loop} loop", needed)
    return {"over": over, "loop": loop}


def _over(
    reading: Reading,
    section: str,
    raw: Mapping[str, Any],
    allowed: Sequence[sp.Expr],
    what: str,
    scope: Scope,
    count: tuple[int, ...],
) -> dict[sp.Expr, np.ndarray]:
    """The quantities that vary, in increasing order of their values."""
    found = {}
    for text, entry in raw.items():
        path = (section, "over", text)
        key = reading.key(path, text, list(allowed), what, scope)
        values = read_values(reading, path, entry, reading.dimension_of(key))
        if key is not None and values is not None:
            found[key] = np.array(sorted(set(map(float, values))))
            if len(found[key]) < 2:
                reading.problem(
                    path, f"{name_of(key)} needs two values or more, such as {{ from = 0, to = 1, count = 11 }}."
                )
    if len(raw) not in count:
        reading.problem((section, "over"), f"over has {len(raw)} of {' or '.join(map(str, count))} quantities.")
    total = int(np.prod([len(values) for values in found.values()]))
    if total > _MOST_CELLS:
        reading.problem(
            (section, "over"), f"{total} combinations are too many. Write fewer values: at most {_MOST_CELLS}."
        )
    return found


def _check_positive(reading: Reading, found: Mapping[str, Any]) -> None:
    for key in (key for key in ("time", "within") if found.get(key) is not None):
        if not found[key] > 0:
            reading.problem((ATTRACTION, key), f"{key} is {found[key]:g}; it must be positive.")
    if found.get("within", 0) >= 1:
        reading.problem((ATTRACTION, "within"), f"within is {found['within']:g}; it is a share, less than 1.")


def _check_sections(reading: Reading, section: str, what: str, needed: Sequence[str]) -> None:
    for missing in (one for one in needed if one not in reading.data):
        reading.problem((section,), f"{what} needs [{missing}]. Add it.")
