"""What a run leaves behind: samples, largest residuals, events."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vinculum.simulate.events import Happened


@dataclass
class Recorder:
    """Collects samples at the instants asked for, and maxima over every step taken."""

    instants: np.ndarray
    keep_dense: bool = False
    times: list[np.ndarray] = field(default_factory=list)
    states: list[np.ndarray] = field(default_factory=list)
    dense: list = field(default_factory=list)
    events: list[Happened] = field(default_factory=list)
    residuals: np.ndarray | None = None  # the largest of each
    balance_start: float = float("nan")  # E - w at the start
    balance_error: float = 0.0  # the largest |E - w - balance_start|
    steps: int = 0

    @property
    def written(self) -> int:
        """How many samples there are."""
        return sum(map(len, self.times))

    def add(self, times: np.ndarray, states: np.ndarray) -> None:
        """Append samples."""
        if len(times):
            self.times.append(np.array(times))
            self.states.append(np.array(states))

    def observe(self, residuals: np.ndarray, balance_error: float) -> None:
        """Take the largest residuals and the largest balance error of a stretch of the run into account."""
        residuals = np.abs(residuals)
        self.residuals = residuals if self.residuals is None else np.maximum(self.residuals, residuals)
        self.balance_error = max(self.balance_error, float(balance_error))

    def trajectory(self) -> tuple[np.ndarray, np.ndarray]:
        """All samples: times (N), states (N, n)."""
        return np.concatenate(self.times), np.vstack(self.states)

    def cut(self, time: float, direction: float) -> None:
        """Drop the samples beyond a time; used when a terminal event ends the run inside a step."""
        times, states = self.trajectory()
        keep = (times - time) * direction <= 0
        self.times, self.states = [times[keep]], [states[keep]]
