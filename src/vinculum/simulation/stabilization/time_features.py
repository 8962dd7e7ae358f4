"""The longest step that does not pass over a short event of the forces or of the prescribed motion.

Every subexpression of the rates that depends on time alone is scanned: h(t) on a fine grid. A step τ resolves it if the
line through its values at the spacing τ/2 misses little of it,

    ∫ |h - line| dt ≤ θ ∫ |h - median(h)| dt.

A pulse shorter than the spacing is missed as a whole (the left side equals the right without θ), a jump costs only the
share of one interval, and a smooth function passes as soon as its period has a few points. Between two jumps of
comparisons lie at least two steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vinculum.graph.traverse import dependence
from vinculum.simulation.problem.problem import Problem

_FINE = 2**17  # intervals of the scan
_AT_ONCE = 32  # functions in memory
_COARSEST = 64  # intervals of the first candidate
_MISSED = 0.25  # θ
_JUMPS = ("less", "less_equal", "sign")
_ROUTINES = ("call", "component")


def longest_step(problem: Problem, t0: float, t1: float) -> float:
    """The longest step, of those that divide the interval in powers of two, that resolves all functions of time."""
    count, jumps = _COARSEST, np.zeros(0, dtype=int)
    for h, jumping in _scan(problem, t0, t1):
        jumps = np.union1d(jumps, np.nonzero(np.diff(h[jumping], axis=1))[1])
        gap = np.diff(jumps).min(initial=_FINE)
        while count < _FINE // 8 and not (gap * count >= 2 * _FINE and _resolved(h, 2 * count)):
            count *= 2
    return (t1 - t0) / count


def _scan(problem: Problem, t0: float, t1: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The values of all functions of time on the fine grid, (functions, points), and which of them jump."""
    nodes = problem.nodes
    depends = dependence(problem.branch.prepared(nodes.rates), [nodes.time, *nodes.state])
    found = [node for node, bits in depends.items() if bits == 1 and node.args and node.op not in _ROUTINES]
    t = np.linspace(t0, t1, _FINE + 1) if found else np.zeros(0)
    for first in range(0, len(found), _AT_ONCE):
        part = found[first : first + _AT_ONCE]
        values = problem.compiled(part).rows(t, np.zeros((len(t), len(nodes.state))), problem.values).T
        good = np.all(np.isfinite(values), axis=1)
        yield values[good], np.array([node.op in _JUMPS for node in part])[good]


def _resolved(h: np.ndarray, count: int) -> bool:
    """Whether the values at ``count`` equal intervals tell enough of every function."""
    every = _FINE // count
    share = np.arange(_FINE) % every / every
    low, high = (np.repeat(part, every, axis=1) for part in (h[:, :-1:every], h[:, every::every]))
    missed = np.abs(h[:, :-1] - low - share * (high - low)).sum(axis=1)
    size = np.abs(h - np.median(h, axis=1, keepdims=True)).sum(axis=1)
    rounding = 1e-12 * np.abs(h).max(axis=1, initial=0.0) * _FINE
    return bool(np.all(missed <= _MISSED * size + rounding))
