"""Quasi-velocities, and constraints released into generalized coordinates of their own."""

from vinculum.derivation.quasi.quasi_velocities import QuasiVelocities, quasi_velocities
from vinculum.derivation.quasi.release import release, release_matrices

__all__ = ["quasi_velocities", "QuasiVelocities", "release", "release_matrices"]
