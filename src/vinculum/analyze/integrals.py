"""Stability by quadratic integrals: energy with momenta, also of systems that have no energy in their description.

All quadratic integrals I = x·S x/2 + g·x of ẋ = f(x) are the constant coefficients c with Σ_k c_k ∇m_k·f = 0 for all
x, over the monomials m_k = x_i x_j, x_i. Their number is found exactly, from the rank at random points modulo a prime;
the coefficients then follow in floating point, as in `shifts`. With multipliers μ,

    Σ μ_a ∇I_a = 0  at the point,    Σ μ_a S_a  definite on the directions with ∇I_a·η = 0 for all a:  stable

(Routh, Lyapunov, Pozharitsky; the energy-Casimir method of Arnold). Euler's equations of a free body and linear systems
with gyroscopic forces are decided this way: there the energy alone is not definite.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random

import numpy as np
import scipy  # its parts are imported at their first use

from vinculum.analyze.decision import STABLE, Decision
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import Point
from vinculum.analyze.mode_shapes import natural_units
from vinculum.analyze.reduction import chart_at, position_rows, reduced_rates
from vinculum.analyze.shifts import without_decimals
from vinculum.errors import DomainError
from vinculum.graph import ZERO, Node, substitute, symbol, symbols
from vinculum.graph.exact import NotDefined, common_rank
from vinculum.graph.levels import Levels

_MOST = 12  # states; there are n (n + 3)/2 monomials
_CERTAIN = 1e-6  # of the largest entry of a form, beyond which the sign of an eigenvalue is certain
_GAP = 1e-6  # between singular values that belong to integrals and the others


def by_integrals(linear: LinearModel, where: Point) -> Decision | None:
    """Stable, if a combination of quadratic integrals is definite; otherwise None."""
    x = [symbol(s) for s in linear.states]
    f = _rates(where, x)
    if f is None or len(x) > _MOST:
        return None
    D = natural_units(linear)
    D = D * (np.abs([where.values[s] for s in x] / D).max(initial=0.0) or 1.0)  # of the size of the motion itself
    found = _integrals(x, f, where, D)
    if found is None:
        return None
    S, g = found  # in natural units, of the deviations
    if not _definite(S, g):
        return None
    several = f"{len(S)} quadratic quantities are" if len(S) > 1 else "a quadratic quantity is"
    return Decision(
        STABLE,
        "the Routh-Lyapunov theorem on combinations of integrals",
        f"{several} conserved, and a combination of them has a strict minimum here where the others keep their values",
    )


def _rates(where: Point, x: Sequence[Node]) -> list[Node] | None:
    """The rates of the states, if these alone determine them."""
    form = where.form
    if position_rows(form) or form.turned:
        return None
    rates = where.closed.rates if where.closed is not None else None
    rates = rates or reduced_rates(form, where.values, chart_at(form, where.values))
    if rates is None or any(s not in rates for s in x):
        return None
    nodes = [rates[s] for s in x]
    if where.closed is not None and not where.closed.timed:
        nodes = substitute(nodes, {form.time: ZERO})  # the time cancels
    return nodes if symbols(nodes) <= {*x, *form.parameters, *form.inputs} else None


def _integrals(
    x: Sequence[Node], f: Sequence[Node], where: Point, D: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]] | None:
    """S and g of every quadratic integral, about the point."""
    n = len(x)
    pairs = list(combinations_with_replacement(range(n), 2))
    plain, decimals = without_decimals(f)
    derivatives = [x[i] * plain[j] + x[j] * plain[i] for i, j in pairs] + list(plain)
    fixed = {p: Fraction(where.values[p]) for p in (*where.form.parameters, *where.form.inputs)} | decimals
    try:
        rank = common_rank(np.array([derivatives], dtype=object), Random(0), where.values, fixed)
    except NotDefined:
        return None
    free = len(derivatives) - rank
    if not free:
        return None
    C = _coefficients(x, f, where, D, pairs, free)
    if C is None:
        return None
    S, g = [], []
    for c in C.T:
        matrix = np.zeros((n, n))
        for (i, j), value in zip(pairs, c, strict=False):
            matrix[i, j] += value
            matrix[j, i] += value
        S.append(matrix)
        g.append(c[len(pairs) :])
    return S, g


def _coefficients(
    x: Sequence[Node], f: Sequence[Node], where: Point, D: np.ndarray, pairs: Sequence[tuple[int, int]], free: int
) -> np.ndarray | None:
    """A basis of the integrals over the monomials of y = (x - x₀)/D, as columns."""
    random, levels = np.random.default_rng(4), Levels(list(f))
    center = np.array([where.values[s] for s in x])
    rows = []
    for _ in range(3 * (len(pairs) + len(x))):
        y = random.normal(size=len(x))
        try:
            rate = levels.numbers({**where.values, **dict(zip(x, center + D * y, strict=True))}) / D
        except DomainError:
            continue
        rows.append([*(rate[i] * y[j] + y[i] * rate[j] for i, j in pairs), *rate])
    A = np.array(rows)
    if len(A) < A.shape[1]:
        return None
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    _, singular, V = np.linalg.svd(A)
    if singular[-free] > _GAP * singular[0] or (len(singular) > free and singular[-free - 1] < singular[-free] / _GAP):
        return None
    return V[-free:].T


def _definite(S: Sequence[np.ndarray], g: Sequence[np.ndarray]) -> bool:
    """Whether some Σ μ_a S_a with Σ μ_a g_a = 0 is definite on the directions orthogonal to all g_a."""
    G = np.array(g).T
    scale = max(np.abs(G).max(initial=0.0), *(np.abs(s).max() for s in S))
    multipliers = scipy.linalg.null_space(G / scale, rcond=1e-9) if np.any(np.abs(G) > 1e-9 * scale) else np.eye(len(S))
    W = scipy.linalg.null_space(G.T / scale, rcond=1e-9) if multipliers.shape[1] < len(S) else np.eye(len(G))
    if not multipliers.shape[1]:
        return False
    if not W.shape[1]:
        return True
    basis = [np.tensordot(column, np.array(S), axes=1) for column in multipliers.T]

    def smallest(mu: np.ndarray) -> float:
        """Minus the smallest eigenvalue on W, relative to the largest entry of the whole form."""
        H = np.tensordot(mu, np.array(basis), axes=1)
        return -float(np.linalg.eigvalsh(W.T @ H @ W)[0] / max(np.abs(H).max(), 1e-300))

    random = np.random.default_rng(6)
    starts = [*np.eye(len(basis)), *-np.eye(len(basis)), *random.normal(size=(6 * len(basis), len(basis)))]
    for start in starts:
        best = start
        if len(basis) > 1 and smallest(start) >= -_CERTAIN:
            best = scipy.optimize.minimize(smallest, start, method="Nelder-Mead", options={"maxiter": 400}).x
        if smallest(best) < -_CERTAIN:
            return True
    return False
