"""Quasi-velocities: charts, their inverses and limits, release parameters."""
