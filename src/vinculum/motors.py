"""DC motors, which turn voltages into the forces of a system."""

from vinculum.describe.motors import DCMotor, charge_of, motorize, voltage_of

__all__ = ["DCMotor", "motorize", "charge_of", "voltage_of"]
