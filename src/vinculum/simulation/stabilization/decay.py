"""The decay of residuals along a run that starts off its constraints: an exponential bound and the measurement.

Perturbations obey η̇ = A(x, t) η (see `derivation.program.perturbation`). With V = ηᵀGη, c₁|η|² ≤ V ≤ c₂|η|² and

    AᵀG + GA ≤ -2μ G  at the sampled states,    |η(t)| ≤ √(c₂/c₁) |η(0)| e^{-μt}.

Since V̇ ≤ -a|η|² ≤ -(a/c₂) V with the smallest eigenvalue a of -(AᵀG + GA), μ is at least a/(2c₂), half of what paper
004 prints. A law that is not linear in η has c(η) = (∫ ∂c/∂η(sη) ds) η: A is sampled at sη for several s too.

G solves the Lyapunov equation of the mean of A, (A + μ)ᵀG + G(A + μ) = -1. Where that G does not decrease along the
whole run, the linear matrix inequalities of all samples are solved by gradient steps (Liberzon, Tempo, IEEE Trans.
Automatic Control 49 (2004)). Of several μ below the largest that the roots of A allow, the one with the smallest bound
over the run is taken.

Source: Mukharlyamov, Kirgizbaev, section 4, corrected; docs/program_constraints.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.derivation import ProgramEquations
from vinculum.derivation.integrable import levels
from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import constant, jacobian, substitute, symbols
from vinculum.notebook_repr import html
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS, CONTINUOUS, HELD, STABILIZATIONS
from vinculum.simulation.trajectory.live_run import Segment
from vinculum.simulation.trajectory.trajectory import Trajectory
from vinculum.text_printer import labelled_rows

_SHARES = (0.0, 0.5, 0.75, 0.9, 0.97)  # of the largest rate that the roots of A allow
_ON_THE_WAY = (0.0, 0.25, 0.5, 0.75, 1.0)  # s of sη, for laws that are not linear
_GRADIENT_STEPS = 400
_MOST_SAMPLES = 300  # matrices among which G is sought; the bound is checked at all of them
_ROUNDING = 1e-11  # |η(0)| of a run that starts on its constraints, relative to its states


@dataclass(frozen=True, eq=False, repr=False)
class Decay:
    """|η(t)| ≤ factor · |η(0)| e^{-rate t}, with the measured residuals of the run."""

    rate: float  # μ
    factor: float  # √(c₂/c₁)
    G: np.ndarray  # of V = ηᵀGη
    t: np.ndarray
    measured: np.ndarray  # |η(t)|
    bound: np.ndarray

    @property
    def kept(self) -> bool:
        """Whether the run stayed within the bound, except for rounding."""
        return bool(np.all(self.measured <= self.bound * (1 + 1e-9) + 1e-14))

    def __repr__(self) -> str:
        rows = {
            "bound": f"{self.factor:.4g} |η(0)| exp(-{self.rate:.4g} t)",
            "at the start": f"|η| = {self.measured[0]:.4g}",
            "at the end": f"|η| = {self.measured[-1]:.4g}, bound {self.bound[-1]:.4g}",
            "largest |η| / bound": f"{np.max(self.measured / np.maximum(self.bound, 1e-300)):.4g}",
            "kept": "yes" if self.kept else "no",
            "G": "; ".join(" ".join(f"{g:.4g}" for g in row) for row in self.G),
        }
        return labelled_rows("Decay of residuals", rows)

    _repr_html_ = html


def decay_bound(motion: Trajectory, G: np.ndarray | None = None) -> Decay:
    """The exponential bound of the residuals of a run that starts off its constraints, with their measurement.

    ``G`` is symmetric and positive definite; by default it is chosen. Raises if V = ηᵀGη does not decrease at every
    sample, for a run that starts on its constraints, and for feedback that is not continuous.
    """
    _refuse_run(motion)
    A = perturbation_matrices(motion)
    eta = np.linalg.norm(_residuals(motion), axis=1)
    _refuse_start(motion, eta)
    elapsed = np.abs(motion.t - motion.t[0])
    if G is None:
        found = [g for g in _candidates(A) if _rate(A, g) > 0]
        G = min(found, key=lambda g: _mean_bound(A, g, elapsed), default=None)
    if G is None:
        raise VinculumError(
            "No quadratic form V = ηᵀGη was found that decreases everywhere on this run. Pass G, or make the "
            "coefficients of the perturbation equations larger where they are small."
        )
    G = _checked(np.asarray(G, dtype=float))
    rate, factor = _rate(A, G), float(np.sqrt(np.linalg.cond(G)))
    if rate <= 0:
        raise VinculumError(
            f"V = ηᵀGη does not decrease everywhere on this run (V̇ ≤ {-2 * rate:.3g} V). Pass another G, or none, or "
            "make the coefficients of the perturbation equations larger where they are small."
        )
    return Decay(rate, factor, G, motion.t, eta, factor * eta[0] * np.exp(-rate * elapsed))


def _refuse_run(motion: Trajectory) -> None:
    if motion.problem is None or not motion.problem.integrable.constraints:
        raise VinculumError("A bound of the residuals needs a run with constraints, not one read from a file.")
    kind = STABILIZATIONS.get(motion.stabilization.split(",")[0])
    acts = CONTINUOUS if kind is None else kind.acts
    if acts in (HELD, AFTER_STEPS) or motion.stabilization.startswith("projection"):
        raise VinculumError(
            Finding(
                f"The bound is for continuous feedback, but this run used {motion.stabilization!r}.",
                ["Use ", call("simulate", stabilization="baumgarte"), "."],
            )
        )
    equations = motion.problem.equations
    weak = [c.name for c in equations.chains_found if c.dropped] if isinstance(equations, ProgramEquations) else []
    if weak:
        raise VinculumError(
            f"Off the constraints, the derivatives of {', '.join(f'`{name}`' for name in weak)} contain inputs, which "
            "a linear equation of the residuals does not have. The measured residuals are in motion.residuals."
        )


def _refuse_start(motion: Trajectory, eta: np.ndarray) -> None:
    assert motion.problem is not None
    size = 1 + float(np.abs(motion.segments[0].states[0]).max(initial=0.0))
    if eta[0] <= _ROUNDING * size:
        raise VinculumError(
            f"This run starts on its constraints (|η| = {eta[0]:.2g}), so no decay can be measured. Start off them: "
            "give all states in simulate(..., initial={...}), with rates prescribed in derive or gains in the "
            "stabilization."
        )


# -- the equation of the residuals -----------------------------------------------------------------------------------


def perturbation_matrices(motion: Trajectory) -> np.ndarray:
    """A(x, t) of η̇ = A η at every sample: ones inside each chain, -∂c/∂y at their ends. (N, m, m)"""
    return np.concatenate([_matrices(segment) for segment in motion.segments])


def _matrices(segment: Segment) -> np.ndarray:
    """A(x, t) at the samples of a segment; of a law that is not linear in η, at several points between 0 and η."""
    nodes, chains = segment.problem.nodes, segment.problem.integrable.chains
    places = levels(chains)
    names = list(places)
    slopes = list(jacobian(list(nodes.feedback), names).ravel())
    shares = _ON_THE_WAY if symbols(slopes) & set(names) else (1.0,)
    sampled = []
    for s in shares:
        at = nodes.lifted(substitute(slopes, {name: constant(s) * y for name, y in places.items()}))
        rows = segment.rows(at).reshape(-1, len(chains), len(names))
        A = np.zeros((len(segment.t), len(names), len(names)))
        start = 0
        for i, chain in enumerate(chains):
            end = start + len(chain)
            A[:, start:end, start:end] = np.eye(len(chain), k=1)
            A[:, end - 1] = -rows[:, i]
            start = end
        sampled.append(A)
    return np.concatenate(sampled)


def _residuals(motion: Trajectory) -> np.ndarray:
    """η at every sample."""
    return motion.rows(lambda problem: problem.nodes.lifted([y for chain in problem.integrable.chains for y in chain]))


# -- the Lyapunov function ---------------------------------------------------------------------------------------------


def _checked(G: np.ndarray) -> np.ndarray:
    low = float(np.linalg.eigvalsh(G)[0]) if G.ndim == 2 and np.allclose(G, G.T) else -np.inf
    if low <= 0:
        raise VinculumError(f"G must be symmetric and positive definite; its smallest eigenvalue is {low:.3g}.")
    return G


def _rate(A: np.ndarray, G: np.ndarray) -> float:
    """The largest μ with AᵀG + GA ≤ -2μ G at every sample."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(G))  # G = L Lᵀ, root = L⁻¹
    except np.linalg.LinAlgError:
        return -np.inf
    S = root @ (np.swapaxes(A, 1, 2) @ G + G @ A) @ root.T
    return float(-np.linalg.eigvalsh(S)[:, -1].max() / 2)


