"""The same function of many arguments: in this process, in processes of this machine, or on the workers of a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from vinculum.errors import VinculumError
from vinculum.extras import extra
from vinculum.simulation.progress import Shown, progress_bar

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def spread(
    work: Callable[[Given], Answer],
    parts: Sequence[Given],
    *,
    processes: int | None = None,
    client: Any = None,
    progress: Shown = None,
) -> list[Answer]:
    """work(part) for every part, in order. Work and parts must pickle for ``processes`` and a Dask ``client``."""
    if processes is not None and (isinstance(processes, bool) or int(processes) != processes or processes < 1):
        raise VinculumError(f"processes={processes!r} must be a positive number.")
    answers: dict[int, Answer] = {}
    with progress_bar(progress, f"{len(parts)} parts") as report:
        for number, answer in _answered(work, parts, processes, client):
            answers[number] = answer
            report(len(answers) / len(parts))
    return [answers[number] for number in range(len(parts))]


def _answered(
    work: Callable[[Given], Answer], parts: Sequence[Given], processes: int | None, client: Any
) -> Iterator[tuple[int, Answer]]:
    """Numbers and answers as they come."""
    if client is not None:
        futures = {future: k for k, future in enumerate(client.map(work, list(parts), pure=False))}
        found = extra("distributed", "study").as_completed(list(futures), loop=client.loop, with_results=True)
        yield from ((futures[future], answer) for future, answer in found)
    elif processes is not None and processes > 1:
        yield from _in_processes(work, parts, processes)
    else:
        yield from ((k, work(part)) for k, part in enumerate(parts))


def _in_processes(
    work: Callable[[Given], Answer], parts: Sequence[Given], processes: int
) -> Iterator[tuple[int, Answer]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(work, part): k for k, part in enumerate(parts)}
        try:
            yield from ((futures[future], future.result()) for future in as_completed(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
