"""Bordered matrices with a definite block, eliminated in an order whose pivots keep their signs.

    A = [ M  Jᵀ ]     M (n, n) positive definite, J (m, n) with independent rows; m = 0 is allowed
        [ J  0  ]

Signs. Let S be the coordinates and R the constraints eliminated so far, and J_RS the rows R in the columns S. The
leading block [[M_SS, J_RSᵀ], [J_RS, 0]] has the determinant det M_SS · det(-J_RS M_SS⁻¹ J_RSᵀ), which has the sign of
(-1)^|R| if the rows of J_RS are independent. A pivot is the quotient of two successive such determinants: positive for
a coordinate, negative for a constraint. The pivot of coordinate i is the least energy aᵀMa with a_i = 1 and J_R a = 0,
hence never below 1/(M⁻¹)_ii. So no pivot vanishes on a regular motion, wherever the order was chosen.

The rows of J_RS are independent for certain if every constraint comes after all coordinates in it, since J_RS then
holds whole rows of J. A constraint may also come early, after one coordinate in it that has a constant coefficient:
this coordinate is reserved, and no other constraint that contains it is eliminated until the early one is whole. (In
Σ α_r J_rS = 0 the reserved columns give α = 0 for the early rows, and the others are whole rows of J.)

Semidefinite M. For any positive diagonal W the equations

    (M + JᵀWJ) a - Jᵀλ = b + JᵀW g,   J a = g

have the same solution a, λ as those with W = 0, and M + JᵀWJ is definite wherever A is regular. W is not zero only in
the rows that contain a direction without inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from vinculum.graph.eliminate import Elimination, equilibrate, solve, solve_in_order
from vinculum.graph.node import ZERO, constant

_DEFINITE = 1e-11  # least eigenvalue of M with unit diagonal that is larger than its own rounding error
_NEGLIGIBLE = 1e-13  # a pivot of this share of the largest it could be, at the first state, counts as zero
_ACCURATE = 1e-13  # largest backward error of an order
_SHARE = 0.1  # an early pivot must have this share of its largest possible size at every sample state
_CHEAPER = 0.7  # an order that is not certain must need less than this share of the operations


def solve_definite(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, constraints: int = 0) -> Elimination:
    """Solve A X = B for a symmetric A with ``constraints`` = m, without pivots that vanish on the way.

    ``numbers`` is A at some sample states (samples, n + m, n + m). They decide whether M is definite, which constraints
    need a weight, and whether the order is accurate in numbers. Where M is not definite, or its units differ so much
    that the order would lose digits, pivots are chosen as in `solve`.
    """
    n = len(A) - constraints
    weights = _weights(A, numbers, n)
    if weights is None:
        return solve(A, B, numbers, symmetric=True)
    A, B, numbers = _add_weights(A, B, numbers, n, weights)
    for order in _orders(A, B, numbers, n):
        pivots = _accurate_pivots(numbers, n, order)
        if pivots is not None:
            return solve_in_order(A, B, order, pivots)
    return solve(A, B, numbers, symmetric=True)


def solve_bordered(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, constraints: int) -> Elimination:
    """Solve A X = B for A = [M C; D 0] with M as above, but a border C that is not Dᵀ (inputs of servo constraints).

    If M is definite at all samples, it is eliminated first. The matrix D M⁻¹ C of the constraints is left, which is
    singular where A is. Otherwise pivots are chosen as in `solve`.
    """
    n = len(A) - constraints
    definite = all(len(_idle(a[:n, :n])) == 0 for a in numbers)
    return solve(A, B, numbers, definite=n if definite else 0)


# -- directions without inertia ---------------------------------------------------------------------------------


def _weights(A: np.ndarray, numbers: np.ndarray, n: int) -> np.ndarray | None:
    """W of every constraint, zero where M needs none; None where no W makes M + JᵀWJ definite at all samples."""
    parts = [(a[:n, :n], a[n:, :n]) for a in numbers]
    touched = np.any([_touching(M, J) for M, J in parts], axis=0)
    if not touched.any():
        return np.zeros(len(A) - n) if all(len(_idle(M)) == 0 for M, _ in parts) else None
    powers = np.round(np.mean([np.log2(_effective_inertia(a, n)) for a in numbers], axis=0))
    weights = np.where(touched, 2.0**powers, 0.0)  # powers of two: multiplying by them does not round
    return weights if all(len(_idle(M + (J.T * weights) @ J)) == 0 for M, J in parts) else None


def _effective_inertia(a: np.ndarray, n: int) -> np.ndarray:
    """1 / Σ_j J_ij² / M_jj, what constraint i has to move: a weight of this size is right in any units.

    The weights of its constraints, once known, give a coordinate without inertia an effective one. Entries
    of J at the level of rounding errors in their row do not count.
    """
    scale = equilibrate(np.abs(a[None]))[0][0]
    J = np.where(np.abs(a[n:, :n]) * np.outer(scale[n:], scale[:n]) > 1e-6, a[n:, :n], 0.0)
    inertia, found = np.diag(a)[:n].copy(), np.zeros(len(J))
    while True:
        heavy = inertia > 0
        terms = np.sum(J[:, heavy] ** 2 / inertia[heavy], axis=1)
        new = (found == 0) & (terms > 0)
        if not new.any():
            return np.where(found > 0, found, 1.0)
        found[new] = 1 / terms[new]
        inertia = np.where(heavy, inertia, found @ J**2)


def _touching(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Which rows of J contain a direction without inertia."""
    idle = _idle(M)
    found, terms = np.abs(J @ idle.T), np.abs(J) @ np.abs(idle).T
    return np.any(found > 1e-9 * terms, axis=1)


