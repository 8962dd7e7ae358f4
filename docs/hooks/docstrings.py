"""Docstrings as the reference shows them: doctests in a frame, comments beside fields as their description, links."""

import re

import griffe

DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)
COMMENT = re.compile(r"#\s*(?!type:|noqa|fmt:)(.+)$")


class Docstrings(griffe.Extension):
    """Called by the reader of the sources for each object it has read."""

    def on_object(self, *, obj: griffe.Object, **_) -> None:
        if isinstance(obj, griffe.Attribute) and obj.docstring is None:
            describe_field(obj)
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(framed, obj.docstring.value)


def framed(found: re.Match) -> str:
    """A doctest as a block of code; without the frame Markdown would take it for quotations."""
    return f"```pycon\n{found[0].rstrip()}\n```\n"


def describe_field(field: griffe.Attribute) -> None:
    """The comment on the line of a field of a record says what it holds."""
    if not isinstance(field.filepath, list) and field.lineno and isinstance(field.parent, griffe.Class):
        line = field.lines_collection[field.filepath][(field.endlineno or field.lineno) - 1]
        if found := COMMENT.search(line):
            field.docstring = griffe.Docstring(found[1], parent=field)
