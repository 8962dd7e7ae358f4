"""Enclosures: intervals that contain every value of a node while its symbols range over given intervals.

    a ∈ [a₁, a₂], b ∈ [b₁, b₂]  ⟹  f(a, b) ∈ [f₁, f₂],

operation by operation, for many intervals at once. Samples can pass over a short pulse; an enclosure cannot. It may be
larger than the range (a symbol that occurs twice counts as two), and shrinks to it with the intervals. Bounds are
rounded to nearest, not outward. Functions that were added at run time are sampled at three points of their interval.

With a relative ``rounding`` ε every result is widened as its computation may be wrong: by ε of its size, by 8 ε for
functions, which libraries do not round correctly. The enclosure of a point then contains all that code with this
rounding can compute there: running error analysis (N. J. Higham, Accuracy and Stability of Numerical
Algorithms, SIAM 2002, section 3.3).

Source: R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009, chapters 2 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import perm

import numpy as np

from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import COMPARISONS, Node, Number
from vinculum.graph.splines import Pieces
from vinculum.graph.targets import Target

Interval = tuple[np.ndarray, np.ndarray]  # the low ends and the high ends
_WHOLE = 2 * np.pi


def enclosures(
    outputs: Sequence[Node], given: Mapping[Node, Interval], rounding: float = 0.0, smallest: float = 0.0
) -> list[Interval]:
    """Intervals that contain the outputs; (-oo, oo) where nothing can be said.

    ``rounding`` is the relative error of an operation, ``smallest`` the number below which results become zero.
    """
    target = _Rounded(given, rounding, smallest) if rounding else Intervals(given)
    prepared = target.prepare(outputs)
    with np.errstate(all="ignore"):
        target.write(prepared)
        return [target.number(node) for node in prepared]


class Intervals(Target[Interval]):
    """Operations on intervals; truth values are 0, 1 or undecided, [0, 1]."""

    splines = True

    def constant(self, value: Number) -> Interval:
        """A number."""
        return np.asarray(float(value)), np.asarray(float(value))

    def as_truth(self, number: Interval) -> Interval:
        """Whether a number is not zero."""
        low, high = number
        return 1.0 * ((low > 0) | (high < 0)), 1.0 * ~((low == 0) & (high == 0))

    def operation(self, node: Node, args: Sequence[Interval]) -> Interval:
        """An operation from the table; what is not a number could be any."""
        if node.op == "spline":
            low, high = _curve(node.value, *args[0])
        elif node.op in _OPERATIONS:
            low, high = _OPERATIONS[node.op](*args)
        elif node.op in _RISING:
            low, high = (_RISING[node.op](end) for end in args[0])
        else:
            low, high = _sampled(FUNCTIONS[node.op].number, *args)
        unknown = np.isnan(low) | np.isnan(high)
        return np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)


class _Rounded(Intervals):
    """Operations on intervals, with the rounding errors of code; splines are written as code writes them."""

    splines, tables = False, True

    def __init__(self, known: Mapping[Node, Interval], rounding: float, smallest: float) -> None:
        super().__init__(known)
        self.rounding, self.smallest = rounding, smallest

    def constant(self, value: Number) -> Interval:
        """A number, which code rounds unless it is a small whole one."""
        exact = super().constant(value)
        whole = float(value).is_integer() and abs(float(value)) * self.rounding <= 1
        return exact if whole else self._widened(exact, 1.0)

    def operation(self, node: Node, args: Sequence[Interval]) -> Interval:
        """An operation, and what rounding does to it."""
        if node.op == "piece":
            knots = np.array(node.value.values)
            early, late = self._widened((knots, knots), 1.0)
            return _piece_number(late, args[0][0]), _piece_number(early, args[0][1])
        if node.op == "entry":
            return self._widened(_entries(np.array(node.value.values), *args[0]), 1.0)
        found = super().operation(node, args)
        return found if node.op in _EXACT else self._widened(found, 1.0 if node.op in _CORRECT else 8.0)

    def _widened(self, interval: Interval, errors: float) -> Interval:
        low, high = interval
        share = errors * self.rounding
        return low - share * np.abs(low) - self.smallest, high + share * np.abs(high) + self.smallest


def _piece_number(knots: np.ndarray, s: np.ndarray) -> np.ndarray:
    return np.maximum(np.searchsorted(knots, s, side="right") - 1, 0).astype(float)


def _entries(numbers: np.ndarray, first: np.ndarray, last: np.ndarray) -> Interval:
    """The smallest and the largest of the numbers from first to last."""
    both = np.broadcast(first, last)
    spans = [numbers[int(a) : int(b) + 1] for a, b in both]
    low, high = (np.array([end(span) for span in spans]).reshape(both.shape) for end in (np.min, np.max))
    return low, high


def _hull(*values: np.ndarray) -> Interval:
    return reduce(np.minimum, values), reduce(np.maximum, values)


def multiply(a: Interval, b: Interval) -> Interval:
    """All products; zero times any number is zero."""
    return _hull(*(np.where((x == 0) | (y == 0), 0.0, x * y) for x in a for y in b))


def _divide(a: Interval, b: Interval) -> Interval:
    """Any number where the divisor may be zero."""
    low, high = _hull(*(x / y for x in a for y in b))
    open_ = (b[0] <= 0) & (b[1] >= 0)
    return np.where(open_, -np.inf, low), np.where(open_, np.inf, high)


def _power(a: Interval, b: Interval) -> Interval:
    """Whole exponents for every base, others for bases that are not negative."""
    exponent = b[0]
    if np.any(b[0] != b[1]) or np.any(exponent != np.round(exponent)):
        low, high = _hull(*(x**y for x in a for y in b))
        return np.where(a[0] < 0, -np.inf, low), np.where(a[0] < 0, np.inf, high)
    if np.any(exponent < 0):
        return _divide((np.asarray(1.0), np.asarray(1.0)), _power(a, (-exponent, -exponent)))
    return _even(lambda x: x**exponent, a) if np.all(exponent % 2 == 0) else _hull(a[0] ** exponent, a[1] ** exponent)


def _even(function: Callable[[np.ndarray], np.ndarray], a: Interval) -> Interval:
    """f(-x) = f(x), rising for x > 0."""
    low, high = _hull(np.abs(a[0]), np.abs(a[1]))
    return function(np.where((a[0] <= 0) & (a[1] >= 0), 0.0, low)), function(high)


def _cosine(a: Interval) -> Interval:
    """1 if a multiple of 2π is inside, -1 if one plus π is."""
    low, high = _hull(np.cos(a[0]), np.cos(a[1]))
    return np.where(_contains(a, np.pi), -1.0, low), np.where(_contains(a, 0.0), 1.0, high)


def _sine(a: Interval) -> Interval:
    """1 if π/2 + 2πk is inside, -1 if -π/2 + 2πk is."""
    low, high = _hull(np.sin(a[0]), np.sin(a[1]))
    return np.where(_contains(a, -np.pi / 2), -1.0, low), np.where(_contains(a, np.pi / 2), 1.0, high)


def _contains(a: Interval, angle: float) -> np.ndarray:
    """Whether angle + 2πk is inside for some k, or the interval has no end."""
    return ~(np.floor((a[1] - angle) / _WHOLE) < np.ceil((a[0] - angle) / _WHOLE))


def _tangent(a: Interval) -> Interval:
    pole = _contains((2 * a[0], 2 * a[1]), np.pi)
    return np.where(pole, -np.inf, np.tan(a[0])), np.where(pole, np.inf, np.tan(a[1]))


def _angle(y: Interval, x: Interval) -> Interval:
    """atan2: the corners of the rectangle, unless it touches the negative x axis, where the angle jumps."""
    low, high = _hull(*(np.arctan2(a, b) for a in y for b in x))
    jumps = (x[0] <= 0) & (y[0] <= 0) & (y[1] >= 0)
    return np.where(jumps, -np.pi, low), np.where(jumps, np.pi, high)


def _at_most(a: Interval, b: Interval) -> Interval:
    """a ≤ b, as a truth value."""
    return 1.0 * (a[1] <= b[0]), 1.0 * (a[0] <= b[1])


def _both(a: Interval, b: Interval) -> Interval:
    return np.minimum(a[0], b[0]), np.minimum(a[1], b[1])


def _select(condition: Interval, a: Interval, b: Interval) -> Interval:
    sure, never = condition[0] > 0, condition[1] == 0
    low, high = _hull(a[0], b[0])[0], _hull(a[1], b[1])[1]
    return np.where(sure, a[0], np.where(never, b[0], low)), np.where(sure, a[1], np.where(never, b[1], high))


def _curve(curve: Pieces, low: np.ndarray, high: np.ndarray) -> Interval:
    """The polynomials of the first and of the last piece of an interval, and all of those between them."""
    knots = np.array(curve.knots)
    first, last = pieces_of(curve, low, high)
    ends = np.where(first == last, high, knots[np.minimum(first + 1, len(knots) - 1)])
    begins = np.where(first == last, low, knots[last])
    parts = [_piece(curve, k, (a, b)) for k, a, b in ((first, low, ends), (last, begins, high))]
    found = _hull(*(end for part in parts for end in part))
    between = last > first + 1
    if not np.any(between):
        return found
    inner = _piece(curve, np.arange(len(knots) - 1), (knots[:-1], knots[1:]))
    low, high = (np.broadcast_to(end, between.shape).copy() for end in found)
    runs = np.column_stack([first[between] + 1, last[between]]).ravel()
    low[between] = np.minimum(low[between], np.minimum.reduceat(np.append(inner[0], np.inf), runs)[::2])
    high[between] = np.maximum(high[between], np.maximum.reduceat(np.append(inner[1], -np.inf), runs)[::2])
    return low, high


def pieces_of(curve: Pieces, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the pieces in which intervals begin and end."""
    knots = np.array(curve.knots)
    first, last = (np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(knots) - 1) for s in (low, high))
    return first, last


