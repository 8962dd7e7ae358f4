"""The choice of a method that fits the equations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vinculum.simulation.integrators.bdf import BDF
from vinculum.simulation.integrators.methods import Method, refuse_tolerance, register
from vinculum.simulation.integrators.taylor import Taylor

if TYPE_CHECKING:
    from vinculum.simulation.problem.problem import Problem


@dataclass(frozen=True)
class Automatic(Method):
    """`BDF` if the equations are stiff at the start or have unknown corners, otherwise `Taylor`.

    Stiff: the motion decays much faster than it oscillates, and much faster than the run lasts. With sign, |x| and
    branches, both methods go from corner to corner.
    """

    tolerance: float | None = None  # None: the default of the chosen method
    compact: bool | None = None  # for `Taylor`

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = '"bdf" if the equations are stiff at the start, else "taylor"'
    options: ClassVar[tuple[str, ...]] = ("tolerance", "compact")

    def refuse_options(self, step_is_chosen: bool = False) -> None:
        """Raise if the tolerance is not positive."""
        refuse_tolerance(self.tolerance)

    def choose(self, problem: Problem, t0: float, t1: float, x: np.ndarray) -> tuple[Method, str]:
        """The method that fits a problem, and the reason."""
        stiff = self._why_stiff(problem, t0, t1, x)
        if stiff:
            return self._with_tolerance(BDF()), stiff
        decay, frequency = _time_scales(problem, t0, x)
        why = f"smooth and not stiff: decay {max(decay, 0):.3g}, frequency {frequency:.3g} at the start"
        return self._with_tolerance(Taylor(compact=self.compact)), why

    def _with_tolerance(self, method: Any) -> Method:
        return method if self.tolerance is None else replace(method, tolerance=self.tolerance)

    def _why_stiff(self, problem: Problem, t0: float, t1: float, x: np.ndarray) -> str:
        """The reason why "bdf" is needed; empty if it is not."""
        kinks = problem.nodes.rough
        if kinks:
            return f"the equations contain {', '.join(kinks)}, which are not smooth"
        if problem.slopes is None:
            return f"{len(x)} states whose rates are loops over the joints, which a Taylor series would write out"
        decay, frequency = _time_scales(problem, t0, x)
        if decay * abs(t1 - t0) > 1000 and decay > 20 * max(frequency, 1 / abs(t1 - t0)):
            return f"stiff: decay {decay:.3g} against frequency {frequency:.3g} at the start"
        return ""


def _time_scales(problem: Problem, t: float, x: np.ndarray) -> tuple[float, float]:
    """The fastest decay and the highest frequency of the linearized motion at a state."""
    assert problem.slopes is not None
    slopes = problem.slopes(t, x, problem.values).reshape(len(x), len(x))
    roots = np.linalg.eigvals(slopes) if np.all(np.isfinite(slopes)) else np.zeros(1)
    return float(np.max(-roots.real)), float(np.max(np.abs(roots.imag)))


register(Automatic())
