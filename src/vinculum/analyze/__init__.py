"""Equilibria and steady motions, linearization, stability, controllability."""

from vinculum.analyze.borders import Border, stability_borders
from vinculum.analyze.continuation import Continuation, continuation
from vinculum.analyze.equilibrium import Equilibrium, equilibrium, steady
from vinculum.analyze.hurwitz import (
    Region,
    characteristic_polynomial,
    hurwitz_conditions,
    stability_region,
    symbolic_matrices,
)
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import linearize
from vinculum.analyze.mode_shapes import ModeShape
from vinculum.analyze.modes import (
    Mode,
    controllability,
    minimum_actuators,
    observability,
    sufficient_inputs,
    sufficient_outputs,
)
from vinculum.analyze.stability import Verdict, stability

__all__ = [
    "Border", "Continuation", "Equilibrium", "LinearModel", "Mode", "ModeShape", "Region", "Verdict",
    "characteristic_polynomial", "continuation", "controllability", "equilibrium", "hurwitz_conditions", "linearize",
    "minimum_actuators", "observability", "stability", "stability_borders", "stability_region", "steady",
    "sufficient_inputs", "sufficient_outputs", "symbolic_matrices",
]  # fmt: skip
