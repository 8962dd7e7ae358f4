"""Feedback laws and observers, the linear model of a closed loop, regions of attraction, feedback for free motions."""

from vinculum.control import Attraction, Estimator, FeedbackLaw, closed_model, region_of_attraction
from vinculum.control.free_motion import stabilize_free_motion

__all__ = [
    "FeedbackLaw",
    "Estimator",
    "closed_model",
    "region_of_attraction",
    "Attraction",
    "stabilize_free_motion",
]
