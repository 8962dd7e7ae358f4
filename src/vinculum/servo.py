"""Servo constraints: whether the inputs can hold them, at what power, and what moves inside."""

from vinculum.analyze.internal import InternalDynamics, internal_dynamics
from vinculum.analyze.servo import Realizability, idealized, realizability, servo_power

__all__ = ["realizability", "Realizability", "idealized", "servo_power", "internal_dynamics", "InternalDynamics"]
