"""What can be promised at a step: one step from states on the constraints gives the defect, the recursion the bound.

The recursion η⁺ = S η + d of a method (`recursion`) with |d| ≤ D keeps every residual below Σ_m |S^m| D. The gain with
the smallest bound is taken: held feedback is deadbeat, continuous feedback is searched over z = kτ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.derivation.interface import Feedback, linear_feedback
from vinculum.derivation.program.perturbation import binomial
from vinculum.simulation.integrators.methods import STARTER, Adams, RungeKutta
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.error_propagation import amplification, step_matrix
from vinculum.simulation.stabilization.gain_interval import stability_limit
from vinculum.simulation.stabilization.gains import deadbeat
from vinculum.simulation.stabilization.probes import Probes
from vinculum.simulation.stabilization.stabilization import Baumgarte, Sampled

MARGIN = 1.25  # nonlinear terms of the recursion, and states between the probes
_SHARES = np.geomspace(0.02, 0.95, 18)  # of the stability limit, at which continuous feedback is tried


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
    """The bounds Σ_m |S^m| D of gains in ``rows``, with a margin, and what rounding leaves at each level."""
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
