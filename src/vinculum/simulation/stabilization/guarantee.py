"""Stabilization with a promised accuracy: gain and step from the requested bound (B3 to B6 of the theory).

1. A pilot run with the method itself gives states of the motion; they are moved onto the constraints.
2. One step from each of them measures the defect D that the method produces, level by level.
3. The recursion η⁺ = S η + d of the method (`residual_bounds`) gives the bound Σ_m |S^m| D; the gain with the
   smallest bound is taken. Held feedback (Runge-Kutta) is deadbeat; continuous feedback is searched over z = kτ.
4. A margin covers the terms that the linear recursion neglects. The run reports the promised bound with the
   measured residual.

Source: Mukharlyamov, Kirgizbaev, section 5, with the theorem corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from vinculum.derivation.integrable import Feedback, linear_feedback
from vinculum.derivation.program.perturbation import binomial
from vinculum.errors import Finding, VinculumError, Word, call
from vinculum.simulation.integrators.fixed_step import FixedStep, Rates
from vinculum.simulation.integrators.methods import Method
from vinculum.simulation.integrators.segments import run_segments
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.feedback import feedback, project_after_step
from vinculum.simulation.stabilization.residual_bounds import amplification, fixed_step
from vinculum.simulation.stabilization.stabilization import Baumgarte, Guaranteed, Sampled, deadbeat
from vinculum.simulation.trajectory.live_run import Segment
from vinculum.simulation.trajectory.recorder import Recorder, Run, make_plan

_MOST_TRIES, _MOST_PILOTS = 14, 8
_PROBES = 400  # states of a pilot run at which defects are measured
_MARGIN = 1.25  # nonlinear terms of the recursion, and states between the probes
_SHARES = np.geomspace(0.02, 0.95, 18)  # of the stability limit, at which continuous feedback is tried

Pilot = Callable[[float], Sequence[Segment]]  # step of the pilot run -> its samples

# -- the promise -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Promise:
    """A step, the feedback for it and the bounds that follow."""

    step: float
    feedback: Feedback
    stabilization: Sampled | Baumgarte
    rate: float
    bounds: dict[tuple[str, str], float]  # (constraint, level) -> promised bound of |residual|
    worst: float  # the largest bound of a constraint itself

    @property
    def described(self) -> str:
        """The promise in words."""
        how = "sampled" if isinstance(self.stabilization, Sampled) else "continuous"
        return f"guaranteed, {how} feedback, rate {self.rate:.6g}, constraints within {self.worst:.3g}"


def make_promise(problem: Problem, asked: Guaranteed, method: Method, grid: np.ndarray, x: np.ndarray) -> Promise:
    """The best promise at the given step, or at a step of our choice; raises if it is not good enough."""
    t0, t1, step = float(grid[0]), float(grid[-1]), method.step
    span, rate = t1 - t0, problem.motion_rate(t0, x)
    chosen = _check_request(asked, method, span)
    pilot = _pilot(problem, chosen, t0, t1, x)
    sampled = asked.sampled if asked.sampled is not None else Sampled in chosen.stabilizations
    if step is None:
        return _search_step(problem, chosen, sampled, asked.epsilon, span, min(0.1 / rate, span / 50), pilot)
    found = _best(problem, _probes(pilot(step)), chosen, step, sampled)
    if found.worst <= asked.epsilon:
        return found
    would = _search_step(problem, chosen, sampled, asked.epsilon, span, min(step / 2, 0.1 / rate), pilot)
    raise VinculumError(
        Finding(
            f"No gain keeps the constraints within {asked.epsilon:.3g} at the step {step:.3g} of {chosen.name!r}: the "
            f"best bound is {found.worst:.3g}, with the rate {found.rate:.4g}.",
            ["Use ", call("simulate", step=Word(f"{would.step:.3g}")), ", or leave step out."],
        )
    )


def _check_request(asked: Guaranteed, method: Method, span: float) -> FixedStep:
    """The method, if a bound can be promised for it; otherwise raises with the reason."""
    chosen = fixed_step(method)
    if not (math.isfinite(asked.epsilon) and asked.epsilon > 0):
        raise VinculumError(f"Guaranteed(epsilon) needs a positive accuracy; got {asked.epsilon}.")
    if asked.sampled and Sampled not in chosen.stabilizations:
        raise VinculumError(f"Sampled feedback needs the stages of a Runge-Kutta method; {chosen.name!r} has none.")
    if span <= 0:
        raise VinculumError("A bound is promised for runs forward in time only.")
    return chosen


def _search_step(
    problem: Problem,
    method: FixedStep,
    sampled: bool,
    epsilon: float,
    span: float,
    step: float,
    pilot: Pilot,
) -> Promise:
    """A step at which the promise holds on the states of a pilot run with the same step."""
    bound = math.inf
    for _ in range(_MOST_PILOTS):
        probes = _probes(pilot(step))
        good = _largest_step(
            problem, probes, method, _best(problem, probes, method, step, sampled), sampled, epsilon, span
        )
        if good is None:  # the pilot run itself failed
            step /= 4
            continue
        again = _best(problem, _probes(pilot(good.step)), method, good.step, sampled)
        if again.worst <= epsilon:
            return again
        step, bound = 0.7 * good.step, again.worst
    raise VinculumError(
        f"No step was found that keeps the constraints within {epsilon:.3g}; near {step:.3g} the bound is {bound:.3g}. "
        "Rounding may forbid it: ask for less accuracy, or use a method of higher order."
    )


def _largest_step(
    problem: Problem,
    probes: Sequence[Probes],
    method: FixedStep,
    found: Promise,
    sampled: bool,
    epsilon: float,
    span: float,
) -> Promise | None:
    """The largest step found for which the bound is kept: τ ← τ (ε/B)^{1/q}, q the order of the defect."""
    q = method.defect_order(sampled)
    good: Promise | None = None
    for _ in range(_MOST_TRIES):
        if found.worst <= epsilon:
            good = found if good is None or found.step > good.step else good
        factor = float(np.clip((0.7 * epsilon / max(found.worst, 1e-300)) ** (1 / q), 0.05, 4.0))
        step = min(found.step * factor, span / 50)
        if good is not None and (found.worst > 0.3 * epsilon or step <= good.step):
            break
        found = _best(problem, probes, method, step, sampled)
    return good


# -- the bound of a step and its gains ---------------------------------------------------------------------------


def _best(problem: Problem, probes: Sequence[Probes], method: FixedStep, step: float, sampled: bool) -> Promise:
    """The gain with the smallest bound at a step."""
    orders = [len(chain) for chain in problem.integrable.chains]
    if sampled:
        rows = [[g / step ** (r - j) for j, g in enumerate(deadbeat(r, method.order))] for r in orders]
        D = _defects(problem, probes, method, step, rows)
        return _promise(problem, probes, method, step, rows, 1 / step, sampled, D)
    rates = _SHARES * method.stability_limit() / step
    families = [[binomial(r, rate) for r in orders] for rate in rates]
    D, tried = np.zeros(0), list[Promise]()
    for rate, rows in zip(rates, families, strict=True):
        if method.defect_depends_on_gains or not tried:
            D = _defects(problem, probes, method, step, rows, sampled=False)
        tried.append(_promise(problem, probes, method, step, rows, float(rate), sampled, D))
    return min(tried, key=lambda promise: promise.worst)


def _defects(
    problem: Problem,
    probes: Sequence[Probes],
    method: FixedStep,
    step: float,
    rows: Sequence[Sequence[float]],
    sampled: bool = True,
) -> np.ndarray:
    """The largest residuals after one step from the constraints, those of its first steps included."""
    law = linear_feedback(problem.integrable.chains, rows)
    D = np.max([p.defect(method, step, p.problem.with_feedback(law), sampled) for p in probes], axis=0)
    if method.starter is not None:
        first = Probes(probes[0].problem, probes[0].t[:1], probes[0].x[:1])
        D = np.maximum(D, first.defect(method.starter, step, first.problem.with_feedback(law), sampled=True))
    return D


def _promise(
    problem: Problem,
    probes: Sequence[Probes],
    method: FixedStep,
    step: float,
    rows: Sequence[Sequence[float]],
    rate: float,
    sampled: bool,
    D: np.ndarray,
) -> Promise:
    """The bounds Σ_m |S^m| D of gains in ``rows``, with a margin, plus rounding at each level."""
    rounding = 64 * np.finfo(float).eps * (1 + max(float(np.abs(p.x).max()) for p in probes))
    bounds, place = [], 0
    for row in rows:
        r = len(row)
        floor = rounding / step ** np.arange(r)
        S = method.step_matrix(row, step, sampled)
        bounds.append(_MARGIN * amplification(S, r) @ D[place : place + r] + floor)
        place += r
    law = linear_feedback(problem.integrable.chains, rows)
    stabilization = Sampled(rate) if sampled else Baumgarte(rate)
    return Promise(step, law, stabilization, rate, _name_bounds(problem, bounds), max(float(b[0]) for b in bounds))


def _name_bounds(problem: Problem, bounds: Sequence[np.ndarray]) -> dict[tuple[str, str], float]:
    """Bounds by the names of the residuals they are for."""
    chains = map(problem.integrable.lifted, problem.integrable.chains)
    by_node = {y: float(b) for chain, row in zip(chains, bounds, strict=True) for y, b in zip(chain, row, strict=True)}
    return {(r.constraint, r.level): by_node[r.node] for r in problem.integrable.residuals if r.node in by_node}


# -- the measured residuals after one step -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Probes:
    """States on the constraints from a run of a problem; one call steps all of them."""

    problem: Problem
    t: np.ndarray  # (P)
    x: np.ndarray  # (P, n)

    @classmethod
    def of(cls, segment: Segment) -> Probes:
        """The samples of a segment, each moved onto the constraints."""
        project = project_after_step(segment.problem)
        states = []
        for time, state in zip(segment.t, segment.states, strict=True):
            place = SimpleNamespace(time=float(time), state=np.array(state))
            project(place)
            states.append(place.state)
        return cls(segment.problem, segment.t, np.array(states))

    def residuals(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """|y| of all chains at rows of states: (P, all levels of all constraints)."""
        problem = self.problem
        nodes = problem.nodes.lifted([y for chain in problem.integrable.chains for y in chain])
        return np.abs(problem.compiled(nodes).rows(t, x, problem.values))

    def defect(self, method: FixedStep, step: float, problem: Problem, sampled: bool) -> np.ndarray:
        """The largest |y| after one step, by level of every constraint; ``problem`` has the gains in question."""
        closed, held = _rates(problem, problem.nodes.rates), _rates(problem, problem.nodes.held_rates)
        after = method.step_rows(held, closed, self.t, self.x, step, sampled)
        found = self.residuals(self.t + step, after)
        return np.where(np.isfinite(found), found, np.inf).max(axis=0)


def _rates(problem: Problem, nodes: Sequence) -> Rates:
    """Rates; held corrections are zero, as they are on the constraints."""
    function, p = problem.compiled(nodes), problem.values
    return lambda t, x: function.rows(t, x, p)


def _probes(segments: Sequence[Segment]) -> list[Probes]:
    """States on the constraints along a pilot run."""
    return [Probes.of(segment) for segment in segments]


def _pilot(problem: Problem, method: FixedStep, t0: float, t1: float, x: np.ndarray) -> Pilot:
    """A function that runs the motion with a given step and returns its segments."""

    def run(step: float) -> list[Segment]:
        plan = make_plan(np.linspace(t0, t1, _PROBES), method, step, False, "")
        stabilization = method.pilot_stabilization(plan.step)
        closed = problem.with_feedback(feedback(stabilization, problem.integrable, 0.0, method.order))
        recorder = Recorder(plan.instants)
        run_segments(closed, Run(plan, stabilization, recorder, lambda _: None), x)
        return recorder.segments

    return run
