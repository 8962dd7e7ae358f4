"""A Lyapunov function for constraint perturbations with variable coefficients, η̇ = A(x, t) η, checked along a run.

With V = ηᵀ G η, G constant, c₁|η|² ≤ V ≤ c₂|η|² and V̇ ≤ -a|η|² on the motion,

    |η(t)|² ≤ (c₂/c₁) |η(0)|² e^{-(a/c₂) t},

a/c₂ being the rate for |η|² (half of what paper 004 prints). a is the smallest eigenvalue of -(AᵀG + GA) over the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.errors import VinculumError
from vinculum.graph import ZERO, jacobian, substitute, symbol
from vinculum.notebook_repr import html
from vinculum.simulation.trajectory.live_run import Segment
from vinculum.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Decay:
    """|η(t)| ≤ factor · |η(0)| e^{-rate t}, with the measured residuals of the run."""

    rate: float  # a/(2 c₂)
    factor: float  # √(c₂/c₁)
    G: np.ndarray
    t: np.ndarray
    measured: np.ndarray  # |η(t)|
    bound: np.ndarray

    @property
    def kept(self) -> bool:
        """Whether the run stayed within the bound (but for rounding)."""
        return bool(np.all(self.measured <= self.bound * (1 + 1e-9) + 1e-14))

    _repr_html_ = html


def decay_bound(motion: Trajectory, G: np.ndarray | None = None) -> Decay:
    """The exponential bound of the residuals of a run.

    ``G`` is symmetric and positive definite; left out, it solves AᵀG + GA = -1 for the mean of A over the run. Refused
    where V does not decrease along the run.
    """
    if motion.problem is None or not motion.problem.integrable.constraints:
        raise VinculumError("A bound of the residuals needs a run with constraints, not one read from a file.")
    A = perturbation_matrices(motion)
    G = _mean_solution(A) if G is None else np.asarray(G, dtype=float)
    low, high = np.linalg.eigvalsh(G)[[0, -1]]
    if low <= 0 or not np.allclose(G, G.T):
        raise VinculumError(f"G must be symmetric and positive definite; its smallest eigenvalue is {low:.3g}.")
    a = float(np.linalg.eigvalsh(-(np.swapaxes(A, 1, 2) @ G + G @ A))[:, 0].min())
    if a <= 0:
        raise VinculumError(
            f"V = ηᵀ G η does not decrease everywhere on this run (a = {a:.3g}). Pass another G, or make the "
            "coefficients of the perturbation equations larger where they are small."
        )
    eta = np.array([np.linalg.norm(row) for row in _residuals(motion)])
    rate, factor = a / (2 * high), float(np.sqrt(high / low))
    elapsed = np.abs(motion.t - motion.t[0])
    return Decay(rate, factor, G, motion.t, eta, factor * eta[0] * np.exp(-rate * elapsed))


def perturbation_matrices(motion: Trajectory) -> np.ndarray:
    """A(x, t) of η̇ = A η at every sample: ones inside each chain, -∂c/∂y at their ends. (N, m, m)"""
    return np.concatenate([_matrices(segment) for segment in motion.segments])


def _matrices(segment: Segment) -> np.ndarray:
    """A(x, t) at the samples of a segment."""
    nodes, chains = segment.problem.nodes, segment.problem.integrable.chains
    levels = [y for chain in chains for y in chain]
    names = [symbol(("level", i)) for i in range(len(levels))]
    law = substitute(list(nodes.feedback.corrections), dict(zip(levels, names, strict=True)))
    slopes = [s for row in jacobian(law, names) for s in row]
    at_zero = nodes.lifted(substitute(slopes, dict.fromkeys(names, ZERO)))
    rows = segment.rows(at_zero).reshape(-1, len(chains), len(levels))
    A = np.tile(np.eye(len(levels), k=1), (len(segment.t), 1, 1))
    for i, end in enumerate(np.cumsum([len(chain) for chain in chains])):
        A[:, end - 1] = -rows[:, i]
    return A


def _residuals(motion: Trajectory) -> np.ndarray:
    """η at every sample."""
    return motion.rows(lambda problem: problem.nodes.lifted([y for chain in problem.integrable.chains for y in chain]))


def _mean_solution(A: np.ndarray) -> np.ndarray:
    """G of AᵀG + GA = -1 for the mean of A."""
    from scipy.linalg import solve_continuous_lyapunov

    mean = A.mean(axis=0)
    if np.linalg.eigvals(mean).real.max() >= 0:
        raise VinculumError("the mean of the coefficients is not stable; pass G yourself.")
    return solve_continuous_lyapunov(mean.T, -np.eye(len(mean)))
