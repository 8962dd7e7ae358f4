"""The shortest pulse of any function of time in a run, and the instants at which a run must stop to see them all.

Between two turns of h(t) that differ by more than a quarter of its range, h crosses the level halfway between them. The
shortest time from one such crossing to the next is the width of a pulse, or half a period. Two steps fit into it.

An adaptive method can pass over a short pulse, because it finds nothing at the ends of its step. It stops on the cells
of h (`time_cells`) where these get much shorter in the direction of the run: at each halving of the distance to the
pulse, and on the first cells of the pulse itself. From there on the method sees it and chooses its own steps. A sine
has cells of about one length, and no stops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from vinculum.graph import Node
from vinculum.graph.traverse import describe, symbols
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.time_cells import FIRST, Cells, cells_of, functions_of_time, narrow_functions

_FEWEST = 64  # steps of a run
_MOST = 2**19  # cells of one length for the shortest pulse
_SHORTER = 3.5  # halvings: cells that get shorter by more are a narrow part
_CORE = 24  # cells of a narrow part on which the run stops
_ANYWHERE = 1024  # stops for a function that changes too often to find every place
_CLOSE = 1e-11  # of the run: closer stops are one


@dataclass(frozen=True)
class Pulse:
    """Where a function of time changes and changes back."""

    function: str
    time: float
    width: float


class _Pulses(NamedTuple):
    """All pulses of one function of time."""

    function: Node
    begins: np.ndarray  # (N)
    widths: np.ndarray  # (N)
    ends: np.ndarray  # (N) where the function may still be in the pulse


def shortest_pulse(problem: Problem, t0: float, t1: float, during: np.ndarray | None = None) -> Pulse | None:
    """The shortest one, or None if no function of time turns back during the run.

    ``during`` are parts of the run, (N, 2), in which the equations of this problem were used; only pulses in one of
    them count. All pulses are found once for the same numbers.
    """
    functions, time = functions_of_time(problem), problem.nodes.time
    if not functions:
        return None
    numbers = _numbers(problem, functions, problem.values)
    key = ("pulses", t0, t1, *numbers.values())
    found = _kept(problem, key, lambda: _pulses(cells_of(functions, time, numbers, t0, t1, _MOST)))
    parts = [_inside(pulses, during) for pulses in found]
    return min((_shortest(part) for part in parts if len(part.begins)), key=lambda pulse: pulse.width, default=None)


def longest_step(pulse: Pulse | None, span: float) -> float:
    """Two steps in a pulse, and 64 in any run."""
    return span / _FEWEST if pulse is None else min(pulse.width / 2, span / _FEWEST)


def stops(
    problem: Problem, t0: float, t1: float, values: np.ndarray | None = None, also: tuple[Node, ...] = ()
) -> np.ndarray:
    """The instants between t0 and t1 at which an adaptive method stops, in the direction of the run.

    They are found once for the same numbers. ``values`` are other numbers p than those of the problem; ``also`` are
    further rates.
    """
    functions, time = narrow_functions(problem, also), problem.nodes.time
    if not functions:
        return np.empty(0)
    numbers = _numbers(problem, functions, problem.values if values is None else values)
    key = ("stops", t0, t1, also, *numbers.values())
    return _kept(problem, key, lambda: _stops(cells_of(functions, time, numbers, t0, t1), t0, t1))


def _kept(problem: Problem, key: tuple, find: Callable[[], Any]) -> Any:
    return problem.nodes.on(None).known.get(key, find)


def _numbers(problem: Problem, functions: tuple[Node, ...], values: np.ndarray) -> dict[Node, float]:
    """The values of the parameters in some functions."""
    parameters = problem.nodes.on(None).parameters
    used = _kept(problem, ("parameters of", functions), lambda: _places(parameters, functions))
    return {parameters[k]: float(values[k]) for k in used}


def _places(parameters: Sequence[Node], functions: Sequence[Node]) -> tuple[int, ...]:
    used = symbols(functions)
    return tuple(k for k, p in enumerate(parameters) if p in used)


# -- stops -------------------------------------------------------------------------------------------------------


def _stops(cells: Cells, t0: float, t1: float) -> np.ndarray:
    span, sign = abs(t1 - t0), 1.0 if t1 > t0 else -1.0
    found = [np.empty(0)]
    for row in range(len(cells.change)):
        low, high = cells.leaves(row)
        begins, lengths = (low, high - low) if sign > 0 else (high[::-1], (high - low)[::-1])
        if cells.busy[row]:
            found.append(np.linspace(t0, t1, _ANYWHERE))
            continue
        places, ways = _shortening(lengths, span)
        found.append(begins[places])
        found += [_halvings(begins[place], lengths[place], way, -sign) for place, way in ways]
    times = np.unique(np.concatenate(found))
    close = max(_CLOSE * span, 64 * np.spacing(max(abs(t0), abs(t1))))
    inside = times[(np.abs(times - t0) > close) & (np.abs(times - t1) > close)]
    return _apart(inside, close)[:: int(sign)]


def _shortening(lengths: np.ndarray, span: float) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """The first cells of every narrow part, and for each part its first cell and the way to it from longer cells."""
    sizes = np.log2(np.append(span / FIRST, lengths) / span)  # the time before the start counts as one of the longest
    cores, ways = [np.empty(0, dtype=int)], []
    for first, last in pairwise(_turns(sizes, _SHORTER)):
        if sizes[last] < sizes[first]:
            core = first + int(np.argmax(sizes[first : last + 1] < sizes[last] + 1.5))
            cells = np.arange(core, min(core + _CORE, len(sizes)))
            cores.append(cells[sizes[cells] < sizes[last] + 2.5] - 1)
            ways.append((core - 1, float(np.sum(lengths[max(first - 1, 0) : core - 1]))))
    return np.unique(np.concatenate(cores)), ways


def _halvings(begin: float, length: float, way: float, back: float) -> np.ndarray:
    """Instants before a narrow part: within the length of its cells, then at distances that double."""
    count = int(np.ceil(np.log2(max(way / length, 1.0)))) + 1
    distances = length * np.append(np.arange(1, 4), 2.0 ** np.arange(2, max(count, 2)))
    return begin + back * distances[distances < way]


def _apart(times: np.ndarray, close: float) -> np.ndarray:
    """The times without those that are closer than this to the one before."""
    if not np.any(np.diff(times) <= close):
        return times
    kept: list[float] = []
    for time in map(float, times):
        if not kept or time - kept[-1] > close:
            kept.append(time)
    return np.array(kept)


# -- pulses ------------------------------------------------------------------------------------------------------


def _pulses(cells: Cells) -> list[_Pulses]:
    """The pulses of every function; one that changes everywhere has a single pulse, which may be anywhere."""
    count = len(cells.functions)
    if cells.busy[:count].any():
        t0, t1 = float(cells.t[0]), float(cells.t[-1])
        worst = cells.functions[int(np.argmax(cells.busy[:count]))]
        return [_Pulses(worst, np.array([t0]), np.array([(t1 - t0) / (2 * _MOST)]), np.array([t1]))]
    rows = zip(cells.functions, cells.h, cells.change[:count], strict=True)
    found = [(node, _crossings(cells.t, h, change)) for node, h, change in rows]
    return [_Pulses(node, times[:-1], np.diff(times), times[1:]) for node, times in found]


def _inside(pulses: _Pulses, during: np.ndarray | None) -> _Pulses:
    """The pulses that overlap with one of these intervals, which do not overlap with each other."""
    if during is None:
        return pulses
    low, high = np.sort(during.min(axis=1)), np.sort(during.max(axis=1))
    last = np.searchsorted(low, pulses.ends, side="right") - 1  # the last interval that begins before the pulse ends
    overlap = (last >= 0) & (high[last] >= pulses.begins)
    return _Pulses(pulses.function, *(array[overlap] for array in pulses[1:]))


def _shortest(pulses: _Pulses) -> Pulse:
    i = int(np.argmin(pulses.widths))
    return Pulse(describe(pulses.function), float(pulses.begins[i]), float(pulses.widths[i]))


def _crossings(t: np.ndarray, h: np.ndarray, change: float) -> np.ndarray:
    """The times at which h is halfway between two of its turns; smaller changes are not turns."""
    good = np.isfinite(h)
    t, h = t[good], h[good]
    turns = _turns(h, change) if len(h) else []
    times = []
    for first, last in pairwise(turns):
        half = (h[first] + h[last]) / 2
        k = first + int(np.argmax((h[first:last] < half) != (h[first + 1 : last + 1] < half)))
        times.append(t[k] + (t[k + 1] - t[k]) * (half - h[k]) / (h[k + 1] - h[k]))
    return np.array(times)


def _turns(h: np.ndarray, change: float) -> list[int]:
    """Alternately the highest and the lowest points, with changes of more than ``change`` between them."""
    keep = np.append(True, np.diff(np.sign(np.diff(h))) != 0)  # only extrema and plateaus can be turns
    places = np.append(np.nonzero(keep)[0], len(h) - 1)
    turns, way = [0], 0.0
    last = 0
    for i in map(int, places[1:]):
        step = h[i] - h[last]
        if way * step > 0:
            last = i
        elif abs(step) > change:
            turns += [last] if way else []
            way, last = np.sign(step), i
    return [*turns, last] if way else []
