"""Progress of long runs: a bar, and how many steps to take before it is moved."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def progress_bar(
    show: bool | Callable[[float], None] | None, t0: float, t1: float
) -> Iterator[Callable[[float], None]]:
    """A function of the time reached. ``show`` may be one itself (called with the share done), True, False, or None:
    then a bar appears on a terminal when a run takes more than a second.
    """
    if callable(show):
        yield lambda t: show((t - t0) / (t1 - t0))
        return
    if show is False or (show is None and not sys.stderr.isatty()):
        yield lambda t: None
        return
    bar = _Bar(t0, t1)
    try:
        yield bar
    finally:
        bar.close()


def next_chunk(steps: int, spent: float, wanted: float, least: int, most: int) -> int:
    """How many steps to take at once so that they last about ``wanted`` seconds, when ``steps`` took ``spent``."""
    return int(min(max(steps * min(4.0, wanted / max(spent, 1e-6)), least), most))


class _Bar:
    """A bar on the terminal, drawn only when a run turns out to be long."""

    def __init__(self, t0: float, t1: float) -> None:
        self.t0, self.t1, self.began = t0, t1, clock.perf_counter()
        self.bar: Any = None

    def __call__(self, t: float) -> None:
        if self.bar is None and clock.perf_counter() - self.began > _PATIENCE:
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("simulating", total=1.0)
        if self.bar is not None:
            self.bar.update(self.task, completed=(t - self.t0) / (self.t1 - self.t0))

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
