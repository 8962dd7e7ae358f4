"""Whether prescribed perturbation equations bring residuals back: a Lyapunov inequality over states and times.

Near the constraints the residuals obey η̇ = A(x, t) η. If one symmetric G satisfies

    AᵀG + GA ≤ -a,    a > 0,

at all states and times, V = ηᵀGη decreases along every perturbation. With G > 0 residuals decay at least as
e^{-a t/(2c)}, c the largest eigenvalue of G; if G has a negative eigenvalue, some residuals grow (Lyapunov's theorem on
instability). Constant A is decided by its eigenvalues. For variable A the inequality is required at sampled states and
times, and G is found by the rule of the perceptron: the condition is linear in G, and each violated direction v,
vᵀ(AᵀG + GA)v ≥ 0, corrects it. If no such G is found, decay is *not shown*: frozen eigenvalues decide nothing then
(Mathieu's equation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.integrable import Feedback, level
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.errors import DomainError
from vinculum.graph import ZERO, Node, evaluate, jacobian, substitute, symbols
from vinculum.names import listed
from vinculum.notebook_repr import html

_SAMPLES = 240  # states and times at which the inequality is required
_LATEST = 100.0  # of the sampled times
_MOST_CORRECTIONS = 600
_DECISIVE = 1e-9  # a this small relative to |AᵀG + GA| decides nothing


@dataclass(frozen=True, eq=False)
class Approach:
    """How residuals approach their constraints: ``shown`` is True (decay), False (growth) or None (not shown)."""

    shown: bool | None
    rate: float = 0.0  # |η| falls at least as e^{-rate t}, if decay is shown
    G: np.ndarray | None = None
    sentence: str = ""

    def __bool__(self) -> bool:
        return self.shown is True

    def __str__(self) -> str:
        return self.sentence

    _repr_html_ = html


def approach(feedback: Feedback, degrees: Sequence[int], points: Sequence[Values], moving: Sequence[Node]) -> Approach:
    """The verdict on the corrections c; ``moving`` are the symbols of states and, last, of time."""
    names = [level(i, j) for i, degree in enumerate(degrees) for j in range(degree)]
    exact = list(jacobian(list(feedback.corrections), names).ravel())
    slopes = substitute(exact, dict.fromkeys(names, ZERO))
    inside = symbols(slopes)
    unset = [s.value for s in inside - set(points[0])]
    if unset:
        return Approach(None, sentence=f"not decided: {listed(sorted(unset, key=str))} has no value")
    varying = [s for s in moving if s in inside]
    found = [
        matrix
        for values in _samples(points, varying, moving[-1])
        if (matrix := _matrix(slopes, degrees, values)) is not None
    ]
    if not found:
        return Approach(None, sentence="not shown: the coefficients have no finite value at any sampled state")
    if varying:
        return _variable(np.array(found), [s.value for s in varying])
    return _constant(found[0], is_linear=not symbols(exact) & set(names))


def _matrix(slopes: Sequence[Node], degrees: Sequence[int], values: Values) -> np.ndarray | None:
    """A: ones above the diagonal inside each chain, -∂c/∂η at their ends; None outside the domain."""
    A = np.eye(sum(degrees), k=1)
    try:
        A[np.cumsum(degrees) - 1] = -np.array(evaluate(list(slopes), values)).reshape(len(degrees), -1)
    except DomainError:
        return None
    return A


def constant_matrix(feedback: Feedback, degrees: Sequence[int], values: Values) -> np.ndarray | None:
    """A of η̇ = A η if it is constant and the law is linear, else None."""
    names = [level(i, j) for i, degree in enumerate(degrees) for j in range(degree)]
    slopes = list(jacobian(list(feedback.corrections), names).ravel())
    return _matrix(slopes, degrees, values) if symbols(slopes) <= set(values) else None


def _samples(points: Sequence[Values], varying: Sequence[Node], time: Node) -> list[Values]:
    """The points with other values of what varies: states around them, and times from 0 to 100."""
    random, found = np.random.default_rng(20_011), list[Values](points)
    if not varying:
        return found[:1]
    for i in range(_SAMPLES):
        base = points[i % len(points)]
        drawn = {s: base[s] + float(random.normal(0, 1 + abs(base[s]))) for s in varying if s is not time}
        found.append({**base, **drawn, time: float(random.uniform(0, _LATEST))})
    return found


def _constant(A: np.ndarray, is_linear: bool) -> Approach:
    """The verdict from the eigenvalues; terms of higher order decide where one has no real part."""
    worst = max(np.linalg.eigvals(A), key=lambda root: root.real)
    if not is_linear and abs(worst.real) <= 1e-12 * np.abs(A).max():
        return Approach(None, sentence=f"not shown: the linear part has the root {worst + 0:.6g}")
    if worst.real >= 0:
        return Approach(False, sentence=f"residuals would not decay: η̇ = A η has the root {worst:.6g}")
    return Approach(True, rate=float(-worst.real), sentence=f"decay, all roots left of {worst.real:.6g}")


def _variable(A: np.ndarray, varying: Sequence[object]) -> Approach:
    """The verdict from V = ηᵀGη at the samples."""
    G = _inequality(A)
    if G is None:
        return Approach(
            None, sentence=f"not shown: no V = ηᵀGη decreases for all sampled values of {listed(varying)} ({len(A)})"
        )
    low, high = np.linalg.eigvalsh(G)[[0, -1]]
    if low <= 0:
        return Approach(
            False, G=G, sentence=f"residuals would grow: V = ηᵀGη proves it for all sampled {listed(varying)}"
        )
    a = float(np.linalg.eigvalsh(-_derivative(A, G))[:, 0].min())
    rate = a / (2 * float(high))
    return Approach(True, rate, G, f"decay at the rate {rate:.4g}, by V = ηᵀGη at {len(A)} states and times")


def _derivative(A: np.ndarray, G: np.ndarray) -> np.ndarray:
    """AᵀG + GA, one for each sample."""
    return np.swapaxes(A, 1, 2) @ G + G @ A


def _inequality(A: np.ndarray) -> np.ndarray | None:
    """G with AᵀG + GA < 0 at all samples, or None if none was found."""
    G = _first(A.mean(axis=0))
    for _ in range(_MOST_CORRECTIONS):
        G = G / np.linalg.norm(G)
        values, vectors = np.linalg.eigh(_derivative(A, G))
        worst = int(np.argmax(values[:, -1]))
        if values[worst, -1] < -_DECISIVE * np.abs(values).max():
            return G
        v, Av = vectors[worst, :, -1], A[worst] @ vectors[worst, :, -1]
        M = np.outer(Av, v) + np.outer(v, Av)
        G = G - (values[worst, -1] + 0.05 * np.linalg.norm(M)) / np.linalg.norm(M) ** 2 * M
    return None


def _first(A: np.ndarray) -> np.ndarray:
    """G of AᵀG + GA = -1, or the unit matrix where there is none."""
    size = np.eye(len(A))
    system = np.kron(A.T, size) + np.kron(size, A.T)
    if np.linalg.cond(system) > 1e12:
        return size
    G = np.linalg.solve(system, -size.ravel()).reshape(A.shape)
    return (G + G.T) / 2
