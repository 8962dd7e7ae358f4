"""A URDF file that a model names: only by name, only beside the model file or below it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import sympy as sp

from vinculum.describe.bodies import from_urdf
from vinculum.describe.system import System
from vinculum.errors import VinculumError
from vinculum.model import limits
from vinculum.model.expressions.scope import name_problem
from vinculum.model.expressions.value import Value
from vinculum.model.reading import Reading
from vinculum.model.units.dimensions import Dimension
from vinculum.model.units.tree_dimensions import of_coordinates, of_torques
from vinculum.names import name_of

_PATH = ("tree", "urdf")


def read_urdf(reading: Reading, raw: dict[str, Any]) -> System | None:
    """The robot without loops and contacts; its coordinates and inputs enter the scope."""
    text = _text(reading, raw["urdf"])
    for key in ("bodies", "links"):
        if raw.get(key):
            reading.problem(("tree", key), f"a tree from a URDF has no {key} of its own. Leave it out.")
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
    """The text of the file, which must lie in the folder of the model or below it."""
    folder = reading.document.folder.resolve()
    inside = PurePosixPath(name)
    if "\0" in name or "\\" in name or inside.is_absolute() or ".." in inside.parts or not name.strip():
        reading.problem(_PATH, f"{name[:60]!r} is refused: name a file beside the model file, or in a folder below it.")
        return None
    path = (folder / inside).resolve()
    if not path.is_relative_to(folder):
        reading.problem(_PATH, f"{name[:60]!r} leads out of the folder of the model file.")
        return None
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * limits.BYTES + 1)
        if len(content) > 4 * limits.BYTES:
            raise ValueError(f"it is larger than {4 * limits.BYTES // 1024} kB")
        text = content.decode("utf-8")
        if not text.lstrip().startswith("<"):
            raise ValueError("it does not begin with <robot>")
        return text
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        reading.problem(_PATH, f"the file {name[:60]!r} cannot be read: {said}.")
        return None
