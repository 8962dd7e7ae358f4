"""Problems of a model file: all at once, each with its location and what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vinculum.errors import Call, Finding, VinculumError, python_call
from vinculum.model import limits


@dataclass(frozen=True)
class Problem:
    """One problem: its key, its line, and the part of the text marked by the caret."""

    message: str
    key: str = ""  # such as system.kinetic_energy
    line: int = 1
    column: int = 1
    excerpt: str = ""  # the line of the text in question
    start: int = 0  # of the caret, in the excerpt
    end: int = 0
    whole: bool = False  # whether it concerns the file as a whole

    def shown(self, file: str) -> str:
        """File, line, key, message, and the expression with a caret."""
        line = "" if self.whole else f", line {self.line}"
        head = f"{file}{line}" + (f", {self.key}" if self.key else "") + f": {self.message}"
        if not self.excerpt:
            return head
        excerpt, start, end = _window(self.excerpt, self.start, self.end)
        return f"{head}\n    {excerpt}\n    {' ' * start}{'^' * max(end - start, 1)}"


def _window(text: str, start: int, end: int, width: int = 100) -> tuple[str, int, int]:
    """A piece of a long line with the caret in it; tabs would shift the caret."""
    text = text.replace("\t", " ")
    start, end = min(start, len(text)), min(max(end, start + 1), max(len(text), start + 1))
    first = 0 if len(text) <= width else max(0, min(start - width // 2, len(text) - width))
    before, after = "..." if first else "", "..." if first + width < len(text) else ""
    shift = len(before) - first
    return f"{before}{text[first : first + width]}{after}", start + shift, min(end + shift, width + 2 * len(before))


class ModelFileError(VinculumError):
    """An invalid model file. ``problems`` lists all its problems."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        super().__init__(file, tuple(problems))
        self.file, self.problems = file, tuple(problems)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The messages of the problems."""
        return tuple(Finding(problem.message) for problem in self.problems)

    def written(self, write: Callable[[Call], str] = python_call) -> str:
        """The file and every problem with its location; calls are already rendered as keys."""
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        shown = [problem.shown(self.file) for problem in self.problems]
        return "\n".join([f"Invalid model file {self.file} ({count}):", *shown])


class TooMany(Exception):
    """There are too many problems; reading stops."""


class Problems:
    """The problems found so far."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, problem: Problem) -> None:
        """Record a problem; stop when there are too many to be useful."""
        if problem not in self.found:
            self.found.append(problem)
        if len(self.found) >= limits.PROBLEMS:
            raise TooMany

    def __bool__(self) -> bool:
        return bool(self.found)
