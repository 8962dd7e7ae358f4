"""Chunks of a study on the workers of a Dask cluster, any of which may die at any instant, or all of them.

The scheduler keeps how to make the equations again, not where they are: data that are only scattered die with the last
worker. Chunks carry their own varied values, and only some of them wait on the scheduler, so its memory does not grow
with the number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vinculum.ensembles.ensemble import Ensemble
from vinculum.errors import VinculumError
from vinculum.extras import extra

_AHEAD = 4  # chunks for every thread of the cluster that wait on the scheduler
_FEWEST = 64  # chunks that wait, at least
_TRIES = 8  # submissions of a chunk; Dask gives one up when four workers died with it


class Chunk(NamedTuple):
    """Runs of a study that a worker computes in one task."""

    number: int
    first: int
    columns: Mapping[Any, np.ndarray]  # the varied values of these runs


Work = Callable[[Ensemble, Chunk], Any]


def on_workers(
    client: Any, ensemble: Ensemble, work: Work, chunks: Sequence[Callable[[], Chunk]]
) -> Iterator[tuple[int, Any]]:
    """The positions of chunks and the answers of ``work``, as they come; the chunks are made when they are sent."""
    as_completed = extra("distributed", "study").as_completed
    killed = extra("distributed", "study").scheduler.KilledWorker
    shared = client.submit(_itself, ensemble, pure=False)
    waiting, tries = iter(range(len(chunks))), [0] * len(chunks)
    running: dict[Any, int] = {}

    def send(k: int) -> Any:
        tries[k] += 1
        future = client.submit(work, shared, chunks[k](), pure=False)
        running[future] = k
        return future

    try:
        first = [send(k) for _, k in zip(range(_ahead(client)), waiting, strict=False)]
        answers = as_completed(first, loop=client.loop)  # the client need not be the default one
        for future in answers:
            k = running.pop(future)
            try:
                answer = future.result()
            except killed:
                if tries[k] >= _TRIES:
                    raise _gave_up(chunks[k](), tries[k]) from None
                shared = client.submit(_itself, ensemble, pure=False)
                answers.add(send(k))
                continue
            future.release()
            answers.update([send(k) for _, k in zip(range(1), waiting, strict=False)])
            yield k, answer
    except BaseException:
        client.cancel(list(running))
        raise


def _itself(ensemble: Ensemble) -> Ensemble:
    """A task whose result Dask can make again, unlike scattered data."""
    return ensemble


def _ahead(client: Any) -> int:
    """The number of chunks that wait on the scheduler or run."""
    return max(_FEWEST, _AHEAD * sum(client.ncores().values()))


def _gave_up(chunk: Chunk, tries: int) -> VinculumError:
    runs = len(next(iter(chunk.columns.values())))
    return VinculumError(
        f"Workers died again and again with the runs {chunk.first} to {chunk.first + runs - 1} (chunk {chunk.number}), "
        f"in {tries} attempts. They may run out of memory: use smaller chunks, as in chunk={max(1, runs // 4)}. A "
        "store keeps its size of chunks, so give another folder too."
    )