def _piece(curve: Pieces, k: np.ndarray, s: Interval) -> Interval:
    """The polynomial of piece k by Horner's rule in s - s_k."""
    start = np.array(curve.knots)[k]
    offset, total = (s[0] - start, s[1] - start), (np.zeros_like(start), np.zeros_like(start))
    for j in range(len(curve.rows) - 1, curve.order - 1, -1):
        total, c = multiply(total, offset), perm(j, curve.order) * np.array(curve.rows[j])[k]
        total = total[0] + c, total[1] + c
    return total


def _sampled(number: Callable[..., float], *args: Interval) -> Interval:
    function = np.vectorize(number, otypes=[float])
    return _hull(*(function(*((1 - share) * low + share * high for low, high in args)) for share in (0.0, 0.5, 1.0)))


_EXACT = frozenset({"negate", "abs", "sign", "select", *COMPARISONS})  # operations without rounding
_CORRECT = frozenset({"add", "subtract", "multiply", "divide", "sqrt"})  # rounded to the nearest number
_RISING: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0.0)), "exp": np.exp, "log": lambda x: np.log(np.maximum(x, 0.0)),
    "asin": lambda x: np.arcsin(np.clip(x, -1, 1)), "atan": np.arctan, "sinh": np.sinh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": lambda x: np.arccosh(np.maximum(x, 1.0)), "sign": np.sign,
    "atanh": lambda x: np.arctanh(np.clip(x, -1, 1)),
}  # fmt: skip
_OPERATIONS: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subtract": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "negate": lambda a: (-a[1], -a[0]),
    "multiply": multiply,
    "divide": _divide,
    "power": _power,
    "cos": _cosine,
    "sin": _sine,
    "tan": _tangent,
    "acos": lambda a: (np.arccos(np.clip(a[1], -1, 1)), np.arccos(np.clip(a[0], -1, 1))),
    "cosh": lambda a: _even(np.cosh, a),
    "abs": lambda a: _even(np.abs, a),
    "atan2": _angle,
    "less": lambda a, b: (1.0 * (a[1] < b[0]), 1.0 * (a[0] < b[1])),
    "less_equal": _at_most,
    "equal": lambda a, b: _both(_at_most(a, b), _at_most(b, a)),
    "both": _both,
    "either": lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])),
    "select": _select,
}  # fmt: skip
