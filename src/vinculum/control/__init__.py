"""State feedback, observers, closed loops."""

from vinculum.control.attraction import Attraction, region_of_attraction
from vinculum.control.attraction_estimate import AttractionEstimate, attraction_estimate
from vinculum.control.closed_loop import close_loop, closed_model, estimated
from vinculum.control.feedback import Compensator, FeedbackLaw
from vinculum.control.observer import Estimator, observe
from vinculum.control.regulator import stabilize

__all__ = [
    "Attraction", "AttractionEstimate", "Compensator", "Estimator", "FeedbackLaw", "attraction_estimate", "close_loop",
    "closed_model", "estimated", "observe", "region_of_attraction", "stabilize",
]  # fmt: skip
