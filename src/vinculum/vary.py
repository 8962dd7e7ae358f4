"""What varies in a study: distributions, and tables with one row for every run."""

from vinculum.ensembles.vary import Normal, Uniform, Variation, normal, table, uniform

__all__ = ["uniform", "normal", "table", "Uniform", "Normal", "Variation"]
