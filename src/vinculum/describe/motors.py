"""Motors: an electric current is the velocity of a charge, so a motor is a coordinate like any other.

    L di/dt + R i + k_e n ω = e,   torque n k_t i,   i = dQ/dt

(Krasinskiy 2025, (38), corrected). With T += L i²/2 and Rayleigh's function += R i²/2 this is Lagrange's equation of
the charge Q. The shaft speed is the velocity conjugate to the torque, ω = Σ_j (∂Q_j/∂u) dq_j/dt, for any coordinates
that the motor drives, including dependent ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields

import sympy as sp

from vinculum.describe.system import System
from vinculum.errors import About, Finding, ModelError, Refused
from vinculum.expressions import as_expression
from vinculum.names import name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.units.dimensions import CURRENT, ENERGY, FORCE, INDUCTANCE, RESISTANCE, Dimension, over
from vinculum.units.given import fields_in_si, in_si


@dataclass(frozen=True)
class DCMotor:
    """A DC motor with a gear; ``back_emf`` is k_e, by default equal to ``torque_constant`` k_t.

    Numbers are in SI or have units: ``DCMotor("50 mN*m/A", "1.2 ohm", "0.8 mH")``.
    """

    torque_constant: float
    resistance: float
    inductance: float
    gear: float = 1.0
    back_emf: float | None = None

    def __post_init__(self) -> None:
        fields_in_si(self, _dimensions(self.torque_constant), "Invalid motor")
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value is None:
                continue
            positive = entry.name in ("resistance", "inductance")
            if not as_expression(value).is_finite or (positive and value <= 0) or value == 0:
                wanted = "positive" if positive else "finite and not zero"
                found = Finding(f"its {entry.name} is {value}; it must be {wanted}.", about=About("option", entry.name))
                raise ModelError("Invalid motor", [found])

    _repr_html_ = html


def _dimensions(torque_constant: object) -> dict[str, Dimension | None]:
    """A rotating motor has constants in N·m/A, a linear one in N/A; a gear may turn torques into forces."""
    turning, pushing = over(ENERGY, CURRENT), over(FORCE, CURRENT)
    with suppress(Refused):  # refused below, with its name
        turning = pushing if in_si(torque_constant)[1] == pushing else turning
    constants = dict.fromkeys(("torque_constant", "back_emf"), turning)
    return {**constants, "resistance": RESISTANCE, "inductance": INDUCTANCE, "gear": None}


def charge_of(system: System, u: sp.Expr) -> sp.Expr:
    """The charge coordinate of the motor that replaced the input u; its derivative is the current."""
    return sp.Function(f"charge_{name_of(u)}")(system.time)


def voltage_of(u: sp.Expr) -> sp.Symbol:
    """The voltage that takes the place of the input u."""
    return sp.Symbol(f"e_{name_of(u)}")


def motorize(system: System, motors: Mapping[sp.Expr, DCMotor]) -> System:
    """The system with motors in place of torques: each input u becomes n k_t i, and its voltage e_u is the new input.

    The velocity of the new coordinate charge_u is the current: ``charge_of(system, u).diff()``.
    """
    _refuse_invalid(system, motors)
    currents = {u: charge_of(system, u).diff(system.time) for u in motors}
    torques = {u: motor.gear * motor.torque_constant * currents[u] for u, motor in motors.items()}
    forces = {q: as_expression(force).subs(torques) for q, force in system.forces.items()}
    kinetic, losses = system.kinetic_energy, system.dissipation
    for u, motor in motors.items():
        back_emf = motor.torque_constant if motor.back_emf is None else motor.back_emf
        speed = shaft_speed(system, u)
        forces[charge_of(system, u)] = voltage_of(u) - back_emf * motor.gear * speed
        kinetic += sp.Float(motor.inductance) * currents[u] ** 2 / 2
        losses += sp.Float(motor.resistance) * currents[u] ** 2 / 2
    return System(
        coordinates=[*system.coordinates, *(charge_of(system, u) for u in motors)],
        kinetic_energy=kinetic,
        potential_energy=system.potential_energy,
        forces=forces,
        dissipation=losses,
        constraints=system.constraints,
        parameters=system.parameters,
        inputs=[*(u for u in system.inputs if u not in motors), *(voltage_of(u) for u in motors)],
        name=f"{system.name} with motors",
        ignored=[*system.ignored, *(charge_of(system, u) for u in motors)],
        units=_units(system, motors),
    )


def _units(system: System, motors: Mapping[sp.Expr, DCMotor]) -> dict[sp.Expr, str]:
    """Units of a system with motors: charges in coulomb, voltages in volt."""
    if not system.units:
        return {}
    kept = {key: unit for key, unit in system.units.items() if key not in motors}
    return kept | {charge_of(system, u): "C" for u in motors} | {voltage_of(u): "V" for u in motors}


def shaft_speed(system: System, u: sp.Expr) -> sp.Expr:
    """ω = Σ_j (∂Q_j/∂u) dq_j/dt."""
    return sum(
        (as_expression(force).diff(u) * q.diff(system.time) for q, force in system.forces.items()), start=sp.S.Zero
    )


def _refuse_invalid(system: System, motors: Mapping[sp.Expr, DCMotor]) -> None:
    problems = []
    for u, motor in motors.items():
        about = About("motor", name_of(u))
        if u not in system.inputs:
            near = suggestion(name_of(u), map(name_of, system.inputs))
            problems.append(
                Finding(f"{name_of(u)} is not an input, so no motor can take its place.{near}", about=about)
            )
        elif not isinstance(motor, DCMotor):
            problems.append(Finding(f"{motor!r} is not a motor.", ["Write DCMotor(torque_constant=..., ...)."], about))
        elif any(as_expression(force).diff(u, 2) != 0 for force in system.forces.values()):
            found = f"the forces are not linear in {name_of(u)}, so it is not the torque of one shaft."
            problems.append(Finding(found, about=about))
    if problems:
        raise ModelError(f"Invalid motors of {system.name!r}", problems)
