"""All computations of the papers repeated, with the time they took."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from papers.drawing import Panel
from papers.record import Confirmation, Erratum, Evidence, Figure, Number, Paper, Table

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Reproduced:
    """A paper with everything evaluated."""

    paper: Paper
    tables: list[tuple[Table, list[Number]]]
    errata: list[tuple[Erratum, Evidence]]
    confirmations: list[tuple[Confirmation, str, float]]  # with what was compared, and the error
    figures: list[tuple[Figure, list[Panel]]]
    seconds: float

    @property
    def numbers(self) -> list[Number]:
        return [number for _, numbers in self.tables for number in numbers]

    @property
    def agreeing(self) -> int:
        """How many texts of numbers agree to the digits printed."""
        return sum(number.agrees for number in self.numbers)

    @property
    def shown(self) -> int:
        """How many errata the evidence shows."""
        return sum(found.shows for _, found in self.errata)


def reproduce(papers: Sequence[Paper], progress: Progress | None = None) -> Iterator[Reproduced]:
    """One paper after the other; ``progress`` takes the step and the fraction of all steps done."""
    total, done = sum(map(_steps, papers)), 0
    tell = progress or (lambda step, share: None)
    for paper in papers:
        began = clock.perf_counter()

        def each(parts: Sequence, what: str, paper: Paper = paper) -> Iterator:
            nonlocal done
            for part in parts:
                tell(f"{paper.authors.partition(',')[0]}: {what}", done / total)
                yield part
                done += 1

        yield Reproduced(
            paper,
            [(table, computed(table.make)) for table in each(paper.tables, "numbers")],
            [(erratum, computed(erratum.show)) for erratum in each(paper.errata, "errata")],
            [(part, *computed(part.check)) for part in each(paper.confirmations, "confirmations")],
            [(figure, figure.make()) for figure in each(paper.figures, "figures")],
            clock.perf_counter() - began,
        )
    tell("page", 1.0)


@cache
def computed(check: Callable[[], Any]) -> Any:
    """What a check of a paper gives, computed once in a process."""
    return check()


def _steps(paper: Paper) -> int:
    return len(paper.tables) + len(paper.errata) + len(paper.confirmations) + len(paper.figures)
