"""Tolerance of parameter errors: a law that was designed at nominal parameters, in plants with other ones.

At every value the closed loop has another equilibrium, which is found, linearized and judged like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import equilibrium
from vinculum.analyze.linearize import linearize
from vinculum.analyze.stability import Verdict, stability
from vinculum.control.closed_loop import close_loop
from vinculum.control.feedback import FeedbackLaw, value_at
from vinculum.control.observer import Estimator
from vinculum.derivation import EquationsOfMotion
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed
from vinculum.notebook_repr import html
from vinculum.units.given import column_in_si


@dataclass(frozen=True, eq=False, repr=False)
class Tolerance:
    """The verdict on the closed loop at every combination of parameters; None where it has no equilibrium."""

    parameters: tuple[dict[sp.Symbol, float], ...]
    verdicts: tuple[Verdict | None, ...]

    @property
    def kinds(self) -> np.ndarray:
        """ "asymptotically stable", "stable", "unstable", "undecided", or "no equilibrium"."""
        return np.array(["no equilibrium" if verdict is None else verdict.kind for verdict in self.verdicts])

    @property
    def stable(self) -> np.ndarray:
        """Where the closed loop is asymptotically stable."""
        return self.kinds == "asymptotically stable"

    def __repr__(self) -> str:
        return f"Tolerance: asymptotically stable at {int(self.stable.sum())} of {len(self.parameters)} parameters"

    _repr_html_ = html


def parameter_tolerance(
    law: FeedbackLaw, over: Mapping[sp.Symbol, Sequence[float]], estimator: Estimator | None = None
) -> Tolerance:
    """The stability of the closed loop at every combination of parameter values in ``over``, with the law unchanged.

    A law with integrals or filters, and an ``estimator``, bring their own states: they are part of the loop.
    """
    plant = law.linear.equations
    if not isinstance(plant, EquationsOfMotion):
        raise VinculumError("The law was designed for matrices. The tolerance is found for equations of motion.")
    unknown = [p for p in over if p not in plant.system.parameters]
    if unknown or not over:
        problem = f"{listed(unknown)} is not a parameter." if unknown else "Nothing to vary."
        raise ModelError("Invalid parameters over=", [f"{problem} Choose from {listed(plant.system.parameters)}."])
    over = {p: column_in_si(p, values, dimensions_of(plant), "Invalid parameters over=") for p, values in over.items()}
    closed = close_loop(plant, law, estimator)
    cases = tuple(dict(zip(over, values, strict=True)) for values in product(*over.values()))
    return Tolerance(cases, tuple(_judged(closed, law, case) for case in cases))


def _judged(closed: EquationsOfMotion, law: FeedbackLaw, case: Mapping[sp.Symbol, float]) -> Verdict | None:
    at = law.linear.at
    near = {q: value_at(law.linear, q) for q in closed.system.coordinates if q not in closed.system.ignored}
    try:
        rest = equilibrium(closed, near=near, parameters={**at.parameters, **case}, starts=0)
        return stability(linearize(closed, rest, drop=law.linear.dropped))
    except VinculumError:
        return None
