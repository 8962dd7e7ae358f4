"""Everything a model requests: equations, motion, equilibria, stability, feedback, closed loop."""

from typing import TYPE_CHECKING

from vinculum.late import late

if TYPE_CHECKING:  # the same names for type checkers and editors
    from vinculum.model.examine.digital_step import digital_loop_of as digital_loop_of
    from vinculum.model.examine.digital_step import digital_motion_of as digital_motion_of
    from vinculum.model.examine.digital_step import sampled_law as sampled_law
    from vinculum.model.examine.examination import examine as examine
    from vinculum.model.examine.motion_steps import Equations as Equations
    from vinculum.model.examine.motion_steps import equations_of as equations_of
    from vinculum.model.examine.motion_steps import motion_of as motion_of
    from vinculum.model.examine.region_steps import RegionOfAttraction as RegionOfAttraction
    from vinculum.model.examine.region_steps import attraction_of as attraction_of
    from vinculum.model.examine.region_steps import map_of as map_of
    from vinculum.model.examine.results import DigitalRun as DigitalRun
    from vinculum.model.examine.results import Point as Point
    from vinculum.model.examine.results import Results as Results
    from vinculum.model.examine.results import Settling as Settling
    from vinculum.model.examine.results import settling_of as settling_of
    from vinculum.model.examine.steps import borders_of as borders_of
    from vinculum.model.examine.steps import closed_motion_of as closed_motion_of
    from vinculum.model.examine.steps import continuation_of as continuation_of
    from vinculum.model.examine.steps import estimator_of as estimator_of
    from vinculum.model.examine.steps import held_motion_of as held_motion_of
    from vinculum.model.examine.steps import law_of as law_of
    from vinculum.model.examine.steps import linear_of as linear_of
    from vinculum.model.examine.steps import loop_of as loop_of
    from vinculum.model.examine.steps import rest_of as rest_of
    from vinculum.model.examine.steps import rests_of as rests_of
    from vinculum.model.examine.steps import verdict_at as verdict_at
    from vinculum.model.examine.steps import verdict_of as verdict_of
    from vinculum.model.examine.study_step import study_of as study_of

_NAMES = {
    "examination": ("examine",),
    "motion_steps": ("Equations", "equations_of", "motion_of"),
    "digital_step": ("digital_loop_of", "digital_motion_of", "sampled_law"),
    "results": ("DigitalRun", "Point", "Results", "Settling", "settling_of"),
    "steps": (
        "borders_of", "closed_motion_of", "continuation_of", "estimator_of", "held_motion_of", "law_of", "linear_of",
        "loop_of", "rest_of", "rests_of", "verdict_at", "verdict_of",
    ),
    "region_steps": ("RegionOfAttraction", "attraction_of", "map_of"),
    "study_step": ("study_of",),
}  # fmt: skip
_PLACES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}

__all__ = sorted(_PLACES)
__getattr__ = late(__name__, _PLACES)
