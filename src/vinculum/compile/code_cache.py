"""heyoka with bounds: of the machine code that it keeps in memory and on disk, and of what it prints.

heyoka keeps compiled code on disk, so a system is compiled once for all processes. By default it would keep 20 GB there
and 2 GB in memory. The environment variable ``VINCULUM_CACHE`` sets the megabytes on disk, or ``off``.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import Any

from vinculum.errors import VinculumError
from vinculum.interrupts import uninterrupted

VARIABLE = "VINCULUM_CACHE"
ON_DISK = 128  # megabytes; heyoka opens the folder in 0.4 ms per megabyte
IN_MEMORY = 64
_MEGABYTE = 1_000_000


@cache
def heyoka() -> Any:
    """The module, with its caches bounded; its warnings become outcomes of runs and are not printed."""
    with uninterrupted():
        import heyoka as hy

    with contextlib.suppress(AttributeError):  # older versions have no caches to bound
        hy.set_logger_level_error()
    with contextlib.suppress(AttributeError):
        hy.llvm_state.set_memcache_limit(IN_MEMORY * _MEGABYTE)
    if hasattr(hy.llvm_state, "set_diskcache_limit"):
        _bound_disk(hy.llvm_state, disk_limit())
    return hy


def _bound_disk(state: Any, megabytes: float) -> None:
    """Keep code in a folder of our own, next to heyoka's, up to a size; none if the folder cannot be written."""
    state.set_diskcache_path(state.get_diskcache_path().parent / "vinculum")
    if megabytes:
        try:
            state.set_diskcache_limit(int(megabytes * _MEGABYTE))
            return
        except (RuntimeError, OSError):  # no folder
            pass
    state.set_diskcache_enabled(False)


def disk_limit() -> float:
    """Megabytes of code on disk, from the environment; zero if it is switched off."""
    asked = os.environ.get(VARIABLE, "").strip().lower()
    if asked in ("off", "no", "false"):
        return 0.0
    try:
        found = float(asked or ON_DISK)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise VinculumError(f"{VARIABLE}={asked!r} is not a size. Set it to megabytes, such as {ON_DISK}, or to off.")
    return found
