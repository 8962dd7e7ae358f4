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
from vinculum.simulation.problem.plan import ADAPTIVE, Plan
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.switches import SPARE, Sides

_ON = 1e-12  # |g| up to this times (1 + |dg/dt|) counts as on the surface
_MOST = 8  # surfaces at once for which all ways to go on are tried
_SLACK = 1e-9


def placed(problem: Problem, plan: Plan, t: float, x: np.ndarray) -> Problem:
    """The problem on the sides of its corners, for methods that look ahead; fixed steps go over corners as they are."""
    return decided(problem, t, x, plan.t1 - plan.t0) if plan.method in ADAPTIVE else problem


def decided(problem: Problem, t: float, x: np.ndarray, direction: float) -> Problem:
    """The problem with the sides on which the motion goes on from a state."""
    if not problem.nodes.corners.surfaces:
        return problem
    g, sigma, known = _seen(problem, t, x)
    rates = evaluate(problem.nodes.corner_slopes, known)
    on = [k for k in range(len(g)) if abs(g[k]) <= _ON * (1.0 + abs(rates[k]))]
    if not on:
        return problem.on_sides(Sides(tuple(sigma), forward=direction > 0))
    return problem.on_sides(_from_surfaces(problem, on, sigma, known, direction))


def _seen(problem: Problem, t: float, x: np.ndarray) -> tuple[list[float], list[float], dict[Node, float]]:
    """g and σ = sign(g) of every surface at a state, and the values of all symbols, σ included."""
    corners, known = problem.nodes.corners, problem.numbers(t, x)
    g: list[float] = []
    for surface, sigma in zip(corners.surfaces, corners.sigma, strict=True):  # inner first: outer ones may contain σ
        g.append(evaluate([surface], known)[0])
        known[sigma] = 1.0 if g[-1] >= 0 else -1.0
    return g, [known[sigma] for sigma in corners.sigma], known


def _from_surfaces(
    problem: Problem, on: list[int], sigma: list[float], known: dict[Node, float], direction: float
) -> Sides:
    """The sides to which a state on the surfaces ``on`` goes; σ of the other surfaces stays."""
    nodes = problem.nodes
    c, G = _affine([nodes.corner_slopes[k] for k in on], [nodes.corners.sigma[k] for k in on], known)
    found = consistent_sides(np.sign(direction) * c, np.sign(direction) * G)
    if found is None:
        names = ", ".join(describe(nodes.corners.surfaces[k]) for k in on)
        raise SingularError(f"the equations jump where {names} = 0, and no way to go on from there agrees with itself")
    changed = dict(enumerate(sigma)) | dict(zip(on, found, strict=True))
    kept = [i for i, side in enumerate(found) if side == 0.0]
    matrix = G[np.ix_(kept, kept)] if kept else None
    return Sides(tuple(changed.values()), tuple(on[i] for i in kept), matrix, direction > 0)


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
