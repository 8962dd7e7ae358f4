"""Where the inputs of servo constraints have no effect on them: the determinant det(ψ_q̇ M⁻¹ b) vanishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.integrable import Condition
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import Values
from vinculum.derivation.servo.servo_index_reduction import determinant_at, effect
from vinculum.describe import Servo
from vinculum.names import listed


@dataclass(frozen=True, eq=False)
class ServoLimit(Condition):
    """det(ψ_q̇ M⁻¹ b), a number computed at a state."""

    mechanics: Mechanics | None = None

    def value(self, values: Values) -> float:
        """The determinant at a state."""
        assert self.mechanics is not None
        return determinant_at(self.mechanics, values)

    def reason(self, values: Values) -> str:
        """Which input has next to no effect at a state, and which constraint needs it."""
        assert self.mechanics is not None
        return _infinite(*powerless(self.mechanics, values))


def servo_limits(mechanics: Mechanics) -> tuple[Condition, ...]:
    """The condition that the servo constraints of a system bring; nothing without servo constraints."""
    if mechanics.actuators is None:
        return ()
    servos = ", ".join(f"`{c.name}`" for c in mechanics.system.constraints if isinstance(c, Servo))
    meaning = _infinite(servos, mechanics.system.servo_inputs)
    advice = "Choose a path or an actuator that avoids this."
    return (ServoLimit(None, meaning, "singular", advice, mechanics=mechanics),)


def _infinite(servos: str, inputs: Sequence[sp.Expr]) -> str:
    return (
        f"the servo constraint {servos} asks for an infinite input: {listed(inputs)} can hold it only where the "
        "realizability determinant is not zero"
    )


def powerless(mechanics: Mechanics, values: Values) -> tuple[str, tuple[sp.Expr, ...]]:
    """The inputs that have next to no effect on the servo constraints at a state, and the constraints they hold."""
    system = mechanics.system
    D, rows, _ = effect(mechanics, values)
    weakest = np.abs(np.linalg.svd(D / np.where(rows > 0, rows, 1.0)[:, None])[2][-1])
    idle = tuple(u for u, part in zip(system.servo_inputs, weakest, strict=True) if part > 0.3 * weakest.max())
    held = [c.name for c in system.constraints if isinstance(c, Servo) and set(c.through) & set(idle)]
    return ", ".join(f"`{name}`" for name in held), idle
