"""Constant shifts of the coordinates that change no rate: translations, rotations of the whole about an axis.

They are the constant X with J(x) X = 0 for all x, where J are the slopes of the rates and of the position constraints
with respect to the coordinates. Their number is found exactly, from the rank of J at random points modulo a prime, with
every decimal number of the description as a symbol; their directions then follow from J in floating point.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from random import Random

import numpy as np

from vinculum.errors import DomainError
from vinculum.graph import Node, jacobian, order, substitute, symbol
from vinculum.graph.exact import NotDefined, common_rank
from vinculum.graph.levels import Levels

_SIMPLE = 1000  # denominators up to this are recognized in directions


def shifts(
    rows: Sequence[Node], coordinates: Sequence[Node], values: Mapping[Node, float], parameters: Collection[Node]
) -> np.ndarray:
    """A basis of the constant shifts that change no row, as columns."""
    none = np.zeros((len(coordinates), 0))
    if not rows or not coordinates:
        return np.eye(len(coordinates))
    plain, decimals = without_decimals(rows)
    J = jacobian(plain, list(coordinates))
    fixed = {p: Fraction(values[p]) for p in parameters} | decimals
    try:
        rank = common_rank(J, Random(0), values, fixed)
    except NotDefined:
        return none
    free = len(coordinates) - rank
    known = {**values, **{name: float(number) for name, number in decimals.items()}}
    return _directions(J, coordinates, known, free) if free else none


def without_decimals(rows: Sequence[Node]) -> tuple[list[Node], dict[Node, Fraction]]:
    """The rows with symbols in place of decimal numbers, whose products would be rounded, and their values."""
    nodes = order(list(rows))
    exponents = {x.args[1] for x in nodes if x.op == "power"}
    numbers = [x for x in nodes if x.op == "constant" and not isinstance(x.value, int) and x not in exponents]
    names = {x: symbol(("number", x.value)) for x in numbers}
    return substitute(list(rows), names), {name: Fraction(x.value) for x, name in names.items()}


def _directions(J: np.ndarray, coordinates: Sequence[Node], values: Mapping[Node, float], free: int) -> np.ndarray:
    """The common kernel of J at several points, of known dimension, in reduced echelon form."""
    random, points, levels = np.random.default_rng(2), list[np.ndarray | None](), Levels(list(J.ravel()))
    for k in range(20):
        near = {x: values[x] * (1 + 0.1 * random.normal()) + 10.0 ** -(k % 5) * random.normal() for x in coordinates}
        points.append(_numbers(levels, J.shape, {**values, **near}))
    found = [J for J in points if J is not None]
    if not found:
        return np.zeros((len(coordinates), 0))
    S = np.vstack(found)
    R, C = _geometric_scales(np.abs(S))
    kernel = np.linalg.svd(R[:, None] * S * C)[2][-free:].T
    return echelon(C[:, None] * kernel, C)[0]


def _geometric_scales(A: np.ndarray, rounds: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """R and C for which the geometric means of the nonzero entries of all rows and columns of R A C are one."""
    there = A > 0
    logarithms, rows, columns = np.log(np.where(there, A, 1.0)), there.sum(axis=1), there.sum(axis=0)
    r, c = np.zeros(A.shape[0]), np.zeros(A.shape[1])
    for _ in range(rounds):
        r = -((logarithms + c) * there).sum(axis=1) / np.maximum(rows, 1)
        c = -((logarithms + r[:, None]) * there).sum(axis=0) / np.maximum(columns, 1)
    return np.exp(r), np.exp(c)


def _numbers(levels: Levels, shape: tuple[int, ...], values: Mapping[Node, float]) -> np.ndarray | None:
    try:
        found = levels.numbers(values).reshape(shape)
    except DomainError:
        return None
    return found if np.all(np.isfinite(found)) else None


def echelon(Z: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The columns in reduced echelon form, with simple fractions where they are meant, and the places of the ones."""
    rest, pivots = Z / scale[:, None], list[int]()
    for k in range(Z.shape[1]):
        part = np.abs(rest[:, k:])
        part[pivots] = 0.0
        i, j = np.unravel_index(int(np.argmax(part)), part.shape)
        rest[:, [k, k + j]] = rest[:, [k + j, k]]
        rest[:, k] /= rest[i, k]
        others = [c for c in range(Z.shape[1]) if c != k]
        rest[:, others] -= np.outer(rest[:, k], rest[i, others])
        pivots.append(int(i))
    size = np.where(np.abs(rest) > 1e-12, rest, 0.0) * scale[:, None] / scale[pivots]
    return np.vectorize(_simple, otypes=[float])(size), pivots


def _simple(x: float) -> float:
    """The simple fraction within rounding, if there is one."""
    near = Fraction(float(x)).limit_denominator(_SIMPLE)
    return float(near) if x and abs(float(near) - x) <= 1e-13 * abs(x) else float(x)
