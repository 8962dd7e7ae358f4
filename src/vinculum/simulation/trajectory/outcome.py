"""How a run ended. A run that stops early is a result with a reason, not a stack trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vinculum.notebook_repr import html

FINISHED, EVENT, INTERRUPTED = "finished", "event", "interrupted"
SINGULAR, NON_FINITE, STALLED = "singular", "non-finite", "stalled"
REPIVOT = "repivot"  # internal: go on from here with another order of elimination
CORNER = "corner"  # internal: go on from here on the next side of a corner


@dataclass(frozen=True)
class Outcome:
    """How a run ended: ``kind``, the ``time`` it reached, and why.

    Kinds: finished; event (a terminal event); interrupted (Ctrl-C); singular (accelerations no longer
    determined); chart left (the states of the form no longer determine the velocities); non-finite (an operation left
    its domain); stalled (the step size went to zero).
    """

    kind: str
    time: float
    reason: str
    # time and state a step led to, which were not kept
    beyond: tuple[float, Any] | None = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.kind in (FINISHED, EVENT)

    def __str__(self) -> str:
        return f"{self.kind} at t = {self.time:.6g}: {self.reason}"

    _repr_html_ = html


def finished(time: float) -> Outcome:
    """The run reached its end."""
    return Outcome(FINISHED, time, "the end of the interval was reached")


def ended_by(event: str, time: float) -> Outcome:
    """A terminal event ended the run."""
    return Outcome(EVENT, time, f"the event {event!r} ended the run")


def jumped(time: float, beyond: tuple[float, Any]) -> Outcome:
    """A step led over the zero of a pivot; the run goes on from before it."""
    return Outcome(REPIVOT, time, "a pivot changed its sign within one step", beyond)
