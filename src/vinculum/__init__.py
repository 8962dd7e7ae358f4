"""Vinculum: constrained mechanical systems, from energies and constraints to a checked simulation."""

from vinculum.derive import EquationsOfMotion, derive
from vinculum.describe import Holonomic, Nonholonomic, System
from vinculum.simulate import (
    Baumgarte,
    Event,
    Outcome,
    Projection,
    Sampled,
    Trajectory,
    consistent,
    reaction,
    read,
    simulate,
)
