"""Long functions of JavaScript in parts: a browser compiles no function of several thousand operations.

V8 gives up with "Function is too big to be optimized" and interprets the function, which takes ten times as long. The
lines are divided into parts of equal length; a value that a later part needs goes through an array of the function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST = 24_000  # characters of a part; the limit is near 70 000, and short functions are compiled sooner
_NAME = re.compile(r"\bv\d+\b")
_DEFINED = re.compile(r"  const (v\d+) = ")


def divided(name: str, arguments: Sequence[str], groups: Sequence[Sequence[str]], ends: Sequence[str]) -> str:
    """The function of groups of lines, with a line of ``ends`` before every group: one text, the function first."""
    chunks = [_chunks(lines) for lines in groups]
    flat = [chunk for own in chunks for chunk in own]
    places = _places(flat)
    own = [*arguments, f"{name}_kept"] if places else list(arguments)
    called = iter(f"  {name}_part{i}({', '.join(own)});" for i in range(len(flat)))
    body = [line for end, group in zip(ends, chunks, strict=True) for line in (end, *(next(called) for _ in group))]
    head = [f"function {name}({', '.join(arguments)}) {{", *filter(None, body), "}"]
    parts = [_part(f"{name}_part{i}", [*arguments, "kept"] if places else own, chunk, places)
             for i, chunk in enumerate(flat)]  # fmt: skip
    kept = [f"const {name}_kept = new Float64Array({len(places)});"] if places else []
    return "\n".join([*head, *kept, *parts])


def _chunks(lines: Sequence[str]) -> list[list[str]]:
    """The lines in pieces of about the same length, each of at most MOST characters or one line."""
    total = sum(map(len, lines))
    size, length = total / max(1, -(-total // MOST)), 0
    found: list[list[str]] = [[]] if lines else []
    for line in lines:
        if found[-1] and length + len(line) > size * len(found):
            found.append([])
        found[-1].append(line)
        length += len(line)
    return found


def _places(chunks: Sequence[Sequence[str]]) -> dict[str, int]:
    """Values that are used after the piece in which they are defined, with their places in the array."""
    defined: dict[str, int] = {}
    found: dict[str, int] = {}
    for k, chunk in enumerate(chunks):
        for line in chunk:
            for used in _NAME.findall(line):
                if defined.setdefault(used, k) != k:
                    found.setdefault(used, len(found))
    return found


def _part(name: str, arguments: Sequence[str], lines: Sequence[str], places: dict[str, int]) -> str:
    """A piece: it reads what it needs of earlier ones, and keeps what later ones need."""
    own = [match[1] for line in lines if (match := _DEFINED.match(line))]
    used = dict.fromkeys(found for line in lines for found in _NAME.findall(line))
    read = [f"  const {value} = kept[{places[value]}];" for value in used if value in places and value not in own]
    keep = [f"  kept[{places[value]}] = {value};" for value in own if value in places]
    return "\n".join([f"function {name}({', '.join(arguments)}) {{", *read, *lines, *keep, "}"])
