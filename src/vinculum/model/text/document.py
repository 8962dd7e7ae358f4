"""The data of a file; size, encoding and nesting are checked before parsing."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from vinculum.model import limits
from vinculum.model.text.location import STRING, Path, Places
from vinculum.model.text.problems import ModelFileError, Problem

_TOKENS = re.compile(
    rf"(?P<string>{STRING})|(?P<comment>#[^\n]*)|(?P<long>[0-9_]{{400,}})|(?P<mark>[\[\]{{}}.=,\n])", re.DOTALL
)
_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")


@dataclass(frozen=True, eq=False)
class Document:
    """A TOML document: its name for messages, its data, and the places of its values."""

    file: str
    data: dict[str, Any]
    places: Places
    folder: FilePath

    def problem(self, path: Path, message: str) -> Problem:
        """A problem with the value at a path."""
        offset = self.places.of(path).key
        return Problem(message, dotted(path), self.places.line(offset), self.places.column(offset))

    def inside(self, path: Path, content: str, start: int, end: int, message: str) -> Problem:
        """A problem with a part of a string, with the line of the string for the caret."""
        first = content.rfind("\n", 0, start) + 1
        last = content.find("\n", start)
        excerpt = content[first : last if last >= 0 else len(content)]
        line = self.places.content_line(path, start, content)
        column = self.places.column(self.places.of(path).value) + 1 + start if first == 0 else start - first + 1
        return Problem(message, dotted(path), line, column, excerpt, start - first, end - first)


def dotted(path: Path) -> str:
    """A path in dotted form: system.constraints.rod, events[1].name."""
    shown = ""
    for part in path:
        shown += f"[{part + 1}]" if isinstance(part, int) else f".{part[:60]}" if shown else part[:60]
    return shown


def read_document(source: FilePath) -> Document:
    """The document in a file."""
    return parse_document(_text(source), str(source), source.parent)


def parse_document(text: str, file: str, folder: FilePath) -> Document:
    """The document in a text; an error if it is nested too deeply or is not TOML."""
    text = text.replace("\r\n", "\n")
    found = _too_large(text)
    if found is not None:
        raise ModelFileError(file, [found])
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelFileError(file, [_not_toml(text, str(error))]) from None
    except RecursionError:
        raise ModelFileError(file, [Problem("the document is nested too deeply. Use fewer levels.")]) from None
    return Document(file, data, Places(text), folder)


def _text(source: FilePath) -> str:
    name = str(source)
    try:
        with source.open("rb") as stream:
            raw = stream.read(limits.BYTES + 1)
    except FileNotFoundError:
        raise ModelFileError(
            name, [Problem(f"there is no such file. To create one: vinculum new {name}", whole=True)]
        ) from None
    except OSError as error:
        raise ModelFileError(
            name, [Problem(f"the file cannot be read: {error.strerror or error}.", whole=True)]
        ) from None
    if len(raw) > limits.BYTES:
        most = f"{limits.BYTES // 1024} kB"
        raise ModelFileError(name, [Problem(f"the file is larger than {most}, the maximum size.", whole=True)])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ModelFileError(name, [Problem("the file is not UTF-8. Save it in that encoding.", line=line)]) from None


def _too_large(text: str) -> Problem | None:
    """Refuse more values, deeper brackets or longer keys than a mechanism needs: they slow down parsers."""
    depth = parts = values = 0
    for match in _TOKENS.finditer(text):
        if match["long"] is not None:
            return _at(text, match.start(), "a number has hundreds of digits. Write it as 1.5e9.")
        mark = match["mark"]
        if mark is None:
            continue
        values += mark in ",="
        if values > limits.VALUES:
            return _at(text, match.start(), f"the file has more than {limits.VALUES} values, the maximum.")
        depth += (mark in "[{") - (mark in "]}")
        parts = parts + 1 if mark == "." else 0
        if depth > limits.NESTING or parts >= limits.KEY_PARTS:
            what = "brackets are nested more than" if depth > limits.NESTING else "a key has more than"
            most = limits.NESTING if depth > limits.NESTING else limits.KEY_PARTS
            return _at(text, match.start(), f"{what} {most} levels, the maximum.")
        depth = max(depth, 0)
    return None


def _at(text: str, offset: int, message: str) -> Problem:
    """Report a problem at an offset of the text."""
    column = offset - text.rfind("\n", 0, offset)
    return Problem(message, line=text.count("\n", 0, offset) + 1, column=column)


def _not_toml(text: str, message: str) -> Problem:
    """The message of tomllib, with the line it refers to."""
    place = _POSITION.search(message)
    lines = text.split("\n")
    line, column = len(lines), len(lines[-1]) + 1
    if place is not None and place[1]:
        line, column = int(place[1]), int(place[2])
    said = _POSITION.sub("", message).strip().rstrip(".")
    excerpt = lines[line - 1] if line <= len(lines) else ""
    twice = _repeated(said, excerpt)
    return Problem(twice or f"invalid TOML: {said}.{_hint(excerpt)}", "", line, column, excerpt, column - 1, column)


def _repeated(said: str, line: str) -> str:
    """The message for a key or a table that appears twice; empty for other errors."""
    stated = line.strip()
    if said.startswith("Cannot overwrite a value") and "=" in stated:
        return f"the key {stated.partition('=')[0].strip()[:60]} appears twice in this table. Delete one of them."
    if re.fullmatch(r"Cannot declare .* twice", said) and stated.startswith("["):
        return f"the table {stated.partition('#')[0].strip()[:60]} appears twice. Merge the two."
    return ""


_UNQUOTED = re.compile(r"(?:^|[{,])\s*([^\s\"'={},\[\]#.]*[^\s\"'={},\[\]#.A-Za-z0-9_-][^\s\"'={},\[\]#.]*)\s*=")


_WITH_UNIT = re.compile(
    r"([\w.-]+)\s*=\s*([-+]?\d[\d.]*(?:[eE][-+]?\d+)?\s*(?!e[-+]?\d)[A-Za-zµΩ°%][\w/*^·²³⁻¹ ]*)\s*(?:[,}#]|$)"
)


def _hint(line: str) -> str:
    """The likely cause in a line that is not TOML; none for a very long line."""
    if len(line) > 300:
        return ""
    unquoted = _UNQUOTED.search(line)
    if unquoted is not None:
        return f' A key with characters other than a to z, 0 to 9, _ and - must be in quotes: "{unquoted[1]}" = ...'
    unit = _WITH_UNIT.search(line)
    if unit is not None:
        return f' A number with a unit must be in quotes: {unit[1]} = "{unit[2].strip()}"'
    key, equals, value = line.partition("=")
    if equals and value.strip() and value.strip()[0] not in "\"'[{0123456789+.tf":
        return f' Expressions and words must be in quotes: {key.strip()} = "{value.strip()}"'
    return ""
