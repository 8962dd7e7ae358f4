"""Writing files whole: after any failure, kill or full disk, the old file or the new one is there, never a part.

The content goes to a new file in the same folder, is forced to the disk, and is moved into place in one operation.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path

from vinculum.errors import FileError


def write_file(path: str | Path, content: bytes | str, *, overwrite: bool = True) -> None:
    """Write a file; text is encoded as UTF-8. Raises `FileError` if it cannot be written, or exists already."""
    try:
        place = Path(os.path.realpath(path))  # a link keeps pointing to the file
        refuse_place(path, overwrite)
        _write_beside(place, content.encode() if isinstance(content, str) else content, overwrite)
    except FileExistsError as error:  # made by another process in the meantime
        raise _exists(path) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{str(path)!r} cannot be written: {reason}. Nothing was changed.") from error


def refuse_place(path: str | Path, overwrite: bool) -> None:
    """Raise if a file exists that may not be overwritten, or something that is not a file."""
    if os.path.lexists(path) and os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"{str(path)!r} is not a file, so it cannot be overwritten. Choose another name.")
    if os.path.exists(path) and not overwrite:
        raise _exists(path)


def _exists(path: str | Path) -> FileError:
    return FileError(f"{str(path)!r} already exists. Choose another name, or overwrite it with overwrite=True.")


def _write_beside(place: Path, content: bytes, overwrite: bool) -> None:
    """Write to a new file in the folder of ``place`` and move it there."""
    beside = place.parent / f".vinculum-{secrets.token_hex(8)}.part"
    try:
        with open(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), "wb"
        ) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if place.exists() and overwrite:
            shutil.copymode(place, beside)
        _move(beside, place, overwrite)
    finally:
        beside.unlink(missing_ok=True)
    _sync_folder(place.parent)


def _move(beside: Path, place: Path, overwrite: bool) -> None:
    """Move a file into place; without ``overwrite``, never over another one."""
    if not overwrite:
        try:
            return os.link(beside, place)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if place.exists():
                raise FileExistsError(str(place)) from None
    os.replace(beside, place)
    return None


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
