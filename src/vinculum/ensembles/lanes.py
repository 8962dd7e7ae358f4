"""Many motions at once in the lanes of SIMD registers: heyoka's Taylor integrator in batch mode.

A lane computes the same bits whatever runs are in the other lanes, so results do not depend on how runs are grouped.
When one lane ends early (it is no longer finite, or a pivot became small), heyoka stops all of them; the others are run
again with the place of the ended one taken by a copy of a good one.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from vinculum.compile.code_cache import heyoka
from vinculum.compile.machine import COMPILING
from vinculum.compile.taylor import COMPACT_FROM, expressions
from vinculum.graph import ZERO, Node, operations
from vinculum.simulation.integrators.heyoka_steps import event_direction, event_scale
from vinculum.simulation.problem.pivots import WATCH_LIMIT

# How a run ends: ENDED by an event; UNDECIDED: `simulate` decides, since pivots must change, for instance.
DONE, NOT_FINITE, UNDECIDED, ENDED, STUCK = 0, 1, 2, 3, 4
_INTERRUPTED = 5  # the lane is good; another one has ended
_MOST_STEPS = 1_000_000  # of a run
_CODES = {
    "taylor_outcome.time_limit": DONE,
    "taylor_outcome.err_nf_state": NOT_FINITE,
    "taylor_outcome.step_limit": STUCK,
    "taylor_outcome.success": _INTERRUPTED,
}  # what heyoka says of a lane; anything else is the number of an event
_SMALLEST_CODE = 16  # operations; straight-line code of fewer has registers to spare


@lru_cache(maxsize=16)
def _compiled(
    time: Node,
    state: tuple[Node, ...],
    parameters: tuple[Node, ...],
    rates: tuple[Node, ...],
    watch: Node,
    edges: tuple[Node, ...],
    until: tuple[tuple[Node, int], ...],
    tolerance: float | None,
    compact: bool,
    width: int,
) -> Any:
    """heyoka's integrator of ẋ = rates in lanes; it stops a lane at an event, when its pivots became small, and at the
    end of the range of a function.
    """
    hy, watched = heyoka(), (*(() if watch is ZERO else (watch / WATCH_LIMIT - 1,)), *edges)
    nodes = [*rates, *(node for node, _ in until), *watched]
    variables, outputs = expressions(time, state, parameters, nodes)
    directions = [event_direction(sign) for _, sign in until] + [event_direction(0)] * len(watched)
    functions = zip(outputs[len(rates) :], directions, strict=True)
    ending = [hy.t_event_batch(event_scale(tolerance) * node, direction=wanted) for node, wanted in functions]
    options = {"compact_mode": compact} | ({} if tolerance is None else {"tol": tolerance})
    equations = list(zip(variables, outputs[: len(rates)], strict=True))
    return hy.taylor_adaptive_batch(equations, np.zeros((len(state), width)), t_events=ending, **options)


def _lanes(size: int, compact: bool, until: Sequence[Any]) -> int:
    """Lanes that are computed together: those of one SIMD register, or of two.

    Two registers side by side hide the time that an operation takes: 6 to 20 % less per run, where straight-line code
    does not run out of registers. With events, whose lanes end one by one and are run again, fewer lanes are better.
    """
    width = int(heyoka().recommended_simd_size())
    return width if until or not (compact or size <= _SMALLEST_CODE) else 2 * width


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
    balance_errors: np.ndarray | None = None  # (runs) largest over all steps, if the method knows them
    residuals: np.ndarray | None = None  # (runs, residuals) as well


class Lanes:
    """An integrator in lanes that belongs to one thread."""

    def __init__(
        self,
        time: Node,
        state: Sequence[Node],
        parameters: Sequence[Node],
        rates: Sequence[Node],
        watch: Node,
        edges: Sequence[Node],
        until: Sequence[tuple[Node, int]],
        tolerance: float | None,
        compact: bool | None,
        width: int | None = None,
    ) -> None:
        size = operations(rates).total()
        small = size > COMPACT_FROM if compact is None else compact
        lanes = width or _lanes(size, small, until)
        ends = (watch, tuple(edges), tuple(until))
        with COMPILING:
            self.taylor = copy.deepcopy(
                _compiled(time, tuple(state), tuple(parameters), tuple(rates), *ends, tolerance, small, lanes)
            )
        self.width, self.events, self._has_events = self.taylor.batch_size, len(until), self.taylor.with_events
        self.state, self.pars, self.time = self.taylor.state, self.taylor.pars, self.taylor.time  # views, made once

    def run(
        self,
        times: np.ndarray,
        x: np.ndarray,
        p: np.ndarray,
        stop: threading.Event | None = None,
        stops: Sequence[np.ndarray] = (),
    ) -> Motions:
        """The motions through the times of every run.

        ``times`` is (instants, runs) and begins with the time of x, (states, runs); p is (parameters, runs). Where a
        run has ``stops``, these instants end a step; all runs of one system have some, or none has.
        """
        runs, p = x.shape[1], p[: len(self.pars)]  # heyoka leaves out parameters at the end
        found = Motions(np.full((len(times), *x.shape), np.nan), np.zeros(runs, dtype=int), times[-1].copy(), x.copy())
        self._stops = [*stops, *stops[-1:] * (-runs % self.width)] if any(len(one) for one in stops) else None
        arrived = self._registers(times, x, p, found, stop)
        for k in np.flatnonzero(~arrived):
            check_stop(stop)
            self._group(np.arange(k * self.width, min((k + 1) * self.width, runs)), times, x, p, found)
        found.states[0] = x  # also of runs whose first step fails
        found.codes[(found.codes == DONE) & ~np.isfinite(found.last).all(axis=0)] = NOT_FINITE
        found.codes[(found.codes == ENDED) & (found.ends == times[0])] = (
            UNDECIDED  # a zero at the start is not an event
        )
        return found

    def _registers(
        self, times: np.ndarray, x: np.ndarray, p: np.ndarray, found: Motions, stop: threading.Event | None
    ) -> np.ndarray:
        """Run every register once; returns which of them arrived with all lanes. Every microsecond counts here."""
        runs, width = x.shape[1], self.width
        shared = None if self._stops is not None else _shared(times)
        times, x, p = (_filled_up(array, width) for array in (times, x, p))
        last, ends = np.empty_like(x), np.empty(x.shape[1])
        for first in range(0, runs, width):
            check_stop(stop)
            part = slice(first, first + width)
            self._propagate(range(first, first + width), shared or times[:, part], x[:, part], p[:, part])
            last[:, part], ends[part] = self.state, self.time
            if len(times) > 2:
                found.states[:, :, part] = self._samples[:, :, : runs - first]
        found.last[:] = last[:, :runs]
        if len(times) == 2:
            found.states[0], found.states[1] = x[:, :runs], found.last
        return np.asarray((ends == times[-1]).reshape(-1, width).all(axis=1))

    def _propagate(self, runs: Iterable[int], times: Any, x: np.ndarray, p: np.ndarray) -> None:
        """Run all lanes of a register through their times."""
        taylor = self.taylor
        taylor.set_time(times[0])
        self.state[:], self.pars[:] = x, p
        if self._has_events:
            taylor.reset_cooldowns()
        if self._stops is not None:
            self._through_stops(
                [_targets(self._stops[run], own) for run, own in zip(runs, times.T, strict=True)], times
            )
        elif len(times) == 2:
            taylor.propagate_until(times[1], max_steps=_MOST_STEPS)
        else:
            self._samples = taylor.propagate_grid(np.ascontiguousarray(times), max_steps=_MOST_STEPS)[1]

    def _through_stops(self, plans: Sequence[tuple[np.ndarray, np.ndarray]], times: np.ndarray) -> None:
        """Run from target to target: those of a lane are its own instants and stops."""
        taylor, self._samples = self.taylor, np.full((len(times), *self.taylor.state.shape), np.nan)
        self._samples[0] = taylor.state
        for k in range(max(len(targets) for targets, _ in plans)):
            targets = np.array([own[min(k, len(own) - 1)] for own, _ in plans])
            taylor.propagate_until(targets, max_steps=_MOST_STEPS)
            for lane, (own, places) in enumerate(plans):
                if k < len(own) and places[k] > 0 and taylor.time[lane] == own[k]:
                    self._samples[places[k], :, lane] = taylor.state[:, lane]
            if not np.array_equal(taylor.time, targets):
                break

    def _group(self, group: np.ndarray, times: np.ndarray, x: np.ndarray, p: np.ndarray, found: Motions) -> None:
        """A register of runs that do not all arrive; a lane whose run has ended repeats one that has not."""
        waiting = np.ones(len(group), dtype=bool)
        while waiting.any():
            source = np.full(self.width, group[waiting][0])
            source[: len(group)] = np.where(waiting, group, source[0])
            self._propagate(source, times[:, source], x[:, source], p[:, source])
            states = self._samples if len(times) > 2 else np.stack([x[:, source], self.state])
            codes = np.array([self._code(result[0]) for result in self.taylor.propagate_res])
            codes[(codes == DONE) & (self.taylor.time != times[-1, source])] = _INTERRUPTED
            ended = waiting & (codes != _INTERRUPTED)[: len(group)]
            lanes, runs = np.flatnonzero(ended), group[ended]
            found.states[:, :, runs], found.last[:, runs] = states[:, :, lanes], self.state[:, lanes]
            found.ends[runs], found.codes[runs] = self.time[lanes], codes[lanes]
            waiting &= ~ended

    def _code(self, outcome: Any) -> int:
        """How a lane ended."""
        known = _CODES.get(str(outcome))
        return known if known is not None else ENDED if -int(outcome) - 1 < self.events else UNDECIDED


def _filled_up(array: np.ndarray, width: int) -> np.ndarray:
    """(numbers, runs), with copies of the last run where the last register has free lanes."""
    free = -array.shape[1] % width
    return np.hstack([array, np.repeat(array[:, -1:], free, axis=1)]) if free else array


def _shared(times: np.ndarray) -> tuple[float, float] | None:
    """Start and end of all runs as two numbers, which heyoka takes faster than arrays; None if there are others."""
    same = len(times) == 2 and times.shape[1] and bool((times == times[:, :1]).all())
    return (float(times[0, 0]), float(times[1, 0])) if same else None


def _targets(stops: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The instants and stops of a run after its start, in order, and the number of the instant of each one, or 0."""
    sign = 1.0 if times[-1] > times[0] else -1.0
    inside = stops[(sign * stops > sign * times[0]) & (sign * stops < sign * times[-1])]
    targets = sign * np.unique(sign * np.append(times[1:], inside))
    places = np.searchsorted(sign * times, sign * targets)
    return targets, np.where(times[np.minimum(places, len(times) - 1)] == targets, places, 0)
