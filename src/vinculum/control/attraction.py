"""An estimate of the region of attraction, from simulations with many starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.ignorable import ignorable
from vinculum.deprecations import renamed
from vinculum.derivation import EquationsOfMotion
from vinculum.errors import VinculumError
from vinculum.notebook_repr import html
from vinculum.simulation import simulate


@dataclass(frozen=True, eq=False)
class Attraction:
    """Which of many starts converged to the equilibrium.

    ``distances`` are the largest |state - equilibrium| at the end, relative to the largest one at the start; infinite
    for a run that ended early.
    """

    starts: tuple[dict[sp.Expr, float], ...]
    distances: np.ndarray  # (starts)
    tolerance: float

    @property
    def converged(self) -> np.ndarray:
        """True for the starts that ended near the equilibrium."""
        return self.distances < self.tolerance

    came_back = renamed("came_back", "converged")

    def __repr__(self) -> str:
        return f"Attraction: {int(self.converged.sum())} of {len(self.starts)} starts converged"

    _repr_html_ = html


def region_of_attraction(
    closed: EquationsOfMotion,
    at: Equilibrium,
    over: Mapping[sp.Expr, Sequence[float]],
    time: float,
    *,
    fixed: Sequence[sp.Expr] | None = None,
    tolerance: float = 0.05,
    **options: Any,
) -> Attraction:
    """Simulate from every combination of values in ``over``, all else at the equilibrium, and compare after ``time``.

    Dependent coordinates follow from the constraints; ``options`` are passed to `simulate`.
    """
    if not over:
        raise VinculumError("Nothing to vary. Pass over={coordinate: values, ...}.")
    system = closed.system
    starts = [dict(zip(over, values, strict=True)) for values in product(*over.values())]
    rest = {key: at[key] for key in (*system.coordinates, *system.velocities)}
    distances = [_distance(closed, rest, start, time, fixed, options) for start in starts]
    return Attraction(tuple(starts), np.array(distances), tolerance)


def _distance(
    closed: EquationsOfMotion,
    rest: dict[sp.Expr, float],
    start: dict[sp.Expr, float],
    time: float,
    fixed: Sequence[sp.Expr] | None,
    options: dict[str, Any],
) -> float:
    independent = [key for key in closed.states if key in rest] if fixed is None else list(fixed)
    dependent = [closed.system.coordinates[i] for i in closed.partition.s] if closed.partition else []
    known = {key: (rest | start)[key] for key in independent if key not in dependent}
    guess = {key: value for key, value in rest.items() if key not in known}
    try:
        motion = simulate(closed, known, (0.0, time), guess=guess, **options)
    except VinculumError:
        return float("inf")
    if not motion.outcome:
        return float("inf")
    offset = max(abs(value - rest[key]) for key, value in start.items()) or 1.0
    idle = ignorable(closed)
    shown = [*start, *(key for key in closed.system.coordinates if key in known and key not in idle)]
    return max(abs(float(motion[key][-1]) - rest[key]) for key in shown) / offset
