"""Servo constraints: whether the actuators can hold them, their relative degrees, the power of the servos.

    M q̈ + h = Q + b u,   ψ(q, q̇, t) = 0:    realizable where  det(ψ_q̇ M⁻¹ b) ≠ 0

The same condition enforced by an ideal reaction (Chetaev) gives another motion: the virtual displacements δq satisfy
bᵀδq = 0, not ψ_q̇ δq = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from vinculum.derivation.mechanics.lagrange import Mechanics, mechanics, product
from vinculum.derivation.mechanics.sample_states import generic_states
from vinculum.derivation.mechanics.servo_index_reduction import determinant_at, named_first, reduce_index, servo_degrees
from vinculum.derivation.quasi.release import without_actuators
from vinculum.describe import Servo, System
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import Finding, Formula, ModelError, call
from vinculum.graph import to_sympy, vector
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.given import numbers_in_si


@dataclass(frozen=True, eq=False, repr=False)
class Realizability:
    """How servo constraints are held: relative degrees, actuator directions, determinant, internal dynamics."""

    system: System
    relative_degrees: Mapping[str, int]  # by constraint
    directions: sp.Matrix  # (n, number of servos) b = ∂Q/∂u
    determinant: float  # of the map from the inputs to the highest derivatives, at the state
    hidden: tuple[tuple[str, sp.Expr], ...]  # further conditions on the state, for relative degrees above two
    internal_dimension: int  # of the motion that the constraints leave free

    def __repr__(self) -> str:
        degrees = ", ".join(f"{name} {degree}" for name, degree in self.relative_degrees.items())
        rows = {
            "relative degree": degrees,
            "determinant": f"{self.determinant:.6g}",
            "internal dynamics": f"dimension {self.internal_dimension}",
            "hidden conditions": str(len(self.hidden)),
        }
        return labelled_rows(f'Servo constraints of "{self.system.name}"', rows)

    _repr_html_ = html


def realizability(system: System, at: Mapping[sp.Expr, float] | None = None) -> Realizability:
    """Whether and how the inputs hold the servo constraints, at a state (default: one in general position).

    Raises a `ConstraintError` if no input affects a constraint.
    """
    refuse_without_servo(system)
    plain = mechanics(system)
    at = None if at is None else numbers_in_si(at, dimensions_of(system), "Invalid state at=")
    samples = named_first(generic_states(plain), at)
    terms, values = reduce_index(plain, samples), samples[0]
    servos = [i for i, c in enumerate(system.constraints) if isinstance(c, Servo)]
    b = terms.directions[:, servos]
    return Realizability(
        system,
        servo_degrees(terms),
        sp.Matrix(*b.shape, [to_sympy(node) for node in b.ravel()]),
        determinant_at(terms, values),
        tuple((name, to_sympy(z)) for name, z in terms.hidden),
        internal_dimension(terms),
    )


def internal_dimension(terms: Mechanics) -> int:
    """The number of states that remain free when every residual and its derivatives below the highest vanish."""
    return 2 * len(terms.system.coordinates) - sum(map(len, terms.chains))


def idealized(system: System) -> System:
    """The same constraints enforced by ideal reactions (Chetaev), without the inputs of the servos."""
    refuse_without_servo(system)
    return without_actuators(system)


def servo_power(system: System) -> sp.Expr:
    """u·bᵀq̇, the power of the servos, as an expression for ``motion[...]``."""
    refuse_without_servo(system)
    terms = mechanics(system)
    servos = [i for i, c in enumerate(system.constraints) if isinstance(c, Servo)]
    speeds = product(terms.directions[:, servos].T, vector(system.nodes.v))
    return sum(u * to_sympy(speed) for u, speed in zip(system.servo_inputs, speeds, strict=True))


def refuse_without_servo(system: System) -> None:
    """Raise an error if the system has no servo constraint."""
    if not system.servo_inputs:
        raise ModelError(
            f"The system {system.name!r} has no servo constraint",
            [Finding("", ["Add one: ", call("Servo", through=[Formula("input")]), "."])],
        )
