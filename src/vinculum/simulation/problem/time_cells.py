"""Functions of time on cells of the time axis between which nothing hides, however short it is.

Every subexpression h(t) of the rates and of the events, and its derivative, are enclosed on cells (`graph.enclosures`,
`graph.enclosed_rates`). A cell in which one of them may change by more than a quarter of its range is halved, down to a
rounding of the time. So no pulse is passed over, a jump is found to the last digits, and so is a smooth corner such as
log(1 + exp(t/w)), whose derivative is a step.

A pulse inside a function of the state as well, such as exp(-(t - 1)²/w² - x²), is not a function of time. Its part
(t - 1)²/w² is, but does not show how narrow it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vinculum.graph import Node
from vinculum.graph.enclosed_rates import enclosed_rates
from vinculum.graph.traverse import dependence

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem

FIRST = 16  # cells
_AT_ONCE = 16_384  # cells in memory
_MOST = 2**15  # cells of one length in which one function changes; beyond, it changes everywhere
_CHANGE = 0.25  # share of the range of a function that counts as a change
_LEAST_CHANGE = 1e-6  # share of the size of a function that counts
_LEAST_BEND = 0.05  # and of its derivative; a smaller part is narrow in a subexpression already
_ROUNDING = 2**-44  # of the run: the shortest cell
_TAME = 8  # degree of a polynomial of t and of sines, and their number, up to which it has no narrow part
_ROUTINES = ("call", "component")


class Level(NamedTuple):
    """The cells of one length, (C), and for which rows no half of them is needed, (R, C)."""

    low: np.ndarray
    high: np.ndarray
    is_leaf: np.ndarray


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of F functions over a run; rows 0 to F - 1 are the functions, the others their derivatives."""

    functions: Sequence[Node]
    levels: Sequence[Level]
    change: np.ndarray  # (R) the change of a row that counts
    busy: np.ndarray  # (R) rows that change everywhere: their cells were not divided to the end
    t: np.ndarray  # (N) instants in order
    h: np.ndarray  # (F, N) the functions there

    def leaves(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The cells of one row, which are the whole run: where they begin and end."""
        low = np.concatenate([level.low[level.is_leaf[row]] for level in self.levels])
        high = np.concatenate([level.high[level.is_leaf[row]] for level in self.levels])
        order = np.argsort(low)
        return low[order], high[order]


def cells_of(
    functions: Sequence[Node], time: Node, numbers: Mapping[Node, float], t0: float, t1: float, most: int = _MOST
) -> Cells:
    """The cells of functions of time over a run, in either direction, for the numbers of their parameters."""
    known = {p: (np.asarray(value), np.asarray(value)) for p, value in numbers.items()}
    return _Division(functions, time, known, min(t0, t1), max(t0, t1), most).cells


class _Division:
    """Cells that are halved until no function hides a change."""

    def __init__(self, functions: Sequence[Node], time: Node, known: dict, begin: float, end: float, most: int) -> None:
        self.functions, self.time, self.known, self.most = functions, time, known, most
        self.shortest = max(_ROUNDING * (end - begin), 4 * np.spacing(max(abs(begin), abs(end))))
        rows = 2 * len(functions)
        self.least, self.largest = np.full(rows, np.inf), np.full(rows, -np.inf)
        self.least_change = np.repeat([_LEAST_CHANGE, _LEAST_BEND], len(functions))
        self.busy = np.zeros(rows, dtype=bool)
        self.levels: list[Level] = []
        self.points: list[tuple[np.ndarray, np.ndarray]] = []
        ends = np.linspace(begin, end, FIRST + 1)
        low, high, open_ = ends[:-1], ends[1:], np.ones((rows, FIRST), dtype=bool)
        while len(low):
            low, high, open_ = self._halve(low, high, open_)

    def _halve(self, low: np.ndarray, high: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, ...]:
        """The halves of the cells in which one of the rows ``asked`` for them may change."""
        width = self._widths(low, high)
        with np.errstate(invalid="ignore"):
            wide = asked & (width > self.change[:, None]) & (high - low > self.shortest)
        self.busy |= wide.sum(axis=1) > self.most
        wide &= ~self.busy[:, None]
        self.levels.append(Level(low, high, asked & ~wide))
        some = wide.any(axis=0)
        low, high, wide = low[some], high[some], wide[:, some]
        middle = (low + high) / 2
        return np.append(low, middle), np.append(middle, high), np.hstack([wide, wide])

    def _widths(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """How much every row may change in every cell, (R, C); the values at the middles are remembered."""
        widths = []
        for first in range(0, len(low), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            (least, most), (middle, _) = enclosed_rates(self.functions, self.time, low[part], high[part], self.known)
            with np.errstate(invalid="ignore"):
                widths.append(most - least)
            finite = np.where(np.isfinite(middle), middle, np.nan)
            self.least = np.fmin(self.least, np.fmin.reduce(finite, axis=1))
            self.largest = np.fmax(self.largest, np.fmax.reduce(finite, axis=1))
            self.points.append(((low[part] + high[part]) / 2, middle[: len(self.functions)]))
        return np.hstack(widths)

    @property
    def change(self) -> np.ndarray:
        """The change of every row that counts."""
        with np.errstate(all="ignore"):
            size = np.fmax(np.abs(self.largest), np.abs(self.least))
            change = np.fmax(_CHANGE * (self.largest - self.least), self.least_change * size)
        return np.where(np.isfinite(change), change, np.inf)

    @cached_property
    def cells(self) -> Cells:
        """The result."""
        t, h = (np.concatenate([pair[k] for pair in self.points], axis=-1) for k in (0, 1))
        order = np.argsort(t)
        return Cells(self.functions, self.levels, self.change, self.busy, t[order], h[:, order])


# -- which functions ---------------------------------------------------------------------------------------------


def functions_of_time(problem: Problem, also: tuple[Node, ...] = ()) -> tuple[Node, ...]:
    """The subexpressions of the rates, the events and ``also`` that depend on time alone; found once."""
    branch = problem.nodes.on(None)
    return branch.known.get(("functions of time", also), lambda: _functions_of_time(problem, also))


def _functions_of_time(problem: Problem, also: tuple[Node, ...]) -> tuple[Node, ...]:
    nodes = problem.nodes
    outputs = nodes.on(None).prepared([*nodes.rates, *nodes.event_functions, *also])
    depends = dependence(outputs, [nodes.time, *nodes.state])
    closed = dict[Node, bool]()  # contains no routine
    for node in depends:
        closed[node] = node.op not in _ROUTINES and all(closed[arg] for arg in node.args)
    return tuple(node for node, bits in depends.items() if bits == 1 and node.args and closed[node])


def narrow_functions(problem: Problem, also: tuple[Node, ...] = ()) -> tuple[Node, ...]:
    """Those that may have a narrow part: all but polynomials of t and of sines, whose shortest time is everywhere."""
    branch = problem.nodes.on(None)
    return branch.known.get(("narrow functions", also), lambda: _without_tame(problem, also))


def _without_tame(problem: Problem, also: tuple[Node, ...]) -> tuple[Node, ...]:
    functions = functions_of_time(problem, also)
    degrees = _degrees(functions, problem.nodes.time)
    sines = [node for node in functions if node.op in ("sin", "cos") and degrees[node] == 1]
    return tuple(node for node in functions if degrees[node] > _TAME or len(sines) > _TAME)


def _degrees(functions: Sequence[Node], time: Node) -> dict[Node, float]:
    """The degree of every function as a polynomial of t and of sines of a + b t; infinite for other functions."""
    degree: dict[Node, float] = {time: 1.0}
    lines = {time}  # a + b t
    for node in functions:
        a = [degree.get(arg, 0.0) for arg in node.args]
        power = node.args[1].value if node.op == "power" and node.args[1].op == "constant" else None
        if node.op in ("add", "subtract", "negate"):
            degree[node] = max(a)
        elif node.op == "multiply" or (node.op == "divide" and a[1] == 0):
            degree[node] = sum(a)
        elif isinstance(power, int) and power > 0:
            degree[node] = power * a[0]
        elif node.op in ("sin", "cos") and node.args[0] in lines:
            degree[node] = 1.0
        else:
            degree[node] = np.inf
        straight = node.op in ("add", "subtract", "negate", "multiply", "divide") and degree[node] == 1
        if straight and all(arg in lines or arg not in degree for arg in node.args):
            lines.add(node)
    return degree
