"""The user's description: systems and constraints."""

from vinculum.describe.affine import AffineNodes, AffineSystem
from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo
from vinculum.describe.motors import DCMotor, charge_of, motorize, voltage_of
from vinculum.describe.random_signal import random_signal
from vinculum.describe.signal import signal
from vinculum.describe.spline import spline
from vinculum.describe.system import System, SystemNodes

__all__ = [
    "AffineNodes", "AffineSystem", "Constraint", "DCMotor", "Holonomic", "Nonholonomic", "Servo", "System",
    "SystemNodes", "charge_of", "motorize", "random_signal", "signal", "spline", "voltage_of",
]  # fmt: skip
