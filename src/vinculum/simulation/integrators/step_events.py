"""Events inside the steps of compiled loops.

The signs of an event function e at both ends of a step do not show an even number of zeros between them. So a step is
divided into parts in which e has one zero or none. With e at the ends of a part and at four places inside it:

    min |e| ≥ 4 (max e - min e), with one sign:  no zero;
    the parabola through the ends and one place gives the others within 2 % of max e - min e:  as many as it has.

Any other part is halved, as are those with two zeros. The places are not equidistant, because an oscillation may have
one phase at equidistant ones. A part as short as the time resolves has no halves: there e jumps (an event if its sign
changes) or is not finite (`UNDEFINED`). A function that is zero but for rounding keeps its side: |e| ≤ 8 ε s, where s
is the sum of the sizes of the terms of e.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from vinculum.compile.pointer import call, part

NOTHING, FOUND, UNDEFINED = 0, 1, 2  # results of a search
_UNCLEAR = -1  # the number of zeros is not known
_PLACES = (0.0, 0.1632, 0.3871, 0.5629, 0.8314, 1.0)  # in a part
_LAST = 5
_MIDDLE = 3  # the place through which the parabola goes
_FIT = 0.02  # share of max e - min e
_FAR = 4.0  # times max e - min e
_SHORTEST = 2.0**-44  # share of a step
_ROUNDING = 8 * 2.0**-52
_POLE = 1e5  # growth of |e| towards a place inside a step


class Search(NamedTuple):
    """The event functions of a run, E of them, with n states. Their values are followed by the sizes of their terms."""

    functions: int  # address
    directions: np.ndarray  # (E) +1 rising in time, -1 falling, 0 any
    before: np.ndarray  # (2 E) at the beginning of the step
    after: np.ndarray  # (2 E) at its end
    size: np.ndarray  # (E) the largest |e| at the ends of all steps and at the first places inside
    values: np.ndarray  # (6, 2 E) at the places of a part
    trial: np.ndarray  # (2 E)
    place: np.ndarray  # (4) where the next part begins, its width; an undefined function, and its time
    state: np.ndarray  # (n)
    hits: np.ndarray  # (E) times of the events of the last part, or NaN
    rising: np.ndarray  # (E) 1 for an event function that rises in time
    at: np.ndarray  # (E, n) states at these times


def make_search(address: int, directions: Sequence[int], states: int) -> Search:
    """The arrays of a search."""
    count = len(directions)
    before, after, trial = np.zeros((3, 2 * count))
    return Search(
        address, np.array(directions, dtype=np.int64), before, after, np.zeros(count), np.zeros((_LAST + 1, 2 * count)),
        trial, np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(states), np.full(count, np.nan),
        np.zeros(count, dtype=np.int64), np.zeros((count, states)),
    )  # fmt: skip


@part
def zeros_in(v: Any, j: Any) -> Any:
    """The number of zeros, 0 or 1, of function j in a part with the values v, or `_UNCLEAR`.

    A zero at the beginning does not count; one at the end does.
    """
    low, high, least, side, changes = np.inf, -np.inf, np.inf, 0.0, 0
    for k in range(_LAST + 1):
        e = v[k, j]
        if not np.isfinite(e):
            return _UNCLEAR
        low, high, least = min(low, e), max(high, e), min(least, abs(e))
        sign = np.sign(e)
        if side != 0 and (sign == -side or (sign == 0 and k == _LAST)):
            changes += 1
        if sign != 0:
            side = sign
    if changes == 0 and (high == low or least >= _FAR * (high - low)):
        return 0
    if changes and v[0, j] == 0:  # two zeros, at the beginning and inside
        return _UNCLEAR
    middle, allowed = _PLACES[_MIDDLE], _FIT * (high - low)
    slope = (v[_MIDDLE, j] - v[0, j]) / middle
    bend = (v[_LAST, j] - v[_MIDDLE, j]) / (1 - middle) - slope
    for k in range(1, _LAST):
        s = _PLACES[k]
        if not abs(v[0, j] + s * (slope + bend * (s - middle)) - v[k, j]) <= allowed:
            return _UNCLEAR
    for k in (0, _LAST):
        if changes > 1 or 0 < abs(v[k, j]) < allowed:  # a kink may hide a zero next to it
            return _UNCLEAR
    turn = 0.5 * (middle - slope / bend) if bend != 0 else 0.0
    if changes == 0 and v[0, j] != 0 and 0 < turn < 1:
        extreme = v[0, j] + turn * (slope + bend * (turn - middle))
        return _UNCLEAR if extreme * side < allowed else 0
    return changes


@part
def is_rounding(v: Any, j: Any, terms: Any) -> Any:
    """Whether function j, with its terms in column ``terms``, is zero in a part but for rounding."""
    size = 0.0
    for k in range(1, _LAST):
        size = max(size, v[k, terms])
    for k in range(_LAST + 1):  # noqa: SIM110  (Numba)
        if not abs(v[k, j]) <= _ROUNDING * size:
            return False
    return True


@part
def has_value(v: Any, j: Any, size: Any) -> Any:
    """Whether function j is finite in one of the shortest parts, and not at a pole."""
    most = _POLE * size if size > 0 else np.finfo(np.float64).max
    for k in range(_LAST + 1):  # noqa: SIM110  (Numba)
        if not abs(v[k, j]) <= most:
            return False
    return True


@part
def grow_sizes(e: Any) -> Any:
    """Let the sizes of the functions cover the values at the places of a step."""
    for j in range(e.size.size):
        for k in range(1, _LAST):
            if e.size[j] < abs(e.values[k, j]) < np.inf:
                e.size[j] = abs(e.values[k, j])


def searching(time_at: Callable, state_at: Callable) -> Any:
    """The compiled search of a step; ``time_at(motion, share)`` and ``state_at(motion, share, out)`` interpolate it.

    ``search(e, p, motion)`` returns at every part with an event, and continues after it when called again.
    """

    @part
    def evaluate(e: Any, p: Any, motion: Any, a: Any, width: Any) -> Any:
        """The values in a part after its beginning."""
        for k in range(1, _LAST + 1):
            share = a + width * _PLACES[k]
            if share >= 1:
                for j in range(e.size.size):
                    e.values[k, j] = e.after[j]
                continue
            state_at(motion, share, e.state)
            call(e.functions, time_at(motion, share), e.state.ctypes.data, p.ctypes.data, e.values[k].ctypes.data)

    @part
    def is_shortest(motion: Any, a: Any, width: Any) -> Any:
        """Whether the time does not resolve the halves of a part."""
        first, last = time_at(motion, a), time_at(motion, a + width)
        return width <= _SHORTEST or abs(last - first) <= 8 * np.spacing(max(abs(first), abs(last)))

    @part
    def judge(e: Any, p: Any, motion: Any, a: Any, width: Any) -> Any:
        """`NOTHING` or `FOUND` in a part, `_UNCLEAR` if it must be halved, or `UNDEFINED`."""
        found, count = NOTHING, e.size.size
        evaluate(e, p, motion, a, width)
        if width == 1:
            grow_sizes(e)
        for j in range(count):
            zeros = zeros_in(e.values, j)
            if zeros != NOTHING and is_rounding(e.values, j, count + j):
                e.values[_LAST, j] = e.values[0, j]
            elif zeros == _UNCLEAR:
                if not is_shortest(motion, a, width):
                    return _UNCLEAR
                if not has_value(e.values, j, e.size[j]):
                    e.place[2], e.place[3] = j, time_at(motion, a)
                    return UNDEFINED
            if zeros != NOTHING:
                found = FOUND
        return found

    @part
    def locate(e: Any, p: Any, motion: Any, j: Any, a: Any, b: Any) -> Any:
        """The time in a part at which function j passes zero, by bisection; the state goes to ``at[j]``."""
        low, high = a, b
        for _ in range(60):
            share = 0.5 * (low + high)
            if share == low or share == high:  # noqa: SIM109  (Numba)
                break
            state_at(motion, share, e.at[j])
            call(e.functions, time_at(motion, share), e.at[j].ctypes.data, p.ctypes.data, e.trial.ctypes.data)
            if e.trial[j] != 0 and (e.trial[j] > 0) == (e.values[0, j] > 0):
                low = share
            else:
                high = share
        state_at(motion, high, e.at[j])
        return time_at(motion, high)

    @part
    def take(e: Any, p: Any, motion: Any, a: Any, b: Any) -> Any:
        """The events of a part that go in the wanted direction."""
        found = NOTHING
        forward = time_at(motion, 1.0) > time_at(motion, 0.0)
        for j in range(e.size.size):
            first, last = e.values[0, j], e.values[_LAST, j]
            up, down = first < 0 and last >= 0, first > 0 and last <= 0
            e.hits[j], e.rising[j] = np.nan, up == forward
            if (up or down) and (e.directions[j] == 0 or (e.directions[j] > 0) == (e.rising[j] > 0)):
                e.hits[j], found = locate(e, p, motion, j, a, b), FOUND
        return found

    @part
    def search(e: Any, p: Any, motion: Any) -> Any:
        """`FOUND` at the next part with events, `NOTHING` if the step has no more, or `UNDEFINED`."""
        if e.place[0] == 0:
            for j in range(e.size.size):
                e.values[0, j] = e.before[j]
                largest = max(abs(e.before[j]), abs(e.after[j]))
                e.size[j] = largest if e.size[j] < largest < np.inf else e.size[j]
        while e.place[0] < 1:
            a = e.place[0]
            width = min(e.place[1], 1 - a)
            what = judge(e, p, motion, a, width)
            if what == UNDEFINED:
                return UNDEFINED
            if what == _UNCLEAR:
                e.place[1] = width / 2
                continue
            if what == FOUND:
                what = take(e, p, motion, a, a + width)
            for j in range(e.size.size):
                e.values[0, j] = e.values[_LAST, j]
            e.place[0], e.place[1] = a + width, 2 * width
            if what == FOUND:
                return FOUND
        finish(e, e.values[0])
        return NOTHING

    return search


@part
def begin(e: Any) -> Any:
    """Begin a new run."""
    e.place[0], e.place[1] = 0.0, 1.0
    for j in range(e.size.size):
        e.size[j] = 0.0


@part
def finish(e: Any, values: Any) -> Any:
    """Begin a new step with some values."""
    e.place[0], e.place[1] = 0.0, 1.0
    for j in range(e.size.size):
        e.before[j] = values[j]


@part
def take_first_event(e: Any, direction: Any, x: Any, instants: Any, samples: Any, written: Any) -> Any:
    """The time of the first event found; the state there goes to x, and samples beyond it are erased."""
    first = -1
    for j in range(e.hits.size):
        if np.isfinite(e.hits[j]) and (first < 0 or (e.hits[j] - e.hits[first]) * direction < 0):
            first = j
    for j in range(x.size):
        x[j] = e.at[first, j]
    for k in range(written):
        if (instants[k] - e.hits[first]) * direction > 0:
            samples[k] = np.nan
    return e.hits[first]
