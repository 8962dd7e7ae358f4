"""State feedback, observers, closed loops."""

from vinculum.control.attraction import Attraction, region_of_attraction
from vinculum.control.closed_loop import close_loop, closed_model, estimated
from vinculum.control.feedback import FeedbackLaw, stabilize
from vinculum.control.observer import Estimator, observe

__all__ = [
    "Attraction", "Estimator", "FeedbackLaw", "close_loop", "closed_model", "estimated", "observe",
    "region_of_attraction", "stabilize",
]  # fmt: skip
