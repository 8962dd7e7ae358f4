"""The JSON schema of model files and the reference of their keys, from the same table that is used to read files.

Editors complete and check model files with ``schema.json``. To update it and the reference in the documentation:
``python -m vinculum.model.schema.schema docs/model_files.md``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vinculum.model.schema.layout import MECHANISMS, MODEL
from vinculum.model.schema.schema_types import (
    Either,
    Flag,
    Formula,
    ListOf,
    MapOf,
    Number,
    Plain,
    Shape,
    Table,
    Text,
    Whole,
)
from vinculum.writing import write_file

FILE = Path(__file__).with_name("schema.json")
NAME = "urn:vinculum:model"


def schema() -> dict[str, Any]:
    """The schema as a dictionary; exactly one kind of mechanism is required."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": NAME, "title": "Vinculum model"}
    return head | MODEL.schema() | {"oneOf": [{"required": [kind]} for kind in MECHANISMS]}


def schema_text() -> str:
    """The text of ``schema.json``."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


BEGIN, END = "<!-- keys -->", "<!-- end of keys -->"
_WORDS = {Formula: "formula", Number: "number", Plain: "number", Whole: "whole number", Flag: "true or false"}


def reference() -> str:
    """A table of keys for the file and for each of its tables."""
    return "\n".join(line for title, table in _tables("", MODEL) for line in _lines(title, table))


def _tables(path: str, table: Table) -> Iterator[tuple[str, Table]]:
    """A table and the tables inside it, by their headers."""
    yield path, table
    for key, shape in table.keys.items():
        for inner in _inside(shape):
            yield from _tables(f"{path}.{key}".lstrip("."), inner)


def _inside(shape: Shape) -> list[Table]:
    """The tables with known keys inside a shape."""
    if isinstance(shape, Table):
        return [shape]
    if isinstance(shape, (ListOf, MapOf)):
        return _inside(shape.entry)
    return [table for option in getattr(shape, "options", ()) for table in _inside(option)]


def _lines(title: str, table: Table) -> Iterator[str]:
    yield f"### `{title}`" if title else "### The file"
    yield ""
    if table.about:
        yield from (table.about, "")
    yield from ("| key | value | meaning |", "|---|---|---|")
    for key, shape in table.keys.items():
        must = " (needed)" if key in table.required else ""
        yield f"| `{key}`{must} | {_kind(shape)} | {shape.about.replace('|', '&#124;')} |"
    yield ""


def _kind(shape: Shape) -> str:
    """A shape in a word or two."""
    if isinstance(shape, Text):
        return ", ".join(f"`{choice}`" for choice in shape.names) or "text"
    if isinstance(shape, ListOf):
        return f"list of {shape.length or ''} {_kind(shape.entry)}".replace("  ", " ")
    if isinstance(shape, MapOf):
        return f"table by name: {_kind(shape.entry)}"
    if isinstance(shape, Either):
        return " or ".join(dict.fromkeys(map(_kind, shape.options)))
    return _WORDS.get(type(shape), "table")


def with_reference(page: str) -> str:
    """A page with its reference updated."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{after}"


if __name__ == "__main__":
    write_file(FILE, schema_text())
    for page in map(Path, sys.argv[1:]):
        write_file(page, with_reference(page.read_text(encoding="utf-8")))
