"""DC motors between the voltages of a system and its forces."""

from vinculum.describe.motors import DCMotor, charge_of, motorize, voltage_of

__all__ = ["DCMotor", "motorize", "charge_of", "voltage_of"]
