"""Exit codes for scripts, tables, JSON, safe writing of files, progress bars."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

import click

from vinculum.cli.signals import interruptible
from vinculum.json_data import json_data
from vinculum.visible import visible

DONE, NO, WRONG, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130


class Wrong(Exception):
    """An error the user can fix on the command line; the message says how."""


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """A command that returns its exit code and prints errors as sentences."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with interruptible():
                code = command(*args, **kwargs) or DONE
                sys.stdout.flush()
        except KeyboardInterrupt:
            tell("Interrupted.")
            code = INTERRUPTED
        except BrokenPipeError:  # the reader of the pipe has closed it, as in `vinculum derive ... | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = DONE
        except (Wrong, OSError, ValueError) as error:
            code = _code_of(error)
        raise click.exceptions.Exit(code)

    return run


def _code_of(error: Exception) -> int:
    """Print the error message; other exceptions are bugs and keep their traceback."""
    if isinstance(error, (Wrong, OSError)):
        tell(str(error))
        return WRONG
    from vinculum.errors import FileError, VinculumError
    from vinculum.model.text.file_words import in_file_words
    from vinculum.model.text.problems import ModelFileError

    if not isinstance(error, VinculumError):
        raise error
    if isinstance(error, (ModelFileError, FileError)):
        tell(str(error))
        return WRONG
    tell(in_file_words(error))
    return REFUSED


def tell(message: str) -> None:
    """Print a sentence to standard error."""
    print(visible(message), file=sys.stderr)


def say(text: object = "") -> None:
    """Print to standard output."""
    print(visible(str(text)))


def free_place(path: Path | None, force: bool, kinds: Sequence[str], how: str = " with -o") -> None:
    """Raise an error before anything is computed if the file exists or has an unsupported ending."""
    if path is None:
        return
    if path.suffix.lower() not in kinds:
        raise Wrong(f"{path.name} cannot be written: the file must end in {' or '.join(kinds)}.")
    if path.exists() and not force:
        raise Wrong(f"{path} already exists. Choose another name{how}, or overwrite it with --force.")
    if not path.resolve().parent.is_dir():
        raise Wrong(f"{path.resolve().parent} is not a folder. Create it, or choose another place{how}.")


def written(path: Path, text: str) -> None:
    """Write text to a file and report the path."""
    from vinculum.writing import write_file

    write_file(path, text)
    tell_where(path)


def tell_where(place: object) -> None:
    """Print to standard error where the output was written."""
    tell(f"Written to {place}")


def table(title: str, rows: Mapping[str, Any]) -> None:
    """Labeled rows; long values continue below themselves."""
    labels = [visible(label) for label in rows]
    column = max(map(_width, labels), default=0)
    room = max(_columns() - len(_MARGIN + _BETWEEN) - column, 20)
    click.secho(visible(title), bold=True)
    for label, value in zip(labels, rows.values(), strict=True):
        for i, line in enumerate(_folded(shown(value), room)):
            say((_MARGIN + _filled("" if i else label, column) + _BETWEEN + line).rstrip())


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table with columns: the first one on the left, numbers on the right."""
    cells = [[visible(column) for column in columns], *([shown(value) for value in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    click.secho(visible(title), bold=True)
    for i, row in enumerate(cells):
        filled = [_filled(cell, width, right=j > 0) for j, (cell, width) in enumerate(zip(row, widths, strict=True))]
        click.secho((_MARGIN + _BETWEEN.join(filled)).rstrip(), bold=i == 0 or None)


_PATIENCE = 15.0  # seconds of a step before a line about it
_MARGIN = _BETWEEN = "  "


def _columns() -> int:
    """The columns of the terminal; in a pipe, of wide lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 200


def _folded(text: str, room: int) -> list[str]:
    """Lines of at most ``room`` characters."""
    lines = (textwrap.wrap(line, room, break_on_hyphens=False) or [""] for line in text.split("\n"))
    return list(chain.from_iterable(lines))


def _width(text: str) -> int:
    """The columns that a terminal needs for a text: none for an accent, two for a wide character."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _filled(text: str, width: int, right: bool = False) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def shown(value: Any) -> str:
    """Format a number with six digits; leave anything else unchanged."""
    from vinculum.text_printer import number

    return number(value) if isinstance(value, (float, complex)) else visible(str(value))


def as_json(data: Any) -> str:
    """Print a result as JSON (see `json_data`)."""
    text = json.dumps(json_data(data), indent=2, ensure_ascii=False, allow_nan=False)
    unseen = {c for c in text if visible(c) != c}  # json escapes only some of them
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in unseen})


def bar(task: str) -> AbstractContextManager[Callable[[float], None]]:
    """A progress bar for work that takes more than a second, as a function of the fraction done."""
    from vinculum.simulation.progress import progress_bar

    return progress_bar(None, visible(task))


@contextmanager
def steps() -> Iterator[Callable[[str, float], None]]:
    """Progress of named steps, as a function of the step and its fraction done: a bar, or lines where none is drawn."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    columns = SpinnerColumn(), text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, current = progress.add_task("", total=1.0), ""

        def report(step: str, share: float) -> None:
            nonlocal current
            if step != current:  # the time left is that of this step
                current = step
                progress.reset(task, description=visible(step))
            progress.update(task, completed=share)

        yield report


class _Lines:
    """A line about every long step, again after twice the time: for logs and pipes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.step, self.began, self.patience = clock, "", 0.0, _PATIENCE

    def __call__(self, step: str, share: float) -> None:
        if step != self.step:
            self.step, self.began, self.patience = step, self.clock(), _PATIENCE
        passed = self.clock() - self.began
        if passed >= self.patience and 0 < share < 1:
            self.patience = 2 * passed
            left = passed * (1 - share) / share
            tell(f"{step}: {share:.0%} after {passed:.0f} s, about {left:.0f} s left")
