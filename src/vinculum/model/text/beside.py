"""Files that a model file names: in its folder or below it, of limited size."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from vinculum.model import limits

LARGEST = 4 * limits.BYTES


def read_beside(folder: Path, name: str, largest: int = LARGEST) -> bytes:
    """The content of a file in a folder or below it; a `ValueError` says why it cannot be read."""
    inside = PurePosixPath(name)
    if "\0" in name or "\\" in name or inside.is_absolute() or ".." in inside.parts or not name.strip():
        raise ValueError(f"{name[:60]!r} is not allowed: the file must be in the folder of the model file or below it")
    path = (folder.resolve() / inside).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name[:60]!r} is outside the folder of the model file")
    try:
        with path.open("rb") as stream:
            content = stream.read(largest + 1)
    except OSError as error:
        raise ValueError(f"the file {name[:60]!r} cannot be read: {error.strerror}") from None
    if len(content) > largest:
        raise ValueError(f"the file {name[:60]!r} cannot be read: it is larger than {largest // 1024} kB")
    return content
