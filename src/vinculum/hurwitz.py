"""Stability with parameters left as symbols: characteristic polynomial, Hurwitz conditions, regions of stability."""

from vinculum.analyze.hurwitz import (
    Region,
    characteristic_polynomial,
    hurwitz_conditions,
    stability_region,
    symbolic_matrices,
)

__all__ = ["symbolic_matrices", "characteristic_polynomial", "hurwitz_conditions", "stability_region", "Region"]
