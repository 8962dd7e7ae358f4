"""Docstrings as the reference shows them: doctests in a frame, names as links, comments as descriptions of fields."""

import inspect
import re
from functools import cache

import griffe

import vinculum as vn

DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)
COMMENT = re.compile(r"#\s*(?!type:|noqa|fmt:)(.+)$")
NAME = re.compile(r"(?<![`\[])`([A-Za-z_]\w*)(?:\(\))?`(?!`)")


class Docstrings(griffe.Extension):
    """Called by the reader of the sources for each object it has read."""

    def on_object(self, *, obj: griffe.Object, **_) -> None:
        if isinstance(obj, griffe.Attribute) and obj.docstring is None:
            describe_field(obj)
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(framed, NAME.sub(linked, obj.docstring.value))


def framed(found: re.Match) -> str:
    """A doctest as a block of code; without the frame Markdown would take it for quotations."""
    return f"```pycon\n{found[0].rstrip()}\n```\n"


def linked(found: re.Match) -> str:
    """A public name as a link to its place in the reference."""
    path = places().get(found[1])
    return f"[{found[0]}][{path}]" if path else found[0]


@cache
def places() -> dict[str, str]:
    """Where each public name is defined."""
    return {
        name: f"{inspect.getmodule(value).__name__}.{value.__name__}"
        for name, value in public_names().items()
        if hasattr(value, "__name__")
    }


def public_names() -> dict[str, object]:
    """All public names: those of the package, then those of its parts."""
    parts = [vn, *(getattr(vn, name) for name in (*vn._PARTS, "simulation", "model"))]
    return {name: getattr(part, name) for part in parts for name in part.__all__}


def describe_field(field: griffe.Attribute) -> None:
    """The comment on the line of a field of a record says what it holds."""
    if not isinstance(field.filepath, list) and field.lineno and isinstance(field.parent, griffe.Class):
        line = field.lines_collection[field.filepath][(field.endlineno or field.lineno) - 1]
        if found := COMMENT.search(line):
            field.docstring = griffe.Docstring(found[1], parent=field)
