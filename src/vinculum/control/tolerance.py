"""Tolerance of parameter errors: a law that was designed at nominal parameters, in plants with other ones.

At every value the closed loop has another equilibrium, which is found, linearized and judged like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import equilibrium
from vinculum.analyze.linearize import linearize
from vinculum.analyze.stability import Verdict, stability
from vinculum.control.feedback import FeedbackLaw, value_at
from vinculum.derivation import EquationsOfMotion, derive
from vinculum.errors import ModelError, VinculumError
from vinculum.names import listed
from vinculum.notebook_repr import html


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


def parameter_tolerance(law: FeedbackLaw, over: Mapping[sp.Symbol, Sequence[float]]) -> Tolerance:
    """The stability of the closed loop at every combination of parameter values in ``over``, with the law unchanged."""
    plant = law.linear.equations
    if not isinstance(plant, EquationsOfMotion) or law.compensator is not None:
        what = "controller states" if isinstance(plant, EquationsOfMotion) else "no equations of motion"
        raise VinculumError(
            f"The law has {what}. The tolerance is found for gains of the state in equations of motion."
        )
    unknown = [p for p in over if p not in plant.system.parameters]
    if unknown or not over:
        problem = f"{listed(unknown)} is not a parameter." if unknown else "Nothing to vary."
        raise ModelError("Invalid parameters over=", [f"{problem} Choose from {listed(plant.system.parameters)}."])
    closed = _with_law(plant, law)
    cases = tuple(dict(zip(over, values, strict=True)) for values in product(*over.values()))
    return Tolerance(cases, tuple(_judged(closed, law, case) for case in cases))


def _with_law(plant: EquationsOfMotion, law: FeedbackLaw) -> EquationsOfMotion:
    """The equations of the plant with the law in place of the inputs."""
    system = plant.system
    laws = law.laws
    forces = {q: force.subs(laws) for q, force in system.forces.items()}
    return derive(replace(system, forces=forces, inputs=()), plant.form)


def _judged(closed: EquationsOfMotion, law: FeedbackLaw, case: Mapping[sp.Symbol, float]) -> Verdict | None:
    near = {q: value_at(law.linear, q) for q in closed.system.coordinates}
    parameters = {**law.linear.at.parameters, **case}
    try:
        rest = equilibrium(closed, near=near, parameters=parameters, starts=0)
        return stability(linearize(closed, rest))
    except VinculumError:
        return None
