"""Stability over parameters: characteristic polynomial, Hurwitz conditions, regions, borders, continuation."""

from vinculum.analyze.borders import Border, stability_borders
from vinculum.analyze.continuation import Continuation, continuation
from vinculum.analyze.hurwitz import (
    Region,
    characteristic_polynomial,
    hurwitz_conditions,
    stability_region,
    symbolic_matrices,
)

__all__ = [
    "symbolic_matrices",
    "characteristic_polynomial",
    "hurwitz_conditions",
    "stability_region",
    "Region",
    "stability_borders",
    "Border",
    "continuation",
    "Continuation",
]
