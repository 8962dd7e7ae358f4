"""A level set of Lyapunov's quadratic form in which a closed loop converges, sampled on its boundary.

With A the matrix of the closed loop, AᵀP + PA = -Q has a positive definite solution, and V = zᵀPz decays near the
equilibrium. The largest set V < c on which V̇ = 2 zᵀP ż < 0 along the nonlinear motion is invariant, and every motion in
it converges. Here V̇ is checked in many directions at growing c: an estimate from inside, not a proof, since a direction
between the sampled ones may be worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import linearize
from vinculum.analyze.unit_free import unit_free
from vinculum.control.feedback import value_at
from vinculum.derivation import EquationsOfMotion
from vinculum.ensembles.plan import plan_study
from vinculum.ensembles.vary import table
from vinculum.errors import VinculumError
from vinculum.frozen import FrozenMapping
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows

_SMALLEST, _LARGEST = 1e-4, 1e4  # radii √V in natural units; beyond the largest, the set counts as unbounded
_GROWTH, _HALVINGS = 1.2, 10  # of the radius until V̇ is not negative, then bisection


@dataclass(frozen=True, eq=False, repr=False)
class AttractionEstimate:
    """V = (z - z₀)ᵀ P (z - z₀) < level, where z are ``states``; infinite if V̇ was negative everywhere."""

    states: tuple[sp.Expr, ...]
    center: Mapping[sp.Expr, float]
    matrix: np.ndarray  # P
    level: float
    directions: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", FrozenMapping(self.center))

    def contains(self, state: Mapping[sp.Expr, float]) -> bool:
        """Whether a state is inside; states that are not given are at the equilibrium."""
        unknown = [key for key in state if key not in self.center]
        if unknown:
            raise VinculumError(f"{listed(unknown)} is not among {listed(self.states)}.")
        z = np.array([float(state.get(s, self.center[s])) - self.center[s] for s in self.states])
        return bool(z @ self.matrix @ z < self.level)

    @property
    def reach(self) -> dict[sp.Expr, float]:
        """How far every state may be from the equilibrium inside the set: √(level (P⁻¹)_ii)."""
        inverse = np.linalg.inv(self.matrix)
        return {s: float(np.sqrt(self.level * inverse[k, k])) for k, s in enumerate(self.states)}

    def rows(self) -> dict[str, str]:
        """Labeled rows."""
        found = {name_of(s): f"{self.center[s]:.6g} ± {far:.4g}" for s, far in self.reach.items()}
        return found | {"checked in": f"{self.directions} directions"}

    def __repr__(self) -> str:
        return labelled_rows("AttractionEstimate", self.rows())

    _repr_html_ = html


def attraction_estimate(
    closed: EquationsOfMotion,
    at: Equilibrium,
    *,
    weights: Mapping[sp.Expr, float] | None = None,
    directions: int = 2000,
    seed: int = 0,
) -> AttractionEstimate:
    """The largest level set of Lyapunov's quadratic form on whose boundary V decays in all sampled directions.

    ``weights`` = {state: diagonal entry of Q} shape the set (default: the same for all states, in natural units). A set
    that is thin in one state becomes wider there with a smaller weight of that state.
    """
    linear = linearize(closed, at)
    unknown = [key for key in weights or {} if key not in linear.states]
    if unknown:
        raise VinculumError(f"{listed(unknown)} has a weight but is not among {listed(linear.states)}.")
    roots = np.linalg.eigvals(linear.system_matrix)
    if not roots.real.max() < 0:
        raise VinculumError(
            f"The equilibrium is not asymptotically stable by its linear model: a root has the real part "
            f"{roots.real.max():.4g}. Stabilize it first, or drop states that only drift (linearize(..., drop=[...]))."
        )
    units = unit_free(linear.system_matrix, linear.input_matrix).states
    A = linear.system_matrix * units[None, :] / units[:, None]
    Q = np.array(
        [(weights or {}).get(s, 1.0 / unit**2) * unit**2 for s, unit in zip(linear.states, units, strict=True)]
    )
    P = _lyapunov(A, np.diag(Q))
    random = np.random.default_rng(seed).normal(size=(directions, len(units)))
    sphere = random / np.linalg.norm(random, axis=1, keepdims=True)
    rays = np.linalg.solve(np.linalg.cholesky(P).T, sphere.T).T  # V = 1 on all of them
    decays = _Decay(closed, linear, P, units).everywhere
    radius = _largest_radius(lambda r: decays(r * rays))
    center = {s: value_at(linear, s) for s in linear.states}
    return AttractionEstimate(tuple(linear.states), center, P / np.outer(units, units), radius**2, directions)


def _lyapunov(A: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """P of AᵀP + PA = -Q."""
    from scipy.linalg import solve_continuous_lyapunov

    if not np.diag(Q).min() > 0:
        raise VinculumError("All weights must be positive.")
    P = solve_continuous_lyapunov(A.T, -Q)
    return 0.5 * (P + P.T)


def _largest_radius(decays: Any) -> float:
    """The radius up to which V decays at all smaller sampled radii."""
    good = _SMALLEST
    if not decays(good):
        raise VinculumError("V does not decay even close to the equilibrium; rounding hides its rate there.")
    while decays(good * _GROWTH):
        good *= _GROWTH
        if good > _LARGEST:
            return np.inf
    bad = good * _GROWTH
    for _ in range(_HALVINGS):
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if decays(middle) else (good, middle)
    return good


class _Decay:
    """V̇ along the nonlinear motion at many states."""

    def __init__(self, closed: EquationsOfMotion, linear: LinearModel, P: np.ndarray, units: np.ndarray) -> None:
        self.P, self.units, self.states = P, units, linear.states
        self.center = np.array([value_at(linear, s) for s in linear.states])
        keys = (*closed.system.coordinates, *closed.system.velocities)
        guess = {key: value_at(linear, key) for key in keys if key not in linear.states}
        near = table({s: [value_at(linear, s)] for s in linear.states})
        self.ensemble = plan_study(closed, {}, (0.0, 1.0), over=near, guess=guess).ensemble
        self.rates = self.ensemble.rates_of(linear.states)

    def everywhere(self, z: np.ndarray) -> bool:
        """Whether V̇ < 0 at all states z, (runs, states), in natural units; False where a state cannot be reached."""
        columns = dict(zip(self.states, (self.center + z * self.units).T, strict=True))
        rates, refused = self.ensemble.at_start(self.rates, columns)
        if refused or not np.isfinite(rates).all():
            return False
        change = 2 * np.einsum("ri,ij,rj->r", z, self.P, rates / self.units)
        return bool((change < 0).all())
