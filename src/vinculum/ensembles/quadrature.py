"""∫ e dt of an integrand with corners or jumps, which no series follows: Lobatto's rule on intervals that are halved.

An interval is halved until both halves together agree with the whole of it. Where e is smooth that is so at once; at a
corner the intervals become as short as rounding, whatever e is there. The nodes of Lobatto's rule, with six of them
exact to the degree 9, include both ends, so no corner lies where the rule does not look (Abramowitz and Stegun,
25.4.32).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vinculum.graph import Node
from vinculum.simulation.problem.discontinuities import find_corners, rough_functions

_NEAR, _FAR = (np.sqrt((7 + sign * 2 * np.sqrt(7)) / 21) for sign in (-1, 1))
_NODES = np.array([-1, -_FAR, -_NEAR, _NEAR, _FAR, 1])  # on [-1, 1]
_WEIGHTS = np.array([2, *((14 + sign * np.sqrt(7)) for sign in (-1, 1, 1, -1)), 2]) / 30
_WHOLE = (1 + _NODES) / 2
SHARES = np.unique(np.concatenate([_WHOLE, _WHOLE / 2, (1 + _WHOLE) / 2]))  # of an interval: where e is needed
MIDDLE = int(np.flatnonzero(SHARES == 0.5)[0])
_PLACES = [np.searchsorted(SHARES, shares) for shares in (_WHOLE, _WHOLE / 2, (1 + _WHOLE) / 2)]
TOLERANCE = 1e-13  # of ∫ |e| dt, for every interval
_ROUNDS, _GROWTH = 60, 4  # where more intervals than so many times the first ones are left, the motion is rough
_RESOLVED = 64  # an interval shorter than so many units of rounding of the time is not divided

Sample = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def has_corners(integrand: Node) -> bool:
    """Whether an integrand has corners, jumps or other places where it is not smooth."""
    return bool(find_corners([integrand]) or rough_functions([integrand]))


def is_wide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether instants between a and b differ by more than rounding."""
    return np.asarray(np.abs(b - a) > _RESOLVED * np.spacing(np.maximum(np.abs(a), np.abs(b))))


def integrate(
    a: np.ndarray,
    b: np.ndarray,
    x: np.ndarray,
    ends: np.ndarray,
    owners: np.ndarray,
    count: int,
    sample: Sample,
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """The integrals of ``count`` runs over intervals from a to b, of the runs ``owners``, with states x at a.

    ``ends`` are e at a and at b, (2, intervals). ``sample(a, b, x, owners)`` gives e at the shares of every interval,
    (intervals, shares), and the states at the middles; x is (states, intervals).
    """
    total, size, most = np.zeros(count), np.zeros(count), _GROWTH * np.bincount(owners, minlength=count)
    for turn in range(_ROUNDS):
        y, middle = sample(a, b, x, owners)
        y[:, 0], y[:, -1] = ends
        half = 0.5 * (b - a)
        whole, *parts = (half * (y[:, places] * _WEIGHTS).sum(axis=1) for places in _PLACES)
        if turn == 0:
            np.add.at(size, owners, np.abs(half) * (np.abs(y[:, _PLACES[0]]) * _WEIGHTS).sum(axis=1))
        halves = 0.5 * (parts[0] + parts[1])
        apart = (np.abs(halves - whole) > tolerance * size[owners]) & is_wide(a, b) & (turn < _ROUNDS - 1)
        apart &= (np.bincount(owners[apart], minlength=count) <= most)[owners]
        np.add.at(total, owners[~apart], halves[~apart])
        if not apart.any():
            break
        c = 0.5 * (a + b)[apart]
        a, b = np.concatenate([a[apart], c]), np.concatenate([c, b[apart]])
        x, owners = np.hstack([x[:, apart], middle[:, apart]]), np.tile(owners[apart], 2)
        left, middle, right = y[apart][:, [0, MIDDLE, -1]].T
        ends = np.array([np.append(left, middle), np.append(middle, right)])
    return total