def _mean_bound(A: np.ndarray, G: np.ndarray, elapsed: np.ndarray) -> float:
    """The logarithm of the bound, on average over the run."""
    return float(0.5 * np.log(np.linalg.cond(G)) - _rate(A, G) * elapsed.mean())


def _candidates(A: np.ndarray) -> list[np.ndarray]:
    """Matrices G for several rates, in units in which time and residuals have the size one."""
    from scipy.linalg import solve_continuous_lyapunov

    few = A[:: max(1, len(A) // _MOST_SAMPLES)]
    unit = float(np.abs(np.linalg.eigvals(few)).max()) or 1.0
    T = np.diag(unit ** -_orders(A[0]))
    scaled = T @ few @ np.linalg.inv(T) / unit
    mean, one = scaled.mean(axis=0), np.eye(len(T))
    largest = min(float(-np.linalg.eigvals(part).real.max()) for part in (mean, *scaled))
    found = []
    for share in _SHARES if largest > 0 else ():
        shift = share * largest * one
        start = solve_continuous_lyapunov((mean + shift).T, -one)
        found += [start] if _rate(scaled, start) > 0 else [_common(scaled + shift, start)]
    return [T.T @ g @ T for g in found]


def _orders(A: np.ndarray) -> np.ndarray:
    """The level of every residual inside its chain: the chain ends where the row above has no one."""
    level, found = 0, []
    for i in range(len(A)):
        found.append(level)
        ends = i + 1 == len(A) or not (A[i, i + 1] == 1 and np.count_nonzero(A[i]) == 1)
        level = 0 if ends else level + 1
    return np.array(found)


def _common(A: np.ndarray, G: np.ndarray) -> np.ndarray:
    """G with AᵀG + GA + 1 ≤ 0 for all A, by gradient steps on the matrix that violates it most."""
    one = np.eye(len(G))
    for _ in range(_GRADIENT_STEPS):
        R = np.swapaxes(A, 1, 2) @ G + G @ A + one
        values, vectors = np.linalg.eigh(R)
        worst = int(np.argmax(values[:, -1]))
        if values[worst, -1] <= 0:
            break
        positive = _positive_part(values[worst], vectors[worst])
        violation = float(np.linalg.norm(positive))
        slope = (A[worst] @ positive + positive @ A[worst].T) / violation
        size = float(np.linalg.norm(slope))
        G = G - (violation + 0.1 * size) / size**2 * slope
        G = _positive_part(*np.linalg.eigh((G + G.T) / 2))
    return G


def _positive_part(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The part of a symmetric matrix with positive eigenvalues."""
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
