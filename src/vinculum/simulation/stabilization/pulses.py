"""The shortest pulse of any function of time in the rates, however short it is, and the longest step that resolves it.

Every subexpression h(t) is enclosed on cells of the time axis (`graph.enclosures`). A cell in which h may change by
more than a quarter of its range is halved, down to a rounding of the time; the others hide nothing. So no pulse is
passed over, and a jump is found to the last digits. Between two turns of h that differ by more than that quarter it
crosses the level halfway between them. The shortest time from one such crossing to the next is the width of a pulse, or
half a period. Two steps fit into it.

A pulse inside a function of the state as well, such as exp(-(t - 1)²/w² - x²), is not a function of time and not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vinculum.graph import Node
from vinculum.graph.enclosures import enclosures
from vinculum.graph.traverse import dependence, describe
from vinculum.simulation.problem.problem import Problem

_FIRST = 4096  # cells
_AT_ONCE = 16_384  # cells in memory
_MOST = 2**20  # cells; beyond, a function changes faster than any run could follow
_CHANGE = 0.25  # share of the range of a function that counts as a change
_ROUNDING = 2**-44  # of the run: the shortest cell
_FEWEST = 64  # steps of a run
_ROUTINES = ("call", "component")


@dataclass(frozen=True)
class Pulse:
    """Where a function of time changes and changes back."""

    function: str
    time: float
    width: float


def shortest_pulse(problem: Problem, t0: float, t1: float) -> Pulse | None:
    """The shortest one, or None if no function of time turns back during the run."""
    found = functions_of_time(problem)
    cells = _Cells(problem, found, t0, t1) if found else None
    pulses = [] if cells is None else cells.pulses()
    return min(pulses, key=lambda pulse: pulse.width, default=None)


def longest_step(pulse: Pulse | None, span: float) -> float:
    """Two steps in a pulse, and 64 in any run."""
    return span / _FEWEST if pulse is None else min(pulse.width / 2, span / _FEWEST)


def functions_of_time(problem: Problem) -> list[Node]:
    """The subexpressions of the rates that depend on time alone."""
    nodes = problem.nodes
    depends = dependence(problem.branch.prepared(nodes.rates), [nodes.time, *nodes.state])
    return [node for node, bits in depends.items() if bits == 1 and node.args and node.op not in _ROUTINES]


class _Cells:
    """Points of time between which no function hides a change."""

    def __init__(self, problem: Problem, functions: Sequence[Node], t0: float, t1: float) -> None:
        self.functions, self.time, self.span = functions, problem.nodes.time, t1 - t0
        self.known = {
            p: (np.asarray(v), np.asarray(v)) for p, v in zip(problem.branch.parameters, problem.values, strict=True)
        }
        self.t = np.linspace(t0, t1, _FIRST + 1)
        self.h = self._bounds(self.t, self.t)[0]
        self.lost: Pulse | None = None  # a function that needs more cells than `_MOST`
        self._refine()

    def _refine(self) -> None:
        low, high = self.t[:-1], self.t[1:]
        while len(low) and self.lost is None:
            wide = self._wide(low, high)
            some = np.any(wide, axis=0)
            low, high = low[some], high[some]
            middle = (low + high) / 2
            if len(self.t) + len(middle) > _MOST:
                worst = self.functions[int(np.argmax(wide.sum(axis=1)))]
                self.lost = Pulse(describe(worst), float(low[0]), self.span / _MOST)
            self._add(middle)
            low, high = np.append(low, middle), np.append(middle, high)

    def _wide(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The cells in which a function may change, (functions, cells)."""
        least, largest = self._bounds(low, high)
        with np.errstate(invalid="ignore"):
            return (largest - least > self._change()[:, None]) & (high - low > _ROUNDING * self.span)

    def _add(self, t: np.ndarray) -> None:
        order = np.argsort(times := np.append(self.t, t), kind="stable")
        self.t, self.h = times[order], np.hstack([self.h, self._bounds(t, t)[0]])[:, order]

    def _change(self) -> np.ndarray:
        """The change of each function that counts, (functions); rounding does not."""
        h = np.where(np.isfinite(self.h), self.h, np.nan)
        with np.errstate(all="ignore"):
            largest, least = np.fmax.reduce(h, axis=1), np.fmin.reduce(h, axis=1)
        size = np.fmax(np.abs(largest), np.abs(least))
        return np.nan_to_num(np.fmax(_CHANGE * (largest - least), 1e-12 * size), nan=np.inf)

    def _bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclosures of all functions on cells, 2 times (functions, cells)."""
        found = np.empty((2, len(self.functions), len(low)))
        for first in range(0, len(low), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            given = {**self.known, self.time: (low[part], high[part])}
            for i, bounds in enumerate(enclosures(self.functions, given)):
                found[0, i, part], found[1, i, part] = bounds
        return found[0], found[1]

    def pulses(self) -> list[Pulse]:
        """The shortest pulse of every function that has one."""
        if self.lost is not None:
            return [self.lost]
        rows = zip(self.functions, self.h, self._change(), strict=True)
        found = [(node, _crossings(self.t, h, change)) for node, h, change in rows]
        return [
            Pulse(describe(node), float(times[i]), float(times[i + 1] - times[i]))
            for node, times in found if len(times) > 1 for i in [int(np.argmin(np.diff(times)))]
        ]  # fmt: skip


def _crossings(t: np.ndarray, h: np.ndarray, change: float) -> np.ndarray:
    """The times at which h is halfway between two of its turns; smaller changes are not turns."""
    good = np.isfinite(h)
    t, h = t[good], h[good]
    turns = _turns(h, change)
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
