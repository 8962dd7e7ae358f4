"""Shapes of values in a model file. One description both checks a file and makes the JSON schema, so they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from vinculum.model import limits
from vinculum.model.text.location import Path
from vinculum.names import suggestion

Complaint = tuple[Path, str]


@dataclass(frozen=True)
class Shape:
    """The shape of a value. ``about`` is the sentence shown by editors and in the reference."""

    about: str = ""

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        """All problems of a value."""
        if not self.fits(value):
            yield path, f"found {_shown(value)}; {self.wanted} is needed."

    def fits(self, value: Any) -> bool:
        """Whether the outermost type matches."""
        raise NotImplementedError

    @property
    def wanted(self) -> str:
        """The shape in words."""
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        raise NotImplementedError

    def pruned(self, value: Any, path: Path, wrong: set[Path]) -> Any:
        """The value without its invalid parts; None if nothing remains."""
        return None if path in wrong else value

    def described(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema with the description."""
        return schema | ({"description": self.about} if self.about else {})


@dataclass(frozen=True)
class Simple(Shape):
    """A value without parts, of one of some Python types; true and false are not numbers here."""

    types: ClassVar[tuple[type, ...]]
    words: ClassVar[str]
    json_type: ClassVar[str | list[str]]

    def fits(self, value: Any) -> bool:
        return isinstance(value, self.types) and (bool in self.types or not isinstance(value, bool))

    @property
    def wanted(self) -> str:
        return self.words

    def schema(self) -> dict[str, Any]:
        return self.described({"type": self.json_type})


class Formula(Simple):
    """An expression in quotes, or a number."""

    types = (str, int, float)
    words = 'a formula in quotes, such as "m*dot(x)^2/2", or a number'
    json_type: ClassVar = ["string", "number"]


class Plain(Simple):
    """A number as TOML writes it."""

    types = (int, float)
    words = "a number"
    json_type = "number"


class Flag(Simple):
    """true or false."""

    types = (bool,)
    words = "true or false"
    json_type = "boolean"


