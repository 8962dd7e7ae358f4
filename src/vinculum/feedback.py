"""Feedback laws and observers: pole placement, PID, own gains, closed loops, regions of attraction, free motions."""

from vinculum.control import (
    Attraction,
    AttractionEstimate,
    Compensator,
    Estimator,
    FeedbackLaw,
    attraction_estimate,
    closed_model,
    region_of_attraction,
)
from vinculum.control.digital_law import DigitalLaw, digital_law
from vinculum.control.digital_margins import digital_margins
from vinculum.control.discrete_design import digital
from vinculum.control.free_motion import stabilize_free_motion
from vinculum.control.own_gain import law
from vinculum.control.pid import pid
from vinculum.control.placement import place
from vinculum.control.tolerance import Tolerance, parameter_tolerance
from vinculum.names import gain_symbol

__all__ = [
    "FeedbackLaw",
    "Compensator",
    "Estimator",
    "place",
    "pid",
    "law",
    "digital",
    "digital_law",
    "digital_margins",
    "DigitalLaw",
    "closed_model",
    "gain_symbol",
    "region_of_attraction",
    "Attraction",
    "attraction_estimate",
    "AttractionEstimate",
    "parameter_tolerance",
    "Tolerance",
    "stabilize_free_motion",
]
