"""Many motions at once in the lanes of SIMD registers: heyoka's Taylor integrator in batch mode.

A lane computes the same bits whatever runs are in the other lanes, so results do not depend on how runs are grouped.
When one lane ends early (it is no longer finite, or a pivot became small), heyoka stops all of them; the others are run
again with the place of the ended one taken by a copy of a good one.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from vinculum.compile.machine import COMPILING
from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.graph import ZERO, Node, operations
from vinculum.simulation.problem.pivots import WATCH_LIMIT

DONE, NOT_FINITE, NEEDS_PIVOTS = 0, 1, 2
_INTERRUPTED = 3  # the lane is good; another one has ended
_CODES = {
    "taylor_outcome.time_limit": DONE,
    "taylor_outcome.err_nf_state": NOT_FINITE,
    "taylor_outcome.success": _INTERRUPTED,
}  # what heyoka says of a lane; anything else is the event of a small pivot
_SMALL = 1e-6  # heyoka measures its tolerance on states and event functions together; these must not be the larger


@lru_cache(maxsize=16)
def _compiled(
    time: Node,
    state: tuple[Node, ...],
    parameters: tuple[Node, ...],
    rates: tuple[Node, ...],
    watch: Node,
    tolerance: float | None,
    compact: bool | None,
) -> Any:
    """heyoka's integrator of ẋ = rates in lanes; it stops a lane whose pivots became small."""
    import heyoka as hy

    width = hy.recommended_simd_size()
    variables, outputs = expressions(time, state, parameters, [*rates, watch / WATCH_LIMIT - 1])
    ending = [] if watch is ZERO else [hy.t_event_batch(_SMALL * outputs[-1])]
    small_code = operations(rates).total() > COMPACT_FROM if compact is None else compact
    options = {"compact_mode": small_code} | ({} if tolerance is None else {"tol": tolerance})
    equations = list(zip(variables, outputs[:-1], strict=True))
    return hy.taylor_adaptive_batch(equations, np.zeros((len(state), width)), t_events=ending, **options)


class Lanes:
    """An integrator in lanes that belongs to one thread."""

    def __init__(
        self,
        time: Node,
        state: Sequence[Node],
        parameters: Sequence[Node],
        rates: Sequence[Node],
        watch: Node,
        tolerance: float | None,
        compact: bool | None,
    ) -> None:
        with COMPILING:
            compiled = _compiled(time, tuple(state), tuple(parameters), tuple(rates), watch, tolerance, compact)
            self.taylor = copy.deepcopy(compiled)
        self.width = self.taylor.batch_size

    def run(self, times: np.ndarray, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States at the times of every run, how it ended, and when.

        ``times`` is (instants, runs) and begins with the time of x, (states, runs); p is (parameters, runs). The states
        are (instants, states, runs), not a number where a run did not arrive.
        """
        runs = x.shape[1]
        states = np.full((len(times), *x.shape), np.nan)
        codes, ends = np.zeros(runs, dtype=np.int64), np.empty(runs)
        for first in range(0, runs, self.width):
            part = slice(first, first + self.width)
            if first + self.width <= runs and self._propagate(times[:, part], x[:, part], p[:, part]):
                self._found(states[:, :, part], x[:, part])
                ends[part] = times[-1, part]
            else:
                group = np.arange(first, min(first + self.width, runs))
                self._group(group, times, x, p, states, codes, ends)
        codes[(codes == DONE) & ~np.isfinite(states[-1]).all(axis=0)] = NOT_FINITE
        return states, codes, ends

    def _propagate(self, times: np.ndarray, x: np.ndarray, p: np.ndarray) -> bool:
        """Run all lanes; returns whether all of them arrived."""
        taylor = self.taylor
        taylor.set_time(times[0])
        taylor.state[:], taylor.pars[:] = x, p[: len(taylor.pars)]  # heyoka leaves out parameters at the end
        if taylor.with_events:
            taylor.reset_cooldowns()
        if len(times) == 2:
            taylor.propagate_until(times[1])
        else:
            self._samples = taylor.propagate_grid(np.ascontiguousarray(times))[1]
        return bool((taylor.time == times[-1]).all())

    def _found(self, states: np.ndarray, x: np.ndarray) -> None:
        """Write the states of all lanes."""
        if len(states) == 2:
            states[0], states[1] = x, self.taylor.state
        else:
            states[:] = self._samples

    def _group(
        self,
        group: np.ndarray,
        times: np.ndarray,
        x: np.ndarray,
        p: np.ndarray,
        states: np.ndarray,
        codes: np.ndarray,
        ends: np.ndarray,
    ) -> None:
        """A register of runs that do not all arrive; a lane whose run has ended repeats one that has not."""
        found = np.empty((len(times), len(x), self.width))
        waiting = np.ones(len(group), dtype=bool)
        while waiting.any():
            source = np.full(self.width, group[waiting][0])
            source[: len(group)] = np.where(waiting, group, source[0])
            self._propagate(times[:, source], x[:, source], p[:, source])
            self._found(found, x[:, source])
            outcomes = np.array([_CODES.get(str(result[0]), NEEDS_PIVOTS) for result in self.taylor.propagate_res])
            ended = waiting & (outcomes != _INTERRUPTED)[: len(group)]
            lanes, runs = np.flatnonzero(ended), group[ended]
            states[:, :, runs], ends[runs] = found[:, :, lanes], self.taylor.time[lanes]
            codes[runs] = outcomes[lanes]
            waiting &= ~ended
