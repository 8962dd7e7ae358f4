"""What a call of `simulate` asks for, checked: times, method, step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinculum.errors import Finding, VinculumError, Word, call
from vinculum.graph import order
from vinculum.graph.functions import FUNCTIONS
from vinculum.names import suggestion
from vinculum.simulation.integrators.methods import METHODS
from vinculum.simulation.problem.problem import Problem
from vinculum.simulation.problem.switches import CORNERED

ADAPTIVE = ("taylor", "bdf")
_SAMPLES = 1000  # samples of a run whose instants were not given


@dataclass(frozen=True, eq=False)
class Plan:
    """Times and method of a run."""

    method: str
    t0: float
    t1: float
    instants: np.ndarray
    step: float = 0.0  # fixed-step methods: the step that fits the interval
    count: int = 0  # fixed-step methods: the number of steps
    why: str = ""  # why the method was chosen, when Vinculum chose it
    asked: np.ndarray | None = None  # the instants wanted in the end, where dense output needs more of them


def refuse_unusable(method: str, step: float | None, tolerance: float | None, step_is_chosen: bool = False) -> None:
    """Refuse an unknown method, and options it does not take, before any work is done."""
    known = ("auto", *ADAPTIVE, *METHODS)
    if method not in known:
        raise VinculumError(f"There is no method {method!r}.{suggestion(method, known)} Known: {', '.join(known)}.")
    if method in METHODS and not step_is_chosen and (step is None or not math.isfinite(step) or step <= 0):
        found = f"The method {method!r} needs a positive step; got {step}."
        raise VinculumError(Finding(found, ["Use ", call("simulate", step=Word("1e-3")), ", for instance."]))
    if method in METHODS and tolerance is not None:
        raise VinculumError(f"The method {method!r} has a fixed step and no tolerance. Leave out tolerance.")
    if method not in METHODS and step is not None:
        advice = ("Leave step out, or use ", call("simulate", tolerance=Word("1e-9")), ".")
        raise VinculumError(Finding(f"The method {method!r} chooses its own steps.", advice))
    if tolerance is not None and not (math.isfinite(tolerance) and tolerance > 0):
        raise VinculumError(f"The tolerance is {tolerance}; it must be positive and finite.")


def planned(grid: np.ndarray, method: str, step: float | None, dense: bool, why: str) -> Plan:
    """Lay out the steps and samples of a run over checked times."""
    t0, t1 = float(grid[0]), float(grid[-1])
    if method in ADAPTIVE:
        instants = grid if len(grid) > 2 else np.linspace(t0, t1, _SAMPLES + 1)
        return Plan(method, t0, t1, instants, why=why)
    assert step is not None
    count = max(1, math.ceil(abs(t1 - t0) / step - 1e-9))
    every = 1 if dense else max(1, math.ceil(count / _SAMPLES))
    marks = np.unique(np.append(np.arange(0, count, every), count))
    marked = np.append(t0 + marks[:-1] * ((t1 - t0) / count), t1)
    asked = grid if len(grid) > 2 else marked
    instants = np.unique(np.append(marked, grid))[:: 1 if t1 > t0 else -1] if dense else asked
    return Plan(method, t0, t1, instants, (t1 - t0) / count, count, why, asked)


def checked_times(times: Sequence[float] | np.ndarray) -> np.ndarray:
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


def rough(problem: Problem) -> list[str]:
    """Functions in the equations that say of themselves that they are not smooth, and whose corners are not known."""
    kinks = {n.op for n in order(problem.nodes.rates) if n.op in FUNCTIONS and not FUNCTIONS[n.op].smooth}
    return sorted(kinks - CORNERED)


def refuse_rough(problem: Problem, method: str) -> None:
    """A series cannot look over a corner that it does not know."""
    kinks = rough(problem) if method == "taylor" else []
    if kinks:
        raise VinculumError(
            Finding(
                f"The equations contain {', '.join(kinks)}, which are not smooth: a Taylor series would not see the "
                "corner.",
                ["Use ", call("simulate", method="bdf"), ", or write the corner with sign, Abs or Piecewise."],
            )
        )


def automatic(problem: Problem, t0: float, t1: float, x: np.ndarray) -> tuple[str, str]:
    """The method that fits a problem, and why.

    Stiff: a motion that decays much faster than it turns or lasts. Not smooth: a function that says so of itself; with
    sign, |x| and branches every method but those of fixed steps goes from corner to corner.
    """
    kinks = rough(problem)
    if kinks:
        return "bdf", f"the equations contain {', '.join(kinks)}, which are not smooth"
    if problem.slopes is None:
        return "bdf", f"{len(x)} states whose rates are loops over the joints, which a Taylor series would write out"
    slopes = problem.slopes(t0, x, problem.values).reshape(len(x), len(x))
    roots = np.linalg.eigvals(slopes) if np.all(np.isfinite(slopes)) else np.zeros(1)
    decay, turn = float(np.max(-roots.real)), float(np.max(np.abs(roots.imag)))
    if decay * abs(t1 - t0) > 1000 and decay > 20 * max(turn, 1 / abs(t1 - t0)):
        return "bdf", f"stiff: decay {decay:.3g} against frequency {turn:.3g} at the start"
    return "taylor", f"smooth and not stiff: decay {max(decay, 0):.3g}, frequency {turn:.3g} at the start"
