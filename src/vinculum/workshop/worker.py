"""The process that reads a text and computes its page: ``python -m vinculum.workshop.worker``.

Messages are lines of JSON. In: {"number", "text", "file", "folder"}. Out: {"ready"}, then for each text its findings,
the steps as they run, and the page after every step that changed it. A newer text stops the computation at the next
step or instant of a run; the server kills a process that does not stop.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time as clock
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from vinculum.model.model import Model

_PAUSE = 0.1  # seconds between two reports of the same step


@dataclass(frozen=True)
class Asked:
    """A text to compute: its number, and the file and folder it belongs to."""

    number: int
    text: str
    file: str
    folder: str


class Superseded(BaseException):
    """A newer text has arrived. Not an `Exception`, so no step mistakes it for its own failure."""


class Inbox(threading.Thread):
    """Reads texts and keeps the newest. The process ends when the server does."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(daemon=True)
        self.stream, self.arrived = stream, threading.Event()
        self.newest: Asked | None = None

    def run(self) -> None:
        """Read lines until the server closes its end."""
        for line in self.stream:
            self.newest = Asked(**json.loads(line))
            self.arrived.set()
        os._exit(0)

    def take(self) -> Asked:
        """Wait for a text."""
        self.arrived.wait()
        self.arrived.clear()
        assert self.newest is not None
        return self.newest


def main() -> None:
    """Answer texts until the server ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is not a message
    inbox = Inbox(sys.stdin)
    _warm_up()

    def say(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    inbox.start()
    say(ready=True)
    while True:
        asked = inbox.take()
        try:
            answer(asked, lambda: inbox.arrived.is_set(), say)
        except Superseded:
            continue


def _warm_up() -> None:
    """Import what every model needs, before the first text arrives."""
    for name in ("vinculum.model.load", "vinculum.model.examine.examination", "vinculum.present.report.page"):
        import_module(name)


def answer(asked: Asked, is_superseded: Callable[[], bool], say: Callable[..., None]) -> None:
    """Read a text and tell its findings; if there are none, compute its page step by step."""
    model, findings = read(asked)
    say(number=asked.number, findings=findings)
    if model is None:
        return
    try:
        _compute(model, asked.number, is_superseded, say)
    except Superseded:
        raise
    except Exception as error:  # a bug of ours must not end the workshop
        say(number=asked.number, failed=f"{type(error).__name__}: {error}")
    say(number=asked.number, done=True)


def read(asked: Asked) -> tuple[Model | None, list[dict[str, Any]]]:
    """The model of a text, or its findings with their places."""
    from vinculum.errors import VinculumError
    from vinculum.model import loads
    from vinculum.model.text.problems import ModelFileError

    try:
        model = loads(asked.text, file=asked.file, folder=Path(asked.folder))
        return replace(model, source=Path(asked.folder) / asked.file), []  # advice is about a file, saved or not
    except ModelFileError as error:
        return None, [_finding(asdict(problem)) for problem in error.problems]
    except VinculumError as error:
        return None, [_finding({"message": str(error)})]


def _finding(problem: dict[str, Any]) -> dict[str, Any]:
    length = max(problem.get("end", 0) - problem.get("start", 0), 0)
    place = {"line": problem.get("line", 1), "column": problem.get("column", 1), "length": length}
    return {"message": problem["message"], "key": problem.get("key", ""), **place}


def _compute(model: Model, number: int, is_superseded: Callable[[], bool], say: Callable[..., None]) -> None:
    from vinculum.model.examine.examination import examined
    from vinculum.present.report import page

    last = ("", 0.0)

    def progress(step: str, share: float) -> None:
        nonlocal last
        if is_superseded():
            raise Superseded
        now = clock.perf_counter()
        if step != last[0] or now - last[1] > _PAUSE:
            last = (step, now)
            say(number=number, step=step, share=share)

    for results in examined(model, progress):
        if is_superseded():
            raise Superseded
        say(number=number, page=page(results))


if __name__ == "__main__":
    main()
