"""What makes Taylor steps: heyoka's compiled code, or the tape of a problem. Both give the same polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

# why steps came to an end: the time was reached, enough steps, a state that is not finite, the pivot watch, a terminal
# event, a corner
REACHED, ENOUGH, NOT_FINITE, WATCHED, ENDED, CORNERED = "reached", "enough", "not finite", "watched", "ended", "corner"


class Advance(NamedTuple):
    """Some steps of a run."""

    why: str
    steps: int
    dense: Any  # polynomials with ``times``, ``bounds`` and a call, or None without a step
    event: int = -1  # number of the terminal event


class Steps(Protocol):
    """Time and state of one run, and how it advances."""

    @property
    def time(self) -> float:
        """t."""

    def first_step(self, forward: bool) -> float:
        """The length of the next step, which is made."""

    def advance(self, target: float, most: int, project: Callable[[Any], bool] | None) -> Advance:
        """Steps to a time, at most some, with a projection after each."""

    def take_events(self) -> list[tuple[float, int, int]]:
        """(time, number, sign) of the non-terminal events since the last call."""
