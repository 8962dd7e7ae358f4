"""Stabilization with a promised accuracy: gain and step from the requested bound (B3 to B6 of the theory).

1. A pilot run with the method itself gives states of the motion, one for each of its steps; they are moved onto the
   constraints.
2. One step from each of them measures the defect D that the method produces, level by level, and the residual on the
   way from step to step.
3. The recursion η⁺ = S η + d of the method (`residual_bounds`) gives the bound Σ_m |S^m| D; the gain with the
   smallest bound is taken. Held feedback (Runge-Kutta) is deadbeat; continuous feedback is searched over z = kτ.
4. A margin covers the terms that the linear recursion neglects. The run checks the bound at and between its steps
   (`guaranteed_run`).

A step that Vinculum chooses also follows the motion: the errors that the steps commit in a coordinate add up to at most
1 % of its range, and no step passes over a short event in time (`pulses`).

Source: Mukharlyamov, Kirgizbaev, section 5, with the theorem corrected; docs/program_constraints.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vinculum.derivation.integrable import Feedback, linear_feedback
from vinculum.derivation.program.perturbation import binomial
from vinculum.errors import Finding, VinculumError, Word, call
from vinculum.simulation.integrators.fixed_step import FixedStep
from vinculum.simulation.integrators.methods import Method
from vinculum.simulation.integrators.segments import run_segments
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.pulses import Pulse, longest_step, shortest_pulse
from vinculum.simulation.stabilization.feedback import feedback
from vinculum.simulation.stabilization.probes import Probes
from vinculum.simulation.stabilization.residual_bounds import amplification, fixed_step
from vinculum.simulation.stabilization.stabilization import Baumgarte, Guaranteed, Sampled, deadbeat
from vinculum.simulation.trajectory.recorder import Recorder, Run, make_plan

_MOST_TRIES, _MOST_PILOTS = 14, 8
_FEWEST_STEPS = 50
MOST_STEPS = 1_000_000  # of a run whose step Vinculum chooses
_MOST_PROBES = 50_000  # of a pilot run with more steps, every second, third, ... is probed
_SEARCHED = 400  # probes with the largest defects, and as many spread over the run, on which a step is searched
_MARGIN = 1.25  # nonlinear terms of the recursion, and states between the probes
_FOLLOWED = 0.01  # share of the range of a state that all steps together may commit as errors
_SHARES = np.geomspace(0.02, 0.95, 18)  # of the stability limit, at which continuous feedback is tried

Pilot = Callable[[float], list[Probes]]  # step of the pilot run -> its states, on the constraints

# -- the promise -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Promise:
    """A step, the feedback for it and the bounds that follow."""

    step: float
    rows: Sequence[Sequence[float]]  # gains of every constraint
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

    def scaled(self, factor: float) -> Promise:
        """The bounds that follow from defects larger by a factor; never smaller ones."""
        factor = max(1.0, float(factor))
        bounds = {key: factor * bound for key, bound in self.bounds.items()}
        return replace(self, bounds=bounds, worst=factor * self.worst)

    def refined(self, problem: Problem, factor: int) -> tuple[float, Feedback]:
        """A step that is shorter by a factor, and the feedback with the same kτ."""
        rows = [[g * factor ** (len(row) - j) for j, g in enumerate(row)] for row in self.rows]
        return self.step / factor, linear_feedback(problem.integrable.chains, rows, law=True)


def make_promise(
    problem: Problem, asked: Guaranteed, method: Method, grid: np.ndarray, x: np.ndarray, longest: float = math.inf
) -> Promise:
    """The best promise at the given step, or at a step of our choice up to ``longest``; raises if it is not enough."""
    t0, t1, step = float(grid[0]), float(grid[-1]), method.step
    chosen = _check_request(asked, method, t1 - t0)
    pulse = shortest_pulse(problem, t0, t1)
    _check_pulse(pulse, asked, step, t0, t1)
    search = _Search(problem, chosen, _holds(asked, chosen), asked.epsilon, t0, t1, _pilot(problem, chosen, t0, t1, x))
    first = min(0.1 / problem.motion_rate(t0, x), longest_step(pulse, t1 - t0), longest)
    if step is None:
        return search.step(min(first, (t1 - t0) / _FEWEST_STEPS))
    found = search.best(search.pilot(step), step)
    if found.worst <= asked.epsilon:
        return found
    would = search.step(min(step / 2, first))
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
    for name, number in (("epsilon", asked.epsilon), ("trajectory", asked.trajectory)):
        if number is not None and not (math.isfinite(number) and number > 0):
            raise VinculumError(f"Guaranteed({name}=...) needs a positive accuracy; got {number}.")
    if asked.sampled and Sampled not in chosen.stabilizations:
        raise VinculumError(f"Sampled feedback needs the stages of a Runge-Kutta method; {chosen.name!r} has none.")
    if span <= 0:
        raise VinculumError("A bound is promised for runs forward in time only.")
    return chosen


def _check_pulse(pulse: Pulse | None, asked: Guaranteed, step: float | None, t0: float, t1: float) -> None:
    """Raise where the steps of a run would pass over a pulse of the forces or of the prescribed motion."""
    if pulse is None:
        return
    found = f"{pulse.function} changes and changes back within {pulse.width:.3g} near t = {pulse.time:.6g}"
    if step is not None and asked.trajectory is not None and step > pulse.width:
        raise VinculumError(
            Finding(
                f"{found}; the step {step:.3g} passes over it.",
                ["Use ", call("simulate", step=Word(f"{pulse.width / 2:.3g}")), ", or leave step out."],
            )
        )
    if step is None and t1 - t0 > MOST_STEPS * pulse.width / 2:
        around = [f"{max(t0, pulse.time - 5 * pulse.width):.12g}", f"{min(t1, pulse.time + 6 * pulse.width):.12g}"]
        raise VinculumError(
            f"{found}; to follow it, a run from {t0:.6g} to {t1:.6g} needs more than {MOST_STEPS} steps. Simulate the "
            f"time from {around[0]} to {around[1]} in a separate run."
        )


def _holds(asked: Guaranteed, method: FixedStep) -> bool:
    """Whether feedback is held through the stages."""
    return asked.sampled if asked.sampled is not None else Sampled in method.stabilizations


# -- the step ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for a step and its gains."""

    problem: Problem
    method: FixedStep
    sampled: bool
    epsilon: float
    t0: float
    t1: float
    pilot: Pilot

    def step(self, longest: float) -> Promise:
        """A step up to the longest at which the promise holds on the states of a pilot run with the same step."""
        step, bound, before = longest, math.inf, math.inf
        for _ in range(_MOST_PILOTS):
            good = self._largest(self._thin(self.pilot(step), step), step, longest)
            if good is None:  # the pilot run itself failed
                step, longest = step / 4, longest / 2
                continue
            probes = self.pilot(good.step)
            again, committed = self.best(probes, good.step), self._committed(probes, good.step)
            follows = committed <= _FOLLOWED or committed > 0.7 * before  # or a smaller step does not help
            if again.worst <= self.epsilon and follows:
                return again
            step = 0.7 * good.step
            if not follows:
                step = min(step, good.step * max(0.1, (0.7 * _FOLLOWED / committed) ** (1 / self.method.order)))
            longest, bound, before = step, again.worst, committed
        raise VinculumError(
            f"No step was found that keeps the constraints within {self.epsilon:.3g}; near {step:.3g} the bound is "
            f"{bound:.3g}. Rounding may forbid it: ask for less accuracy, or use a method of higher order."
        )

    def _largest(self, probes: Sequence[Probes], step: float, longest: float) -> Promise | None:
        """The largest step found for which the bound is kept: τ ← τ (ε/B)^{1/q}, q the order of the defect."""
        q = min(self.method.defect_order(self.sampled), 4)
        found, good = self.best(probes, step), None
        for _ in range(_MOST_TRIES):
            if found.worst <= self.epsilon:
                good = found if good is None or found.step > good.step else good
            factor = float(np.clip((0.7 * self.epsilon / max(found.worst, 1e-300)) ** (1 / q), 0.05, 4.0))
            next_step = min(found.step * factor, longest)
            if good is not None and (found.worst > 0.3 * self.epsilon or next_step <= 1.01 * good.step):
                break
            found = self.best(probes, next_step)
        return good

    def _committed(self, probes: Sequence[Probes], step: float) -> float:
        """The errors that all steps commit in a coordinate, as a share of its range over the run."""
        found = []
        for p in (p for p in probes if len(p) > 1):
            shown = [i for i, node in enumerate(p.problem.nodes.state) if node in p.problem.integrable.roles.shown]
            total = p.committed(self.method, step).mean(axis=0)[shown] * float(p.t[-1] - p.t[0]) / step
            ranges = np.ptp(p.x[:, shown], axis=0)
            moves = ranges > 1e-9 * (1 + np.abs(p.x[:, shown]).max(axis=0, initial=0.0))
            found.append(float((total[moves] / ranges[moves]).max(initial=0.0)))
        return max(found, default=math.inf)

    def _thin(self, probes: Sequence[Probes], step: float) -> list[Probes]:
        """Those with the largest defects at a step, and some spread over the run."""
        if sum(map(len, probes)) <= 2 * _SEARCHED:
            return list(probes)
        rows = self._rows(0.5 * self.method.stability_limit() / step, step)
        law, thinned = linear_feedback(self.problem.integrable.chains, rows), []
        for p in probes:
            found = p.step(self.method, step, p.problem.with_feedback(law), self.sampled)
            ranks = [np.argsort(column)[-_SEARCHED // 8 :] for column in (*found.defect.T, *found.between.T)]
            spread = np.linspace(0, len(p) - 1, min(len(p), _SEARCHED)).astype(int)
            thinned.append(p.some(np.unique(np.concatenate([*ranks, spread]))))
        return thinned

    # -- the bound of a step and its gains -------------------------------------------------------------------

    def _rows(self, rate: float, step: float) -> list[list[float]]:
        """The gains of every constraint: deadbeat if held, otherwise all roots -rate."""
        orders = [len(chain) for chain in self.problem.integrable.chains]
        if not self.sampled:
            return [binomial(r, rate) for r in orders]
        return [[g / step ** (r - j) for j, g in enumerate(deadbeat(r, self.method.order))] for r in orders]

    def best(self, probes: Sequence[Probes], step: float) -> Promise:
        """The gain with the smallest bound at a step, shortened so that steps fill the interval."""
        step = (self.t1 - self.t0) / math.ceil((self.t1 - self.t0) / step - 1e-9)
        if self.sampled:
            return self._promise(probes, step, 1 / step)
        few = self._thin(probes, step)
        rates = [float(rate) for rate in _SHARES * self.method.stability_limit() / step]
        tried = [self._promise(few, step, rate) for rate in rates]
        return self._promise(probes, step, min(tried, key=lambda promise: promise.worst).rate)

    def _promise(self, probes: Sequence[Probes], step: float, rate: float) -> Promise:
        """The bounds Σ_m |S^m| D of gains, with a margin, plus what is added between the steps and by rounding."""
        rows = self._rows(rate, step)
        law = linear_feedback(self.problem.integrable.chains, rows, law=True)
        D, between = self._defects(probes, step, law)
        sizes = [float(np.abs(p.x).max(initial=0.0)) for p in probes]
        rounding = 64 * np.finfo(float).eps * (1 + max(sizes))
        bounds, place = [], 0
        for row in rows:
            r = len(row)
            S = self.method.step_matrix(row, step, self.sampled)
            own = slice(place, place + r)
            with np.errstate(over="ignore", invalid="ignore"):  # of a gain far outside its interval
                grown = amplification(S, r) @ D[own] + between[own]
            bounds.append(_MARGIN * grown + rounding / step ** np.arange(r))
            place += r
        kind = Sampled(rate) if self.sampled else Baumgarte(rate)
        worst = max((float(b[0]) for b in bounds), default=0.0)
        return Promise(step, rows, law, kind, rate, _name_bounds(self.problem, bounds), worst)

    def _defects(self, probes: Sequence[Probes], step: float, law: Feedback) -> tuple[np.ndarray, np.ndarray]:
        """The largest residuals after one step from the constraints, those of its first steps included, and between."""
        stepped = [p.step(self.method, step, p.problem.with_feedback(law), self.sampled) for p in probes if len(p)]
        if not stepped:
            unknown = np.full(sum(map(len, self.problem.integrable.chains)), np.inf)
            return unknown, unknown
        if self.method.starter is not None:
            first = probes[0].some(np.arange(min(1, len(probes[0]))))
            stepped.append(first.step(self.method.starter, step, first.problem.with_feedback(law), sampled=True))
        D, between = (np.vstack([getattr(s, name) for s in stepped]).max(axis=0) for name in ("defect", "between"))
        return D, between


def _name_bounds(problem: Problem, bounds: Sequence[np.ndarray]) -> dict[tuple[str, str], float]:
    """Bounds by the names of the residuals they are for."""
    chains = map(problem.integrable.lifted, problem.integrable.chains)
    by_node = {y: float(b) for chain, row in zip(chains, bounds, strict=True) for y, b in zip(chain, row, strict=True)}
    return {(r.constraint, r.level): by_node[r.node] for r in problem.integrable.residuals if r.node in by_node}


def _pilot(problem: Problem, method: FixedStep, t0: float, t1: float, x: np.ndarray) -> Pilot:
    """A function that runs the motion with a given step and returns its states on the constraints."""

    def run(step: float) -> list[Probes]:
        plan = make_plan(np.array([t0, t1]), method, step, False, "")
        every = max(1, math.ceil(plan.count / _MOST_PROBES))
        plan = make_plan(
            t0 + np.append(np.arange(0, plan.count, every), plan.count) * plan.step, method, step, False, ""
        )
        stabilization = method.pilot_stabilization(plan.step)
        closed = problem.with_feedback(feedback(stabilization, problem.integrable, 0.0, method.order))
        recorder = Recorder(plan.instants)
        run_segments(closed, Run(plan, stabilization, recorder, lambda _: None), x)
        return [Probes.of(segment) for segment in recorder.segments]

    return run