def _idle(M: np.ndarray) -> np.ndarray:
    """Directions (k, n) in which M has no inertia, or a negative one."""
    size = np.sqrt(np.abs(np.diag(M)))
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    return (vectors[:, values < _DEFINITE] / size[:, None]).T


def _add_weights(
    A: np.ndarray, B: np.ndarray, numbers: np.ndarray, n: int, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and B with the constraints, times JᵀW, added to the equations of the coordinates."""
    A, B, numbers = A.copy(), B.copy(), numbers.copy()
    for c, w in enumerate(weights, start=n):
        if w == 0:
            continue
        places = [i for i in range(n) if A[c, i] is not ZERO]
        factors = {i: constant(float(w)) * A[c, i] for i in places}
        for i in places:
            for j in places:
                A[i, j] = A[j, i] if j < i else A[i, j] + factors[i] * A[c, j]
            B[i] = B[i] + B[c] * factors[i]
        numbers[:, :n, :n] += w * numbers[:, c, :n, None] * numbers[:, c, None, :n]
    return A, B, numbers


# -- orders -----------------------------------------------------------------------------------------------------


def _orders(A: np.ndarray, B: np.ndarray, numbers: np.ndarray, n: int) -> list[list[int]]:
    """Orders to try: the cheapest whose signs are certain; before it one with early constraints, if far cheaper."""
    certain = _cheapest(A, B.shape[1], lambda: _Certain(A, n))
    if n == len(A):
        return [certain[1]]
    likely = _cheapest(A, B.shape[1], lambda: _Likely(A, n, numbers))
    return [likely[1], certain[1]] if likely[0] < _CHEAPER * certain[0] else [certain[1]]


def _cheapest(A: np.ndarray, columns: int, rule: Callable[[], _Certain]) -> tuple[int, list[int]]:
    """(operations, order) by least fill and by least degree, whichever needs less."""
    keys: tuple[Callable[[int, int], tuple[int, int]], ...] = (
        lambda fill, degree: (fill, degree),
        lambda fill, degree: (degree, fill),
    )
    return min(_search(A, columns, rule(), key) for key in keys)


def _search(
    A: np.ndarray, columns: int, rule: _Certain, key: Callable[[int, int], tuple[int, int]]
) -> tuple[int, list[int]]:
    """An order of the rows, at each step the admissible one with the least key; and what it costs."""
    near = [places - {i} for i, places in enumerate(_occupied(A))]
    order: list[int] = []
    cost, keys = 0, {i: key(_fill(near, i), len(near[i])) for i in range(len(A))}
    queue = [(keys[i], i) for i in range(len(A))]
    heapify(queue)
    refused: set[int] = set()  # rows that were not admissible when they were the cheapest
    while len(order) < len(A):
        p = _cheapest_admissible(queue, keys, rule, refused)
        degree = len(near[p])
        cost += degree * (degree + 2) + columns * (4 * degree + 1)
        del keys[p]
        order.append(p)
        opened = rule.take(p)
        for j in near[p]:
            near[j] = (near[j] | near[p]) - {j, p}
        changed = near[p].union(*(near[i] for i in near[p]))
        for j in changed:
            keys[j] = key(_fill(near, j), len(near[j]))
        again = changed | refused if opened else changed
        refused -= again
        for j in again:
            heappush(queue, (keys[j], j))
    return cost, order


def _cheapest_admissible(
    queue: list[tuple[tuple[int, int], int]], keys: dict[int, tuple[int, int]], rule: _Certain, refused: set[int]
) -> int:
    """The admissible row with the least key. A refused row comes back when its surroundings change."""
    while True:
        found, i = heappop(queue)
        if keys.get(i) != found or i in refused:
            continue  # eliminated already, or its key has changed
        if rule.admits(i):
            return i
        refused.add(i)


def _occupied(A: np.ndarray) -> list[set[int]]:
    """The columns of every row that are not zero by structure."""
    found: list[set[int]] = [set() for _ in A]
    for i, j in zip(*(places.tolist() for places in np.nonzero(A != ZERO)), strict=True):
        found[i].add(j)
    return found


def _fill(near: Sequence[set[int]], i: int) -> int:
    """Twice the number of entries that become nonzero when i is eliminated."""
    return sum(len(near[i] - near[j]) - 1 for j in near[i])


class _Certain:
    """Admits a row when the signs of all pivots stay certain (see the head of this file)."""

    def __init__(self, A: np.ndarray, n: int) -> None:
        self.A, self.n, self.left = A, n, set(range(len(A)))
        self.inside = dict(enumerate(_occupied(A[n:, :n]), start=n))
        self.taken: set[int] = set()  # coordinates in the constraints that were eliminated
        self.open: set[int] = set()  # constraints that were eliminated before all their coordinates
        self.early: dict[int, int] = {}  # those of them that reserve a coordinate, and this coordinate

    def admits(self, i: int) -> bool:
        """Whether row i may be next."""
        if i < self.n:
            return True
        if any(j in self.inside[i] for j in self.early.values()):
            return False
        return self.whole(i) or self.reserve(i) is not None

    def whole(self, c: int) -> bool:
        """Whether all coordinates in constraint c are eliminated."""
        return self.inside[c].isdisjoint(self.left)

    def reserve(self, c: int) -> int | None:
        """A coordinate that makes constraint c independent of those before it."""
        known = [j for j in sorted(self.inside[c] - self.left) if self.A[c, j].op == "constant"]
        return next((j for j in known if j not in self.taken), None)

    def take(self, i: int) -> bool:
        """Eliminate row i; whether rows elsewhere may have become admissible."""
        self.left.remove(i)
        if i >= self.n:
            reserved = self.reserve(i)
            if not self.whole(i):
                self.open.add(i)
                self.early |= {} if reserved is None else {i: reserved}
            self.taken |= self.inside[i]
        closed = {c for c in self.open if self.whole(c)} if i < self.n else set()
        self.open -= closed
        self.early = {c: j for c, j in self.early.items() if c in self.open}
        return bool(closed)


class _Likely(_Certain):
    """Admits early constraints also where numbers show that they are independent at every sample state."""

    def __init__(self, A: np.ndarray, n: int, numbers: np.ndarray) -> None:
        super().__init__(A, n)
        self.a = numbers.copy()
        J = numbers[:, n:, :n]
        Y = np.linalg.solve(numbers[:, :n, :n], J.transpose(0, 2, 1))
        self.alone = np.einsum("sij,sji->si", J, Y)  # the pivots, but for their signs, if each were the only constraint
        self.live = np.ones(len(A), dtype=bool)

    def admits(self, i: int) -> bool:
        """Whether row i may be next."""
        if i < self.n or (self.whole(i) and not self.open):
            return True
        return bool(np.all(-self.a[:, i, i] >= _SHARE * self.alone[:, i - self.n]))

    def take(self, i: int) -> bool:
        """Eliminate row i, in numbers too."""
        opened = super().take(i)
        pivots = np.where(self.a[:, i, i] == 0, np.inf, self.a[:, i, i])
        self.live[i] = False
        near = np.flatnonzero(np.any(self.a[:, i, :] != 0, axis=0) & self.live)
        rows = self.a[:, i, near]
        self.a[:, near[:, None], near] -= rows[:, :, None] * (rows / pivots[:, None])[:, None, :]
        return opened


# -- accuracy ---------------------------------------------------------------------------------------------------


def _accurate_pivots(numbers: np.ndarray, n: int, order: Sequence[int]) -> list[float] | None:
    """The pivots at the first state; None where elimination in this order, in floating point, loses digits.

    The backward error of equation i is |b - A x|_i / (Σ_j |A_ij| |x|_j + |b_i|), in units that equilibrate A, where
    |x|_j stands for the largest acceleration or the largest multiplier. It is taken for random forces with g = 0, the
    hardest case for light coordinates that follow heavy ones, and with random g.
    """
    scale = equilibrate(np.abs(numbers[:1]))[0][0]
    a = scale[:, None] * numbers[0] * scale
    b = np.random.default_rng(7).uniform(-1.0, 1.0, (len(a), 2))
    b[n:, 0] = 0.0
    x, scaled = _solve_numbers(a, b, order)
    pivots = scaled / scale[list(order)] ** 2
    if not np.all(np.abs(pivots) > _NEGLIGIBLE * _largest_pivots(numbers[0], n)[list(order)]):
        return None
    largest = np.repeat([np.abs(x[:n]).max(axis=0), np.abs(x[n:]).max(axis=0, initial=0.0)], [n, len(a) - n], axis=0)
    good = np.abs(b - a @ x) <= _ACCURATE * (np.abs(a) @ largest + np.abs(b))
    return list(pivots) if np.all(good) else None


def _largest_pivots(a: np.ndarray, n: int) -> np.ndarray:
    """M_ii and (J M⁻¹ Jᵀ)_ii, which the pivots cannot exceed."""
    M, J = a[:n, :n], a[n:, :n]
    return np.concatenate([np.diag(M), np.einsum("ij,ji->i", J, np.linalg.solve(M, J.T))])


def _solve_numbers(a: np.ndarray, b: np.ndarray, order: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """x of a x = b by symmetric elimination in an order, as the compiled code computes it, and the pivots."""
    places = list(order)
    u, y = a[np.ix_(places, places)].copy(), b[places].copy()
    with np.errstate(all="ignore"):
        for k in range(len(u)):
            near = k + 1 + np.flatnonzero(u[k, k + 1 :])
            factor = u[near, k] * (1 / u[k, k])
            u[near[:, None], near] -= factor[:, None] * u[k, near]
            y[near] -= factor[:, None] * y[k]
        for k in reversed(range(len(u))):
            y[k] = (y[k] - u[k, k + 1 :] @ y[k + 1 :]) * (1 / u[k, k])
    x = np.empty_like(y)
    x[places] = y
    return x, np.diag(u)
