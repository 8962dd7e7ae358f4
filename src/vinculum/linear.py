"""Results of linear analysis, and controllability and observability of each mode."""

from vinculum.analyze import (
    Equilibrium,
    LinearModel,
    Mode,
    Verdict,
    controllability,
    minimum_actuators,
    observability,
    sufficient_inputs,
    sufficient_outputs,
)

__all__ = [
    "Equilibrium",
    "LinearModel",
    "Verdict",
    "Mode",
    "controllability",
    "observability",
    "minimum_actuators",
    "sufficient_inputs",
    "sufficient_outputs",
]
