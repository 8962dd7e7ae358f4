"""Model files: TOML in, a `Model` out, and everything that is wrong said at once, with its place."""

from vinculum.describe.files.load import load, loads
from vinculum.describe.files.problems import ModelFileError, Problem

__all__ = ["ModelFileError", "Problem", "load", "loads"]
