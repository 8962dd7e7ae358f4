"""Laws of inputs: formulas by name, and the joint torques of a tree that follow a path or carry the weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from vinculum.describe.bodies import BodyTree
from vinculum.errors import VinculumError
from vinculum.model.expressions.scope import spelled
from vinculum.model.reading import Reading
from vinculum.model.sections.task_path import read_path
from vinculum.model.text.location import Path
from vinculum.model.units import dimensions
from vinculum.names import name_of

Laws = dict[sp.Expr, sp.Expr]


def read_laws(reading: Reading, path: Path, raw: dict[str, Any], allowed: list[sp.Expr], what: str) -> Laws:
    """Formulas by name, each with the dimension of what it is a law of."""
    found = {}
    for text, entry in raw.items():
        place = (*path, text)
        key = reading.key(place, text, allowed, what)
        law = reading.expression(place, entry, dimension=reading.dimension_of(key))
        if key is not None and law is not None:
            found[key] = law
    return found


def read_torques(reading: Reading, raw: dict[str, Any], tree: BodyTree | None, coordinates: list[sp.Expr]) -> Laws:
    """Laws of the joint torques, where the simulation asks for them in one of three ways."""
    asked = [key for key in _TORQUES if raw.get(key)]
    if not asked:
        return {}
    path: Path = ("simulation", asked[0])
    if len(asked) > 1:
        reading.problem(path, f"{' and '.join(asked)} both set the joint torques. Choose one.")
    elif tree is None and not reading.problems:
        reading.problem(path, "only a tree of bodies has joint torques.")
    options = _TORQUES[asked[0]](reading, path, raw, coordinates)
    if reading.problems:
        return {}
    from vinculum.control import manipulators  # a later stage, for its laws

    try:
        return getattr(manipulators, asked[0])(tree, **options)
    except VinculumError as error:
        reading.refusal(error, path)
    return {}


def _computed_torque(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[str, Any]:  # fmt: skip
    asked = raw["computed_torque"]
    desired = read_laws(reading, (*path, "path"), asked["path"], coordinates, "coordinate")
    return {"desired": desired, **_decay(reading, path, asked)}


def _task_path(reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]) -> dict[str, Any]:
    """The configuration near the path is that of the start, where none is given."""
    asked = raw["task_path"]
    place, given = (
        ((*path, "at"), asked["at"]) if "at" in asked else (("simulation", "initial"), raw.get("initial", {}))
    )
    names = set(map(name_of, coordinates))
    at = {text: entry for text, entry in given.items() if "at" in asked or spelled(text) in names}
    known = reading.table(place, at, coordinates, "coordinate")
    missing = [str(q.func) for q in coordinates if q not in known]
    if missing and not reading.problems:
        reading.problem(path, f"a configuration near the path is needed: {missing[0]} is missing. Write at = {{...}}.")
    return {**read_path(reading, path, asked, coordinates), "at": known, **_decay(reading, path, asked)}


def _decay(reading: Reading, path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    wanted = {"frequency": dimensions.RATE, "damping": dimensions.NONE}
    return {key: reading.number((*path, key), asked[key], wanted[key]) for key in wanted if key in asked}


_TORQUES: dict[str, Callable[..., dict[str, Any]]] = {
    "computed_torque": _computed_torque,
    "task_path": _task_path,
    "gravity_compensation": lambda *_: {},
}
