"""Taylor integration: high order, long steps, errors close to rounding.

Smooth equations without events run on a tape, which needs no compilation (`series`). heyoka makes the steps if there
are events or corners, if the user asks for its code, and, with optimized code, if a run proves long (`heyoka_steps`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from vinculum.errors import Finding, VinculumError, call
from vinculum.graph import ONE, along, operations
from vinculum.simulation.integrators.heyoka_steps import compile_heyoka
from vinculum.simulation.integrators.methods import (
    Method,
    Reached,
    refuse_tolerance,
    register,
)
from vinculum.simulation.integrators.series import Series, compile_series, start_series
from vinculum.simulation.integrators.taylor_run import TaylorRun, past_zeros
from vinculum.simulation.integrators.taylor_steps import (
    Steps,
)
from vinculum.simulation.stabilization.stabilization import (
    Baumgarte,
    Projection,
    Stabilization,
    Unstabilized,
)

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem
    from vinculum.simulation.trajectory.recorder import Plan, Run

_RESTING = 4  # derivatives that are zero where a function stays at zero
_COMPILED_UP_TO = 500  # operations; beyond, heyoka's optimized code takes a minute to compile


@dataclass(frozen=True)
class Taylor(Method):
    """Taylor series of high order, with adaptive steps.

    ``tolerance`` is relative to the largest state, or absolute where all states are below 1 (default: rounding). By
    default nothing is compiled before a run without events or corners, and heyoka's optimized code takes over after
    100 000 steps. ``compact=False`` compiles it at once, which takes seconds to minutes; ``compact=True`` compiles
    heyoka's compact code.
    """

    tolerance: float | None = None
    compact: bool | None = None

    name: ClassVar[str] = "taylor"
    about: ClassVar[str] = "Taylor series of high order, adaptive"
    options: ClassVar[tuple[str, ...]] = ("tolerance", "compact")
    follows_corners: ClassVar[bool] = True
    misses_events_at_corners: ClassVar[bool] = True
    keeps_polynomials: ClassVar[bool] = True
    stabilizations: ClassVar[tuple[type[Stabilization], ...]] = (Baumgarte, Projection, Unstabilized)

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if the tolerance is not positive."""
        refuse_tolerance(self.tolerance)

    def refuse(self, problem: Problem) -> None:
        """Raise if the equations have a corner at an unknown place: a series would step over it."""
        kinks = problem.nodes.rough
        if kinks:
            names = ", ".join(kinks)
            found = f"The equations contain {names}, which are not smooth: a Taylor series would not see the corner."
            advice = ("Use ", call("simulate", method="bdf"), ", or write the corner with sign, Abs or Piecewise.")
            raise VinculumError(Finding(found, advice))

    def prepare(self, problem: Problem, t: float, x: np.ndarray) -> None:
        """Compile the integrator, or write the tape."""
        if not _runs_on_tape(self, problem):
            compile_heyoka(problem, self.tolerance, self.compact)

    def feedback_rate(self, problem: Problem, plan: Plan, stabilization: Stabilization, x: np.ndarray) -> float:
        """Half the inverse of the first Taylor step: the motion's own time scale."""
        t, direction = plan.t0, plan.t1 - plan.t0
        key = "rate", self, t, direction, x.tobytes()
        return problem.kept.get(key, lambda: self._time_scale(problem, t, direction, x))

    def _time_scale(self, problem: Problem, t: float, direction: float, x: np.ndarray) -> float:
        """Half the inverse of a first step that no event cuts short."""
        if problem.nodes.events and past_zeros(problem, t, t + direction, x) != t + direction:
            everything = frozenset(range(len(problem.nodes.events)))
            problem = replace(problem, resting=everything)  # an event at the start would cut the step short
        with _owned(self, problem, t, x) as steps:
            step = steps.first_step(direction > 0)
        return 0.5 / step if np.isfinite(step) and step > 0 else problem.motion_rate(t, x)

    def integrate(self, problem: Problem, run: Run, t: float, x: np.ndarray) -> Reached:
        """Run from (t, x) to the end of the plan, in chunks of steps. Returns the outcome, time and state reached."""
        return _integrate(self, _without_resting_events(problem, t, x), run, t, x)


register(Taylor())

# -- a run -------------------------------------------------------------------------------------------------------


def _runs_on_tape(method: Taylor, problem: Problem) -> bool:
    """Whether a problem needs no compilation: smooth, without events, and heyoka's code was not asked for."""
    if method.compact is not None or problem.nodes.events or problem.branch.margins:
        return False
    return compile_series(problem) is not None


@contextmanager
def _owned(method: Taylor, problem: Problem, t: float, x: np.ndarray) -> Iterator[Steps]:
    """What makes the steps of a run, at a given time and state."""
    if _runs_on_tape(method, problem):
        yield start_series(problem, t, x, method.tolerance)
        return
    with compile_heyoka(problem, method.tolerance, method.compact).owned(t, x, problem.values) as steps:
        yield steps


def _integrate(method: Taylor, problem: Problem, run: Run, t0: float, x: np.ndarray) -> Reached:
    with _owned(method, problem, t0, x) as steps:
        optimized = partial(_optimized, method, problem)
        return TaylorRun(problem, run, steps, method.tolerance, optimized, t0, (t0, np.array(x))).to_end()


def _optimized(method: Taylor, problem: Problem, steps: Steps, good: tuple[float, np.ndarray]) -> Steps:
    """Optimized code for a run that proves long. The number of steps decides: the same run gives the same numbers."""
    if not isinstance(steps, Series) or operations(problem.nodes.rates).total() > _COMPILED_UP_TO:
        return steps
    return compile_heyoka(problem, method.tolerance, False).copy().start(*good, problem.values)


def _without_resting_events(problem: Problem, t: float, x: np.ndarray) -> Problem:
    """The problem that leaves out events whose functions stay at zero, at which heyoka would stop again and again.

    Along a smooth motion, up to its next corner, a function stays at zero if it is zero with its first derivatives.
    """
    nodes, functions = problem.nodes, list(problem.nodes.event_functions)
    if not functions or problem.compiled(functions)(t, x, problem.values).all():
        return problem
    motion = {nodes.time: ONE, **dict(zip(nodes.state, nodes.rates, strict=True))}
    rows = [functions]
    for _ in range(_RESTING):
        rows.append(along(rows[-1], motion))
    values = problem.compiled([node for row in rows for node in row])(t, x, problem.values)
    moving = values.reshape(len(rows), -1)
    return replace(problem, resting=frozenset(j for j, row in enumerate(moving.T) if not row.any()))
