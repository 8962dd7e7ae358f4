"""Instants at which something happens during a run."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from vinculum.errors import VinculumError
from vinculum.names import reaction
from vinculum.notebook_repr import html

__all__ = ["DIRECTIONS", "Event", "Happened", "reaction"]

DIRECTIONS = {"any": 0, "rising": 1, "falling": -1}


@dataclass(frozen=True)
class Event:
    """The zero of an expression of time, coordinates, velocities, accelerations, inputs and reactions.

    ``direction`` is "rising", "falling" or "any"; a ``terminal`` event ends the run.

    >>> Event(reaction("contact"), name="lift-off", direction="falling", terminal=True)
    Event(lift-off: reaction(contact) = 0, falling, terminal)
    """

    expression: sp.Expr
    name: str = "event"
    direction: str = "any"
    terminal: bool = False

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise VinculumError(
                f"the direction of the event {self.name!r} is {self.direction!r}; use any, rising or falling."
            )

    def __repr__(self) -> str:
        end = ", terminal" if self.terminal else ""
        return f"Event({self.name}: {self.expression} = 0, {self.direction}{end})"

    _repr_html_ = html


@dataclass(frozen=True)
class Happened:
    """An event that occurred: its name, the time, and whether the expression was rising."""

    name: str
    time: float
    rising: bool

    _repr_html_ = html
