"""A bar with the time left, on the error stream of a terminal; silent where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


@contextmanager
def bar(task: str) -> Iterator[Callable[[float], None]]:
    """A function of the share done."""
    with _updated(task, _with_elapsed_time) as update:
        yield lambda share: update(completed=share)


@contextmanager
def steps() -> Iterator[Callable[[str, float], None]]:
    """The same for work in named steps: a function of the step and the share of it that is done."""
    with _updated("", _with_spinner) as update:
        yield lambda step, share: update(description=step, completed=share)


@contextmanager
def _updated(task: str, columns: Callable[[], Sequence[ProgressColumn]]) -> Iterator[Callable[..., None]]:
    """What changes the line that is shown."""
    if not sys.stderr.isatty():
        yield lambda **changes: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns(), console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task(task, total=1.0))


def _with_elapsed_time() -> Sequence[ProgressColumn]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    text = TextColumn("{task.description}")
    return text, BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()


def _with_spinner() -> Sequence[ProgressColumn]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn

    return SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
