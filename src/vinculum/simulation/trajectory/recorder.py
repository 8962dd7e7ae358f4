"""What a run leaves behind: samples, largest residuals, events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vinculum.graph import Node
from vinculum.simulation.problem.events import Happened
from vinculum.simulation.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Segment:
    """Samples of a stretch of a run that was integrated in one set of variables."""

    problem: Problem
    t: np.ndarray  # (N)
    states: np.ndarray  # (N, n)

    def rows(self, outputs: Sequence[Node]) -> np.ndarray:
        """Nodes at every sample, (N, len(outputs))."""
        return self.problem.compiled(outputs).rows(self.t, self.states, self.problem.values)

    def integrated(self, work: Node) -> np.ndarray:
        """A quantity that was integrated beside the motion, (N); zero where there is no power at all."""
        nodes = self.problem.nodes
        return self.states[:, nodes.state.index(work)] if work in nodes.powers else np.zeros(len(self.t))


@dataclass
class Recorder:
    """Collects samples at the instants asked for, and maxima over every step taken."""

    instants: np.ndarray
    keep_dense: bool = False
    segments: list[Segment] = field(default_factory=list)  # finished stretches
    times: list[np.ndarray] = field(default_factory=list)  # of the present stretch
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
        """End a stretch: from here on the variables may be others."""
        if self.times:
            self.segments.append(Segment(problem, np.concatenate(self.times), np.vstack(self.states)))
        self.times, self.states = [], []

    def observe(self, residuals: np.ndarray, balance_error: float) -> None:
        """Take the largest residuals and the largest balance error of a stretch of the run into account."""
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