@dataclass(frozen=True)
class Text(Shape):
    """A string, one of ``choices`` if there are any; a function returns the current names of a registry."""

    choices: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The choices."""
        return self.choices() if callable(self.choices) else self.choices

    def fits(self, value: Any) -> bool:
        return isinstance(value, str)

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        yield from super().complaints(value, path)
        if isinstance(value, str) and self.names and value not in self.names:
            yield path, f"{value[:40]!r} is not one of {', '.join(self.names)}.{suggestion(value[:40], self.names)}"

    @property
    def wanted(self) -> str:
        return f"one of {', '.join(self.names)}" if self.names else "a text in quotes"

    def schema(self) -> dict[str, Any]:
        return self.described({"type": "string"} | ({"enum": list(self.names)} if self.names else {}))


@dataclass(frozen=True)
class Name(Text):
    """The name of a coordinate, an input, a constraint, a body or a point."""

    @property
    def wanted(self) -> str:
        return 'a name in quotes, such as "x"'


@dataclass(frozen=True)
class Number(Shape):
    """A number: plain, a formula of parameters, or with a unit."""

    def fits(self, value: Any) -> bool:
        return Formula().fits(value) or (isinstance(value, dict) and bool({"value", "unit"} & set(value)))

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        yield from super().complaints(value, path)
        if self.fits(value) and isinstance(value, dict):
            yield from WITH_UNIT.complaints(value, path)

    def pruned(self, value: Any, path: Path, wrong: set[Path]) -> Any:
        return WITH_UNIT.pruned(value, path, wrong) if isinstance(value, dict) else super().pruned(value, path, wrong)

    @property
    def wanted(self) -> str:
        return 'a number, a formula of parameters, or a number with a unit, such as "9.81 m/s^2",'

    def schema(self) -> dict[str, Any]:
        return self.described({"anyOf": [{"type": ["number", "string"]}, WITH_UNIT.schema()]})


@dataclass(frozen=True)
class Whole(Shape):
    """A whole number between bounds."""

    least: int = 0
    most: int = 100_000

    def fits(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most

    @property
    def wanted(self) -> str:
        return f"a whole number from {self.least} to {self.most}"

    def schema(self) -> dict[str, Any]:
        return self.described({"type": "integer", "minimum": self.least, "maximum": self.most})


@dataclass(frozen=True)
class ListOf(Shape):
    """A list of one shape, with an optional length."""

    entry: Shape = field(default_factory=Formula)
    length: int | None = None

    def fits(self, value: Any) -> bool:
        return isinstance(value, list)

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        yield from super().complaints(value, path)
        if not isinstance(value, list):
            return
        if self.length is not None and len(value) != self.length:
            yield path, f"{len(value)} entries were found; {self.length} are needed."
        yield from _of_entries(self.entry, enumerate(value), len(value), path)

    def pruned(self, value: Any, path: Path, wrong: set[Path]) -> Any:
        kept = [] if path in wrong else [self.entry.pruned(x, (*path, i), wrong) for i, x in enumerate(value)]
        return None if path in wrong or any(entry is None for entry in kept) else kept

    @property
    def wanted(self) -> str:
        return f"a list{f' of {self.length}' if self.length else ''} in brackets"

    def schema(self) -> dict[str, Any]:
        sized = {"minItems": self.length, "maxItems": self.length} if self.length is not None else {}
        return self.described({"type": "array", "items": self.entry.schema()} | (sized or {"maxItems": limits.LIST}))


@dataclass(frozen=True)
class MapOf(Shape):
    """A table with entries of one shape under names that the user chooses."""

    entry: Shape = field(default_factory=Formula)

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        yield from super().complaints(value, path)
        if isinstance(value, dict):
            yield from _of_entries(self.entry, value.items(), len(value), path)

    def pruned(self, value: Any, path: Path, wrong: set[Path]) -> Any:
        if path in wrong:
            return None
        kept = {key: self.entry.pruned(entry, (*path, key), wrong) for key, entry in value.items()}
        return {key: entry for key, entry in kept.items() if entry is not None}

    @property
    def wanted(self) -> str:
        return "a table, such as {x = ...},"

    def schema(self) -> dict[str, Any]:
        return self.described(
            {"type": "object", "additionalProperties": self.entry.schema(), "maxProperties": limits.LIST}
        )


def _of_entries(shape: Shape, entries: Iterable[tuple[int | str, Any]], count: int, path: Path) -> Iterator[Complaint]:
    """All problems of entries of one shape, or that there are too many of them."""
    if count > limits.LIST:
        yield path, f"{count} entries were found; at most {limits.LIST} are allowed."
        return
    for key, entry in entries:
        yield from shape.complaints(entry, (*path, key))


@dataclass(frozen=True)
class Table(Shape):
    """A table with known keys."""

    keys: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        yield from super().complaints(value, path)
        if not isinstance(value, dict):
            return
        for key in (key for key in self.required if key not in value):
            yield path, f"{key} is missing. {self.keys[key].about}"
        for key, entry in value.items():
            if key in self.keys:
                yield from self.keys[key].complaints(entry, (*path, key))
            else:
                known = ", ".join(self.keys)
                near = suggestion(key[:40], self.keys) or f" Known here: {known}."
                yield (*path, key), f"{key[:40]} is not a key of this table.{near}"

    def pruned(self, value: Any, path: Path, wrong: set[Path]) -> Any:
        if path in wrong:
            return None
        known = {key: entry for key, entry in value.items() if key in self.keys}
        kept = {key: self.keys[key].pruned(entry, (*path, key), wrong) for key, entry in known.items()}
        kept = {key: entry for key, entry in kept.items() if entry is not None}
        return kept if all(key in kept for key in self.required) else None

    @property
    def wanted(self) -> str:
        return f"a table with {', '.join(list(self.keys)[:6])}"

    def schema(self) -> dict[str, Any]:
        made = {"type": "object", "properties": {key: shape.schema() for key, shape in self.keys.items()}}
        return self.described(made | {"required": list(self.required), "additionalProperties": False})


@dataclass(frozen=True)
class Either(Shape):
    """One of several shapes; the first one whose outermost type matches is checked."""

    options: tuple[Shape, ...] = ()

    def fits(self, value: Any) -> bool:
        return any(option.fits(value) for option in self.options)

    def complaints(self, value: Any, path: Path) -> Iterator[Complaint]:
        yield from super().complaints(value, path)
        for option in self.options:
            if option.fits(value):
                yield from option.complaints(value, path)
                return

    def pruned(self, value: Any, path: Path, wrong: set[Path]) -> Any:
        if path in wrong:
            return None
        return next(option for option in self.options if option.fits(value)).pruned(value, path, wrong)

    @property
    def wanted(self) -> str:
        return " or ".join(option.wanted for option in self.options)

    def schema(self) -> dict[str, Any]:
        return self.described({"anyOf": [option.schema() for option in self.options]})


WITH_UNIT = Table(
    keys={"value": Plain("The number."), "unit": Text("Its unit, such as m/s^2.")}, required=("value", "unit")
)


def _shown(value: Any) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    kind = next((name for cls, name in kinds.items() if isinstance(value, cls)), "a date")
    return kind if isinstance(value, (list, dict)) else f"{kind} ({str(value)[:40]})"
