"""The files that lie open, each with its own computation, and everyone who listens to what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vinculum.errors import FileError
from vinculum.workshop.files import ModelText, example, new_place, opened
from vinculum.workshop.pool import Message, Pool
from vinculum.writing import write_file

_LOOK = 0.5  # seconds between two looks at the disk
_MOST = 20  # files on the desk

Queue = asyncio.Queue[Message]


@dataclass
class Sheet:
    """One open file: its text on the disk, its computation, and its last good page."""

    key: int
    file: ModelText
    pool: Pool
    page: str = ""
    pages: int = 0  # how many there were
    text: str = field(default="", repr=False)  # what is computed
    told: dict[str, Message] = field(default_factory=dict, repr=False)  # the last message of each kind about it

    def described(self) -> dict[str, Any]:
        """What the browser needs to know about it."""
        file = self.file
        return {
            "key": self.key,
            "name": file.name,
            "place": None if file.place is None else str(file.place),
            "text": file.text,
            "base": file.base,
            "pages": self.pages,
        }


class Desk:
    """All open files."""

    def __init__(self, found: list[ModelText]) -> None:
        self.sheets: dict[int, Sheet] = {}
        self.queues: set[Queue] = set()
        self.tasks: set[asyncio.Task[int]] = set()
        start = example("start")
        assert start is not None
        for file in found or [start]:
            self.add(file)

    def add(self, file: ModelText) -> Sheet:
        """Put a file on the desk."""
        if len(self.sheets) >= _MOST:
            raise FileError(f"{_MOST} files are open, the maximum. Start vinculum open again to close them.")
        key = len(self.sheets) + 1
        sheet = Sheet(key, file, Pool(lambda message: self._heard(key, message)))
        self.sheets[key] = sheet
        return sheet

    def sheet(self, key: int) -> Sheet | None:
        """A file by its key; None if there is none."""
        return self.sheets.get(key)

    def needed(self, key: object) -> Sheet:
        """A file by its key; raises if there is none."""
        found = self.sheets.get(key) if isinstance(key, int) else None
        if found is None:
            raise FileError("There is no such file on the desk.")
        return found

    def described(self) -> list[dict[str, Any]]:
        """All files."""
        return [sheet.described() for sheet in self.sheets.values()]

    def saved_as(self, file: ModelText, text: str, name: str, overwrite: bool) -> ModelText:
        """Save a text as a new file in the folder of the first file, or where the server was started."""
        first = next((sheet.file.place for sheet in self.sheets.values() if sheet.file.place is not None), None)
        place = new_place(Path.cwd() if first is None else first.parent, name)
        write_file(place, text, overwrite=overwrite)
        return opened(place)

    def compute(self, sheet: Sheet, text: str) -> None:
        """Begin to compute a text. Known results are sent again, for a browser that has just connected."""
        if text == sheet.text and sheet.told:
            for message in sheet.told.values():
                self._tell(message)
            return
        sheet.text, sheet.told = text, {}
        self._tell({"key": sheet.key, "working": True})
        task = asyncio.create_task(sheet.pool.compute(text, sheet.file.name, str(sheet.file.folder)))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # -- events ------------------------------------------------------------------------------------------------

    @contextmanager
    def listened(self) -> Iterator[Queue]:
        """A queue of everything that happens from now on."""
        queue: Queue = asyncio.Queue()
        self.queues.add(queue)
        try:
            yield queue
        finally:
            self.queues.discard(queue)

    def _tell(self, message: Message) -> None:
        for queue in self.queues:
            queue.put_nowait(message)

    def _heard(self, key: int, message: Message) -> None:
        """A message of a computation. Pages are kept here and fetched by their number."""
        sheet = self.sheets[key]
        if "page" in message:
            sheet.page, sheet.pages = message["page"], sheet.pages + 1
            message = {"number": message["number"], "pages": sheet.pages}
        message |= {"key": key}
        sheet.told[next(kind for kind in message if kind != "number")] = message
        self._tell(message)

    # -- the disk ----------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Tell when a file was changed by another program."""
        while True:
            await asyncio.sleep(_LOOK)
            for sheet in list(self.sheets.values()):
                try:
                    changed = sheet.file.changed_on_disk()
                except FileError as error:
                    self._tell({"key": sheet.key, "failed": str(error)})
                    continue
                if changed:
                    self._tell({"key": sheet.key, "disk": sheet.described()})

    def end(self) -> None:
        """End the event streams."""
        self._tell({})

    async def close(self) -> None:
        """End all computations."""
        for task in self.tasks:
            task.cancel()
        for sheet in self.sheets.values():
            await sheet.pool.close()
