"""The location of each value in a TOML document. ``tomllib`` checks and reads the document; this only finds locations.

``tomllib`` has accepted the text, so the scanner may assume that it is valid TOML.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass

Path = tuple[str | int, ...]

STRING = r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(STRING, re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_DOT = re.compile(r"[ \t]*\.[ \t]*")


@dataclass(frozen=True)
class Place:
    """Offsets in the text of a value and of the key before it."""

    value: int
    key: int


class Places:
    """The location of every value, by its path of keys and indices."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.at: dict[Path, Place] = {(): Place(0, 0)}
        self._position = 0
        self._counts: dict[Path, int] = {}
        self._scan()

    def line(self, offset: int) -> int:
        """The line of an offset; the first line is 1."""
        return bisect_right(self.starts, offset)

    def column(self, offset: int) -> int:
        """The column of an offset; the first column is 1."""
        return offset - self.starts[self.line(offset) - 1] + 1

    def of(self, path: Path) -> Place:
        """The location of a value, or of the nearest table around it."""
        while path not in self.at:
            path = path[:-1]
        return self.at[path]

    def content_line(self, path: Path, offset: int, content: str) -> int:
        """The line of a character inside a string value."""
        start = self.of(path).value
        opening = self.text[start : start + 4]
        skipped = opening[:3] in ('"""', "'''") and opening[3:] in ("\n", "\r")
        return self.line(start) + int(skipped) + content.count("\n", 0, offset)

    # -- the scanner -------------------------------------------------------------------------------------------

    def _scan(self) -> None:
        table: Path = ()
        while self._skip() < len(self.text):
            if self.text[self._position] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self) -> int:
        self._position = _BLANK.match(self.text, self._position).end()  # type: ignore[union-attr]  # always matches
        return self._position

    def _header(self) -> Path:
        """[a.b] or [[a.b]]: the path that the following keys belong to."""
        start, double = self._position, self.text.startswith("[[", self._position)
        self._position += 1 + double
        parts = self._key()
        self._position += 1 + double
        path = (*self._resolved(parts[:-1]), parts[-1])
        if double:
            self._counts[path] = self._counts.get(path, 0) + 1
            self.at.setdefault(path, Place(start, start))
        path = self._resolved(parts)
        self._note(path, start, start)
        return path

    def _resolved(self, parts: list[str]) -> Path:
        """The path of a header, with the number of the last entry of each array of tables on the way."""
        path: Path = ()
        for part in parts:
            path = (*path, part)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        return path

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._blank()
            parts.append(self._key_part())
            dot = _DOT.match(self.text, self._position)
            if dot is None:
                break
            self._position = dot.end()
        self._blank()
        return parts

    def _blank(self) -> None:
        while self.text[self._position : self._position + 1] in (" ", "\t"):
            self._position += 1

    def _key_part(self) -> str:
        match = _STRING.match(self.text, self._position) or _BARE.match(self.text, self._position)
        assert match is not None, "tomllib accepted the document"
        self._position = match.end()
        raw = match.group()
        return tomllib.loads(f"key = {raw}")["key"] if raw[0] in "\"'" else raw

    def _pair(self, table: Path) -> None:
        start = self._position
        path = (*table, *self._key())
        self._position += 1  # =
        self._blank()
        self._note(path, self._position, start)
        self._value(path)

    def _note(self, path: Path, value: int, key: int) -> None:
        for end in range(1, len(path)):
            self.at.setdefault(path[:end], Place(value, key))
        self.at[path] = Place(value, key)

    def _value(self, path: Path) -> None:
        first = self.text[self._position]
        if first == "[":
            self._array(path)
        elif first == "{":
            self._inline(path)
        else:
            match = _STRING.match(self.text, self._position) or _SCALAR.match(self.text, self._position)
            self._position = match.end()  # type: ignore[union-attr]  # a scalar always matches

    def _array(self, path: Path) -> None:
        self._position += 1
        index = 0
        while self.text[self._skip()] != "]":
            if self.text[self._position] == ",":
                self._position += 1
                continue
            entry = (*path, index)
            self._note(entry, self._position, self._position)
            self._value(entry)
            index += 1
        self._position += 1

    def _inline(self, path: Path) -> None:
        self._position += 1
        while self.text[self._skip()] != "}":
            if self.text[self._position] == ",":
                self._position += 1
                continue
            self._pair(path)
        self._position += 1
