"""Exit codes for scripts, tables, JSON, safe writing of files, progress bars."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vinculum.cli.signals import interruptible
from vinculum.json_data import json_data
from vinculum.visible import visible

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

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
        raise typer.Exit(code)

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
    """Labeled rows."""
    from rich.table import Table

    made = Table(show_header=False, box=None, pad_edge=False)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for label, value in rows.items():
        made.add_row(visible(label), shown(value))
    _print(title, made)


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table with columns."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False)
    for i, column in enumerate(columns):
        made.add_column(visible(column), justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        made.add_row(*map(shown, row))
    _print(title, made)


def _print(title: str, made: Any) -> None:
    """Print a title and a table; in a pipe, plain lines of any width."""
    from rich.console import Console
    from rich.padding import Padding

    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 200, markup=False, highlight=False)
    with console.capture() as captured:
        console.print(visible(title), style="bold" if terminal else "")
        console.print(Padding(made, (0, 0, 0, 2)))
    print("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def shown(value: Any) -> str:
    """Format a number with six digits; leave anything else unchanged."""
    from vinculum.text_printer import number

    return number(value) if isinstance(value, (float, complex)) else visible(str(value))


def as_json(data: Any) -> str:
    """Print a result as JSON (see `json_data`)."""
    text = json.dumps(json_data(data), indent=2, ensure_ascii=False, allow_nan=False)
    unseen = {c for c in text if visible(c) != c}  # json escapes only some of them
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in unseen})


@contextmanager
def bar(task: str) -> Iterator[Callable[[float], None]]:
    """A progress bar, as a function of the fraction done."""
    with _updated(task, _with_elapsed_time) as update:
        yield lambda share: update(completed=share)


@contextmanager
def steps() -> Iterator[Callable[[str, float], None]]:
    """A progress bar for named steps, as a function of the step and its fraction done."""
    with _updated("", _with_spinner) as update:
        yield lambda step, share: update(description=visible(step), completed=share)


@contextmanager
def _updated(task: str, columns: Callable[[], Sequence[ProgressColumn]]) -> Iterator[Callable[..., None]]:
    """The function that updates the line on the screen."""
    if not sys.stderr.isatty():
        yield lambda **changes: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns(), console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task(visible(task), total=1.0))


def _with_elapsed_time() -> Sequence[ProgressColumn]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    return text, BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()


def _with_spinner() -> Sequence[ProgressColumn]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn

    return SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
