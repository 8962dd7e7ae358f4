"""Model files: TOML in, a `Model` out; all problems are reported at once, each with its location."""

from vinculum.model.load import load, loads
from vinculum.model.text.problems import ModelFileError, Problem

__all__ = ["ModelFileError", "Problem", "load", "loads"]
