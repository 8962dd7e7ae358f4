"""The files of a workshop: model files that follow the disk, and examples that may be saved as one's own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from vinculum.errors import FileError
from vinculum.model import limits
from vinculum.writing import write_file

LIBRARY = Path(__file__).parents[1] / "model" / "library"


@dataclass
class ModelText:
    """A text that is edited: its name, its place on the disk (None: not saved yet), and what the disk last had."""

    name: str
    place: Path | None
    text: str
    stamp: tuple[int, int] | None = field(default=None, compare=False)  # of the file when it was last read

    @property
    def folder(self) -> Path:
        """Where files that it names, such as a URDF file, are looked for."""
        return LIBRARY if self.place is None else self.place.parent

    @property
    def base(self) -> str:
        """A fingerprint of what the disk last had; an editor that saves shows which text it started from."""
        return fingerprint(self.text)

    def changed_on_disk(self) -> bool:
        """Read the file again if it was written since; whether its text is another one."""
        if self.place is None:
            return False
        stamp = _stamp(self.place)
        if stamp is None or stamp == self.stamp:
            return False
        text = read_text(self.place)
        changed, self.text, self.stamp = text != self.text, text, stamp
        return changed

    def save(self, text: str, base: str) -> bool:
        """Write the text, unless the disk has another one than the editor started from; whether it was written."""
        if self.place is None:
            raise FileError(f"{self.name} is an example. Save it under a name of your own.")
        self.changed_on_disk()
        if base != self.base and text != self.text:
            return False
        write_file(self.place, text)
        self.text, self.stamp = text, _stamp(self.place)
        return True


def fingerprint(text: str) -> str:
    """A short fingerprint of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _stamp(place: Path) -> tuple[int, int] | None:
    """Time and size of a file; None if it is gone."""
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def read_text(place: Path) -> str:
    """The text of a model file."""
    try:
        with place.open("rb") as stream:
            raw = stream.read(limits.BYTES + 1)
        if len(raw) > limits.BYTES:
            raise FileError(f"{place} is larger than {limits.BYTES // 1024} kB, the maximum size of a model file.")
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise FileError(f"{place} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{place} is not UTF-8. Save it in that encoding.") from error


def opened(place: Path) -> ModelText:
    """A model file of the disk."""
    found = ModelText(place.name, place.resolve(), read_text(place))
    found.stamp = _stamp(found.place or place)
    return found


def example_names() -> list[str]:
    """The names of the examples."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def example(name: str) -> ModelText | None:
    """An example by its name; None if there is none of that name."""
    if name not in example_names():
        return None
    return ModelText(f"{name}.toml", None, read_text(LIBRARY / f"{name}.toml"))


def new_place(folder: Path, name: str) -> Path:
    """The place of a new file in a folder; raises for a name that is not a plain one."""
    plain = name.strip()
    bare = Path(plain)
    if not plain or bare.name != plain or "\\" in plain or plain.startswith(".") or not plain.isprintable():
        raise FileError(f"{name[:60]!r} is not a plain file name. Write a name without folders, as arm.toml.")
    if len(plain) > 120:
        raise FileError("The name is longer than 120 characters.")
    return folder / (plain if bare.suffix == ".toml" else f"{plain}.toml")
