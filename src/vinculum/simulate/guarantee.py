"""Stabilization with a promised accuracy: gain and step from the bound asked for (B3 to B6 of the theory).

1. A pilot run with the method itself gives states of the motion; they are moved onto the constraints.
2. One step from each of them measures the defect D that the method produces, level by level.
3. The recursion η⁺ = S η + d of the method (`recursion`) gives the bound Σ_m |S^m| D; the gain with the smallest
   bound is taken. Held feedback (Runge-Kutta) is deadbeat; continuous feedback (Adams) is searched over z = kτ.
4. A margin covers what the linear recursion leaves out. The run reports what was promised beside what was measured.

Source: Mukharlyamov, Kirgizbaev, section 5, with the theorem corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.derive.interface import Feedback, linear_feedback
from vinculum.derive.perturbation import binomial
from vinculum.errors import VinculumError
from vinculum.simulate.gain_interval import stability_limit
from vinculum.simulate.methods import METHODS, STARTER, Adams, RungeKutta
from vinculum.simulate.probes import Probes
from vinculum.simulate.problem import Problem
from vinculum.simulate.recorder import Segment
from vinculum.simulate.recursion import amplification, step_matrix
from vinculum.simulate.stabilization import Baumgarte, Guaranteed, Sampled, deadbeat

MARGIN = 1.25  # nonlinear terms of the recursion, and states between the probes
_MOST_TRIES, _MOST_PILOTS = 14, 8
_SHARES = np.geomspace(0.02, 0.95, 18)  # of the stability limit, at which continuous feedback is tried

Pilot = Callable[[float], Sequence[Segment]]  # step of the pilot run -> its samples


@dataclass(frozen=True, eq=False)
class Promise:
    """A step, the feedback for it and the bounds that follow."""

    step: float
    feedback: Feedback
    treatment: Sampled | Baumgarte
    rate: float
    bounds: dict[tuple[str, str], float]  # (constraint, level) -> promised bound of |residual|
    worst: float  # the largest bound of a constraint itself

    @property
    def described(self) -> str:
        """In words."""
        how = "sampled" if isinstance(self.treatment, Sampled) else "continuous"
        return f"guaranteed, {how} feedback, rate {self.rate:.6g}, constraints within {self.worst:.3g}"


def promised(
    problem: Problem, asked: Guaranteed, method_name: str, step: float | None, span: float, rate: float, pilot: Pilot
) -> Promise:
    """The best promise at the given step, or at a step of our choice; refused where it is not good enough."""
    method = _checked(asked, method_name, span)
    sampled = asked.sampled if asked.sampled is not None else isinstance(method, RungeKutta)
    if step is None:
        return _searched(problem, method, sampled, asked.epsilon, span, min(0.1 / rate, span / 50), pilot)
    found = best(problem, _probes(pilot(step)), method, step, sampled)
    if found.worst <= asked.epsilon:
        return found
    would = _searched(problem, method, sampled, asked.epsilon, span, min(step / 2, 0.1 / rate), pilot)
    raise VinculumError(
        f"No gain keeps the constraints within {asked.epsilon:.3g} at the step {step:.3g} of {method_name!r}: the best "
        f"bound is {found.worst:.3g}, with the rate {found.rate:.4g}. A step of {would.step:.3g} would do: "
        f"simulate(..., step={would.step:.3g}), or leave the step out."
    )


def _probes(segments: Sequence[Segment]) -> list[Probes]:
    return [Probes.of(segment) for segment in segments]


def _searched(
    problem: Problem,
    method: RungeKutta | Adams,
    sampled: bool,
    epsilon: float,
    span: float,
    step: float,
    pilot: Pilot,
) -> Promise:
    """A step at which the promise holds on the states that a run with this very step visits."""
    bound = math.inf
    for _ in range(_MOST_PILOTS):
        probes = _probes(pilot(step))
        good = _adjusted(problem, probes, method, best(problem, probes, method, step, sampled), sampled, epsilon, span)
        if good is None:  # the pilot itself went astray
            step /= 4
            continue
        again = best(problem, _probes(pilot(good.step)), method, good.step, sampled)
        if again.worst <= epsilon:
            return again
        step, bound = 0.7 * good.step, again.worst
    raise VinculumError(
        f"No step was found that keeps the constraints within {epsilon:.3g}; near {step:.3g} the bound is {bound:.3g}. "
        "Rounding may forbid it: ask for less, or take a method of higher order."
    )


def _checked(asked: Guaranteed, name: str, span: float) -> RungeKutta | Adams:
    if name not in METHODS:
        raise VinculumError(
            f"A bound is promised for methods with a fixed step; {name!r} chooses its own. Use method='rk4' or another "
            f"of {', '.join(METHODS)}."
        )
    if not (math.isfinite(asked.epsilon) and asked.epsilon > 0):
        raise VinculumError(f"Guaranteed(epsilon) needs a positive accuracy; got {asked.epsilon}.")
    method = METHODS[name]
    if asked.sampled and isinstance(method, Adams):
        raise VinculumError(f"Sampled feedback needs the stages of a Runge-Kutta method; {name!r} has none.")
    if span <= 0:
        raise VinculumError("A bound is promised for runs forward in time only.")
    return method


def best(problem: Problem, probes: Sequence[Probes], method: RungeKutta | Adams, step: float, sampled: bool) -> Promise:
    """The gain with the smallest bound at a step."""
    orders = [len(chain) for chain in problem.equations.chains]
    if sampled:
        rows = [[g / step ** (r - j) for j, g in enumerate(deadbeat(r, method.order))] for r in orders]
        D = _defects(problem, probes, method, step, rows)
        return _promise(problem, probes, method, step, rows, 1 / step, sampled, D)
    rates = _SHARES * stability_limit(method) / step
    families = [[binomial(r, rate) for r in orders] for rate in rates]
    fixed = isinstance(method, Adams) and not len(method.corrector)  # Adams-Bashforth: one defect for all gains
    D, tried = np.zeros(0), list[Promise]()
    for rate, rows in zip(rates, families, strict=True):
        if not fixed or not tried:
            D = _defects(problem, probes, method, step, rows, sampled=False)
        tried.append(_promise(problem, probes, method, step, rows, float(rate), sampled, D))
    return min(tried, key=lambda promise: promise.worst)


def _defects(
    problem: Problem,
    probes: Sequence[Probes],
    method: RungeKutta | Adams,
    step: float,
    rows: Sequence[Sequence[float]],
    sampled: bool = True,
) -> np.ndarray:
    """The largest residuals after one step from the constraints, the starting steps of an Adams method included."""
    feedback = linear_feedback(problem.equations.chains, rows)
    D = np.max([p.defect(method, step, p.problem.with_feedback(feedback), sampled) for p in probes], axis=0)
    if isinstance(method, Adams):
        first = Probes(probes[0].problem, probes[0].t[:1], probes[0].x[:1])
        D = np.maximum(D, first.defect(STARTER, step, first.problem.with_feedback(feedback), sampled=True))
    return D


def _promise(
    problem: Problem,
    probes: Sequence[Probes],
    method: RungeKutta | Adams,
    step: float,
    rows: Sequence[Sequence[float]],
    rate: float,
    sampled: bool,
    D: np.ndarray,
) -> Promise:
    rounding = 64 * np.finfo(float).eps * (1 + max(float(np.abs(p.x).max()) for p in probes))
    bounds, place = [], 0
    for row in rows:
        r = len(row)
        floor = rounding / step ** np.arange(r)
        S = step_matrix(method, row, step, sampled)
        bounds.append(MARGIN * amplification(S, r) @ D[place : place + r] + floor)
        place += r
    feedback = linear_feedback(problem.equations.chains, rows)
    treatment = Sampled(rate) if sampled else Baumgarte(rate)
    return Promise(step, feedback, treatment, rate, _named(problem, bounds), max(float(b[0]) for b in bounds))


def _named(problem: Problem, bounds: Sequence[np.ndarray]) -> dict[tuple[str, str], float]:
    """Bounds by the names of the residuals they are for."""
    chains = problem.equations.chains
    by_node = {y: float(b) for chain, row in zip(chains, bounds, strict=True) for y, b in zip(chain, row, strict=True)}
    return {(r.constraint, r.level): by_node[r.node] for r in problem.equations.residuals if r.node in by_node}


def _adjusted(
    problem: Problem,
    probes: Sequence[Probes],
    method: RungeKutta | Adams,
    found: Promise,
    sampled: bool,
    epsilon: float,
    span: float,
) -> Promise | None:
    """The largest step found for which the bound is kept: τ ← τ (ε/B)^{1/q}, q being the order of the defect."""
    q = method.order + 1 if sampled or isinstance(method, Adams) else 2
    good: Promise | None = None
    for _ in range(_MOST_TRIES):
        if found.worst <= epsilon:
            good = found if good is None or found.step > good.step else good
        factor = float(np.clip((0.7 * epsilon / max(found.worst, 1e-300)) ** (1 / q), 0.05, 4.0))
        step = min(found.step * factor, span / 50)
        if good is not None and (found.worst > 0.3 * epsilon or step <= good.step):
            break
        found = best(problem, probes, method, step, sampled)
    return good
