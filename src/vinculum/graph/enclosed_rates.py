"""Enclosures of functions of one variable and of their derivatives, on many intervals at once.

The derivative of every operation follows from those of its operands by the chain rule, and makes the enclosure of the
function smaller (the mean value form; m is the middle of the interval T):

    f(T) ⊆ f(m) + f'(T) (T - m),

whose excess over the range falls with the square of the interval: (t - 1)² and t² - 2t + 1 are enclosed alike. A
derivative is (-oo, oo) where a function may jump.

Source: R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009, chapter 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vinculum.graph.differentiate import live_partials
from vinculum.graph.enclosures import Interval, Intervals, multiply, pieces_of
from vinculum.graph.node import COMPARISONS, ONE, ZERO, Node
from vinculum.graph.targets import below

_ROUNDING = 8 * np.finfo(float).eps
Curves = tuple[np.ndarray, np.ndarray]  # low and high ends, (2 outputs, intervals): the values, then the derivatives


def enclosed_rates(
    outputs: Sequence[Node], variable: Node, low: np.ndarray, high: np.ndarray, known: Mapping[Node, Interval]
) -> tuple[Curves, Curves]:
    """The outputs and their derivatives by the variable, on the intervals [low, high] and at their middles."""
    middle, n = (low + high) / 2, len(low)
    own = np.concatenate([low, middle]), np.concatenate([high, middle])
    with np.errstate(all="ignore"):
        found = _Rates(variable, own, known)
        pairs = found.of(outputs)
    ends = [np.array([np.broadcast_to(pair[end], 2 * n) for pair in pairs]).reshape(-1, 2 * n) for end in (0, 1)]
    return (ends[0][:, :n], ends[1][:, :n]), (ends[0][:, n:], ends[1][:, n:])


class _Rates:
    """Functions and their derivatives; the first half of all arrays is for the intervals, then come the middles."""

    def __init__(self, variable: Node, own: Interval, known: Mapping[Node, Interval]) -> None:
        self.values = Intervals({**known, variable: own})
        self.rates: dict[Node, Interval] = {variable: (np.ones_like(own[0]), np.ones_like(own[0]))}
        n = len(own[0]) // 2
        self.radius = (own[1][:n] - own[0][:n]) / 2

    def of(self, outputs: Sequence[Node]) -> list[Interval]:
        """The values of all outputs, then their derivatives."""
        target = self.values
        prepared = target.prepare(outputs)
        for node in below(prepared, target.values):
            target.write([node])
            if any(arg in self.rates for arg in node.args):
                self.rates[node] = rate = _known(*self._rate(node))
                if node.op not in COMPARISONS:
                    target.values[node] = self._shrunk(target.values[node], rate)
        zero = np.asarray(0.0), np.asarray(0.0)
        return [*(target.number(node) for node in prepared), *(self.rates.get(node, zero) for node in prepared)]

    def _rate(self, node: Node) -> Interval:
        """Σ (∂y/∂a) ȧ; (-oo, oo) where y may jump."""
        if node.op == "select":
            return self._chosen(node)
        low, high = np.asarray(0.0), np.asarray(0.0)
        for partial, arg in zip(live_partials(node, self.rates), node.args, strict=True):
            if arg in self.rates and partial is not ZERO:
                rate = self.rates[arg]
                a, b = rate if partial is ONE else multiply(self.values.number(partial), rate)
                low, high = low + a, high + b
        jumps = self._jumps(node)
        return np.where(jumps, -np.inf, low), np.where(jumps, np.inf, high)

    def _chosen(self, node: Node) -> Interval:
        """The derivative of the branch that is taken."""
        condition = self.values.truth(node.args[0])
        sure, never = condition[0] > 0, condition[1] == 0
        none = np.asarray(0.0), np.asarray(0.0)
        a, b = (self.rates.get(arg, none) for arg in node.args[1:])
        low, high = (
            np.where(sure, x, np.where(never, y, far)) for x, y, far in zip(a, b, (-np.inf, np.inf), strict=True)
        )
        return low, high

    def _jumps(self, node: Node) -> np.ndarray:
        """Where a function may jump."""
        low, high = self.values.values[node]
        if node.op in COMPARISONS or node.op == "sign":
            return low != high
        if node.op == "atan2":
            return high - low >= 2 * np.pi
        if node.op == "spline" and node.value.jumps:
            first, last = pieces_of(node.value, *self.values.number(node.args[0]))
            return first != last
        return np.asarray(False)

    def _shrunk(self, value: Interval, rate: Interval) -> Interval:
        """The intersection with the mean value form."""
        n = len(self.radius)
        if np.size(value[0]) != 2 * n or np.size(rate[0]) != 2 * n:
            return value
        (low, high), middle = value, value[0][n:]
        sure = np.isfinite(middle) & (high[n:] == middle) & (self.radius > 0)
        reach = self.radius * np.maximum(np.abs(rate[0][:n]), np.abs(rate[1][:n])) + _ROUNDING * np.abs(middle)
        reach = np.where(sure, reach, np.inf)
        least, most = np.fmax(low[:n], middle - reach), np.fmin(high[:n], middle + reach)
        return np.concatenate([least, low[n:]]), np.concatenate([most, high[n:]])


def _known(low: np.ndarray, high: np.ndarray) -> Interval:
    """What is not a number could be any."""
    unknown = np.isnan(low) | np.isnan(high)
    return np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
