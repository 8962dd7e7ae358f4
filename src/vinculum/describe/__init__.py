"""What the user states: systems and constraints."""

from vinculum.describe.constraints import Constraint, Holonomic, Nonholonomic, Servo
from vinculum.describe.system import System, SystemNodes

__all__ = ["Constraint", "Holonomic", "Nonholonomic", "Servo", "System", "SystemNodes"]
