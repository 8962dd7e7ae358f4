"""Options of forms, methods and stabilizations: fields that a user sets, with the words for a wrong one.

Forms and stabilizations describe each option (`option`), so model files, their schema and the documentation know it.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from vinculum.errors import VinculumError
from vinculum.names import suggestion

KINDS = (
    "choice",  # one of the ``allowed`` words
    "flag",  # true or false
    "number",
    "gains",  # one number, or {constraint: number}
    "coordinates",  # a list of coordinates
    "state",  # {coordinate or velocity: number}
    "rates",  # one number, or {constraint: number}
    "prescription",  # the same, a list of numbers, or a `Perturbation`
    "characteristics",  # {new function of time: expression of q, q̇ and t}
    "inverse",  # {velocity: expression}, or "newton"
    "release",  # {constraint: new function of time}
    "input laws",  # {input: expression}
    "input weights",  # {input: number}
)
_MAPPINGS = {
    "state": "{coordinate or velocity: number}",
    "characteristics": "{new function of time: expression of q, dot(q) and t}",
    "inverse": '{velocity: expression}, or "newton"',
    "release": "{constraint: new function of time}",
    "input laws": "{input: expression}",
    "input weights": "{input: number}",
}
_FEEDBACKS = {"poles": ("poles", "inputs"), "gain": ("gain",), "pid": ("pid",)}  # ways to give one, and their keys


@dataclass(frozen=True)
class Option:
    """An option: the kind of its values, one sentence about it, the allowed words of a choice, whether it is needed.

    The kind, one of `KINDS`, says how a model file writes the option.
    """

    kind: str
    about: str
    allowed: tuple[str, ...] = ()
    needed: bool = False


def option(kind: str, about: str, *, default: Any = None, allowed: Sequence[str] = (), needed: bool = False) -> Any:
    """A field that users may set. A ``needed`` one has no default."""
    if kind not in KINDS:
        raise VinculumError(f"There is no kind of option {kind!r}.{suggestion(kind, KINDS)} Use {', '.join(KINDS)}.")
    return dataclasses.field(default=default, metadata={"option": Option(kind, about, tuple(allowed), needed)})


@cache
def _field_names(kind: type) -> tuple[list[str], list[str]]:
    """The fields of a dataclass that may be given, and those of them that need no name."""
    fields = [field for field in dataclasses.fields(kind) if field.init]
    return [field.name for field in fields], [field.name for field in fields if not field.kw_only]


class Choice:
    """A frozen dataclass that a user builds. Arguments that it does not have are refused in our words."""

    def __new__(cls, *values: Any, **given: Any) -> Self:
        """Refuse arguments that are not fields, before Python does."""
        if dataclasses.is_dataclass(cls):
            names, positional = _field_names(cls)
            cls.refuse_unknown(given, names)
            _refuse_values(cls.title(), values, given, positional)
        return super().__new__(cls)

    @classmethod
    def refuse_unknown(cls, given: Iterable[str], known: Sequence[str]) -> None:
        """Raise for options that do not exist; a subclass may know why they do not."""
        refuse_unknown(cls.title(), given, known)

    @classmethod
    def title(cls) -> str:
        """The name in messages."""
        return cls.__name__


@cache
def _options(kind: type) -> dict[str, Option]:
    """The described fields of a dataclass."""
    return {field.name: field.metadata["option"] for field in dataclasses.fields(kind) if "option" in field.metadata}


class Described(Choice):
    """A choice whose options are described with `option`."""

    def __post_init__(self) -> None:
        """Refuse a missing option and a word that is not allowed."""
        for name, choice in self.options().items():
            value = getattr(self, name)
            if choice.needed and value is None:
                raise VinculumError(f"{self.title()} needs {name}. {choice.about}")
            if choice.kind == "choice" and value not in choice.allowed:
                near, allowed = suggestion(str(value), choice.allowed), " or ".join(map(repr, choice.allowed))
                raise VinculumError(f"{self.title()} does not accept {name}={value!r}.{near} Use {allowed}.")
            shape = _shape(choice.kind, value)
            if value is not None and shape:
                raise VinculumError(f"{self.title()} does not accept {name}={value!r}. Write {name}={shape}.")

    @classmethod
    def options(cls) -> dict[str, Option]:
        """The options by name, in the order of the fields."""
        return dict(_options(cls))  # type: ignore[arg-type]  # classes are hashable, whatever their instances are


def _shape(kind: str, value: Any) -> str | None:
    """How a value is written that is not the mapping or list its kind asks for."""
    if kind in _MAPPINGS and not isinstance(value, Mapping) and not (kind == "inverse" and isinstance(value, str)):
        return _MAPPINGS[kind]
    if kind == "coordinates" and (isinstance(value, str) or not isinstance(value, Iterable)):
        return "[coordinate, ...]"
    return None


def refuse_unknown(subject: str, given: Iterable[str] | Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise for names that are not known options, with a suggestion and the options that exist."""
    known = list(known)
    unknown = [name for name in given if name not in known]
    if unknown:
        near = suggestion(unknown[0], known) if len(unknown) == 1 else ""
        raise VinculumError(f"{subject} has no option {', '.join(unknown)}.{near} {options_listed(known)}.")


def _refuse_values(subject: str, values: Sequence[Any], given: Mapping[str, Any], positional: Sequence[str]) -> None:
    """Raise for more values without a name than there may be, and for an option that is given twice."""
    if len(values) > len(positional):
        names = f"only {', '.join(positional)}" if positional else "none"
        raise VinculumError(f"{subject} got {len(values)} values without a name; it takes {names} without a name.")
    twice = [name for name in positional[: len(values)] if name in given]
    if twice:
        raise VinculumError(f"{subject} got {', '.join(twice)} twice, without a name and with it. Leave out one.")


def real_number(value: object) -> float | None:
    """A finite real number as a float; None for anything else: text, complex numbers, true and false, arrays.

    >>> real_number(2), real_number("2"), real_number(True), real_number(float("nan"))
    (2.0, None, None, None)
    """
    known = isinstance(value, numbers.Real) or getattr(value, "is_real", False) is True  # SymPy's numbers too
    if not known or isinstance(value, bool):
        return None
    try:
        found = float(value)  # type: ignore[arg-type]  # a real number
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def options_listed(known: Iterable[str]) -> str:
    """``Its options are a, b``, without a period."""
    names = list(known)
    return f"Its {'option is' if len(names) == 1 else 'options are'} {', '.join(names)}" if names else "It has none"


def mixed_keys(control: Mapping[str, Any]) -> list[str]:
    """Sentences about keys of a feedback that exclude each other."""
    kind = next((kind for kind in _FEEDBACKS if kind in control), None)
    if kind is None:
        return []
    extra = [key for key in control if key not in _FEEDBACKS[kind]]
    return [f"{kind} determines the feedback. Remove {', '.join(extra)}, or {kind}."] if extra else []
