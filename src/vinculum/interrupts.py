"""Ctrl-C while something is done that cannot be done by halves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C inside raises KeyboardInterrupt at the end.

    For imports: a large package that was imported by halves cannot be imported again in the same process.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # signals go to the main thread; without a handler, Ctrl-C ends the process
        return
    heard: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(*heard[-1])
