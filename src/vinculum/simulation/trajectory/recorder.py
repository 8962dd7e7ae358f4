"""What a run leaves behind: samples, largest residuals, events; and the trajectory that is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vinculum.simulation.problem.events import Happened
from vinculum.simulation.problem.plan import Plan
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.trajectory.live_run import LiveRun, Segment
from vinculum.simulation.trajectory.outcome import Outcome
from vinculum.simulation.trajectory.trajectory import Trajectory


@dataclass
class Recorder:
    """Collects samples at the instants asked for, and maxima over every step taken."""

    instants: np.ndarray
    keep_dense: bool = False
    segments: list[Segment] = field(default_factory=list)  # finished ones
    times: list[np.ndarray] = field(default_factory=list)  # of the present segment
    states: list[np.ndarray] = field(default_factory=list)
    dense: list[Any] = field(default_factory=list)  # what heyoka keeps of every chunk of steps
    events: list[Happened] = field(default_factory=list)
    residuals: np.ndarray | None = None  # the largest of each
    balance_start: float = float("nan")  # E - w at the start
    balance_error: float = 0.0  # the largest |E - w - balance_start|
    steps: int = 0

    @property
    def written(self) -> int:
        """How many samples there are."""
        return sum(map(len, self.times)) + sum(len(segment.t) for segment in self.segments)

    @property
    def last(self) -> float | None:
        """The time of the last sample."""
        if self.times:
            return float(self.times[-1][-1])
        return float(self.segments[-1].t[-1]) if self.segments else None

    def add(self, times: np.ndarray, states: np.ndarray) -> None:
        """Append samples."""
        if len(times):
            self.times.append(np.array(times))
            self.states.append(np.array(states))

    def close(self, problem: Problem) -> None:
        """End a segment: from here on the variables may be others."""
        if self.times:
            self.segments.append(Segment(problem, np.concatenate(self.times), np.vstack(self.states)))
        self.times, self.states = [], []

    def observe(self, residuals: np.ndarray, balance_error: float) -> None:
        """Take the largest residuals and the largest balance error of a part of the run into account."""
        residuals = np.abs(residuals)
        self.residuals = residuals if self.residuals is None else np.maximum(self.residuals, residuals)
        self.balance_error = max(self.balance_error, float(balance_error))

    def measure(self, balances: np.ndarray, residuals: np.ndarray) -> None:
        """Observe E - w, (N), and residuals, (N, r), at some steps; the first of all is where the balance starts."""
        if np.isnan(self.balance_start):
            self.balance_start = float(balances[0])
        self.observe(np.abs(residuals).max(axis=0, initial=0.0), np.abs(balances - self.balance_start).max())

    def cut(self, time: float, direction: float) -> None:
        """Drop the samples beyond a time; used when a terminal event ends the run inside a step."""
        if not self.times:
            return
        times, states = np.concatenate(self.times), np.vstack(self.states)
        keep = (times - time) * direction <= 0
        self.times, self.states = ([times[keep]], [states[keep]]) if keep.any() else ([], [])


def make_trajectory(
    plan: Plan,
    recorder: Recorder,
    outcome: Outcome,
    described: str,
    dense: bool,
    seconds: dict[str, float],
    promised: dict[tuple[str, str], float],
) -> Trajectory:
    """The trajectory of a finished run; ``described`` is its stabilization in words."""
    nodes = recorder.segments[0].problem.nodes
    fine = tuple(recorder.segments) if dense and not plan.method.adaptive else ()
    segments = _thinned(recorder.segments, plan) if fine else tuple(recorder.segments)
    kept = tuple(recorder.dense) if recorder.keep_dense else (fine or (tuple(segments) if dense else ()))
    largest = recorder.residuals if recorder.residuals is not None else np.zeros(len(nodes.residuals))
    return Trajectory(
        t=np.concatenate([segment.t for segment in segments]),
        outcome=outcome,
        run=LiveRun(segments, kept),
        largest_residuals=dict(zip(nodes.residual_names, map(float, largest), strict=True)),
        energy_error=recorder.balance_error,
        method=plan.method.described(plan.step) + (f" (chosen: {plan.why})" if plan.why else ""),
        stabilization=described,
        events=tuple(recorder.events),
        steps=recorder.steps,
        seconds=seconds,
        promised=promised,
    )


def _thinned(segments: list[Segment], plan: Plan) -> tuple[Segment, ...]:
    """Only the samples that were asked for, and where the run ended."""
    assert plan.asked is not None
    last = segments[-1].t[-1]
    kept = [np.isin(s.t, plan.asked) | (s.t == last) for s in segments]
    return tuple(replace(s, t=s.t[k], states=s.states[k]) for s, k in zip(segments, kept, strict=True) if k.any())
