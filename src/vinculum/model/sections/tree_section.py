"""[tree]: bodies and joints, Denavit-Hartenberg links, or a URDF file; loops and contacts."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies import (
    Body,
    BodyTree,
    Loop,
    Rolling,
    Sliding,
    denavit_hartenberg,
    from_urdf,
    rotation_rpy,
    servo_path,
)
from vinculum.describe.bodies.joint_dimensions import (
    OF_BODIES,
    OF_LINKS,
    of_coordinates,
    of_joint,
    of_quantity,
    of_torques,
)
from vinculum.describe.bodies.joints import JOINTS, Joint
from vinculum.describe.bodies.urdf import decoded
from vinculum.describe.constraints import Constraint
from vinculum.describe.system import System
from vinculum.errors import About, VinculumError
from vinculum.model import limits
from vinculum.model.expressions.arithmetic import Value
from vinculum.model.expressions.scope import english_name, name_problem
from vinculum.model.reading import Reading
from vinculum.model.sections.given_motion import read_base, read_path
from vinculum.model.sections.mechanism_sections import read_forces
from vinculum.model.text.beside import read_beside
from vinculum.model.text.location import Path
from vinculum.names import function_of_time, name_of
from vinculum.units.dimensions import LENGTH, NONE, TIME, Dimension, over
from vinculum.units.units import is_quantity

_PATH = ("tree", "urdf")


def read_urdf(reading: Reading, raw: dict[str, Any]) -> System | None:
    """The robot without loops and contacts; its coordinates and inputs are added to the scope."""
    text = _text(reading, raw["urdf"])
    for key in ("bodies", "links"):
        if raw.get(key):
            reading.problem(("tree", key), f"a tree read from a URDF file cannot have {key}. Leave it out.")
    if text is None:
        return None
    options: dict[str, Any] = {key: raw[key] for key in ("floating", "actuated", "identified") if key in raw}
    try:
        robot = from_urdf(text, **options)
    except VinculumError as error:
        reading.refusal(error, _PATH)
        return None
    known: dict[sp.Expr, Dimension] = {}
    for body in robot.bodies.bodies if reading.units else ():
        known |= dict(zip(body.coordinates, of_coordinates(body.joint), strict=False))
        known |= dict(zip(body.torques, of_torques(body.joint), strict=False))
    for key in (*robot.coordinates, *robot.inputs):
        if not name_problem(name_of(key)):
            reading.scope = reading.scope.with_values({name_of(key): Value(key, dimension=known.get(key))})
    return robot


def _text(reading: Reading, name: str) -> str | None:
    """The text of the file, which must be in the folder of the model or below it."""
    try:
        content = read_beside(reading.document.folder, name)
    except ValueError as error:
        reading.problem(_PATH, f"{error}.")
        return None
    try:
        text = decoded(content)
        if not text.lstrip().startswith("<"):
            raise ValueError("it does not begin with <robot>")
    except ValueError as error:
        reading.problem(_PATH, f"the file {name[:60]!r} cannot be read: {error}.")
        return None
    return text


_QUANTITIES = ("damping", "stiffness", "rest", "friction", "rotor_inertia", "gear_ratio")


def declare_joints(reading: Reading) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The coordinates and inputs of all joints, added to the scope."""
    raw = reading.data["tree"]
    if "urdf" in raw:
        reading.robot = read_urdf(reading, raw)
        reading.bodies = [] if reading.robot is None else [body.name for body in reading.robot.bodies.bodies]
        return ([], []) if reading.robot is None else (list(reading.robot.coordinates), list(reading.robot.inputs))
    coordinates, inputs = [], []
    reading.bodies = [name for _, name, _ in _bodies(reading)]
    for path, name, raw in _bodies(reading):
        joint = raw.get("joint", "revolute")
        own = _several(raw.get("angle"))
        labels = own or [f"{name}_{label}" if label else name for label in JOINTS[joint].labels]
        place = (*path, "angle") if own else path
        for label, dimension in zip_longest(labels, of_coordinates(joint)[: len(labels)]):
            coordinates += _declare(reading, place, label, function_of_time, dimension)
        acting = _several(raw.get("torque"))
        for label, dimension in zip_longest(acting, of_torques(joint)[: len(acting)]):
            inputs += _declare(reading, (*path, "torque"), label, sp.Symbol, dimension)
    return coordinates, inputs


def _bodies(reading: Reading) -> list[tuple[Path, str, dict[str, Any]]]:
    """Path, name and keys of every body, from the table of bodies and from the links."""
    raw = reading.data["tree"]
    found: list[tuple[Path, str, dict[str, Any]]] = [
        (("tree", "bodies", n), n, b) for n, b in raw.get("bodies", {}).items()
    ]
    links = raw.get("links", [])
    return found + [(("tree", "links", i), row.get("name", f"link_{i + 1}"), row) for i, row in enumerate(links)]


def _several(raw: Any) -> list[str]:
    return [] if raw is None else raw if isinstance(raw, list) else [raw]


