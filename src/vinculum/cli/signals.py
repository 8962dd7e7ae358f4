"""Ctrl-C and the signal that ends a process: exit codes 130 and 143, without a traceback and without half a file.

Outside a command, Ctrl-C ends the process at once, silently. Inside, it raises KeyboardInterrupt, so a run can keep
what it computed; the signal to terminate raises SystemExit, so files that are being written are removed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TERMINATED = 143
_LATER = 0.01  # seconds; a signal that is lost once more is sent once more


def take_signals() -> None:
    """Take the signals of this process, which is the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _again


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt inside, if `take_signals` was called."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _terminate(number: int, frame: Any) -> None:
    raise SystemExit(TERMINATED)


def _again(lost: Any) -> None:
    """Send a signal again whose exception Python could not raise, inside a destructor or a callback."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _send_later(signal.SIGINT)
    elif issubclass(lost.exc_type, SystemExit):
        _send_later(signal.SIGTERM)
    else:
        sys.__unraisablehook__(lost)


def _send_later(number: int) -> None:
    """Send a signal when the destructor has ended; inside, its exception would be lost again."""
    sender = threading.Timer(_LATER, os.kill, (os.getpid(), number))
    sender.daemon = True
    sender.start()
