"""Many motions at once in the lanes of SIMD registers: heyoka's Taylor integrator in batch mode.

A lane computes the same bits whatever runs are in the other lanes, so results do not depend on how runs are grouped.
When one lane ends early (it is no longer finite, or a pivot became small), heyoka stops all of them; the others are run
again with the place of the ended one taken by a copy of a good one.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from vinculum.compile.code_cache import heyoka
from vinculum.compile.machine import COMPILING
from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.graph import ZERO, Node, operations
from vinculum.simulation.integrators.heyoka_steps import event_direction
from vinculum.simulation.problem.pivots import WATCH_LIMIT

DONE, NOT_FINITE, NEEDS_PIVOTS, ENDED, STUCK = 0, 1, 2, 3, 4  # how a run ends; ENDED: by an event
_INTERRUPTED = 5  # the lane is good; another one has ended
_MOST_STEPS = 1_000_000  # of a run
_CODES = {
    "taylor_outcome.time_limit": DONE,
    "taylor_outcome.err_nf_state": NOT_FINITE,
    "taylor_outcome.step_limit": STUCK,
    "taylor_outcome.success": _INTERRUPTED,
}  # what heyoka says of a lane; anything else is the number of an event
_SMALL = 1e-6  # heyoka measures its tolerance on states and event functions together; these must not be the larger


@lru_cache(maxsize=16)
def _compiled(
    time: Node,
    state: tuple[Node, ...],
    parameters: tuple[Node, ...],
    rates: tuple[Node, ...],
    watch: Node,
    until: tuple[tuple[Node, int], ...],
    tolerance: float | None,
    compact: bool | None,
) -> Any:
    """heyoka's integrator of ẋ = rates in lanes; it stops a lane at an event, or when its pivots became small."""
    hy = heyoka()

    width, watched = hy.recommended_simd_size(), () if watch is ZERO else (watch / WATCH_LIMIT - 1,)
    nodes = [*rates, *(node for node, _ in until), *watched]
    variables, outputs = expressions(time, state, parameters, nodes)
    directions = [event_direction(sign) for _, sign in until] + [event_direction(0)] * len(watched)
    functions = zip(outputs[len(rates) :], directions, strict=True)
    ending = [hy.t_event_batch(_SMALL * node, direction=wanted) for node, wanted in functions]
    small_code = operations(rates).total() > COMPACT_FROM if compact is None else compact
    options = {"compact_mode": small_code} | ({} if tolerance is None else {"tol": tolerance})
    equations = list(zip(variables, outputs[: len(rates)], strict=True))
    return hy.taylor_adaptive_batch(equations, np.zeros((len(state), width)), t_events=ending, **options)


class Stopped(Exception):
    """The runs were stopped by Ctrl-C or by an error in another thread."""


def check_stop(stop: threading.Event | None) -> None:
    """Raise if somebody stopped the study."""
    if stop is not None and stop.is_set():
        raise Stopped


class Motions(NamedTuple):
    """What lanes found of every run."""

    states: np.ndarray  # (instants, states, runs), not a number where a run did not arrive
    codes: np.ndarray  # (runs) how it ended
    ends: np.ndarray  # (runs) when it ended
    last: np.ndarray  # (states, runs) at the end


class Lanes:
    """An integrator in lanes that belongs to one thread."""

    def __init__(
        self,
        time: Node,
        state: Sequence[Node],
        parameters: Sequence[Node],
        rates: Sequence[Node],
        watch: Node,
        until: Sequence[tuple[Node, int]],
        tolerance: float | None,
        compact: bool | None,
    ) -> None:
        made_of = (time, tuple(state), tuple(parameters), tuple(rates), watch, tuple(until), tolerance, compact)
        with COMPILING:
            self.taylor = copy.deepcopy(_compiled(*made_of))
        self.width, self.events = self.taylor.batch_size, len(until)

    def run(self, times: np.ndarray, x: np.ndarray, p: np.ndarray, stop: threading.Event | None = None) -> Motions:
        """The motions through the times of every run.

        ``times`` is (instants, runs) and begins with the time of x, (states, runs); p is (parameters, runs).
        """
        runs = x.shape[1]
        found = Motions(np.full((len(times), *x.shape), np.nan), np.zeros(runs, dtype=int), np.empty(runs), x.copy())
        for first in range(0, runs, self.width):
            check_stop(stop)
            part = slice(first, first + self.width)
            if first + self.width <= runs and self._propagate(times[:, part], x[:, part], p[:, part]):
                self._write(found.states[:, :, part], x[:, part])
                found.ends[part], found.last[:, part] = times[-1, part], self.taylor.state
            else:
                self._group(np.arange(first, min(first + self.width, runs)), times, x, p, found)
        found.codes[(found.codes == DONE) & ~np.isfinite(found.last).all(axis=0)] = NOT_FINITE
        return found

    def _propagate(self, times: np.ndarray, x: np.ndarray, p: np.ndarray) -> bool:
        """Run all lanes; returns whether all of them arrived."""
        taylor = self.taylor
        taylor.set_time(times[0])
        taylor.state[:], taylor.pars[:] = x, p[: len(taylor.pars)]  # heyoka leaves out parameters at the end
        if taylor.with_events:
            taylor.reset_cooldowns()
        if len(times) == 2:
            taylor.propagate_until(times[1], max_steps=_MOST_STEPS)
        else:
            self._samples = taylor.propagate_grid(np.ascontiguousarray(times), max_steps=_MOST_STEPS)[1]
        return bool((taylor.time == times[-1]).all())

    def _write(self, states: np.ndarray, x: np.ndarray) -> None:
        """Write the states of all lanes."""
        if len(states) == 2:
            states[0], states[1] = x, self.taylor.state
        else:
            states[:] = self._samples

    def _group(self, group: np.ndarray, times: np.ndarray, x: np.ndarray, p: np.ndarray, found: Motions) -> None:
        """A register of runs that do not all arrive; a lane whose run has ended repeats one that has not."""
        states = np.empty((len(times), len(x), self.width))
        waiting = np.ones(len(group), dtype=bool)
        while waiting.any():
            source = np.full(self.width, group[waiting][0])
            source[: len(group)] = np.where(waiting, group, source[0])
            self._propagate(times[:, source], x[:, source], p[:, source])
            self._write(states, x[:, source])
            codes = np.array([self._code(result[0]) for result in self.taylor.propagate_res])
            ended = waiting & (codes != _INTERRUPTED)[: len(group)]
            lanes, runs = np.flatnonzero(ended), group[ended]
            found.states[:, :, runs], found.last[:, runs] = states[:, :, lanes], self.taylor.state[:, lanes]
            found.ends[runs], found.codes[runs] = self.taylor.time[lanes], codes[lanes]
            waiting &= ~ended

    def _code(self, outcome: Any) -> int:
        """How a lane ended."""
        known = _CODES.get(str(outcome))
        return known if known is not None else ENDED if -int(outcome) - 1 < self.events else NEEDS_PIVOTS