def _declare(reading: Reading, path: Path, label: str, make: Any, dimension: Dimension | None) -> list[sp.Expr]:
    """A symbol of a joint; it has a dimension only if the file has units."""
    plain = reading.declare(path, label)
    if plain is None:
        return []
    reading.scope = reading.scope.with_values(
        {plain: Value(make(plain), dimension=dimension if reading.units else None)}
    )
    return [make(plain)]


def read_tree(
    reading: Reading, coordinates: list[sp.Expr], constraints: list[Constraint], name: str
) -> System | None:  # fmt: skip
    """The system of the tree, with the tree as its ``bodies``; None if a part of it has problems."""
    raw = reading.data["tree"]
    links = [_link(reading, i, row) for i, row in enumerate(raw.get("links", []))]
    bodies = _stated(reading, raw)
    if sum(len(raw.get(key, [])) for key in ("loops", "rolling", "sliding")) > limits.LOOPS:
        reading.problem(("tree",), f"there are more than {limits.LOOPS} loops and contacts, the most that are allowed.")
    settings = _read_loops_and_contacts(reading, raw) | read_base(reading, raw)
    if "gravity" in raw:
        settings["gravity"] = reading.vector(("tree", "gravity"), raw["gravity"], None, over(LENGTH, TIME, TIME))
    forces = read_forces(reading, ("tree", "forces"), raw.get("forces", {}), coordinates)
    led = read_path(reading, ("tree", "path"), raw["path"], coordinates) if "path" in raw else None
    if reading.problems:
        return None
    try:
        made = [*bodies, *denavit_hartenberg(links, convention=raw.get("convention", "standard"))]
        tree = BodyTree(made, parameters=dict(reading.numbers), name=name, units=dict(reading.units), **settings)
        held = servo_path(tree, **led) if led is not None else []
        mimics = reading.robot.constraints if reading.robot is not None else ()
        return tree.system(forces=forces, constraints=[*mimics, *constraints, *held])
    except (VinculumError, np.linalg.LinAlgError) as error:
        places: dict[About, Path] = {About("body", n): path for path, n, _ in _bodies(reading)}
        places |= {About("loop", loop.label): ("tree", "loops", i) for i, loop in enumerate(settings["loops"])}
        reading.refusal(error, ("tree",), places)
    return None


def _stated(reading: Reading, raw: dict[str, Any]) -> list[Body]:
    """The bodies of the URDF file, or of the tables."""
    if "urdf" in raw:
        return [] if reading.robot is None else list(reading.robot.bodies.bodies)
    if not raw.get("bodies") and not raw.get("links"):
        reading.problem(("tree",), 'there are no bodies. Write [tree.bodies.<name>], [[tree.links]] or urdf = "...".')
    if len(_bodies(reading)) > limits.BODIES:
        reading.problem(("tree",), f"{len(_bodies(reading))} bodies were found; at most {limits.BODIES} are allowed.")
    return [_body(reading, ("tree", "bodies", n), n, b) for n, b in raw.get("bodies", {}).items()]


def _body(reading: Reading, path: Path, name: str, raw: dict[str, Any]) -> Body:
    """A body from its table."""
    given = _inertial(reading, path, raw)
    if "parent" in raw:
        given["parent"] = raw["parent"]
    if "origin" in raw:
        given["origin"] = reading.vector((*path, "origin"), raw["origin"], None, LENGTH)
    if "axis" in raw:
        given["axis"] = _formulas(reading, (*path, "axis"), raw["axis"])
    if "rotation" in raw:
        given["rotation"] = _rotation(reading, (*path, "rotation"), raw["rotation"])
    if "center_of_mass" in raw:
        given["center_of_mass"] = reading.vector((*path, "center_of_mass"), raw["center_of_mass"], None, LENGTH)
    return Body(name, **given)


def _link(reading: Reading, i: int, raw: dict[str, Any]) -> dict[str, Any]:
    """A Denavit-Hartenberg row, all numbers."""
    path = ("tree", "links", i)
    given = _inertial(reading, path, raw, numeric=True) | {"name": raw.get("name", f"link_{i + 1}")}
    for key, dimension in OF_LINKS.items():
        if key in raw:
            given[key] = reading.number((*path, key), raw[key], dimension)
    if "center_of_mass" in raw:
        given["center_of_mass"] = reading.number_list((*path, "center_of_mass"), raw["center_of_mass"], LENGTH)
    return given


def _inertial(reading: Reading, path: Path, raw: dict[str, Any], numeric: bool = False) -> dict[str, Any]:
    """Joint, mass, inertia, coordinates, torques and losses."""
    read = _numbers if numeric else _formulas
    given: dict[str, Any] = {"joint": _joint(reading, path, raw, read)}
    if "identified" in raw:
        given["identified"] = raw["identified"]
    for key, dimension in OF_BODIES.items():
        if key in raw:
            given[key] = read(reading, (*path, key), raw[key], dimension)
    for key in (key for key in _QUANTITIES if key in raw):
        given[key] = _of_joint(reading, path, raw, key, read)
    if isinstance(raw.get("inertia"), list) and not _is_inertia(raw["inertia"]):
        reading.problem((*path, "inertia"), "give one number, three, six (xx yy zz xy xz yz), or three rows of three.")
    if "angle" in raw:
        given["angle"] = [function_of_time(english_name(label)) for label in _several(raw["angle"])]
    if "torque" in raw:
        given["torque"] = [sp.Symbol(english_name(label)) for label in _several(raw["torque"])]
    return given


