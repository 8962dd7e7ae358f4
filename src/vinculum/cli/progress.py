"""A bar with the time left, on the error stream of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(task: str, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """A function of the share done; silent where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        number = progress.add_task(task, total=1.0)
        yield lambda share: progress.update(number, completed=share)


@contextmanager
def steps(quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """The same for work in named steps: a function of the step and the share of it that is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda step, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        number = progress.add_task("", total=1.0)
        yield lambda step, share: progress.update(number, description=step, completed=share)
