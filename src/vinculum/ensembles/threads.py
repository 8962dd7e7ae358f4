"""The runs of a study on the threads of this process. Ctrl-C ends them and keeps what they computed."""

from __future__ import annotations

import os
import threading
import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vinculum.ensembles.plan import Study

_PART_SECONDS, _SHORTEST = 0.5, 0.003  # that a thread computes at a time; a part takes 0.2 to 0.4 ms by itself
_SHARE = 1.5  # parts for every thread that the runs left would make
_SMALLEST_PART, _LARGEST_PART = 32, 4096  # runs; parts are multiples of the smallest, which fills its lanes
MISSING = -1  # the outcome of a run that was not computed


def run_threads(
    study: Study,
    first: int,
    last: int,
    threads: int | None = None,
    report: Callable[[float], None] | None = None,
    *,
    partial: bool = False,
) -> dict[str, np.ndarray]:
    """The results of the runs first .. last - 1, on several threads (default: all cores).

    With ``partial``, Ctrl-C does not raise: the runs that were not computed have the outcome -1.
    """
    results, stop, parts = nothing(study, last - first), threading.Event(), Parts(first, last, threads)
    with ThreadPoolExecutor(parts.workers) as pool:
        try:
            running = {pool.submit(_block, study, *part, stop) for part in parts.some()}
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for begin, block, seconds in (future.result() for future in ended):
                    put(results, begin - first, block)
                    parts.learn(len(block["outcome"]), seconds)
                    running |= {pool.submit(_block, study, *part, stop) for part in parts.some()}
                if report is not None:
                    report(parts.done / (last - first))
        except BaseException as reason:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if not (partial and isinstance(reason, KeyboardInterrupt)):
                raise
            warn_partial(results)
    return results


def _block(study: Study, first: int, last: int, stop: threading.Event) -> tuple[int, dict[str, np.ndarray], float]:
    """A part with the time that it took."""
    began = clock.perf_counter()
    return first, study.block(first, last, stop), clock.perf_counter() - began


class Parts:
    """Runs in parts of about half a second, smaller ones at the beginning and at the end, one for every thread and one
    that waits."""

    def __init__(self, first: int, last: int, threads: int | None) -> None:
        self.next, self.last, self.workers = first, last, threads or os.cpu_count() or 1
        self.size, self.least, self.waiting, self.done = _SMALLEST_PART, _SMALLEST_PART, 0, 0

    def some(self) -> Iterator[tuple[int, int]]:
        """Further parts, until every thread has one and one waits."""
        while self.waiting <= self.workers and self.next < self.last:
            share = _whole((self.last - self.next) / (_SHARE * self.workers))
            begin, self.next = self.next, min(self.next + max(self.least, min(self.size, share)), self.last)
            self.waiting += 1
            yield begin, self.next

    def learn(self, runs: int, seconds: float) -> None:
        """A part has come back; the next ones take about as long as wanted."""
        self.waiting, self.done = self.waiting - 1, self.done + runs
        rate = runs / max(seconds, 1e-9)
        self.size, self.least = _whole(_PART_SECONDS * rate), _whole(_SHORTEST * rate)


def _whole(runs: float) -> int:
    """About so many runs, in smallest parts."""
    return int(min(_LARGEST_PART, max(_SMALLEST_PART, runs // _SMALLEST_PART * _SMALLEST_PART)))


def nothing(study: Study, count: int) -> dict[str, np.ndarray]:
    """The arrays of runs that were not computed yet."""
    results = study.ensemble.empty(count)
    results["outcome"][:] = MISSING
    return results


def put(results: dict[str, np.ndarray], place: int, block: Mapping[str, np.ndarray]) -> None:
    """Write a block of runs; the outcome last, so it marks what is complete."""
    for name, values in sorted(block.items(), key=lambda item: item[0] == "outcome"):
        results[name][place : place + len(values)] = values


def warn_partial(results: Mapping[str, np.ndarray]) -> None:
    """Say that Ctrl-C ended a study in memory."""
    outcome = results["outcome"]
    done = int((outcome != MISSING).sum())
    warnings.warn(f"Interrupted after {done} of {outcome.size} runs; the others have the outcome -1.", stacklevel=5)
