"""Prescribed motions and laws: of the inputs, of a tool point along a path, of the base of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import sympy as sp

from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.servo_path import actuated
from vinculum.errors import VinculumError
from vinculum.model.expressions.scope import english_name
from vinculum.model.reading import Reading
from vinculum.model.text.location import Path
from vinculum.names import name_of
from vinculum.units import dimensions
from vinculum.units.dimensions import LENGTH, NONE, RATE, TIME, over

Laws = dict[sp.Expr, sp.Expr]


def read_laws(reading: Reading, path: Path, raw: dict[str, Any], allowed: list[sp.Expr], what: str) -> Laws:
    """Formulas by name, each with the dimension of its input."""
    found = {}
    for text, entry in raw.items():
        place = (*path, text)
        key = reading.key(place, text, allowed, what)
        law = reading.expression(place, entry, dimension=reading.dimension_of(key))
        if key is not None and law is not None:
            found[key] = law
    return found


@dataclass(frozen=True, eq=False)
class TorqueLaws(Mapping[sp.Expr, sp.Expr]):
    """Laws {torque: expression} of a tree, derived at the first access: loading a file derives nothing."""

    tree: BodyTree
    kind: str  # a key of _TORQUES
    options: Mapping[str, Any]
    others: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)  # laws that the user wrote; these take precedence

    @cached_property
    def derived(self) -> Mapping[sp.Expr, sp.Expr]:
        """The laws of the torques, from the function of this name."""
        from vinculum.control import manipulators

        found: Mapping[sp.Expr, sp.Expr] = getattr(manipulators, self.kind)(self.tree, **self.options)
        return found

    @cached_property
    def keys_in_order(self) -> tuple[sp.Expr, ...]:
        """All inputs that have a law."""
        return tuple(dict.fromkeys([*self.tree.inputs, *self.others]))

    def __contains__(self, u: object) -> bool:
        return u in self.keys_in_order

    def __getitem__(self, u: sp.Expr) -> sp.Expr:
        if u not in self:
            raise KeyError(u)
        return self.others[u] if u in self.others else self.derived[u]

    def __iter__(self) -> Iterator[sp.Expr]:
        return iter(self.keys_in_order)

    def __len__(self) -> int:
        return len(self.keys_in_order)


def read_torques(
    reading: Reading, raw: dict[str, Any], tree: BodyTree | None, coordinates: list[sp.Expr]
) -> TorqueLaws | None:
    """Laws of the joint torques, if the simulation requests them in one of three ways."""
    asked = [key for key in _TORQUES if raw.get(key)]
    if not asked:
        return None
    path: Path = ("simulation", asked[0])
    if len(asked) > 1:
        reading.problem(path, f"{' and '.join(asked)} both set the joint torques. Use one of them.")
    elif tree is None and not reading.problems:
        reading.problem(path, f"{asked[0]} needs a tree of bodies.")
    kind = _TORQUES[asked[0]]
    options = kind.read(reading, path, raw, coordinates)
    if reading.problems or tree is None:
        return None
    laws = TorqueLaws(tree, asked[0], options)
    try:
        kind.check(laws)
        return laws
    except VinculumError as error:
        reading.refusal(error, path)
    return None


def _computed_torque(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[str, Any]:  # fmt: skip
    asked = raw["computed_torque"]
    desired = read_laws(reading, (*path, "path"), asked["path"], coordinates, "coordinate")
    return {"desired": desired, **_decay(reading, path, asked)}


def _task_path(reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]) -> dict[str, Any]:
    """The configuration near the path; the initial one by default."""
    asked = raw["task_path"]
    place, given = (
        ((*path, "at"), asked["at"]) if "at" in asked else (("simulation", "initial"), raw.get("initial", {}))
    )
    names = set(map(name_of, coordinates))
    at = {text: entry for text, entry in given.items() if "at" in asked or english_name(text) in names}
    known = reading.table(place, at, coordinates, "coordinate")
    missing = [str(q.func) for q in coordinates if q not in known]
    if missing and not reading.problems:
        reading.problem(
            path, f"a configuration near the path is needed, but {missing[0]} is missing. Add it to at = {{...}}."
        )
    return {**read_path(reading, path, asked, coordinates), "at": known, **_decay(reading, path, asked)}


def _decay(reading: Reading, path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    wanted = {"frequency": dimensions.RATE, "damping": dimensions.NONE}
    return {key: reading.number((*path, key), asked[key], wanted[key]) for key in wanted if key in asked}


def _gravity_compensation(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[str, Any]:
    return {}


def _check_computed_torque(laws: TorqueLaws) -> None:
    from vinculum.control.manipulators import refuse_incomplete

    refuse_incomplete(laws.tree, laws.options["desired"])


def _check_actuators(laws: TorqueLaws) -> None:
    actuated(laws.tree)


def _check_by_deriving(laws: TorqueLaws) -> None:
    """Singular configurations on the path show only in the equations."""
    _ = laws.derived


class _Torques(NamedTuple):
    """One way to define joint torques, named after the function that derives them: its reader and its check."""

    read: Callable[..., dict[str, Any]]
    check: Callable[[TorqueLaws], None]


_TORQUES = {
    "computed_torque": _Torques(_computed_torque, _check_computed_torque),
    "task_path": _Torques(_task_path, _check_by_deriving),
    "gravity_compensation": _Torques(_gravity_compensation, _check_actuators),
}


def read_path(reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]) -> dict[str, Any]:
    """Arguments of ``servo_path``: body, path, point, orientation, joints; an omitted component is free."""
    reading.body((*path, "body"), raw["body"])
    asked = raw.get("position", {})
    axes = {axis: reading.expression((*path, "position", axis), entry, None, LENGTH) for axis, entry in asked.items()}
    found: dict[str, Any] = {"body": raw["body"], "path": tuple(axes.get(axis) for axis in "xyz")}
    if "point" in raw:
        found["point"] = reading.vector((*path, "point"), raw["point"], None, LENGTH)
    if "orientation" in raw:
        rows = enumerate(raw["orientation"])
        found["orientation"] = [reading.vector((*path, "orientation", i), row, None, NONE) for i, row in rows]
    if "joints" in raw:
        found["joints"] = _joints(reading, (*path, "joints"), raw["joints"], coordinates)
    return found


def _joints(
    reading: Reading, path: Path, raw: dict[str, Any], coordinates: list[sp.Expr]
) -> dict[sp.Expr, sp.Expr | None]:
    keys = {text: reading.key((*path, text), text, coordinates, "coordinate") for text in raw}
    return {
        q: reading.expression((*path, text), raw[text], None, reading.dimension_of(q))
        for text, q in keys.items()
        if q is not None
    }


_MOST_SIZE = 60


def read_base(reading: Reading, raw: dict[str, Any]) -> dict[str, Any]:
    """Position, velocity, angular velocity and rotation of the base, if given."""
    found: dict[str, Any] = {}
    dimensions = {
        "base_position": LENGTH, "base_velocity": over(LENGTH, TIME), "base_angular_velocity": RATE,
    }  # fmt: skip
    for key in (key for key in dimensions if key in raw):
        found[key] = reading.vector(("tree", key), raw[key], None, dimensions[key])
        _refuse_large(reading, ("tree", key), found[key] or (), "the motion of the base")
    if "base_rotation" in raw:
        stated = enumerate(raw["base_rotation"])
        rows = [reading.vector(("tree", "base_rotation", i), row, None, NONE) for i, row in stated]
        found["base_rotation"] = rows
        _refuse_large(reading, ("tree", "base_rotation"), [x for row in rows for x in row or ()], "the rotation")
    return found


def _refuse_large(reading: Reading, path: Path, entries: Sequence[sp.Expr], what: str) -> None:
    """Expressions that would take long to differentiate and integrate, and functions of more than the time."""
    size = sum(sp.count_ops(entry) for entry in entries)
    if size > _MOST_SIZE:
        reading.problem(path, f"{what} has {size} operations, more than {_MOST_SIZE}. Use a spline of its points.")
    moving = sorted({name_of(x) for entry in entries for x in entry.atoms(sp.core.function.AppliedUndef)})
    if moving:
        reading.problem(path, f"{what} depends on {', '.join(moving)}. Use functions of t and parameters only.")
