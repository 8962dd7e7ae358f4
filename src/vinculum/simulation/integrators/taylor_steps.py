"""What makes Taylor steps: heyoka's compiled code, or the tape of a problem. Both give the same polynomials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from vinculum.compile.polynomials import polynomial_values

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Recorder

# why steps came to an end: the time was reached, enough steps, a state that is not finite, the pivot watch, a terminal
# event, a corner, the end of the range of a function
REACHED, ENOUGH, NOT_FINITE, WATCHED, ENDED, CORNERED = "reached", "enough", "not finite", "watched", "ended", "corner"
TIPPED = "tip"


@dataclass(frozen=True, eq=False)
class Polynomials:
    """The dense output of some steps: Σ_k c_k (t - t_i)ᵏ in step i."""

    times: np.ndarray  # (steps + 1) ends of the steps
    coefficients: np.ndarray  # (steps, n, order + 1)

    @property
    def bounds(self) -> tuple[float, float]:
        """First and last time."""
        return float(self.times[0]), float(self.times[-1])

    def until(self, time: float) -> Polynomials:
        """The same up to a time in one of the steps."""
        sign = np.sign(self.times[-1] - self.times[0])
        count = int(np.searchsorted(sign * self.times, sign * time))
        return Polynomials(np.append(self.times[:count], time), self.coefficients[:count])

    def inside(self, shares: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Instants and states of some steps at shares of their lengths, (k) or (steps, k): (steps k), (steps k, n)."""
        tau = np.diff(self.times)[steps, None] * shares
        places = np.broadcast_to(steps[:, None], tau.shape)
        states = polynomial_values(self.coefficients, places.ravel(), tau.ravel())
        return (self.times[steps, None] + tau).ravel(), states

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """The states (len(times), n)."""
        times = np.asarray(times, dtype=float)
        forward = self.times[-1] >= self.times[0]
        ends = self.times[1:-1] if forward else -self.times[1:-1]
        step = np.searchsorted(ends, times if forward else -times)
        return polynomial_values(self.coefficients, step, times - self.times[step])


class Advance(NamedTuple):
    """Some steps: why they came to an end, the states between them, and the samples inside them."""

    why: str
    steps: int
    knots: np.ndarray  # (K) times, the first at the start
    states: np.ndarray  # (K, n)
    samples: Callable[[np.ndarray], np.ndarray]  # states at instants between the knots
    dense: Any = None  # polynomials with ``times``, ``bounds`` and a call
    event: int = -1  # number of the terminal event


class Steps(Protocol):
    """Time and state of one run, and how it advances."""

    @property
    def time(self) -> float:
        """t."""

    @property
    def first_chunk(self) -> int:
        """The number of steps after which Python looks at a run for the first time."""

    def first_step(self, forward: bool) -> float:
        """The length of the next step, which is made."""

    def place(self, t: float, x: np.ndarray) -> None:
        """Continue at another time and state."""

    def slope(self, problem: Problem) -> np.ndarray:
        """ẋ at the present time and state."""

    def advance(self, target: float, most: int, recorder: Recorder, project: Callable[[Any], bool] | None) -> Advance:
        """Steps to a time, at most some, with a projection after each."""

    def take_events(self) -> list[tuple[float, int, int]]:
        """(time, number, sign) of the non-terminal events since the last call."""
