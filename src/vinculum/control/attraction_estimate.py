"""A level set of Lyapunov's quadratic form in which a closed loop converges, sampled on its boundary.

With A = T Λ T⁻¹ the matrix of the closed loop and y = T⁻¹ z its modal coordinates, V = Σ dᵢ |yᵢ|² with any dᵢ > 0
decays near the equilibrium: V̇ = 2 Σ Re λᵢ dᵢ |yᵢ|². The largest set V < c on which V̇ < 0 along the nonlinear motion is
invariant, and every motion in it converges. Which set is large depends on the dᵢ: with the same for all, or with P of
AᵀP + PA = -1, a loop with roots from -1 to -3000 has a set that is long in its fast modes and thin in its slow ones:
nonlinear terms of the fast states then count as much as the slow decay. So dᵢ = |Re λᵢ|ᵖ with several p are tried,
and the set of the largest volume is kept; volumes compare the same way in all units.

V̇ is checked in many directions at growing c, and in further ones around the worst of them. In w with V = wᵀw, the
linear part is V̇ = -wᵀSw; a fast mode hides what happens next to it, so directions are drawn as g, S^(-1/2) g and S⁻¹ g
with random g, most of them close to the slow modes; the eigenvectors of S and the bisectors of every two are always
among them. It is an estimate from inside, not a proof: a direction between the sampled ones may be worse. ``boundary``
gives starts for a study that checks it; random ones alone rarely come close to a single slow mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import linearize
from vinculum.analyze.unit_free import unit_free
from vinculum.control.feedback import value_at
from vinculum.derivation import EquationsOfMotion
from vinculum.ensembles.plan import plan_study
from vinculum.ensembles.vary import Variation, table
from vinculum.errors import VinculumError
from vinculum.frozen import FrozenMapping
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows

_SMALLEST, _LARGEST = 1e-4, 1e4  # radii √V in natural units; beyond the largest, the set counts as unbounded
_GROWTH, _HALVINGS = 1.5, 7  # of the radius until V̇ is not negative, then bisection
_POWERS = (0.0, 0.5, 1.0, 1.5)  # p
_TRIED = 300  # directions in which forms are compared
_BEST, _AROUND, _ROUNDS, _SPREAD = 24, 8, 3, 0.3  # the worst directions, further ones around each, how often, how far
_INDEPENDENT = 1e8  # a larger condition number of T: modes cannot be separated


@dataclass(frozen=True, eq=False, repr=False)
class AttractionEstimate:
    """V = (z - z₀)ᵀ P (z - z₀) < level, where z are ``states``; infinite if V̇ was negative everywhere."""

    states: tuple[sp.Expr, ...]
    center: Mapping[sp.Expr, float]
    matrix: np.ndarray  # P
    level: float
    directions: int
    decay: np.ndarray  # N of V̇ = -(z - z₀)ᵀ N (z - z₀) near the equilibrium
    worst: np.ndarray  # (k, states) directions z - z₀ in which V decayed least on the boundary, with V = 1

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

    def boundary(self, count: int = 200, *, share: float = 0.999, seed: int = 0) -> Variation:
        """Starts with V = share² level, as ``over`` of a study that checks the estimate.

        They are the worst directions, the modes of the decay, N v = σ P v, in both senses with their pairs, and random
        ones up to ``count``, most of these close to slow modes.
        """
        if not np.isfinite(self.level):
            raise VinculumError("The estimate has no boundary: V decayed in all directions at all distances.")
        to_z = np.linalg.inv(np.linalg.cholesky(self.matrix).T)
        S = to_z.T @ self.decay @ to_z
        z = np.concatenate([self.worst, _directed(S) @ to_z.T])
        z = np.concatenate([z, _drawn(S, max(count - len(z), 0), seed) @ to_z.T]) * share * np.sqrt(self.level)
        return table({s: self.center[s] + z[:, k] for k, s in enumerate(self.states)})

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

    By default the form is chosen among those of the loop's modes. ``weights`` = {state: diagonal entry of Q} take the
    form with AᵀP + PA = -Q instead; a set that is thin in one state becomes wider there with a smaller weight.
    """
    values = {
        **at.values_by_symbol,
        **{z: at.get(z, 0.0) for z in closed.extra},
    }  # an observer's states are zero at rest
    linear = linearize(closed, replace(at, values_by_symbol=values))
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
    decay = _Decay(closed, linear, A, units, seed)
    forms = _modal_forms(A) if weights is None else [_lyapunov(A, _weights(linear.states, units, weights))]
    P = forms[0] if len(forms) == 1 else max(forms, key=lambda form: _volume(form, decay.radius(form, _TRIED)))
    radius = decay.radius(P, directions)
    if radius == 0:
        raise VinculumError("V does not decay even close to the equilibrium; rounding hides its rate there.")
    center = {s: value_at(linear, s) for s in linear.states}
    back = np.outer(units, units)
    return AttractionEstimate(
        tuple(linear.states), center, P / back, radius**2, directions,
        decay=-(A.T @ P + P @ A) / back, worst=decay.worst(P, directions, radius) * units,
    )  # fmt: skip


def _weights(states: Sequence[sp.Expr], units: np.ndarray, weights: Mapping[sp.Expr, float]) -> np.ndarray:
    """Q in natural units; states without a weight have the same."""
    return np.array([weights.get(s, 1.0 / unit**2) * unit**2 for s, unit in zip(states, units, strict=True)])


