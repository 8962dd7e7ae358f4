"""The gains that keep a constraint within a bound, for what `simulate` does with a method and a step.

With the rate k a constraint of relative degree r has the gains C(r, j) k^(r-j), all roots -k, held through the stages
of a Runge-Kutta step (`Sampled`, its default) or evaluated in them (`Baumgarte`, the default of Adams methods). The
residuals η = (y, ẏ, ...) obey η⁺ = S η + d, with |d| ≤ D in every step and any sign, and stay within

    |η| ≤ Σ_m |S^m| D,

component by component, which some sequence of signs reaches. For an Adams method S acts on the longer state with its
memory (with a corrector: of the whole PECE step), and the first q - 1 steps are those of "rk4" with held feedback. With
K = the companion matrix of the gains, γ the curvature vᵀ y_xx v of every level along the motion and E the constants of
the method's own error in it,

    Runge-Kutta, continuous    D = τ² |P(τK)| γ + E τ^(p+1),   P(Z) = (½ - b·c) + Z bᵀ (1 - AZ)⁻¹ (c²/2 - A c)
    Runge-Kutta, held          D = τ² |½ - b·c| γ + E τ^(p+1)
    Adams-Bashforth            D = E τ^(q+1)
    Adams-Moulton (PECE)       D = (1 + β*₀ |τK| |C/C*|) E τ^(q+1)

where C/C* is the ratio of the error constants of predictor and corrector: the feedback acts on the predicted point.

Source: Mukharlyamov, Kirgizbaev, theorem of section 5, corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.program.perturbation import binomial
from vinculum.errors import VinculumError
from vinculum.notebook_repr import html
from vinculum.simulation.integrators.adams import Adams
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.integrators.methods import method_from
from vinculum.simulation.integrators.runge_kutta import RungeKutta
from vinculum.simulation.stabilization.residual_bounds import closed_loop, fixed_step, last_inside, powers
from vinculum.simulation.stabilization.stabilization import HELD, Baumgarte, Sampled

_GRID = np.array(sorted({*np.geomspace(1e-6, 1, 50), *np.linspace(0.02, 1, 50)}))  # shares of the limit
_SLOWEST = 1e-3  # share of the limit from which gains are searched for a relative degree above one
_LONGEST = 30_000  # steps after which a response counts as lasting

Levels = float | Sequence[float]


@dataclass(frozen=True)
class GainInterval:
    """All gains k between ``low`` and ``high`` keep the bound; if ``low`` > ``high``, none does.

    ``described`` is the call of `simulate` that it speaks of.
    """

    low: float
    high: float
    described: str = ""

    def __bool__(self) -> bool:
        return bool(self.low <= self.high)

    def __contains__(self, k: float) -> bool:
        return self.low <= k <= self.high

    _repr_html_ = html


def gain_interval(
    method: FixedStep | str,
    step: float,
    epsilon: float,
    *,
    curvature: Levels | None = None,
    error: Levels | None = None,
    sampled: bool | None = None,
    order: int = 1,
) -> GainInterval:
    """The interval of k for which |y| ≤ ε is guaranteed in ``simulate(..., method, step=step, stabilization=...)``.

    ``curvature`` is γ and ``error`` the constant E of E τ^{p+1}, for a constraint of relative degree ``order`` > 1 one
    number for each level y, ẏ, ... Euler's method needs γ, the others need E (0 for steps that are exact on their own);
    without them nothing could be guaranteed, and the request is refused. The stabilization is the default of the
    method, `Sampled` (rate=k) for Runge-Kutta and `Baumgarte` (rate=k) for Adams methods; ``sampled=False`` means
    `Baumgarte`. The start lies on the constraint,
    and the first steps of an Adams method have errors of at most E τ^{q+1} too. Gains below 1e-6 of the stability limit
    (1e-3 for a relative degree above one) are not searched.

    Euler's method: γτ/(2ε) ≤ k ≤ 2/τ - γτ/(2ε).

    >>> found = gain_interval("euler", 1e-3, 1e-3, curvature=16)
    >>> round(found.low, 6), round(found.high, 6)
    (8.0, 1992.0)
    """
    if not (step > 0 and epsilon > 0):
        raise VinculumError(f"step and epsilon must be positive; got {step} and {epsilon}.")
    chosen = fixed_step(method_from(method))
    held = _is_held(chosen, sampled)
    _refuse_unknown_defects(chosen, curvature, error)
    gamma, E = _levels("curvature", curvature, order), _levels("error", error, order)
    described = (
        f"simulate(..., method={chosen.name!r}, step={step:.6g}, stabilization={'Sampled' if held else 'Baumgarte'}"
        f"(rate=k)), relative degree {order}"
    )

    def bound(z: float) -> float:
        return _bound(chosen, z, step, held, gamma, E, epsilon)

    z = _GRID[np.searchsorted(_GRID, _SLOWEST if order > 1 else 0.0) :] * chosen.stability_limit(held)
    bounds = np.array([bound(value) for value in z])
    good = bounds <= epsilon
    if not np.any(good):
        return GainInterval(np.inf, 0.0, described)
    best = int(np.argmin(bounds))
    first = best - int(np.argmin(good[best::-1])) + 1 if not np.all(good[: best + 1]) else 0
    last = best + int(np.argmin(good[best:])) - 1 if not np.all(good[best:]) else len(z) - 1
    low = last_inside(lambda z: bound(z) <= epsilon, z[first], z[first - 1]) if first else float(z[0])
    high = last_inside(lambda z: bound(z) <= epsilon, z[last], z[last + 1]) if last < len(z) - 1 else float(z[-1])
    return GainInterval(low / step, high / step, described)


def _is_held(method: FixedStep, sampled: bool | None) -> bool:
    """Whether feedback is held through the stages, as `simulate` does it."""
    kind = method.stabilizations[0] if sampled is None else Sampled if sampled else Baumgarte
    if kind not in method.stabilizations:
        raise VinculumError(f"{method.name!r} has no stages to hold feedback through. Leave sampled out.")
    return kind.acts == HELD


def _refuse_unknown_defects(method: FixedStep, curvature: Levels | None, error: Levels | None) -> None:
    """Raise where what was given does not bound the residual that a step adds."""
    if error is not None or (method.order == 1 and isinstance(method, RungeKutta) and curvature is not None):
        return
    missing = "curvature=γ" if method.order == 1 and isinstance(method, RungeKutta) else "error=E"
    raise VinculumError(
        f"One step of {method.name!r} from the constraint adds a residual that is not known. Pass {missing}, with "
        f"which it is at most {'γτ²/2' if missing[0] == 'c' else f'E τ^{method.order + 1}'}; or use simulate(..., "
        "stabilization=Guaranteed(epsilon)), which measures it."
    )


def _levels(name: str, given: Levels | None, order: int) -> np.ndarray:
    """One number for each level; 0 for those that were not needed."""
    given = 0.0 if given is None else given
    found = np.abs(np.atleast_1d(np.asarray(given, dtype=float)))
    if np.ndim(given) == 0 and (order == 1 or given == 0):
        return np.full(order, found[0])
    if found.shape != (order,):
        raise VinculumError(
            f"{name} needs {order} numbers, one for each of y, ẏ, ... up to the relative degree {order}."
        )
    return found


# -- the largest residual ----------------------------------------------------------------------------------------


def _bound(
    method: FixedStep, z: float, step: float, held: bool, gamma: np.ndarray, E: np.ndarray, epsilon: float
) -> float:
    """The largest |y| for k = z/τ; infinite if the recursion does not decay, or where ε is exceeded for certain."""
    gains = binomial(len(gamma), z / step)
    D = defect_bound(method, gains, step, held, gamma, E)
    S = method.step_matrix(gains, step, held)
    if float(np.abs(np.linalg.eigvals(S)).max()) >= 1 - 1e-12:
        return math.inf
    r = len(gains)
    constant = np.abs(np.linalg.inv(np.eye(len(S)) - S)[0, :r])  # of defects with a constant sign: less than the sum
    if constant.max(initial=0.0) and np.max(constant * D) > epsilon:
        return math.inf
    with np.errstate(invalid="ignore"):  # a response that lasts: not within any bound
        found = float((worst_response(method, gains, step, held) @ D)[0])
    return math.inf if math.isnan(found) else found


def defect_bound(
    method: FixedStep, gains: Sequence[float], step: float, held: bool, gamma: np.ndarray, E: np.ndarray
) -> np.ndarray:
    """D, by level, from the curvatures γ and the error constants E."""
    r, Z = len(gains), step * closed_loop(gains)
    own = E * step ** (method.order + 1)
    if isinstance(method, Adams):
        if not len(method.corrector):
            return own
        return own + method.corrector[0] * method.error_ratio() * np.abs(Z) @ own
    assert isinstance(method, RungeKutta)
    return own + step**2 * np.abs(method.stage_defects(np.zeros((r, r)) if held else Z)) @ gamma


def worst_response(method: FixedStep, gains: Sequence[float], step: float, held: bool) -> np.ndarray:
    """The largest residuals that defects of unit size and any sign cause, level by level: (r, r)."""
    r = len(gains)
    S = method.step_matrix(gains, step, held)
    if len(S) == 1:
        return 1 / (1 - np.abs(S))
    total, largest, first = np.zeros((r, r)), np.zeros((r, r)), _first_responses(method, gains, step)
    later = [powers(S, start) for start in first]
    for i, block in enumerate(powers(S, np.eye(len(S))[:, :r])):
        own = np.abs(block[:, :r])
        sums = total + np.cumsum(own, axis=0)
        beside = sum((np.abs(next(response)[:, :r]) for response in later), np.zeros_like(sums))
        largest = np.maximum(largest, (sums + beside).max(axis=0))
        total = sums[-1]
        tail = _tail(block[:, 0, 0]) if r == 1 else None
        if tail is not None:  # what is left is one decaying exponential
            return np.maximum(largest, total + tail + beside[-1])
        if own[-1].max() <= 1e-9 * total.max():
            return largest
        if i * len(block) > _LONGEST:
            break
    return np.full((r, r), np.inf)


def _tail(response: np.ndarray) -> float | None:
    """Σ |later values| of a response that has become y λ^m with |λ| < 1; None before that."""
    sizes = np.abs(response)
    ratios = sizes[1:] / sizes[:-1] if np.all(sizes) else np.zeros(1)
    if not 0 < ratios[-1] < 1 or np.ptp(ratios) > 1e-12:
        return None
    return float(sizes[-1] * ratios[-1] / (1 - ratios[-1]))


def _first_responses(method: FixedStep, gains: Sequence[float], step: float) -> list[np.ndarray]:
    """States of the recursion after the first steps of an Adams method, from a unit defect in each: (size, r)."""
    if method.starter is None:
        return []
    r, q = len(gains), int(method.order)
    H, Z = method.starter.step_matrix(gains, step, True), step * closed_loop(gains)
    found = []
    for i in range(1, q):  # the defect is made by step i; step q is the first with the whole memory
        eta = [np.zeros((r, r))] * i + [np.linalg.matrix_power(H, j) for j in range(q - i)]  # η_0 ... η_{q-1}
        found.append(np.vstack([eta[-1], *(Z @ past for past in eta[-2::-1])]))
    return found
