"""What a process holds after a lap of work, and whether it grows from lap to lap.

Before a measurement the caches that have a bound are emptied and free memory goes back to the system: what remains
then is either needed or leaked. A leak makes a line of the laps, whose slope is estimated with Theil and Sen's
median of all slopes between two laps and its confidence interval. A quantity

    grows,         if the whole interval is above its limit,
    is flat,       if the whole interval is below,
    is undecided   otherwise: more laps are needed.

So neither a jump by luck nor a short run decides.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from pathlib import Path

import numpy as np
from scipy.stats import theilslopes

from vinculum.compile.code_cache import heyoka
from vinculum.graph import node

CONFIDENCE = 0.99
WARM_UP = 3  # laps in which modules are imported and pools are made
FEWEST = 8  # laps after them without which nothing is decided
SLOWER = 3.0  # times the processor time of the same work; timings vary on a busy machine
CACHES = 600.0  # megabytes that all caches may hold
LIMITS = {
    "resident memory": (0.08, "MB"),
    "heap": (0.03, "MB"),
    "objects": (0.5, ""),
    "graph nodes": (0.0, ""),
    "cache entries": (0.0, ""),
    "open files": (0.0, ""),
    "threads": (0.03, ""),
}  # for each round; LLVM keeps 3 to 10 kB of every module that it compiles, and resident memory has gaps


@dataclass(frozen=True)
class Lap:
    """The quantities of `LIMITS` after a lap, the megabytes of its caches, and the seconds of its repeated work."""

    held: dict[str, float]
    caches: float
    seconds: float


def measure(seconds: float = 0.0) -> Lap:
    """Measure this process, after emptying its caches."""
    full = megabytes()
    unbounded = empty_caches()
    ctypes.CDLL(None).malloc_trim(0)
    held = {
        "resident memory": megabytes(),
        "heap": _heap(),
        "objects": len(gc.get_objects()),
        "graph nodes": len(node._table) + len(node._leaves),
        "cache entries": unbounded,
        "open files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }
    return Lap(held, full - held["resident memory"], seconds)


def empty_caches() -> int:
    """Empty the bounded caches of Vinculum, SymPy and heyoka; the entries of the caches of Vinculum without a bound."""
    unbounded = 0
    for cache in _caches():
        if cache.cache_info().maxsize is not None:
            cache.cache_clear()
        elif cache.__module__.startswith("vinculum"):
            unbounded += cache.cache_info().currsize
    _empty_heyoka()
    gc.collect()
    gc.collect()  # what finalizers released
    return unbounded


def _empty_heyoka() -> None:
    """Empty heyoka's cache in memory, and close the one on disk, which has up to 2 MB of its pages in memory."""
    state = heyoka().llvm_state
    if hasattr(state, "clear_memcache"):
        state.clear_memcache()
    if hasattr(state, "set_diskcache_path"):
        state.set_diskcache_path(state.get_diskcache_path())


def _caches() -> Iterator[_lru_cache_wrapper]:
    for made in gc.get_objects():
        if isinstance(made, _lru_cache_wrapper) and str(made.__module__).startswith(("vinculum", "sympy")):
            yield made


def megabytes() -> float:
    """Resident memory of this process, without pages of files."""
    status = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in status if line.startswith(("RssAnon", "RssShmem"))) * 1024 / 1e6


class _Mallinfo(ctypes.Structure):
    """The struct mallinfo2 of the C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "b", "c", "d", "mapped", "e", "f", "used", "free", "g")]


def _heap() -> float:
    """Megabytes that C and C++ have allocated, and Python's blocks with 64 bytes each."""
    malloc = ctypes.CDLL(None).mallinfo2
    malloc.restype = _Mallinfo
    found = malloc()
    return (found.used + found.mapped + 64 * sys.getallocatedblocks()) / 1e6


# -- judgment ----------------------------------------------------------------------------------------------------


def judge(laps: Sequence[Lap], rounds: int) -> tuple[list[str], list[str]]:
    """What grows, and what is undecided, after laps of some rounds each."""
    kept = laps[WARM_UP:]
    if len(kept) < FEWEST:
        return [], [f"{len(kept)} laps after the warm-up; {FEWEST} are needed"]
    grows, undecided = [], []
    for name, (limit, unit) in LIMITS.items():
        slope, low, high = _slope(np.array([lap.held[name] for lap in kept]) / rounds)
        told = f"{name}: {slope:.3g}{unit and ' '}{unit} per round ({low:.3g} to {high:.3g}), limit {limit:g}"
        (grows if low > limit else undecided if high > limit else []).append(told)
    return grows + _caches_and_time(kept), undecided


def _slope(series: np.ndarray) -> tuple[float, float, float]:
    """Theil and Sen's slope, and the bounds of its confidence interval."""
    found = theilslopes(series, np.arange(len(series)), alpha=CONFIDENCE)
    return float(found.slope), float(found.low_slope), float(found.high_slope)


def _caches_and_time(kept: Sequence[Lap]) -> list[str]:
    """Caches beyond their bound, and work that takes ever longer."""
    third = len(kept) // 3
    early, late = (float(np.median([lap.seconds for lap in part])) for part in (kept[:third], kept[-third:]))
    largest = max(lap.caches for lap in kept)
    found = [f"caches: {largest:.0f} MB, limit {CACHES:g}"] if largest > CACHES else []
    if late > SLOWER * early:
        found.append(f"time: the same work takes {late / early:.1f} times as long in the last laps, limit {SLOWER:g}")
    return found
