"""The watch over the pivots of the elimination, whose order is good only while none of them has shrunk too far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

from vinculum.derivation.interface import Equations
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import total
from vinculum.graph import ONE, ZERO, Node, constant, select, symbol, symbols
from vinculum.graph.node import compare, multiply

WATCH_LIMIT = 1e3  # Σ (reference pivot / pivot)²: some pivot has shrunk about thirty times
JUMPED = 1e200  # what the strict watch says when a pivot has changed its sign


@dataclass(frozen=True, eq=False)
class PivotWatch:
    """Σ (reference pivot / pivot)² over the pivots that change along the motion and so may go to zero."""

    equations: Equations
    explicit: Explicit

    @cached_property
    def changing(self) -> tuple[int, ...]:
        """The numbers of the pivots that are not made of parameters alone."""
        parameters = {*map(symbol, self.equations.parameters)}
        return tuple(i for i, pivot in enumerate(self.explicit.pivots) if symbols([pivot]) - parameters)

    @property
    def references(self) -> tuple[Node, ...]:
        """The symbols of the pivots where they were chosen."""
        return tuple(symbol(("reference pivot", k)) for k in range(len(self.changing)))

    @property
    def numbers(self) -> list[float]:
        """The values of ``references``."""
        return [self.explicit.numbers[i] for i in self.changing]

    @cached_property
    def plain(self) -> Node:
        """Large when the order of elimination has become bad."""
        return total([ratio * ratio for ratio in self._ratios])

    @cached_property
    def strict(self) -> Node:
        """The same for methods that may step over a zero: beyond all bounds when a pivot has changed its sign."""
        gone = constant(JUMPED)
        return total([select(compare("less", ZERO, ratio), ratio * ratio, gone) for ratio in self._ratios])

    @cached_property
    def _ratios(self) -> list[Node]:
        """Reference pivot times the reciprocal of the pivot, which the elimination has computed already.

        Their product stands for the determinant, where a condition of the equations is one that is not written out.
        """
        pivots = [self.explicit.pivots[i] for i in self.changing]
        ratios = [reference * (ONE / pivot) for reference, pivot in zip(self.references, pivots, strict=True)]
        measured = any(limit.node is None for limit in self.equations.conditions)
        return [*ratios, reduce(multiply, ratios)] if measured and len(ratios) > 1 else ratios
