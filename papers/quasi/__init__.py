"""Khusanov 2020: quasi-velocities and servoconstraints."""
