"""Quasi-velocities, and constraints released by adding generalized coordinates."""

from vinculum.derivation.quasi.quasi_velocities import QuasiVelocities, quasi_velocities
from vinculum.derivation.quasi.release import release, release_matrices

__all__ = ["quasi_velocities", "QuasiVelocities", "release", "release_matrices"]
