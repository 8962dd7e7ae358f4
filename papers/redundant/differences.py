"""The first approximation of the five-bar robot on its turntable by differences of its motion with multipliers."""

from __future__ import annotations

from functools import cache

import numpy as np

from papers.record import Evidence, evidence
from papers.redundant.linkages import five_bar, five_bar_model, five_bar_rest, phi, theta
from papers.redundant.scalar import Scalar, scalar
from papers.truth import relative

NEAR = 1e-6  # what differences of fourth order leave


def moved(r: np.ndarray, s: np.ndarray, rates: np.ndarray) -> Scalar:
    """The five-bar robot at its holding torques, beside its equilibrium."""
    rest = five_bar_rest()
    values = {u: rest[u] for u in five_bar().inputs}
    places = zip((*theta, *phi), (*r, *s), strict=True)
    velocities = zip((q.diff() for q in (*theta, *phi)), (*rates, 0.0, 0.0), strict=True)
    return scalar(five_bar(), phi, dict(places) | dict(velocities) | values)


def place() -> tuple[np.ndarray, np.ndarray]:
    """r and s of the equilibrium."""
    rest = five_bar_rest()
    return np.array([rest[q] for q in theta]), np.array([rest[q] for q in phi])


def accelerations(change: np.ndarray) -> np.ndarray:
    """r̈ at (x, y, ẋ) from the equilibrium, with multipliers."""
    r, s = place()
    return moved(r + change[:2], s + change[2:4], change[4:]).truth()[0][:2]


@cache
def exact() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, h and b of ẍ = a x + b ẋ + h y, by central differences of fourth order."""
    step, columns = 1e-3, []
    for e in step * np.eye(6):
        ends = [accelerations(k * e) for k in (1, -1, 2, -2)]
        columns.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * step))
    a, h, b = np.split(np.array(columns).T, 3, axis=1)
    return a, h, b


@cache
def stiffness() -> np.ndarray:
    """K of A ẍ + (G - D) ẋ + K x = 0."""
    a, h, _ = exact()
    return -five_bar_model().A @ (a + h @ five_bar_model().B)


def roots(damping: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Of A λ² + damping λ + K for the five-bar, sorted."""
    n, inverse = len(K), np.linalg.inv(five_bar_model().A)
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ damping]])
    return np.sort_complex(np.linalg.eigvals(matrix))


@cache
def exact_roots() -> np.ndarray:
    _, _, b = exact()
    return roots(-five_bar_model().A @ b, stiffness())


def of_roots(what: str, printed: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]) -> Evidence:
    errors = [relative(roots(*found), exact_roots()) for found in (printed, corrected)]
    return evidence(f"roots of the five-bar {what}, against differences of the motion", errors, accepted=NEAR)
