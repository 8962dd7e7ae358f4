"""Servo constraints: whether the inputs can hold them, the power this takes, and the internal dynamics."""

from vinculum.analyze.internal import InternalDynamics, internal_dynamics
from vinculum.analyze.servo import Realizability, idealized, realizability, servo_power

__all__ = ["realizability", "Realizability", "idealized", "servo_power", "internal_dynamics", "InternalDynamics"]
