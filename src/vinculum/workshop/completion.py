"""What may be written at a place of a model file: sections, keys, words of a choice, and names in formulas.

All of it comes from the schema, so a new key is offered without a change here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from vinculum.graph.functions import FUNCTIONS
from vinculum.model.schema.schema import schema_text

_SECTION = re.compile(r"^\s*\[\[?\s*([^\[\]\n]+?)\s*\]\]?", re.MULTILINE)
_KEY = re.compile(r"^\s*([A-Za-z_][\w.]*)\s*=", re.MULTILINE)
_LISTED = re.compile(r"^\s*(?:coordinates|states|inputs)\s*=\s*[\[{](.*?)[\]}]", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"[\w.]*$")
_NAMES = re.compile(r"[^\W\d]\w*")
_DECLARING = ("parameters", "definitions", "splines")
_MOST = 100

Option = dict[str, str]


@cache
def schema() -> dict[str, Any]:
    """The schema of model files."""
    return json.loads(schema_text())


def completions(text: str, position: int) -> dict[str, Any]:
    """{"from": where the word begins, "options": [{"label", "type", "info"}, ...]} at a position of a text."""
    before = text[: max(0, min(position, len(text)))]
    line = before[before.rfind("\n") + 1 :]
    found = _WORD.search(line)
    word = found[0] if found else ""
    options = [option for option in _options(text, before, line) if option["label"].startswith(word)]
    return {"from": len(before) - len(word), "options": options[:_MOST]}


def _options(text: str, before: str, line: str) -> Iterator[Option]:
    section = _path(before[: len(before) - len(line)])
    if line.lstrip().startswith("["):
        yield from _sections()
        return
    key, equals, value = line.partition("=")
    if not equals:
        yield from _keys(section)
        return
    place = _at(schema(), [*section, *_parts(key)])
    yield from (_option(word, "enum") for word in _words(place))
    if value.count('"') % 2 and not list(_words(place)):
        yield from _names(text)


def _path(above: str) -> list[str]:
    """The section in which the text above ends."""
    headers = _SECTION.findall(above)
    return _parts(headers[-1]) if headers else []


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".") if part.strip()]


def _option(label: str, kind: str, about: str = "") -> Option:
    return {"label": label, "type": kind, "info": about}


def _sections() -> Iterator[Option]:
    """Names of sections: the tables of the schema."""
    for name, part in schema()["properties"].items():
        if "object" in _types(part):
            yield _option(name, "class", part.get("description", ""))


def _keys(section: list[str]) -> Iterator[Option]:
    for part in _alternatives(_at(schema(), section)):
        for name, own in part.get("properties", {}).items():
            yield _option(name, "property", own.get("description", ""))


def _at(part: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """The part of the schema at a path; empty if there is none."""
    for step in path:
        found: dict[str, Any] = {}
        for choice in _alternatives(part):
            inside = choice.get("properties", {}).get(step) or choice.get("additionalProperties") or choice.get("items")
            found = found or (inside if isinstance(inside, dict) else {})
        part = found
    return part


def _alternatives(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The part itself, and each of its alternatives; the entries of a list of tables."""
    yield part
    for choice in part.get("anyOf", ()):
        yield from _alternatives(choice)
    if isinstance(part.get("items"), dict):
        yield from _alternatives(part["items"])


def _types(part: dict[str, Any]) -> set[str]:
    types: set[str] = set()
    for choice in _alternatives(part):
        own = choice.get("type", [])
        types |= {own} if isinstance(own, str) else set(own)
    return types


def _words(part: dict[str, Any]) -> Iterator[str]:
    for choice in _alternatives(part):
        yield from (word for word in choice.get("enum", ()) if isinstance(word, str))


def _names(text: str) -> Iterator[Option]:
    """Names that formulas may use: those the file declares, dot, and elementary functions."""
    yield _option("dot", "function", "time derivative, as dot(x)")
    yield from (_option(name, "function") for name in FUNCTIONS)
    for name in dict.fromkeys(_declared(text)):
        yield _option(name, "variable")


def _declared(text: str) -> Iterator[str]:
    """Coordinates, states, inputs, parameters and definitions, read loosely: the text may be unfinished."""
    for found in _LISTED.finditer(text):
        entries = re.sub(r'=\s*"[^"]*"', "", found[1])  # units
        yield from _NAMES.findall(entries)
    section = ""
    for line in text.splitlines():
        header = _SECTION.match(line)
        section = header[1] if header else section
        key = _KEY.match(line)
        if key and section in _DECLARING:
            yield key[1]