def _joint(reading: Reading, path: Path, raw: dict[str, Any], read: Any) -> str | Joint:
    """The joint with the numbers it needs; numbers of other joints are reported."""
    name = raw.get("joint", "revolute")
    own = of_joint(name)
    for key in dict.fromkeys(key for kind in JOINTS for key in of_joint(kind) if key in raw and key not in own):
        reading.problem((*path, key), f"a {name} joint has no {key}. Remove it, or change joint.")
    missing = [key for key in JOINTS[name].required() if key not in raw]
    if missing:
        reading.problem(path, f"a {name} joint needs its {', '.join(missing)}. Add it.")
    numbers = {key: read(reading, (*path, key), raw[key], dimension) for key, dimension in own.items() if key in raw}
    return JOINTS[name](**numbers) if numbers else name


def _of_joint(reading: Reading, path: Path, raw: dict[str, Any], key: str, read: Any) -> Any:
    """Damping, stiffness, ...: one formula for all coordinates, or one for each; a pair of friction for one."""
    gear = _gear(reading, (*path, "gear_ratio"), raw["gear_ratio"]) if "gear_ratio" in raw else NONE
    kinds = [of_quantity(key, q, gear) for q in of_coordinates(raw.get("joint", "revolute"))]
    several = isinstance(raw[key], list) and len(kinds) == len(raw[key]) > 1
    if several:
        return [read(reading, (*path, key, i), entry, kinds[i]) for i, entry in enumerate(raw[key])]
    return read(reading, (*path, key), raw[key], kinds[0] if len(set(kinds)) == 1 else None)


def _gear(reading: Reading, path: Path, raw: Any) -> Dimension | None:
    """The dimension of a gear ratio; None if it is a plain number."""
    value = reading.formula(path, raw) if not isinstance(raw, list) else None
    return None if value is None or (value.number is not None and not is_quantity(raw)) else value.dimension


def _is_inertia(raw: list[Any]) -> bool:
    """Whether a list has the length of an inertia: 1, 3, 6 or 9 numbers, or 3×3."""
    rows = [isinstance(entry, list) for entry in raw]
    return (len(raw) == 3 and all(rows)) or (len(raw) in (1, 3, 6, 9) and not any(rows))


def _formulas(reading: Reading, path: Path, raw: Any, dimension: Dimension | None = None) -> Any:
    """A formula, or lists of formulas of any depth."""
    if isinstance(raw, list):
        return [_formulas(reading, (*path, i), entry, dimension) for i, entry in enumerate(raw)]
    return reading.expression(path, raw, None, dimension)


def _numbers(reading: Reading, path: Path, raw: Any, dimension: Dimension | None = None) -> Any:
    """A number, or lists of numbers of any depth."""
    if isinstance(raw, list):
        return [_numbers(reading, (*path, i), entry, dimension) for i, entry in enumerate(raw)]
    return reading.number(path, raw, dimension)


def _rotation(reading: Reading, path: Path, raw: Any) -> Any:
    """3×3 formulas, or roll, pitch and yaw."""
    if isinstance(raw, list):
        return _formulas(reading, path, raw, NONE)
    angles = {key: reading.expression((*path, key), entry, None, ()) for key, entry in raw.items()}
    return None if None in angles.values() else rotation_rpy(**angles)


def _read_loops_and_contacts(reading: Reading, raw: dict[str, Any]) -> dict[str, Any]:
    """Loops and contacts."""
    loops = [_made(reading, Loop, ("tree", "loops", i), entry) for i, entry in enumerate(raw.get("loops", []))]
    contacts = [
        _made(reading, kind, ("tree", key, i), entry)
        for key, kind in (("rolling", Rolling), ("sliding", Sliding))
        for i, entry in enumerate(raw.get(key, []))
    ]
    return {"loops": loops, "contacts": contacts}


_PLAIN = ("first", "second", "kind", "name", "body")
_DIRECTIONS = ("axis", "other_axis", "normal", "across")


def _made(reading: Reading, kind: Any, path: Path, raw: dict[str, Any]) -> Any:
    """A loop or contact: names unchanged, directions as numbers, everything else as lengths."""
    given: dict[str, Any] = {"first": None, "second": None} if kind is Loop else {}
    for key, entry in raw.items():
        if key in _PLAIN:
            given[key] = entry
            if key in ("first", "second", "body"):
                reading.body((*path, key), entry)
        else:
            along = key in _DIRECTIONS
            given[key] = (_numbers if along else _formulas)(reading, (*path, key), entry, None if along else LENGTH)
    return kind(**given)