def _lyapunov(A: np.ndarray, q: np.ndarray) -> np.ndarray:
    """P of AᵀP + PA = -Q with the diagonal q of Q."""
    from scipy.linalg import solve_continuous_lyapunov

    if not q.min() > 0:
        raise VinculumError("All weights must be positive.")
    P = solve_continuous_lyapunov(A.T, -np.diag(q))
    return 0.5 * (P + P.T)


def _modal_forms(A: np.ndarray) -> list[np.ndarray]:
    """P of Σ |Re λᵢ|ᵖ |yᵢ|² for several p; Lyapunov's with Q = 1 where modes cannot be separated."""
    roots, T = np.linalg.eig(A)
    T = T / np.linalg.norm(T, axis=0)
    if np.linalg.cond(T) > _INDEPENDENT:
        return [_lyapunov(A, np.ones(len(A)))]
    inverse = np.linalg.inv(T)
    return [(inverse.conj().T * np.abs(roots.real) ** p @ inverse).real for p in _POWERS]


def _volume(P: np.ndarray, radius: float) -> float:
    """The logarithm of the volume of zᵀPz < radius², up to a constant."""
    return -np.inf if radius == 0 else float(len(P) * np.log(radius) - 0.5 * np.linalg.slogdet(P)[1])


def _largest_radius(decays: Callable[[float], bool]) -> float:
    """The largest radius up to which V decays at every sampled radius; 0 if there is none."""
    good = _SMALLEST
    if not decays(good):
        return 0.0
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

    def __init__(
        self, closed: EquationsOfMotion, linear: LinearModel, A: np.ndarray, units: np.ndarray, seed: int
    ) -> None:
        self.A, self.units, self.states, self.seed = A, units, linear.states, seed
        self.center = np.array([value_at(linear, s) for s in linear.states])
        keys = (*closed.system.coordinates, *closed.system.velocities)
        guess = {key: value_at(linear, key) for key in keys if key not in linear.states}
        near = table({s: [value_at(linear, s)] for s in linear.states})
        self.ensemble = plan_study(closed, {}, (0.0, 1.0), over=near, guess=guess).ensemble
        self.rates = self.ensemble.rates_of(linear.states)

    def radius(self, P: np.ndarray, directions: int) -> float:
        """The largest √V up to which V decays in all directions that are tried."""
        to_z, S, first = self._directions(P, directions)
        return _largest_radius(lambda radius: self._tried(P, to_z, _slow(S), first, radius) is not None)

    def worst(self, P: np.ndarray, directions: int, radius: float) -> np.ndarray:
        """z of the directions in which V decays least at this radius, with V = 1; none at an infinite one."""
        to_z, S, first = self._directions(P, directions)
        found = self._tried(P, to_z, _slow(S), first, radius) if np.isfinite(radius) else None
        return np.zeros((0, len(P))) if found is None else found @ to_z.T

    def _directions(self, P: np.ndarray, directions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """z = to_z w, S, and the first directions w that are tried."""
        to_z = np.linalg.inv(np.linalg.cholesky(P).T)
        S = -to_z.T @ (self.A.T @ P + P @ self.A) @ to_z
        return to_z, S, np.concatenate([_drawn(S, directions, self.seed), _directed(S)])

    def _tried(
        self, P: np.ndarray, to_z: np.ndarray, slow: np.ndarray, first: np.ndarray, radius: float
    ) -> np.ndarray | None:
        """The worst of the first directions and of others around the worst of these; None if V̇ < 0 fails in one."""
        random, tried, worst = np.random.default_rng(self.seed + 1), first, first[:0]
        for turn in range(_ROUNDS + 1):
            change = self._change(P, radius * tried @ to_z.T)
            if not (change < 0).all():
                return None
            worst = tried[np.argsort(-change)[:_BEST]]
            noise = _unit(random.normal(size=(_AROUND * len(worst), len(P))) @ slow) * _SPREAD / 2**turn
            tried = _unit(np.tile(worst, (_AROUND, 1)) + noise)
        return worst

    def _change(self, P: np.ndarray, z: np.ndarray) -> np.ndarray:
        """V̇ at states z, (runs, states), in natural units; not a number where a state cannot be reached."""
        columns = dict(zip(self.states, (self.center + z * self.units).T, strict=True))
        rates, refused = self.ensemble.at_start(self.rates, columns)
        change = 2 * np.einsum("ri,ij,rj->r", z, P, rates / self.units)
        change[list(refused)] = np.nan
        return change


def _slow(S: np.ndarray) -> np.ndarray:
    """S^(-1/2), with the largest entry one."""
    values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    return (vectors * np.sqrt(values[0] / values)) @ vectors.T


def _drawn(S: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Random directions g, S^(-1/2) g and S⁻¹ g, (count, n)."""
    g, slow = np.random.default_rng(seed).normal(size=(count, len(S))), _slow(S)
    return _unit(np.concatenate([g[0::3], g[1::3] @ slow, g[2::3] @ slow @ slow]))


def _directed(S: np.ndarray) -> np.ndarray:
    """The eigenvectors of S and the bisectors of every two of them, in both senses; the slowest first."""
    vectors = np.linalg.eigh(0.5 * (S + S.T))[1].T
    pairs = [a + sign * b for a, b in combinations(vectors, 2) for sign in (1.0, -1.0)]
    rows = _unit(np.array([*vectors, *pairs]))
    return np.concatenate([rows, -rows])


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
