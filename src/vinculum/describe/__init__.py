"""What the user states: systems and constraints."""

from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo
from vinculum.describe.motors import DCMotor, charge_of, motorize, voltage_of
from vinculum.describe.system import System, SystemNodes

__all__ = [
    "Constraint", "DCMotor", "Holonomic", "Nonholonomic", "Servo", "System", "SystemNodes", "charge_of", "motorize",
    "voltage_of",
]  # fmt: skip
