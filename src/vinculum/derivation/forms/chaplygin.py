"""Chaplygin's equations: the dependent coordinates appear neither in the energies and forces nor in the constraints,
nor in the directions in which servos act.

    q̇_s = Σ_r b_sr(q_1..q_k) q̇_r,   Θ, V and Q free of the dependent coordinates

Then the equations for the independent coordinates form a closed system (Chaplygin 1895): those of Voronets
without ∂Θ/∂q_s; the dependent coordinates follow by quadrature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, dependent_option, rates_option, register
from vinculum.derivation.forms.voronets import dependent_velocities, divided_variables, refuse_nonlinear
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition, best_partition
from vinculum.derivation.mechanics.sample_states import Samples
from vinculum.derivation.printing import Line
from vinculum.derivation.quasi.quasi_equations import chaplygin_type, eliminate_quasi, quasi_lines
from vinculum.derivation.variables import Variables
from vinculum.describe import Servo
from vinculum.errors import DomainError, Finding, ModelError, call
from vinculum.graph import ONE, ZERO, Node, along, evaluate, gradient, substitute, symbol
from vinculum.names import name_of


@register
@dataclass(frozen=True)
class Chaplygin(MechanicalForm):
    """Voronets' equations under Chaplygin's conditions; other systems are refused."""

    name = "chaplygin"
    summary = "Chaplygin's equations: dependent velocities eliminated."

    dependent: Sequence[sp.Expr] | None = dependent_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def refuse(self, mechanics: Mechanics) -> None:
        """Constraints must be linear in the velocities."""
        refuse_nonlinear(mechanics)

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """The state (q, q̇_r), Chaplygin's conditions verified."""
        s = dependent_velocities(mechanics, self.dependent, self.at, samples, absent_coordinates(mechanics, samples))
        refuse_unless_chaplygin(mechanics, [q for i, q in enumerate(mechanics.system.coordinates) if i in s], samples)
        return divided_variables(mechanics, s, chosen=self.dependent is None)

    def best_partition(self, mechanics: Mechanics, samples: Samples) -> Partition:
        """The best conditioned among the coordinates that Chaplygin's conditions allow."""
        return best_partition(mechanics, samples[0], absent_coordinates(mechanics, samples))

    def divide(self, mechanics: Mechanics, partition: Partition) -> Variables:
        """The same for a given partition."""
        return divided_variables(mechanics, partition.s, partition.chosen)

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """q̈_r from the first k equations, the reactions from the others."""
        return eliminate_quasi(mechanics, variables.chart, chaplygin_type, samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """q̇_s by q̇_r, then the n equations."""
        return quasi_lines(equations, chaplygin_type)


def absent_coordinates(mechanics: Mechanics, samples: Samples) -> list[int]:
    """The coordinates that may be dependent: they appear in no energy, force, direction of a servo or constraint."""
    coordinates = mechanics.system.coordinates
    return [i for i, q in enumerate(coordinates) if not any(_about_dependent(mechanics, [q], samples))]


def refuse_unless_chaplygin(mechanics: Mechanics, dependent: Sequence[sp.Expr], samples: Samples) -> None:
    """Raise a `ModelError` with every condition that fails."""
    problems = [*_about_constraints(mechanics, samples), *_about_dependent(mechanics, dependent, samples)]
    if problems:
        raise ModelError(
            f"the system {mechanics.system.name!r} is not a Chaplygin system",
            [
                *problems,
                Finding("", ["Use ", call("derive", form="voronets"), ", which does not need these conditions."]),
            ],
        )


def _about_constraints(mechanics: Mechanics, samples: Samples) -> Iterator[str]:
    nodes = mechanics.system.nodes
    for constraint, residual in zip(mechanics.system.constraints, mechanics.velocity, strict=True):
        if _varies(along([residual], {nodes.time: ONE})[0], samples):
            yield f"the constraint {constraint.name} contains the time."
        if _varies(substitute([residual], dict.fromkeys(nodes.v, ZERO))[0], samples):
            yield f"the constraint {constraint.name} has a part without velocities, so it is not homogeneous."


def _about_dependent(mechanics: Mechanics, dependent: Sequence[sp.Expr], samples: Samples) -> Iterator[str]:
    nodes, s = mechanics.system.nodes, [symbol(q) for q in dependent]
    forces = dict(zip(mechanics.system.coordinates, mechanics.applied, strict=True))
    places: dict[str, Node] = {"the kinetic energy": nodes.kinetic, "the potential energy": nodes.potential}
    places |= {f"the force on {name_of(q)}": force for q, force in forces.items()}
    servos = [i for i, c in enumerate(mechanics.system.constraints) if isinstance(c, Servo)]
    for u, column in zip(mechanics.system.servo_inputs, mechanics.directions[:, servos].T, strict=True):
        acting = zip(mechanics.system.coordinates, column, strict=True)
        places |= {f"the force of {name_of(u)} on {name_of(q)}": b for q, b in acting}
    places |= {f"the condition hidden in the path of {name}": z for name, z in mechanics.hidden}
    names = [c.name for c in mechanics.system.constraints]
    places |= {f"the constraint {name}": f for name, f in zip(names, mechanics.velocity, strict=True)}
    for place, node in places.items():
        for q, slope in zip(dependent, gradient(node, s), strict=True):
            if _varies(slope, samples):
                yield f"{place} contains the dependent coordinate {name_of(q)}."


def _varies(slope: Node, samples: Samples) -> bool:
    """Whether a node is different from zero at some state in general position."""
    if slope is ZERO:
        return False
    found = []
    for values in samples:
        try:
            found += evaluate([slope], values)
        except DomainError:
            continue
    return not found or bool(np.abs(found).max() > 1e-11)
