"""Voronets' equations: constraints linear in the velocities, the dependent velocities eliminated (Voronets 1901).

    q̇_s = Σ_r b_sr(q, t) q̇_r + b_s(q, t),   Θ(q, q̇_r, t) = T with these substituted
    d/dt ∂Θ/∂q̇_r - ∂Θ/∂q_r - Σ_s ∂Θ/∂q_s b_sr - Σ_s ∂T/∂q̇_s (d/dt b_sr - ∂q̇_s/∂q_r - Σ_σ ∂q̇_s/∂q_σ b_σr) = Q_r +
    Σ_s b_sr Q_s

These are the equations of Chaplygin's type (7) with the independent velocities as characteristics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.form import MechanicalForm, dependent_option, rates_option, register
from vinculum.derivation.mechanics.explicit import Explicit, best_columns
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.partition import Partition, best_columns_among, check_dependent
from vinculum.derivation.mechanics.sample_states import Samples, numbers, refuse_unmet
from vinculum.derivation.mechanics.servo_index_reduction import servo_limits
from vinculum.derivation.printing import Line
from vinculum.derivation.quasi.characteristics import release_parameters
from vinculum.derivation.quasi.chart import Characteristics
from vinculum.derivation.quasi.quasi_equations import chaplygin_type, eliminate_quasi, quasi_lines, quasi_variables
from vinculum.derivation.variables import Variables
from vinculum.describe import Holonomic
from vinculum.errors import Finding, Formula, ModelError, Word, call
from vinculum.graph import jacobian, symbol, symbols
from vinculum.names import listed


@register
@dataclass(frozen=True)
class Voronets(MechanicalForm):
    """Dependent velocities eliminated, also with nonholonomic constraints."""

    name = "voronets"
    summary = "Voronets' equations: dependent velocities eliminated."

    dependent: Sequence[sp.Expr] | None = dependent_option()
    rates: Mapping[str, float] | float | None = rates_option()

    def refuse(self, mechanics: Mechanics) -> None:
        """Constraints must be linear in the velocities."""
        refuse_nonlinear(mechanics)

    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """The state (q, q̇_r)."""
        s = dependent_velocities(mechanics, self.dependent, self.at, samples)
        return divided_variables(mechanics, s, chosen=self.dependent is None)

    def divide(self, mechanics: Mechanics, partition: Partition) -> Variables:
        """The same for a given partition."""
        return divided_variables(mechanics, partition.s, partition.chosen)

    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """q̈_r from the first k equations, the reactions from the others."""
        return eliminate_quasi(mechanics, variables.chart, chaplygin_type, samples)

    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """q̇_s by q̇_r, then the n equations."""
        return quasi_lines(equations, chaplygin_type)


def divided_variables(mechanics: Mechanics, dependent: Sequence[int], chosen: bool) -> Variables:
    """The state (q, q̇_r). Where Vinculum chose q_s, it chooses again when q̇_r no longer determine the velocities.

    With conditions hidden in the path of a servo, J has other rows than the velocity constraints: no other choice then.
    """
    variables = quasi_variables(mechanics, independent_characteristics(mechanics, dependent))
    if not chosen or mechanics.deep:
        return variables
    r = tuple(i for i in range(len(mechanics.system.coordinates)) if i not in dependent)
    partition = Partition(r, tuple(dependent), chosen=True)
    return replace(variables, partition=partition, conditions=servo_limits(mechanics))


def independent_characteristics(mechanics: Mechanics, dependent: Sequence[int]) -> Characteristics:
    """The velocities that stay, then the constraints."""
    system = mechanics.system
    kept = [v for i, v in enumerate(system.velocities) if i not in dependent]
    names = (*kept, *release_parameters(system, None))
    return Characteristics(system, names, (*map(symbol, kept), *mechanics.velocity), len(kept))


def dependent_velocities(
    mechanics: Mechanics,
    dependent: Sequence[sp.Expr] | None,
    at: Mapping[sp.Expr, float] | None,
    samples: Samples,
    among: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Indices of the coordinates whose velocities are eliminated: named, or the best conditioned (``among`` some)."""
    system = mechanics.system
    known = dict(system.parameters) | {system.time: 0.0} | dict(at or {})
    values = {symbol(key): float(x) for key, x in known.items()}
    if at is None:
        if not samples:
            refuse_unmet(mechanics)
        values = dict(samples[0])
    J = numbers(velocity_slopes(mechanics), values)
    return best_columns_among(J, among) if dependent is None else named_velocities(mechanics, dependent, J)


def velocity_slopes(mechanics: Mechanics) -> np.ndarray:
    """(m, n) ∂ψ/∂q̇ of the velocity constraints. (J also has rows for conditions hidden in the path of a servo.)"""
    return jacobian(mechanics.velocity, mechanics.system.nodes.v)


def named_velocities(mechanics: Mechanics, dependent: Sequence[sp.Expr], J: np.ndarray) -> tuple[int, ...]:
    """Indices of the dependent coordinates that the user named; J is ∂ψ/∂q̇ at a state."""
    coordinates = mechanics.system.coordinates
    s = check_dependent(mechanics.system, dependent, "velocities")
    J_s = J[:, list(s)]
    if len(J) and np.linalg.svd(J_s, compute_uv=False)[-1] <= 1e-9 * np.abs(J_s).max(initial=1e-300):
        better = [coordinates[i] for i in best_columns(J)]
        problem = f"the constraints do not determine the velocities of {listed(dependent)}."
        finding = Finding(problem, ["Use ", call("derive", dependent=better), "."])
        raise ModelError("Invalid choice of dependent coordinates", [finding])
    return s


def refuse_nonlinear(mechanics: Mechanics) -> None:
    """Voronets' equations are for constraints linear in the velocities."""
    v = set(mechanics.system.nodes.v)
    curved = [
        c.name
        for c, row in zip(mechanics.system.constraints, velocity_slopes(mechanics), strict=True)
        if not isinstance(c, Holonomic) and symbols(row) & v
    ]
    if curved:
        raise ModelError(
            "Voronets' equations need constraints linear in the velocities",
            [
                Finding(
                    f"{', '.join(curved)} is not linear.",
                    [
                        "Use ",
                        call("derive", form="hamel", characteristics={Word("e1"): Formula("expression")}),
                        ", or ",
                        call("derive", form="multipliers"),
                        ".",
                    ],
                )
            ],
        )
