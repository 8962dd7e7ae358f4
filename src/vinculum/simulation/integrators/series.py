"""Taylor integration without compilation: the steps of `compile.jets` on the tape of a problem.

heyoka compiles each system by itself, which takes seconds for hundreds of operations and minutes for a tree of forty
bodies. A tape is data for a program that exists already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.compile import jets
from vinculum.compile.function import Function
from vinculum.compile.jets import program, stride
from vinculum.compile.polynomials import polynomial_values
from vinculum.compile.tape import UNIT, Tape, is_smooth, tape
from vinculum.graph import ZERO, Node, evaluate, order
from vinculum.graph.canonical import digests
from vinculum.kept import Kept
from vinculum.simulation.integrators.taylor_steps import (
    ENOUGH,
    NOT_FINITE,
    REACHED,
    TIPPED,
    WATCHED,
    Advance,
    Polynomials,
)
from vinculum.simulation.problem.pivots import WATCH_LIMIT

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Recorder

ORDER = 20  # for a tolerance of one rounding error
_FRONT = 8  # zeros before the first row
_FEW, _MANY, _QUICK = 200, 1000, 500_000  # steps; steps times the length of the tape that take about 10 ms
_LARGEST = 2_000_000  # coefficients of the dense output of one call
_EVEN = np.arange(1, 9) / 8  # of a step: where the pivot watch is evaluated
_AROUND = np.array([0.7, 1.0, 1.4, 2.0, 2.8, 4.0])  # of the way to the zero of a pivot
_NEARBY = np.array([1e-8, 1e-14])  # shares of a step for differences: ways of any length are seen by one of them
_TAIL, _CALM = 4, 1e-10  # coefficients of the watch at the end of its series, and how small they are in a calm step
_CROSSED = 1e-9  # of its largest value in a step; a smaller negative value of a margin is rounding
_DECAYED = 1e6  # tolerances: how large the last terms in the series of a margin may be, relative to the first
_SHORTER = 0.7  # of the length of a step in which that series would just decay
_HALVINGS = 50  # that locate the instant at which the watch reaches its limit, or a margin is zero
_SHORTENED = "shortened"  # the last step, because the series of a margin does not decay in it
_FAR = 1e300  # a time that no step reaches
_REASONS = {jets.REACHED: REACHED, jets.ENOUGH: ENOUGH, jets.WATCHED: WATCHED, jets.NOT_FINITE: NOT_FINITE}


@dataclass(frozen=True, eq=False)
class Compiled:
    """The tape of ẋ = rates with the margins of ranges and the pivot watch as further outputs, and the program that
    reads it.
    """

    tape: Tape
    parameters: tuple[Node, ...]
    edges: int
    watched: bool
    _kept: Kept = field(default_factory=lambda: Kept(8))

    @cached_property
    def code(self) -> tuple[Any, Any]:
        """The machine code, and the function to call."""
        return program(self.tape.functions)

    @cached_property
    def _constants(self) -> tuple[np.ndarray, list[int], list[Node]]:
        """The factors of the tape that are numbers, the places of the others, and the order of these."""
        factors = self.tape.numbers
        plain = [float(node.value) if node.op == "constant" else 0.0 for node in factors]
        others = [i for i, node in enumerate(factors) if node.op != "constant"]
        return np.array(plain), others, order([factors[i] for i in others])

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """The constant factors of the tape at values of the parameters."""
        return self._kept.get(values.tobytes(), lambda: self._numbers(values))

    def _numbers(self, values: np.ndarray) -> np.ndarray:
        """The constant factors, computed."""
        plain, others, ordered = self._constants
        if not others:
            return plain
        known = dict(zip(self.parameters, map(float, values), strict=False))
        found = plain.copy()
        found[others] = evaluate([self.tape.numbers[i] for i in others], known, ordered)
        return found


@lru_cache(maxsize=64)
def compiled(
    time: Node, state: tuple[Node, ...], parameters: tuple[Node, ...], rates: tuple[Node, ...], watch: Node,
    edges: tuple[Node, ...], names: tuple[tuple[Node, str], ...],
) -> Compiled | None:  # fmt: skip
    """The tape of a problem; None where an operation has no Taylor coefficients."""
    outputs = (*rates, *edges, watch)
    if not is_smooth(outputs):
        return None
    return Compiled(tape(time, state, parameters, outputs, dict(names)), parameters, len(edges), watch is not ZERO)


class Series:
    """One run: time, state and the coefficients of all rows."""

    def __init__(self, problem: Problem, code: Compiled, t: float, x: np.ndarray, tolerance: float | None) -> None:
        self.order = ORDER if tolerance is None else max(2, math.ceil(-math.log(tolerance) / 2 + 1))
        self.made, self.problem = code, problem
        found, width = code.tape, stride(self.order)
        self._memory = np.zeros(_FRONT + found.rows * width)
        self.rows = self._memory[_FRONT:].reshape(found.rows, width)
        self.rows[UNIT, 0] = 1.0
        self.rows[found.state, 0] = x
        self.numbers = code.numbers(problem.values)
        watched = found.outputs[-1] if code.watched else -1
        further = code.edges + code.watched
        self.sizes = np.array([found.instructions, len(x), self.order, width, 0, watched, 0, further], dtype=np.int64)
        resolved = max(tolerance or 0.0, float(np.finfo(float).eps))
        self._decayed = min(_DECAYED * resolved, math.sqrt(resolved))
        factor = math.exp(-0.7 / (self.order - 1)) / math.e**2
        self.reals = np.array([t, 0.0, t, WATCH_LIMIT, factor])

    @property
    def time(self) -> float:
        """t."""
        return float(self.reals[0])

    @property
    def first_chunk(self) -> int:
        """The longer the tape, the fewer."""
        return max(_FEW, min(_MANY, _QUICK // len(self.made.tape.code)))

    def first_step(self, forward: bool) -> float:
        """The length of the next step, which is made; infinite for a motion without an end to its series."""
        t, (_, dense, _) = self.time, self._steps(_FAR if forward else -_FAR, 1)
        length = abs(self.time - t) if len(dense.coefficients) else math.nan
        return length if length < _FAR else math.inf

    def place(self, t: float, x: np.ndarray) -> None:
        """Continue at another time and state."""
        self.reals[:2] = t, 0.0
        self._memory[:] = 0.0  # steps beyond it may have left numbers that are not finite
        self.rows[UNIT, 0] = 1.0
        self.state = x

    def slope(self, problem: Problem) -> np.ndarray:
        """ẋ at the present time and state: the first coefficients of the next step, if it can be made."""
        t, x = self.time, self.state
        _, dense, _ = self._steps(_FAR, 1)
        self.place(t, x)
        if len(dense.coefficients):
            return dense.coefficients[0, :, 1]
        return problem.compiled(problem.nodes.rates)(t, x, problem.values)

    def take_events(self) -> list[tuple[float, int, int]]:
        """None: problems with events do not run on a tape."""
        return []

    @property
    def state(self) -> np.ndarray:
        """A copy of x."""
        return self.rows[self.made.tape.state, 0]

    @state.setter
    def state(self, x: np.ndarray) -> None:
        self.rows[self.made.tape.state, 0] = x

    def advance(
        self, target: float, most: int, recorder: Recorder | None, project: Callable[[Any], bool] | None
    ) -> Advance:
        """Steps to a time, at most some, with a projection after each."""
        most = max(1, min(most, _LARGEST // (int(self.sizes[1]) * (self.order + 1))))
        pieces, done, why = [], 0, _SHORTENED
        while done < most and why in (ENOUGH, _SHORTENED):
            why, piece = self._checked(*self._steps(target, most - done if project is None else 1))
            pieces.append(piece)
            done += max(1, len(piece.coefficients))
            if project is not None and why not in (WATCHED, TIPPED):
                at = _Point(self.time, self.state)
                project(at)
                self.state = at.state
        return _made(ENOUGH if why == _SHORTENED else why, pieces[0] if len(pieces) == 1 else _joined(pieces))

    def _steps(self, target: float, most: int) -> tuple[str, Polynomials, np.ndarray]:
        """Steps to a time, at most some, with the series of edges and pivot watch, (steps, edges and watch, order)."""
        found, n = self.made.tape, int(self.sizes[1])
        times, steps = np.empty(most + 1), np.empty((most, n, self.order + 1))
        kept = np.empty((most, int(self.sizes[7]), self.order))
        self.sizes[4], self.reals[2] = most, target
        arrays = (found.code, self.rows, self.numbers, found.state, found.outputs, self.sizes, self.reals, times, steps,
                  kept)  # fmt: skip
        program = self.made.code  # kept while it is called
        ends = program[1](*(array.ctypes.data for array in arrays))
        done = int(self.sizes[6])
        return _REASONS[ends], Polynomials(times[: done + 1].copy(), steps[:done].copy()), kept[:done]

    def _checked(self, why: str, dense: Polynomials, kept: np.ndarray) -> tuple[str, Polynomials]:
        """The steps up to the end of a range, or to the instant at which the pivot watch reaches its limit."""
        if self.made.edges:
            why, dense = self._until_tip(why, dense, kept[:, : self.made.edges])
        if self.made.watched:
            why, dense = self._watched(why, dense, kept[: len(dense.coefficients), -1])
        return why, dense

    def _until_tip(self, why: str, dense: Polynomials, edges: np.ndarray) -> tuple[str, Polynomials]:
        """The steps up to the first end of a range inside a step.

        The series of √(v²) is v, which is negative beyond its zero. The root is |v|, and the motion another one.
        """
        why, dense = self._decaying(why, dense, edges)
        edges, tau = edges[: len(dense.coefficients)], np.diff(dense.times)[:, None, None] * _EVEN
        with np.errstate(all="ignore"):
            values = _horner(edges[..., None], tau)  # (steps, edges, shares)
            negative = values < -_CROSSED * np.abs(values).max(axis=2, keepdims=True, initial=0.0)
        if not negative.any():
            return why, dense
        step = int(np.argmax(negative.any(axis=(1, 2))))
        share = int(np.argmax(negative[step].any(axis=0)))
        crossing = edges[step, negative[step, :, share], :, None]
        low, high = (tau[step, 0, share - 1] if share else 0.0), tau[step, 0, share]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if (_horner(crossing, np.array([middle])) < 0).any() else (middle, high)
        return TIPPED, self._stop(dense, step, float(dense.times[step] + low))

    def _decaying(self, why: str, dense: Polynomials, edges: np.ndarray) -> tuple[str, Polynomials]:
        """The steps up to the first in which the series of a margin does not decay; that one is made shorter.

        Near the zero of a root its coefficients are rounding errors divided by powers of the root.
        """
        lengths, k = np.diff(dense.times), np.arange(min(_TAIL, (self.order + 1) // 2), self.order)
        with np.errstate(all="ignore"):
            terms = np.abs(edges) * _powers(lengths, self.order).T[:, None]
            allowed = terms[..., : k[0]].max(axis=2, keepdims=True) * self._decayed ** (
                k / max(self.order - _TAIL, k[0])
            )
            shares = ((terms[..., k[0] :] / allowed) ** (-1 / k)).min(axis=(1, 2))
        rough = ~(shares >= 1)
        if not rough.any():
            return why, dense
        step = int(np.argmax(rough))
        share = _SHORTER * (shares[step] if np.isfinite(shares[step]) else _SHORTER)
        end = float(dense.times[step] + lengths[step] * share)
        return _SHORTENED if end != dense.times[step] else NOT_FINITE, self._stop(dense, step, end)

    def _stop(self, dense: Polynomials, step: int, time: float) -> Polynomials:
        """The steps up to a time in one of them, at which the run is placed."""
        if time == dense.times[step]:
            cut, x = Polynomials(dense.times[: step + 1], dense.coefficients[:step]), dense.coefficients[step, :, 0]
        else:
            cut = dense.until(time)
            x = cut(np.array([time]))[0]
        self.place(time, x)
        return cut

    def _are_calm(self, lengths: np.ndarray, watches: np.ndarray) -> np.ndarray:
        """Whether the series of the watch shows that it stays small in a step, (steps).

        A zero of a pivot inside the step, at the share s, is a pole of the watch: its coefficients of order k, times
        the length of the step to the power of k, grow as s⁻ᵏ. Beyond the step they decay.
        """
        with np.errstate(all="ignore"):
            terms = np.abs(watches.T) * _powers(lengths, self.order)  # (order, steps)
        terms[0] += len(self.problem.nodes.watch.ratios)
        decayed = terms[-_TAIL:].max(axis=0) <= _CALM * terms[0]
        return decayed & (terms.sum(axis=0) < WATCH_LIMIT / 2)

    def _watched(self, why: str, dense: Polynomials, watches: np.ndarray) -> tuple[str, Polynomials]:
        """The steps up to the instant at which the pivot watch reached its limit, if that is inside a step."""
        restless = np.flatnonzero(~self._are_calm(np.diff(dense.times), watches))
        if not len(restless):
            return why, dense
        watch, values = self._watch, self.problem.values
        instants, states = dense.inside(self._looks(dense, restless), restless)
        large = watch.rows(instants, states, values)[:, 0] > WATCH_LIMIT
        if not large.any():
            return why, dense
        first = int(np.argmax(large))
        per_step = len(instants) // len(restless)
        begin = dense.times[restless[first // per_step]]
        low, high = begin if first % per_step == 0 else instants[first - 1], instants[first]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if watch(middle, dense(np.array([middle]))[0], values)[0] > WATCH_LIMIT:
                high = middle
            else:
                low = middle
        cut = dense.until(high)
        self.place(high, cut(np.array([high]))[0])
        return WATCHED, cut

    @property
    def _watch(self) -> Function:
        """The watch and, in the same code, reference by pivot for every pivot."""
        nodes = self.problem.nodes.watch
        return self.problem.compiled((nodes.strict, *nodes.ratios))

    def _looks(self, dense: Polynomials, steps: np.ndarray) -> np.ndarray:
        """Shares of some steps, (steps, k), at which the watch is evaluated, in order.

        They divide the step evenly, and they surround the nearest zero of a pivot, which is at m |p/ṗ| if it is of the
        order m: a step may be much longer than the way to it.
        """
        shares = np.array([0.0, *_NEARBY])
        found = self._watch.rows(*dense.inside(shares, steps), self.problem.values)
        inverse = found[:, 1:].reshape(-1, len(shares), self._watch.size - 1)
        with np.errstate(all="ignore"):
            p = 1.0 / inverse
            ways = _NEARBY[:, None] * np.abs(p[:, :1] / (p[:, 1:] - p[:, :1]))
        nearest = np.nanmin(ways, axis=2, initial=1.0)  # (steps, shares)
        around = np.minimum(nearest[:, :, None] * _AROUND, 1.0).reshape(len(p), -1)
        even = np.broadcast_to(_EVEN, (len(around), len(_EVEN)))
        return np.sort(np.hstack([around, even]), axis=1)


def _horner(coefficients: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Σ c_k τᵏ, with the order as the last axis but one."""
    result = np.zeros(np.broadcast_shapes(coefficients[..., 0, :].shape, tau.shape))
    for k in reversed(range(coefficients.shape[-2])):
        result = result * tau + coefficients[..., k, :]
    return result


