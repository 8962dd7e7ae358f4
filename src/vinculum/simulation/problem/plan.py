"""Times, steps and samples of a run, and what stays the same from its first segment to its last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vinculum.errors import VinculumError

if TYPE_CHECKING:
    from vinculum.simulation.integrators.methods import Method
    from vinculum.simulation.stabilization.stabilization import Stabilization
    from vinculum.simulation.trajectory.recorder import Recorder

_SAMPLES = 1000  # samples of a run whose instants were not given


@dataclass(frozen=True, eq=False)
class Plan:
    """Times and method of a run."""

    method: Method
    t0: float
    t1: float
    instants: np.ndarray
    step: float = 0.0  # fixed-step methods: the step that fits the interval
    count: int = 0  # fixed-step methods: the number of steps
    why: str = ""  # why the method was chosen, when Vinculum chose it
    asked: np.ndarray | None = None  # the instants wanted in the end, where dense output needs more of them


@dataclass(frozen=True, eq=False)
class Run:
    """A plan, the stabilization of the constraints, the recorder, and the function that reports progress."""

    plan: Plan
    stabilization: Stabilization
    recorder: Recorder
    report: Callable[[float], None]  # called with the time reached


def make_plan(grid: np.ndarray, method: Method, step: float | None, dense: bool, why: str) -> Plan:
    """Lay out the steps and samples of a run over checked times; adaptive methods have no ``step``."""
    t0, t1 = float(grid[0]), float(grid[-1])
    if step is None:
        instants = grid if len(grid) > 2 else np.linspace(t0, t1, _SAMPLES + 1)
        return Plan(method, t0, t1, instants, why=why)
    count = max(1, math.ceil(abs(t1 - t0) / step - 1e-9))
    every = 1 if dense else max(1, math.ceil(count / _SAMPLES))
    marks = np.unique(np.append(np.arange(0, count, every), count))
    marked = np.append(t0 + marks[:-1] * ((t1 - t0) / count), t1)
    asked = grid if len(grid) > 2 else marked
    instants = np.unique(np.append(marked, grid))[:: 1 if t1 > t0 else -1] if dense else asked
    return Plan(method, t0, t1, instants, (t1 - t0) / count, count, why, asked)


def check_times(times: Sequence[float] | np.ndarray) -> np.ndarray:
    """The times as an array of at least two finite numbers in order."""
    try:
        grid = np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or len(grid) < 2 or not np.all(np.isfinite(grid)):
        raise VinculumError(f"times must be (start, end) or an array of finite instants; got {times!r}.")
    steps = np.diff(grid)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        raise VinculumError("times must increase from first to last (or decrease, for a run backwards).")
    return grid
