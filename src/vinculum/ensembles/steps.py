"""Many motions with a fixed step or with BDF: compiled loops over the runs of a block, no Python for a run or a step.

The loops take the very steps of `simulate`, with the same compiled functions, so a run has the same bits in both.
"""

from __future__ import annotations

import threading
import time as clock
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.compile.machine import COMPILING
from vinculum.ensembles.lanes import DONE, ENDED, NOT_FINITE, UNDECIDED, Motions, check_stop
from vinculum.simulation.integrators import bdf, fixed_step
from vinculum.simulation.integrators.methods import next_chunk

if TYPE_CHECKING:
    from vinculum.graph import Node
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.stabilization.stabilization import Stabilization

_SECONDS = 0.1  # a loop returns to Python (Ctrl-C) about this often
_FEWEST, _MOST = 256, 10**8  # steps until then
_HUGE = 1e30  # a larger state has diverged


class Steps(ABC):
    """A compiled loop that belongs to one thread."""

    width = 8  # runs; as many as in the largest register

    def __init__(self, problem: Problem, states: int) -> None:
        self.problem, self.states, self.chunk = problem, states, _FEWEST
        nodes = problem.nodes
        self.only_grows = not nodes.watch.changing and not nodes.integrable.conditions

    @abstractmethod
    def many(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """The record of a block for the loop."""

    @abstractmethod
    def advance(self, many: Any, place: tuple[int, int], steps: int) -> tuple[int, int]:
        """Take some steps from a place, (run, step); returns the next place."""

    @abstractmethod
    def judge(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which runs ended by an event, broke down, or must be decided by `simulate`."""

    def run(
        self,
        times: np.ndarray,
        x: np.ndarray,
        p: np.ndarray,
        stop: threading.Event | None = None,
        stops: Sequence[np.ndarray] = (),
    ) -> Motions:
        """The motions through the times of every run, as those of `Lanes`, with their maxima over all steps.

        `simulate` decides about a run with ``stops``, where a function of time is narrow.
        """
        runs = x.shape[1]
        arrays = _arrays(runs, len(times), len(x), len(p), len(self.problem.nodes.residuals))
        arrays["x"][:], arrays["p"][:], arrays["instants"][:] = x.T, p.T, times.T
        many, place = self.many(arrays), (0, 0)
        while place[0] < runs:
            check_stop(stop)
            began = clock.perf_counter()
            place = self.advance(many, place, self.chunk)
            self.chunk = next_chunk(self.chunk, clock.perf_counter() - began, _SECONDS, _FEWEST, _MOST)
        samples, maxima, codes = arrays["samples"], arrays["maxima"], self._codes(arrays["codes"], arrays["x"])
        codes[[k for k, own in enumerate(stops) if len(own)]] = UNDECIDED
        last = np.where((codes == DONE)[:, None], samples[:, -1], arrays["x"])
        return Motions(samples.transpose(1, 2, 0), codes, arrays["ends"], last.T, maxima[:, -2], maxima[:, :-2])

    def _codes(self, codes: np.ndarray, last: np.ndarray) -> np.ndarray:
        """How runs ended, in the codes of lanes.

        Where numbers are not finite, `simulate` looks for the reason, unless there is only one: the state grew.
        """
        ended, broken, undecided = self.judge(codes)
        grew = self.only_grows | (np.abs(last).max(axis=1, initial=0.0) > _HUGE)
        found = np.where(ended, ENDED, np.where(broken, np.where(grew, NOT_FINITE, UNDECIDED), DONE))
        return np.where(undecided, UNDECIDED, found)


class FixedSteps(Steps):
    """Runge-Kutta and Adams methods."""

    def __init__(
        self,
        method: fixed_step.FixedStep,
        problem: Problem,
        stabilization: Stabilization,
        integrals: Mapping[Node, Node],
    ) -> None:
        super().__init__(problem, len(problem.nodes.state) + len(integrals))
        assert method.step is not None
        self.step, self.tables = float(method.step), method.tables
        with COMPILING:  # Numba compiles the loop at its first call
            from vinculum.simulation.integrators import loops

            self.loops = loops
            self.functions = fixed_step.compile_functions(method, problem, stabilization, further=integrals)
            nothing = np.zeros(self.states)
            self.work = fixed_step.make_work(method, problem, stabilization, self.functions, nothing, np.zeros(0))
            self.advance(self.many(_arrays(0, 2, self.states, len(problem.values), 0)), (0, 0), 1)

    def many(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """The block with the step of every run, which fits its interval."""
        spans = arrays["instants"][:, -1] - arrays["instants"][:, 0]
        counts = np.maximum(1, np.ceil(np.abs(spans) / self.step - 1e-9)).astype(np.int64)
        return self.loops.Many(**arrays, h=spans / counts, counts=counts)

    def advance(self, many: Any, place: tuple[int, int], steps: int) -> tuple[int, int]:
        """Take some steps."""
        run, step = self.loops.advance_all(self.work, many, *self.tables, *place, steps)
        return int(run), int(step)

    def judge(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pivots that became small and events without a value are for `simulate`."""
        loops = self.loops
        undecided = np.isin(codes, (loops.PIVOT, loops.UNDEFINED))
        return codes == loops.HAPPENED, codes == loops.NOT_FINITE, undecided


class StiffSteps(Steps):
    """Backward differentiation formulas."""

    def __init__(self, method: bdf.BDF, problem: Problem, integrals: Mapping[Node, Node]) -> None:
        super().__init__(problem, len(problem.nodes.state) + len(integrals))
        with COMPILING:  # Numba compiles the loop at its first call
            from vinculum.simulation.integrators import bdf_loops

            self.loops = bdf_loops
            self.functions = bdf.compile_functions(problem, integrals)
            self.work = bdf.make_work(method, problem, self.functions, np.zeros(self.states), np.zeros(0))
            self.advance(self.many(_arrays(0, 2, self.states, len(problem.values), 0)), (0, 0), 1)

    def many(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """The block."""
        return self.loops.Many(**arrays)

    def advance(self, many: Any, place: tuple[int, int], steps: int) -> tuple[int, int]:
        """Take some steps; the second number is whether the run has started."""
        run, started = self.loops.advance_all(self.work, many, place[0], bool(place[1]), steps)
        return int(run), int(started)

    def judge(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps that went to zero, pivots that became small and events without a value are for `simulate`."""
        loops = self.loops
        return (
            codes == loops.HAPPENED,
            codes == loops.NOT_FINITE,
            np.isin(codes, (loops.STALLED, loops.PIVOT, loops.JUMPED, loops.UNDEFINED)),
        )


def _arrays(runs: int, instants: int, states: int, parameters: int, residuals: int) -> dict[str, np.ndarray]:
    """The arrays of a block, by their names in the records of the loops."""
    return {
        "x": np.empty((runs, states)),
        "p": np.empty((runs, parameters)),
        "instants": np.empty((runs, instants)),
        "samples": np.full((runs, instants, states), np.nan),
        "maxima": np.hstack([np.zeros((runs, residuals + 1)), np.full((runs, 1), np.nan)]),
        "codes": np.zeros(runs, dtype=np.int64),
        "ends": np.empty(runs),
    }