def _powers(lengths: np.ndarray, count: int) -> np.ndarray:
    """|h|ᵏ for k < count, (count, lengths)."""
    powers = np.ones((count, len(lengths)))
    for k in range(1, count):
        np.multiply(powers[k - 1], np.abs(lengths), out=powers[k])
    return powers


def _joined(pieces: list[Polynomials]) -> Polynomials:
    """The steps of all pieces."""
    times = np.concatenate([pieces[0].times, *(piece.times[1:] for piece in pieces[1:])])
    return Polynomials(times, np.concatenate([piece.coefficients for piece in pieces]))


def _made(why: str, dense: Polynomials) -> Advance:
    """The steps with the states at their ends."""
    coefficients = dense.coefficients
    if not len(coefficients):
        return Advance(why, 0, np.empty(0), np.empty((0, coefficients.shape[1])), np.empty_like)
    last = polynomial_values(coefficients, np.array([len(coefficients) - 1]), np.diff(dense.times[-2:]))
    return Advance(why, len(coefficients), dense.times, np.vstack([coefficients[:, :, 0], last]), dense, dense)


@dataclass
class _Point:
    """What a projection moves."""

    time: float
    state: np.ndarray


def compile_series(problem: Problem) -> Compiled | None:
    """The tape of a problem, if it has one."""
    return problem.branch.known.get(("series",), lambda: _compile(problem))


def _compile(problem: Problem) -> Compiled | None:
    nodes, branch = problem.nodes, problem.branch
    watch = branch.prepared([nodes.watch.plain])[0]
    formula = digests(list(nodes.hoisted), {})
    names = tuple((symbol, formula[node].hex()) for node, symbol in nodes.hoisted.items())
    rates, edges = branch.prepared(nodes.rates), branch.prepared(nodes.edges)
    return compiled(nodes.time, nodes.state, branch.parameters, rates, watch, edges, names)


def start_series(problem: Problem, t: float, x: np.ndarray, tolerance: float | None) -> Series:
    """The steps of one run, at a given time and state."""
    code = compile_series(problem)
    assert code is not None
    return Series(problem, code, t, x, tolerance)
