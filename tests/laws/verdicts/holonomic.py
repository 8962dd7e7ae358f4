"""Natural, damped, gyroscopic and circulatory systems at rest."""

from __future__ import annotations

import numpy as np

from laws.verdicts.cases import ASYMPTOTIC, STABLE, UNSTABLE, Case, Draw, by_roots, companion, linear_system


def holonomic(seed: int) -> Case:
    draw = Draw(seed, "holonomic")
    return (_natural, _damped, _partial, _gyroscopic, _circulatory, _gyroscopic_border, _repeated)[seed % 7](draw)


def _natural(draw: Draw) -> Case:
    n = draw.whole(1, 3)
    good = draw.chance()
    K = draw.positive(n) if good else draw.indefinite(n)
    O = np.zeros((n, n))
    return Case("natural", linear_system(draw.positive(n), O, O, K, O, draw), STABLE if good else UNSTABLE)


def _damped(draw: Draw) -> Case:
    n = draw.whole(1, 3)
    good = draw.chance()
    K, D, O = draw.positive(n) if good else draw.indefinite(n), draw.positive(n) * 0.25, np.zeros((n, n))
    return Case("damped", linear_system(draw.positive(n), D, O, K, O, draw), ASYMPTOTIC if good else UNSTABLE)


def _partial(draw: Draw) -> Case:
    """Two equal oscillators, coupled: a damper between them leaves the common mode alone, one on the first does not."""
    k1, k2, between = draw.number(), draw.number(), draw.chance()
    K = np.array([[k1 + k2, -k2], [-k2, k1 + k2]])
    D = np.array([[1.0, -1.0], [-1.0, 1.0]]) if between else np.diag([1.0, 0.0])
    O, M = np.zeros((2, 2)), draw.number() * np.eye(2)
    return Case("partly damped", linear_system(M, D * draw.number(0.1, 1), O, K, O), STABLE if between else ASYMPTOTIC)


def _gyroscopic(draw: Draw) -> Case:
    n = draw.whole(2, 4)
    K, G, M, O = draw.positive(n), draw.skew(n), draw.positive(n), np.zeros((n, n))
    return Case("gyroscopic", linear_system(M, O, G, K, O, draw), STABLE)


def _gyroscopic_border(draw: Draw) -> Case:
    """K = -κ, G = γ: the roots leave the axis below γ² = 4κ; damping always destabilizes."""
    kappa, damped = draw.number(), draw.chance()
    gamma = 2 * kappa**0.5 * (0.7 if draw.chance() else 1.4)
    G, O = round(gamma, 2) * np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros((2, 2))
    D = draw.number(0.05, 0.5) * np.eye(2) if damped else O
    system = linear_system(np.eye(2), D, G, -kappa * np.eye(2), O)
    return Case("gyroscopic stabilization", system, by_roots(companion(np.eye(2), D + G, -kappa * np.eye(2)), STABLE))


def _circulatory(draw: Draw) -> Case:
    n = draw.whole(2, 3)
    M, K, N, D, O = draw.positive(n), draw.positive(n), draw.skew(n), 0.2 * draw.positive(n), np.zeros((n, n))
    return Case("circulatory", linear_system(M, D, O, K, N, draw), by_roots(companion(M, D, K + N)))


def _repeated(draw: Draw) -> Case:
    """Equal frequencies in mixed coordinates, a conservative force written as a force."""
    n = draw.whole(2, 3)
    M = draw.positive(n)
    K, O = draw.number() * M, np.zeros((n, n))
    return Case("equal frequencies", linear_system(M, O, O, O, K), STABLE)
