"""Model files: TOML in, a `Model` out, and everything that is wrong said at once, with its place."""

from vinculum.model.load import load, loads
from vinculum.model.text.problems import ModelFileError, Problem

__all__ = ["ModelFileError", "Problem", "load", "loads"]
