"""The runs of a study on the threads of this process. Ctrl-C ends them and keeps what they computed."""

from __future__ import annotations

import os
import threading
import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from vinculum.ensembles.lanes import Stopped

if TYPE_CHECKING:
    from vinculum.ensembles.plan import Study

_SHORTEST, _LONGEST = 0.003, 0.5  # seconds that a part takes; 0.2 to 0.4 ms of them are its own
_SHARE = 1.1  # parts for every thread that the runs left would make
_FULL, _LARGEST = 32, 8192  # runs in a part; full lanes, so a multiple of the first, where there are lanes
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
    parts, team = Parts(study, first, last, threads), Team(study, nothing(study, last - first))
    try:
        team.run(parts, report)
    except BaseException as reason:
        if not (partial and isinstance(reason, KeyboardInterrupt)):
            raise
        warn_partial(team.results)
    return team.results


class Team:
    """Threads that take part after part until none is left; the calling thread is one of them.

    Another thread that distributes the parts would take processor and lock of Python from those that compute.
    """

    def __init__(self, study: Study, results: dict[str, np.ndarray]) -> None:
        self.study, self.results, self.stop = study, results, threading.Event()
        self.errors: list[BaseException] = []

    def run(self, parts: Parts, report: Callable[[float], None] | None) -> None:
        """All parts. An error of any thread ends the others and is raised."""
        others: list[threading.Thread] = []
        try:
            for _ in range(parts.workers - 1):
                thread = threading.Thread(target=self._help, args=(parts,))
                thread.start()
                others.append(thread)
            for _ in self._work(parts):
                if report is not None:
                    report(parts.done)
            _join(others)
        finally:
            self.stop.set()  # after Ctrl-C the others still compute
            _join(others)
        if self.errors:
            raise self.errors[0]
        if report is not None:
            report(parts.done)

    def _help(self, parts: Parts) -> None:
        try:
            for _ in self._work(parts):
                pass
        except BaseException as reason:  # `run` raises it
            self.errors.append(reason)
            self.stop.set()

    def _work(self, parts: Parts) -> Iterator[None]:
        """Compute part after part."""
        for first, last in iter(parts.take, None):
            began = clock.perf_counter()
            try:
                block = self.study.block(first, last, self.stop)
            except Stopped:
                return
            put(self.results, first - parts.first, block)
            parts.learn(last - first, clock.perf_counter() - began)
            yield


class Parts:
    """Runs in parts of about half a second, smaller ones at the end, and at the beginning of a new study.

    They are given out in rounds: a part for every thread, all of the same share of the runs that are left.
    """

    def __init__(self, study: Study, first: int, last: int, threads: int | None) -> None:
        self.first, self.next, self.last, self._smallest = first, first, last, _FULL if study.ensemble.in_lanes else 1
        self.workers = max(1, min(threads or os.cpu_count() or 1, (last - first) // self._smallest))
        self._idle, self._computed, self._lock = study.ensemble.idle, 0, threading.Lock()
        self._taken, self._share = 0, 0.0

    @property
    def done(self) -> float:
        """The share of the runs that is computed."""
        return self._computed / (self.last - self.first)

    def take(self) -> tuple[int, int] | None:
        """The next part; None if there is none."""
        with self._lock:
            if self.next >= self.last:
                return None
            if self._taken % self.workers == 0:
                self._share = (self.last - self.next) / (_SHARE * self.workers)
            self._taken += 1
            runs = max(_SHORTEST * self._idle.rate, min(_LONGEST * self._idle.rate, self._share))
            size = max(self._smallest, min(_LARGEST, int(runs)) // self._smallest * self._smallest)
            begin, self.next = self.next, min(self.next + size, self.last)
            return begin, self.next

    def learn(self, runs: int, seconds: float) -> None:
        """A part is computed; the next ones shall take about as long as wanted."""
        with self._lock:
            self._computed += runs
            self._idle.rate = runs / max(seconds, 1e-9)


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


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
