"""Processes that compute: one works, one is ready to take its place when it has to be killed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_LONGEST = 1 << 28  # bytes of a message: a page of a large model has megabytes
_PATIENCE = 0.4  # seconds in which a process must stop by itself

Message = dict[str, Any]


class Worker:
    """One process of `vinculum.workshop.worker`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.busy = 0  # the number of the text it computes; 0: it waits
        self.killed = False
        self.ready = asyncio.Event()

    @classmethod
    async def start(cls) -> Worker:
        """Start a process in its own session, so that Ctrl-C in the terminal reaches the server only."""
        command = (sys.executable, "-m", "vinculum.workshop.worker")
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, limit=_LONGEST, start_new_session=True
        )
        return cls(process)

    async def send(self, message: Message) -> None:
        """Send a text."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def listen(self, hear: Callable[[Worker, Message], None]) -> None:
        """Pass on every message until the process ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            message = json.loads(line)
            if "ready" in message:
                self.ready.set()
            else:
                hear(self, message)

    def kill(self) -> None:
        """End the process at once."""
        self.killed = True
        with suppress(ProcessLookupError):
            self.process.kill()


class Pool:
    """Computes one text at a time, always the newest."""

    def __init__(self, hear: Callable[[Message], None]) -> None:
        self.hear, self.number = hear, 0
        self.active: Worker | None = None
        self.spare: Worker | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.lock = asyncio.Lock()

    async def compute(self, text: str, file: str, folder: str) -> int:
        """Compute a text in place of the one before; returns its number."""
        self.number += 1
        number = self.number
        async with self.lock:
            if number < self.number:  # a newer text is waiting behind this one
                return number
            message = {"number": number, "text": text, "file": file, "folder": folder}
            worker = await self._worker()
            await worker.ready.wait()
            was_busy, worker.busy = worker.busy, worker.busy or number
            await worker.send(message)
            if was_busy and not await self._stops(worker, number):
                worker = await self._replaced(worker)
                worker.busy = number
                await worker.send(message)
        return number

    async def warm_up(self) -> None:
        """Start both processes."""
        await self._worker()

    async def close(self) -> None:
        """End all processes."""
        for worker in (self.active, self.spare):
            if worker is not None:
                worker.kill()
                await worker.process.wait()
        for task in self.tasks:
            task.cancel()

    async def _worker(self) -> Worker:
        """The process that computes; another one if it has died."""
        if self.active is None or self.active.process.returncode is not None:
            self.active = self.spare or await self._started()
            self.spare = await self._started()
        return self.active

    async def _started(self) -> Worker:
        worker = await Worker.start()
        task = asyncio.create_task(self._listen(worker))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return worker

    async def _listen(self, worker: Worker) -> None:
        """Pass on what a process says; tell if it dies by itself, for want of memory perhaps."""
        await worker.listen(self._heard)
        worker.ready.set()  # nobody has to wait for it any more
        if worker is self.active and worker.busy and not worker.killed:
            code = await worker.process.wait()
            self.hear({"number": self.number, "failed": f"The computation ended unexpectedly (exit code {code})."})

    async def _stops(self, worker: Worker, number: int) -> bool:
        """Whether a process turns to the new text by itself, within a moment."""
        for _ in range(int(_PATIENCE / 0.02)):
            if worker.busy in (0, number):
                return True
            await asyncio.sleep(0.02)
        return False

    async def _replaced(self, worker: Worker) -> Worker:
        """Kill a process that does not stop; the spare one takes its place."""
        worker.kill()
        await worker.process.wait()
        found = await self._worker()
        await found.ready.wait()
        return found

    def _heard(self, worker: Worker, message: Message) -> None:
        if worker is not self.active:
            return
        worker.busy = 0 if message.get("done") or message.get("findings") else message["number"]
        if message["number"] == self.number:
            self.hear(message)
