"""On which side of every corner a motion goes on, or along it (Filippov 1988, for several surfaces at once).

At a state with g_k = 0 the next σ_k must agree with where they lead:

    σ_k = 1 with dg_k/dt ≥ 0,   σ_k = -1 with dg_k/dt ≤ 0,   or -1 ≤ σ_k ≤ 1 with dg_k/dt = 0.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from vinculum.errors import SingularError
from vinculum.graph import Node, evaluate
from vinculum.graph.traverse import describe
from vinculum.simulate.problem import Problem
from vinculum.simulate.switches import SPARE, Sides

_ON = 1e-12  # |g| up to this times (1 + |dg/dt|) counts as on the surface
_MOST = 8  # surfaces at once for which all ways to go on are tried
_SLACK = 1e-9


def decided(problem: Problem, t: float, x: np.ndarray, direction: float) -> Problem:
    """The problem with the sides on which the motion goes on from a state."""
    corners = problem.corners
    if not corners.surfaces:
        return problem
    known = problem.numbers(t, x)
    sigma, g = [], []
    for k, surface in enumerate(corners.surfaces):  # inner surfaces first: outer ones may contain their σ
        g.append(evaluate([surface], known)[0])
        sigma.append(1.0 if g[k] >= 0 else -1.0)
        known[corners.sigma[k]] = sigma[k]
    slopes = problem.corner_slopes
    rates = evaluate(slopes, known)
    on = [k for k in range(len(g)) if abs(g[k]) <= _ON * (1.0 + abs(rates[k]))]
    if not on:
        return problem.on_sides(Sides(tuple(sigma), forward=direction > 0))
    c, G = _affine([slopes[k] for k in on], [corners.sigma[k] for k in on], known)
    found = consistent_sides(np.sign(direction) * c, np.sign(direction) * G)
    if found is None:
        raise SingularError(_undecided(problem, on))
    for k, side in zip(on, found, strict=True):
        sigma[k] = side
    kept = [i for i, side in enumerate(found) if side == 0.0]
    sliding = tuple(on[i] for i in kept)
    matrix = G[np.ix_(kept, kept)] if kept else None
    return problem.on_sides(Sides(tuple(sigma), sliding, matrix, direction > 0))


def _affine(slopes: list[Node], sigma: list[Node], known: dict[Node, float]) -> tuple[np.ndarray, np.ndarray]:
    """c and G with dg/dt = c + G σ, from all on their lower sides and each in turn on its upper one."""
    below = dict.fromkeys(sigma, -1.0)
    low = np.array(evaluate(slopes, known | below))
    high = np.array([evaluate(slopes, known | below | {s: 1.0}) for s in sigma]).T
    G = (high - low[:, None]) / 2
    return low + G.sum(axis=1), G


def consistent_sides(c: np.ndarray, G: np.ndarray) -> list[float] | None:
    """σ (0 for along the surface) that agree with dg/dt = c + G σ; None where no choice does."""
    if len(c) > _MOST:
        return _relaxed(c, G)
    for choice in product((0.0, 1.0, -1.0), repeat=len(c)):
        if _agrees(np.array(choice), c, G):
            return list(choice)
    return None


def _agrees(sides: np.ndarray, c: np.ndarray, G: np.ndarray) -> bool:
    """Whether the motion stays on these sides; a surface is followed only where it draws the motion back (G < 0)."""
    held = sides == 0.0
    sigma = sides.copy()
    if np.any(np.diag(G)[held] >= 0):
        return False
    try:
        sigma[held] = np.linalg.solve(G[np.ix_(held, held)], -(c + G @ sides)[held])
    except np.linalg.LinAlgError:
        return False
    leaving = (sides * (c + G @ sigma))[~held]
    slack = _SLACK * (np.abs(c) + np.abs(G).sum(axis=1))[~held]
    return bool(np.all(np.abs(sigma[held]) <= 1.0 + SPARE / 10) and np.all(leaving >= -slack))


def _relaxed(c: np.ndarray, G: np.ndarray) -> list[float] | None:
    """The same for many surfaces: σ moved with its own rate and kept within [-1, 1] until it stays."""
    size = np.maximum(np.abs(G).sum(axis=1), 1e-300)
    sigma = np.zeros(len(c))
    for _ in range(20_000):
        new = np.clip(sigma + 0.5 * (c + G @ sigma) / size, -1.0, 1.0)
        if np.abs(new - sigma).max() < 1e-15:
            break
        sigma = new
    sides = np.where(np.abs(sigma) >= 1.0 - 1e-12, np.sign(sigma), 0.0)
    return list(sides) if _agrees(sides, c, G) else None


def _undecided(problem: Problem, on: list[int]) -> str:
    names = ", ".join(describe(problem.corners.surfaces[k]) for k in on)
    return f"the equations jump where {names} = 0, and no way to go on from there agrees with itself"
