"""The choice of a method that fits the equations.

Where the equations look stiff at the start, both methods take a number of steps from there on trial. The decision
compares the operations of the whole run at that pace, not seconds: the same run gets the same method on every machine.

    taylor: p N₁ + p² N₂ for a step of order p, with N₁ linear and N₂ other operations in f;
    bdf: about 1.6 values of f, and for n states 4 n² + n³/10 + 30 n + 300.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.traverse import operations
from vinculum.simulation.integrators.bdf import BDF
from vinculum.simulation.integrators.methods import Method, refuse_tolerance, register
from vinculum.simulation.integrators.taylor import Taylor
from vinculum.simulation.problem.discontinuities import choose_sides, place_on_sides
from vinculum.simulation.stabilization.stabilization import Unstabilized

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem

_LINEAR = ("add", "subtract", "negate")
_MOST_TRIED = 4000  # operations; compiling a larger Taylor series takes longer than most stiff runs
_ACCURATE = 3.0  # a run by Taylor series may cost this many times more: its errors are a millionth
_CHEAP = 1e8  # operations, about a tenth of a second: then the more accurate method


@dataclass(frozen=True)
class Automatic(Method):
    """`BDF` if the equations are stiff or have unknown corners, otherwise `Taylor`.

    Equations look stiff if the motion decays much faster than it oscillates, and much faster than the run lasts; then
    short trials of both methods decide. With sign, |x| and branches, both methods go from corner to corner. The
    trajectory says what was chosen and why.
    """

    tolerance: float | None = None  # None: the default of the chosen method
    compact: bool | None = None  # for `Taylor`

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = '"bdf" if the equations are stiff, as short trials show, else "taylor"'
    options: ClassVar[tuple[str, ...]] = ("tolerance", "compact")

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if the tolerance is not positive."""
        refuse_tolerance(self.tolerance)

    def choose(self, problem: Problem, t0: float, t1: float, x: np.ndarray) -> tuple[Method, str]:
        """The method that fits a problem, and the reason; found once for the same start and times."""
        key = "auto", self, t0, t1, x.tobytes(), problem.values.tobytes()
        return problem.branch.known.get(key, lambda: self._choose(problem, t0, t1, x))

    def _choose(self, problem: Problem, t0: float, t1: float, x: np.ndarray) -> tuple[Method, str]:
        taylor, bdf = (self._with_tolerance(method) for method in (Taylor(compact=self.compact), BDF()))
        if problem.nodes.rough:
            return bdf, f"the equations contain {', '.join(problem.nodes.rough)}, which are not smooth"
        if problem.nodes.calls_routines:
            return bdf, f"{len(x)} states whose rates are loops over the joints, which a Taylor series would write out"
        decay, frequency = _time_scales(choose_sides(problem, t0, x, t1 - t0), t0, x)
        scales = f"decay {max(decay, 0):.3g}, frequency {frequency:.3g} at the start"
        if not (decay * abs(t1 - t0) > 1000 and decay > 20 * max(frequency, 1 / abs(t1 - t0))):
            return taylor, f"smooth and not stiff: {scales}"
        size = operations(problem.nodes.rates).total()
        if size > _MOST_TRIED:
            return bdf, f"stiff: {scales}; {size} operations are too many for a Taylor series on trial"
        return _compare(problem, taylor, bdf, t0, t1, x)

    def _with_tolerance(self, method: Any) -> Method:
        return method if self.tolerance is None else replace(method, tolerance=self.tolerance)


register(Automatic())


def _time_scales(problem: Problem, t: float, x: np.ndarray) -> tuple[float, float]:
    """The fastest decay and the highest frequency of the linearized motion at a state."""
    slopes = problem.slopes(t, x)
    roots = np.linalg.eigvals(slopes) if np.all(np.isfinite(slopes)) else np.zeros(1)
    return float(np.max(-roots.real)), float(np.max(np.abs(roots.imag)))


# -- trials ------------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """So many steps led to a time; at this pace, the whole run takes so many operations."""

    steps: int
    reached: float
    operations: float


class _Enough(Exception):
    """Ends a trial after its first chunk of steps."""


def _compare(problem: Problem, taylor: Any, bdf: Any, t0: float, t1: float, x: np.ndarray) -> tuple[Method, str]:
    """The method with fewer operations for the whole run; `Taylor` is more accurate, so it may take more of them."""
    series = _try(problem, taylor, t0, t1, x, _series_operations(problem, taylor))
    formulas = _try(problem, bdf, t0, t1, x, _formula_operations(problem, len(x)))
    chosen = taylor if series.operations <= max(_CHEAP, _ACCURATE * formulas.operations) else bdf
    tried = f"{series.steps} steps of taylor reached t = {series.reached:.4g}"
    tried += f", {formulas.steps} of bdf t = {formulas.reached:.4g}"
    work = f"about {series.operations:.1g} against {formulas.operations:.1g} operations for the run"
    return chosen, f"decays fast at the start, tried both: {tried}, {work}"


def _try(problem: Problem, method: Method, t0: float, t1: float, x: np.ndarray, per_step: float) -> Trial:
    """The first chunk of steps of a method from the start."""
    from vinculum.simulation.trajectory.recorder import Recorder, Run, make_plan

    plan = make_plan(np.array([t0, t1]), method, None, False, "")
    recorder, times = Recorder(plan.instants), [t0]

    def report(t: float) -> None:
        times.append(t)
        raise _Enough

    with suppress(_Enough):
        method.integrate(place_on_sides(problem, plan, t0, x), Run(plan, Unstabilized(), recorder, report), t0, x)
    covered = abs(times[-1] - t0)
    left = abs(t1 - t0) / covered if covered > 0 else math.inf
    return Trial(recorder.steps, times[-1], recorder.steps * left * per_step)


def _series_operations(problem: Problem, method: Taylor) -> float:
    """Operations of one step of a Taylor series; its order follows from the tolerance, as in heyoka."""
    order = math.ceil(1 - math.log(method.tolerance or np.finfo(float).eps) / 2)
    count = operations(problem.nodes.rates)
    linear = sum(count[op] for op in _LINEAR)
    return order * linear + order**2 * (count.total() - linear)


def _formula_operations(problem: Problem, n: int) -> float:
    """Operations of one step of the backward differentiation formulas."""
    count = operations(problem.nodes.rates)
    values = count.total() + 20 * sum(number for op, number in count.items() if op in FUNCTIONS)
    return 1.6 * values + 4 * n**2 + n**3 / 10 + 30 * n + 300
