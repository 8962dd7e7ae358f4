"""What a study measures in every run: extremes, integrals, values at the end, instants."""

from vinculum.ensembles.measures import Measure, final, first_time, integral, maximum, minimum, settling_time

__all__ = ["maximum", "minimum", "integral", "final", "first_time", "settling_time", "Measure"]
