"""Long straight code as several functions: the time LLVM takes grows faster than the length of a function.

The lines of a body are divided into parts of equal length. A number that a later part needs goes through an array of
doubles, ``%scratch``; its place is free again after the last part that reads it. Whatever else a later part needs
(addresses, arguments, comparisons) is written there again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LENGTH = 1000  # lines of one part

_RESULT = re.compile(r"  (%v\d+) = ")
_NAME = re.compile(r"%v\d+")
_ARRAY = re.compile(r"alloca \[(\d+) x double\]")
_COMPUTED = re.compile(r" = (fadd|fsub|fmul|fdiv|fneg|select|call double|uitofp)\b")  # doubles worth keeping


@dataclass(eq=False)
class Part:
    """Some lines in order, and what they need of the parts before."""

    lines: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)  # names in this part
    read: dict[str, int] = field(default_factory=dict)  # numbers of parts before, and before which line they are read

    def add(self, line: str, made: Mapping[str, str]) -> None:
        """A line after everything that it needs."""
        result = _RESULT.match(line)
        for name in dict.fromkeys(_NAME.findall(line, result.end() if result else 0)):
            if name not in self.known:
                self._need(name, made)
        self.lines.append(line)
        if result:
            self.known.add(result[1])

    def _need(self, name: str, made: Mapping[str, str]) -> None:
        if _COMPUTED.search(made[name]):
            self.read[name] = len(self.lines)
            self.known.add(name)
        else:
            self.add(made[name], made)


def divided(lines: Sequence[str], arguments: str, length: int = LENGTH) -> tuple[list[str], list[str]]:
    """(definitions of the parts, body that calls them) for the lines of a function with these arguments."""
    lines, first = _arrays_in_scratch(lines)
    made = {found[1]: line for line in lines if (found := _RESULT.match(line))}
    parts = [Part() for _ in range(0, len(lines), length)]
    for i, line in enumerate(lines):
        parts[i // length].add(line, made)
    places, size = _places(parts, first)
    given = f"{arguments}, ptr %scratch"
    definitions = [
        "\n".join([f"define internal void @part{k}({given}) nounwind noinline {{", *_written(part, places), "}"])
        for k, part in enumerate(parts)
    ]
    calls = [f"  call void @part{k}({given.replace('noalias ', '')})" for k in range(len(parts))]
    return definitions, [f"  %scratch = alloca [{size} x double]", *calls]


def _arrays_in_scratch(lines: Sequence[str]) -> tuple[list[str], int]:
    """The lines with arrays of the body at the beginning of scratch, and how many doubles these have."""
    found, size = [], 0
    for line in lines:
        array = _ARRAY.search(line)
        place = f"getelementptr double, ptr %scratch, i64 {size}"
        found.append(_ARRAY.sub(place, line) if array else line)
        size += int(array[1]) if array else 0
    return found, size


def _places(parts: Sequence[Part], first: int) -> tuple[dict[str, int], int]:
    """The place in scratch of every number that a later part reads, and the size of scratch."""
    last = {name: k for k, part in enumerate(parts) for name in part.read}
    places: dict[str, int] = {}
    free: list[int] = []
    size = first
    for k, part in enumerate(parts):
        for name in sorted((part.known & last.keys()) - places.keys(), key=lambda name: int(name[2:])):
            places[name] = free.pop() if free else size
            size = max(size, places[name] + 1)
        free += [places[name] for name in part.read if last[name] == k]
    return places, size


def _written(part: Part, places: Mapping[str, int]) -> list[str]:
    """The lines of a part, with numbers read where they are first needed and kept where they are made."""
    reads: dict[int, list[str]] = {}
    for name, i in part.read.items():
        reads.setdefault(i, []).append(name)
    found: list[str] = []
    for i, line in enumerate(part.lines):
        for name in reads.get(i, ()):
            found += [_place(name, places), f"  {name} = load double, ptr {name}.place"]
        found.append(line)
        result = _RESULT.match(line)
        if result and result[1] in places and result[1] not in part.read and _COMPUTED.search(line):
            found += [_place(result[1], places), f"  store double {result[1]}, ptr {result[1]}.place"]
    return [*found, "  ret void"]


def _place(name: str, places: Mapping[str, int]) -> str:
    return f"  {name}.place = getelementptr double, ptr %scratch, i64 {places[name]}"
