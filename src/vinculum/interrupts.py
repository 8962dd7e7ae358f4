"""Ctrl-C, and the signal to terminate, while something is done that cannot be done by halves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals inside are heard at the end, where Ctrl-C raises KeyboardInterrupt.

    For imports: a large package that was imported by halves cannot be imported again in the same process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals go to the main thread
        return
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard: list[tuple[int, Any]] = []
    for number, handler in handlers.items():
        if callable(handler):  # without one, the signal ends the process
            signal.signal(number, lambda *given: heard.append(given))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        if heard:
            handlers[heard[-1][0]](*heard[-1])
