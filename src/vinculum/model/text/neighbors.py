"""Files that a model names: only in its own folder or below, and only up to a size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from vinculum.model.reading import Reading
from vinculum.model.text.location import Path


def read_neighbor(
    reading: Reading, path: Path, name: str, most: int, decode: Callable[[bytes], str] = bytes.decode
) -> str | None:
    """The text of a file of at most ``most`` bytes; ``decode`` raises ValueError for what it cannot be."""
    folder = reading.document.folder.resolve()
    inside = PurePosixPath(name)
    if "\0" in name or "\\" in name or inside.is_absolute() or ".." in inside.parts or not name.strip():
        reading.problem(
            path, f"{name[:60]!r} is not allowed: the file must be in the folder of the model file or below it."
        )
        return None
    place = (folder / inside).resolve()
    if not place.is_relative_to(folder):
        reading.problem(path, f"{name[:60]!r} is outside the folder of the model file.")
        return None
    try:
        with place.open("rb") as stream:
            content = stream.read(most + 1)
        if len(content) > most:
            raise ValueError(f"it is larger than {most // 1024} kB")
        return decode(content)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        reading.problem(path, f"the file {name[:60]!r} cannot be read: {said}.")
        return None
