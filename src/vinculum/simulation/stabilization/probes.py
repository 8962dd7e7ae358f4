"""States on the constraints along a pilot run, and what one step of a method does from each of them.

Measured from every probe at once: the *defect*, the residual after one step from the constraints; the residual
*between* the steps, where the motion is a cubic through two steps; and the error that a step *commits* in the states,
from two steps of half the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.simulation.integrators.fixed_step import FixedStep, Rates
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.stabilization.feedback import projection_outputs
from vinculum.simulation.trajectory.live_run import Segment

_MOST_ITERATIONS = 8  # of a projection
_BETWEEN = (0.25, 0.5, 0.75)  # of a step


@dataclass(frozen=True, eq=False)
class Probes:
    """States on the constraints from a run of a problem; one call steps all of them."""

    problem: Problem
    t: np.ndarray  # (P)
    x: np.ndarray  # (P, n)

    @classmethod
    def of(cls, segment: Segment) -> Probes:
        """The samples of a segment, each moved onto the constraints."""
        finite = np.all(np.isfinite(segment.states), axis=1)
        t, x = segment.t[finite], segment.states[finite]
        return cls(segment.problem, t, project_rows(segment.problem, t, x))

    def __len__(self) -> int:
        return len(self.t)

    def some(self, chosen: np.ndarray) -> Probes:
        """Only the chosen probes."""
        return Probes(self.problem, self.t[chosen], self.x[chosen])

    def residuals(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """|y| of all chains at rows of states: (P, all levels of all constraints); infinite where not defined."""
        nodes = self.problem.nodes.lifted([y for chain in self.problem.integrable.chains for y in chain])
        found = np.abs(self.problem.compiled(nodes).rows(t, x, self.problem.values))
        return np.where(np.isfinite(found), found, np.inf)

    def step(self, method: FixedStep, step: float, problem: Problem, sampled: bool) -> Stepped:
        """One step from every probe; ``problem`` has the gains in question."""
        closed, held = rates_of(problem, problem.nodes.rates), rates_of(problem, problem.nodes.held_rates)
        with np.errstate(all="ignore"):
            after = method.step_rows(held, closed, self.t, self.x, step, sampled)
            between = [self.residuals(self.t + s * step, x) for s, x in self._cubic(held, closed, after, step)]
        return Stepped(self.residuals(self.t + step, after), np.max(between, axis=0))

    def _cubic(self, held: Rates, closed: Rates, after: np.ndarray, step: float) -> list[tuple[float, np.ndarray]]:
        """The states that a run interpolates between two steps."""
        first, last = held(self.t, self.x), closed(self.t + step, after)
        return [
            (s, self.x + s * s * (3 - 2 * s) * (after - self.x) + step * s * (1 - s) * ((1 - s) * first - s * last))
            for s in _BETWEEN
        ]

    def committed(self, method: FixedStep, step: float) -> np.ndarray:
        """|x of one step - x of two steps of half the length| without feedback, which removes errors again: (P, n)."""
        f = rates_of(self.problem, self.problem.nodes.held_rates)
        with np.errstate(all="ignore"):
            whole = method.step_rows(f, f, self.t, self.x, step, True)
            middle = method.step_rows(f, f, self.t, self.x, step / 2, True)
            halves = method.step_rows(f, f, self.t + step / 2, middle, step / 2, True)
            found = np.abs(whole - halves)
        return np.where(np.isfinite(found), found, np.inf)


@dataclass(frozen=True, eq=False)
class Stepped:
    """|y| by probe and level: after one step from the constraints, and on the way."""

    defect: np.ndarray  # (P, levels)
    between: np.ndarray  # (P, levels)


def rates_of(problem: Problem, nodes: Sequence) -> Rates:
    """Rates; held corrections are zero, as they are on the constraints."""
    function, p = problem.compiled(nodes), problem.values
    return lambda t, x: function.rows(t, x, p)


def project_rows(problem: Problem, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Rows of states moved onto the constraints with the least change: positions, then velocities."""
    outputs, levels = projection_outputs(problem)
    x = np.array(x)
    if not levels or not len(x):
        return x
    values = problem.compiled(outputs)
    for first, count, rows, start in levels:
        moved = slice(first, first + count)
        for _ in range(_MOST_ITERATIONS):
            out = values.rows(t, x, problem.values)[:, start:]
            f, J = out[:, :rows], out[:, rows : rows + rows * count].reshape(-1, rows, count)
            step = _least_changes(J, f)
            x[:, moved] -= step
            if np.abs(step).max() <= 1e-14 * (1 + np.abs(x[:, moved]).max()):
                break
    return x


def _least_changes(J: np.ndarray, f: np.ndarray) -> np.ndarray:
    """d = J⁺ f for many J, (P, rows, count), with rows of unit length; zero where a number is not finite."""
    good = np.all(np.isfinite(J), axis=(1, 2)) & np.all(np.isfinite(f), axis=1)
    J, f = np.where(good[:, None, None], J, 0.0), np.where(good[:, None], f, 0.0)
    length = np.linalg.norm(J, axis=2)
    scale = 1.0 / np.where(length > 0, length, 1.0)
    return np.einsum("pij,pj->pi", np.linalg.pinv(scale[:, :, None] * J, rcond=1e-10), scale * f)
