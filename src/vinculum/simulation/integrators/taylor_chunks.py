"""Chunks of steps of heyoka's integrator, with the polynomials of every step or with the states at instants only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.recorder import Recorder


class Chunk(NamedTuple):
    """Some steps: how they ended, the states between them, and the samples inside them."""

    outcome: Any  # heyoka's
    steps: int
    knots: np.ndarray  # (K) times, the first at the start
    states: np.ndarray  # (K, n)
    samples: Callable[[np.ndarray], np.ndarray]  # states at instants between the knots
    dense: Any = None  # heyoka's polynomials


@dataclass
class Path:
    """Receives the states between the steps."""

    times: list[float]
    states: list[np.ndarray]

    def __call__(self, taylor: Any) -> bool:
        """Called by heyoka after every step."""
        self.times.append(taylor.time)
        self.states.append(taylor.state.copy())
        return True


def with_polynomials(taylor: Any, target: float, steps: int, options: dict[str, Any]) -> Chunk:
    """Steps with their polynomials, which cost heyoka about a millisecond for any number of steps."""
    outcome, _, _, taken, dense, *_ = taylor.propagate_until(target, max_steps=steps, c_output=True, **options)
    if dense is None:
        return Chunk(outcome, int(taken), np.empty(0), np.empty((0, len(taylor.state))), np.empty_like)
    knots = np.array(dense.times)
    return Chunk(outcome, int(taken), knots, np.array(dense(knots)), lambda times: np.array(dense(times)), dense)


def at_instants(taylor: Any, steps: int, recorder: Recorder) -> Chunk:
    """Steps with the states at the requested instants only; the same steps as with polynomials."""
    waiting, path = recorder.instants[recorder.written :], Path([taylor.time], [taylor.state.copy()])
    grid = waiting if len(waiting) and waiting[0] == taylor.time else np.append(taylor.time, waiting)
    outcome, _, _, taken, path, states = taylor.propagate_grid(grid, max_steps=steps, callback=path)
    knots, reached = np.array(path.times), np.array(path.states)
    found = np.vstack([states[len(grid) - len(waiting) :], reached[-1]])  # an event may end a step right at an instant
    return Chunk(outcome, int(taken), knots, reached, lambda times: found[: len(times)])
