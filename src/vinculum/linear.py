"""Linear models: from matrices, frequency response, margins, zeros, controllability and observability of each mode."""

from vinculum.analyze import (
    Equilibrium,
    LinearModel,
    Mode,
    ModeShape,
    Verdict,
    controllability,
    minimum_actuators,
    observability,
    sufficient_inputs,
    sufficient_outputs,
)
from vinculum.analyze.matrix_model import model
from vinculum.analyze.zeros import relative_degree, zeros
from vinculum.control.frequency import FrequencyResponse, loop_response, loop_transfer, response
from vinculum.control.margins import Margin, margins

__all__ = [
    "Equilibrium",
    "LinearModel",
    "Verdict",
    "Mode",
    "ModeShape",
    "model",
    "response",
    "FrequencyResponse",
    "margins",
    "Margin",
    "loop_response",
    "loop_transfer",
    "zeros",
    "relative_degree",
    "controllability",
    "observability",
    "minimum_actuators",
    "sufficient_inputs",
    "sufficient_outputs",
]
