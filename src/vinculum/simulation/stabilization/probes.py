"""What one step of a method leaves of the constraints, from states on them: measured, not estimated.

All probes are stepped together, so that the compiled right side is called a few times and not once per probe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from vinculum.simulation.integrators.methods import STARTER, Adams, RungeKutta
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.projection import after_step
from vinculum.simulation.trajectory.recorder import Segment

Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]
_SUBSTEPS = 16  # of the starting method, for the memory of an Adams method


@dataclass(frozen=True, eq=False)
class Probes:
    """States on the constraints, taken from a run of a problem."""

    problem: Problem
    t: np.ndarray  # (P)
    x: np.ndarray  # (P, n)

    @classmethod
    def of(cls, segment: Segment) -> Probes:
        """The samples of a stretch, each moved onto the constraints."""
        project = after_step(segment.problem)
        states = []
        for time, state in zip(segment.t, segment.states, strict=True):
            place = SimpleNamespace(time=float(time), state=np.array(state))
            project(place)
            states.append(place.state)
        return cls(segment.problem, segment.t, np.array(states))

    def residuals(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """|y| of all chains at rows of states: (P, all levels of all constraints)."""
        problem = self.problem
        nodes = problem.nodes.lifted([y for chain in problem.equations.chains for y in chain])
        return np.abs(problem.compiled(nodes).rows(t, x, problem.values))

    def defect(self, method: RungeKutta | Adams, step: float, problem: Problem, sampled: bool) -> np.ndarray:
        """The largest |y| after one step, by level of every constraint; ``problem`` has the gains in question."""
        closed, held = _rates(problem, problem.nodes.rates), _rates(problem, problem.nodes.held_rates)
        if isinstance(method, RungeKutta):
            after = runge_kutta(held if sampled else closed, method, self.t, self.x, step)
        else:
            after = adams(held, closed, method, self.t, self.x, step)
        found = self.residuals(self.t + step, after)
        return np.where(np.isfinite(found), found, np.inf).max(axis=0)


def _rates(problem: Problem, nodes: Sequence) -> Rates:
    """Rates with the corrections zero where they are held: on the constraints there is nothing to correct."""
    function, p = problem.compiled(nodes), problem.values
    return lambda t, x: function.rows(t, x, p)


def runge_kutta(f: Rates, method: RungeKutta, t: np.ndarray, x: np.ndarray, step: float) -> np.ndarray:
    """One step of all rows."""
    stages: list[np.ndarray] = []
    for row, c in zip(method.A, method.c, strict=True):
        point = x + step * sum((a * k for a, k in zip(row, stages, strict=False)), np.zeros_like(x))
        stages.append(f(t + c * step, point))
    return x + step * sum(b * k for b, k in zip(method.b, stages, strict=True))


def adams(held: Rates, closed: Rates, method: Adams, t: np.ndarray, x: np.ndarray, step: float) -> np.ndarray:
    """One step of all rows with the memory of the exact motion through them."""
    memory, past, time = [held(t, x)], x, t
    for _ in range(method.order - 1):
        for _ in range(_SUBSTEPS):
            past, time = runge_kutta(held, STARTER, time, past, -step / _SUBSTEPS), time - step / _SUBSTEPS
        memory.append(held(time, past))
    predicted = x + step * sum(b * f for b, f in zip(method.predictor, memory, strict=True))
    if not len(method.corrector):
        return predicted
    later = [closed(t + step, predicted), *memory]
    return x + step * sum(b * f for b, f in zip(method.corrector, later, strict=False))
