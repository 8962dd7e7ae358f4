"""The errors Vinculum raises. Each message gives what was found, the likely cause, and what to type.

Errors are data: a `Finding` holds the problem, the advice, and the part of the model it concerns. The calls to type are
`Call` objects within the advice. They are rendered in the language of the model: as Python by this module, as keys of a
model file by ``vinculum.model.text.file_words``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy as sp

from vinculum.names import name_of
from vinculum.visible import visible

__all__ = [
    "About", "Call", "ConstraintError", "DomainError", "FileError", "Finding", "ModelError", "SingularError",
    "VinculumError", "call",
]  # fmt: skip


class About(NamedTuple):
    """The part of a model that a finding concerns: ``energy``, ``constraint``, ``input``, ... and its name."""

    kind: str
    name: str = ""


class Word(str):
    """A placeholder in a call to type, such as ``number``; it is never quoted."""

    __slots__ = ()


class Formula(str):
    """A placeholder for an expression: without quotes in Python, with quotes in a model file."""

    __slots__ = ()


@dataclass(frozen=True)
class Call:
    """A call to type in Python, or the equivalent keys of a model file."""

    name: str  # of the function or class, with its module if it is not at the top level: bodies.Loop
    options: tuple[tuple[str, Any], ...] = ()


def call(name: str, **options: Any) -> Call:
    """A call to type; a value may be a number, a string, a `Word`, a `Formula`, a symbol, a list or a dictionary.

    >>> python_call(call("derive", redundant="least_squares"))
    "derive(..., redundant='least_squares')"
    >>> python_call(call("simulate", guess={Word("x"): 0.2}))
    'simulate(..., guess={x: 0.2})'
    >>> python_call(call("Nonholonomic"))
    'Nonholonomic(...)'
    """
    return Call(name, tuple(options.items()))


def python_call(asked: Call) -> str:
    """A call written in Python."""
    options = [f"{key}={python_value(value)}" for key, value in asked.options]
    name = f"vn.{asked.name}" if "." in asked.name else asked.name
    return f"{name}({', '.join(['...', *options])})"


def python_value(value: Any) -> str:
    """A value written in Python; the velocity of x is ``x.diff()``."""
    if isinstance(value, (Word, Formula)) or value is ...:
        return "..." if value is ... else str(value)
    if isinstance(value, sp.Derivative):
        return f"{name_of(value.expr)}{'.diff()' * value.derivative_count}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{python_value(key)}: {python_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(python_value, value))}]"
    if isinstance(value, float):
        return f"{value:g}"
    return repr(value) if isinstance(value, (str, bool, int)) else name_of(value)


@dataclass(frozen=True)
class Finding:
    """One problem: what was found, the advice (text and calls to type), and the part of the model it concerns."""

    problem: str
    advice: Sequence[str | Call] = ()
    about: About | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "advice", tuple(self.advice))

    def written(self, write: Callable[[Call], str] = python_call) -> str:
        """The finding as text; ``write`` renders its calls."""
        advice = "".join(part if isinstance(part, str) else write(part) for part in self.advice)
        return f"{self.problem} {advice}" if self.problem and advice else self.problem or advice

    def __str__(self) -> str:
        return self.written()


def as_finding(found: Finding | str) -> Finding:
    """A finding unchanged, or a string as a finding."""
    return found if isinstance(found, Finding) else Finding(str(found))


class VinculumError(ValueError):
    """Base class of all Vinculum errors. ``findings`` holds the problems as data; the message shows calls in Python."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found."""
        return tuple(map(as_finding, self.args))

    def written(self, write: Callable[[Call], str] = python_call) -> str:
        """The message; ``write`` renders its calls."""
        return " ".join(finding.written(write) for finding in self.findings)

    def __str__(self) -> str:
        return visible(self.written())


class ModelError(VinculumError):
    """An invalid description. ``findings`` lists all of its problems at once."""

    def __init__(self, subject: str, findings: Iterable[Finding | str]) -> None:
        super().__init__(subject, tuple(map(as_finding, findings)))

    @property
    def subject(self) -> str:
        """The first line of the message, such as ``Invalid system 'arm'``."""
        return str(self.args[0])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found."""
        return tuple(self.args[1])

    def written(self, write: Callable[[Call], str] = python_call) -> str:
        """The subject and a line for each finding."""
        count = "1 finding" if len(self.findings) == 1 else f"{len(self.findings)} findings"
        lines = [finding.written(write) for finding in self.findings]
        return "\n  - ".join([f"{self.subject} ({count}):", *lines])


class FileError(VinculumError):
    """A file cannot be read or written."""


class DomainError(VinculumError):
    """A number is outside the domain of an operation: division by zero, logarithm of a negative number."""


class ConstraintError(VinculumError):
    """The constraints contradict each other, are dependent, or cannot be satisfied."""


class SingularError(VinculumError):
    """The equations do not determine the accelerations and reactions at a state."""


class Refused(Exception):
    """An operation or a unit is not allowed; the message says why and what to write instead."""
