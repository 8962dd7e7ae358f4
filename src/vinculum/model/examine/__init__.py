"""Everything a model requests: equations, motion, equilibria, stability, feedback, closed loop."""

from vinculum.model.examine.examine import examine
from vinculum.model.examine.results import Point, Results, Settling, settling_of
from vinculum.model.examine.steps import (
    Equations,
    borders_of,
    closed_motion_of,
    equations_of,
    estimator_of,
    held_motion_of,
    law_of,
    linear_of,
    loop_of,
    motion_of,
    rest_of,
    rests_of,
    study_of,
    verdict_at,
    verdict_of,
)

__all__ = [
    "borders_of",
    "examine",
    "Results",
    "Point",
    "Settling",
    "settling_of",
    "Equations",
    "equations_of",
    "motion_of",
    "rest_of",
    "rests_of",
    "linear_of",
    "verdict_of",
    "verdict_at",
    "law_of",
    "estimator_of",
    "loop_of",
    "closed_motion_of",
    "held_motion_of",
    "study_of",
]
