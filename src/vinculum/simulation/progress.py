"""Progress of long work: a function of the user, or a bar on the terminal with the time left."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Shown = bool | Callable[[float], None] | None  # True, False, a function of the fraction done; None: on a terminal
_PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def progress_bar(show: Shown, task: str, t0: float = 0.0, t1: float = 1.0) -> Iterator[Callable[[float], None]]:
    """A function of the time reached. ``show`` is a function of the fraction done, True, False, or None: a bar on a
    terminal if the work takes more than a second.
    """
    if callable(show):
        yield lambda t: show((t - t0) / (t1 - t0))
        return
    if show is False or (show is None and not sys.stderr.isatty()):
        yield lambda t: None
        return
    bar = _Bar(task, t0, t1)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """A bar on the terminal, drawn only for long work."""

    def __init__(self, task: str, t0: float, t1: float) -> None:
        self.named, self.t0, self.t1, self.began = task, t0, t1, clock.perf_counter()
        self.bar: Any = None

    def __call__(self, t: float) -> None:
        if self.bar is None and clock.perf_counter() - self.began > _PATIENCE:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)  # with the time left
            self.bar.start()
            self.task = self.bar.add_task(escape(self.named), total=1.0)
        if self.bar is not None:
            self.bar.update(self.task, completed=(t - self.t0) / (self.t1 - self.t0))

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
