"""Voronets' equations: constraints linear in the velocities, the dependent velocities eliminated (Voronets 1901).

    q̇_s = Σ_r b_sr(q, t) q̇_r + b_s(q, t),   Θ(q, q̇_r, t) = T with these put in
    d/dt ∂Θ/∂q̇_r - ∂Θ/∂q_r - Σ_s ∂Θ/∂q_s b_sr - Σ_s ∂T/∂q̇_s (d/dt b_sr - ∂q̇_s/∂q_r - Σ_σ ∂q̇_s/∂q_σ b_σr) = Q_r +
    Σ_s b_sr Q_s

These are the equations of Chaplygin's type (7) with the independent velocities as characteristics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from vinculum.derivation.mechanics.column_choice import best_columns
from vinculum.derivation.mechanics.lagrange import Mechanics
from vinculum.derivation.mechanics.sample_states import generic_states, numbers, unmet
from vinculum.describe import Holonomic
from vinculum.errors import ConstraintError, Finding, Formula, ModelError, Word, call
from vinculum.graph import Node, jacobian, symbol, symbols
from vinculum.names import listed, name_of, suggestion


def independent_velocities(
    mechanics: Mechanics, dependent: Sequence[sp.Expr] | None, at: Mapping[sp.Expr, float] | None
) -> dict[sp.Expr, Node]:
    """The velocities that stay, by their symbols; the dependent ones are named or best conditioned."""
    system = mechanics.system
    refuse_nonlinear(mechanics)
    known = dict(system.parameters) | {system.time: 0.0} | dict(at or {})
    values = {symbol(key): float(x) for key, x in known.items()}
    if at is None:
        states = generic_states(mechanics, wanted=1)
        if not states:
            raise ConstraintError(
                Finding(
                    f"No state that meets the constraints was found.{unmet(mechanics)}",
                    ["If there is one, give it: ", call("derive", at={Word("coordinate"): Word("value")}), "."],
                )
            )
        values = states[0]
    J = numbers(velocity_slopes(mechanics), values)
    s = checked(mechanics, dependent, J) if dependent is not None else best_columns(J)
    return {v: symbol(v) for i, v in enumerate(system.velocities) if i not in s}


def velocity_slopes(mechanics: Mechanics) -> np.ndarray:
    """(m, n) ∂ψ/∂q̇ of the constraints on the velocities; J also holds conditions hidden in the path of a servo."""
    return jacobian(mechanics.velocity, mechanics.system.nodes.v)


def checked(mechanics: Mechanics, dependent: Sequence[sp.Expr], J: np.ndarray) -> list[int]:
    """The numbers of the dependent coordinates a user asked for; J is ∂ψ/∂q̇ in numbers."""
    coordinates, needed = list(mechanics.system.coordinates), len(J)
    problems = [
        f"{name_of(q)} is no coordinate.{suggestion(name_of(q), map(name_of, coordinates))}"
        for q in dependent
        if q not in coordinates
    ]
    if len(set(dependent)) != needed:
        problems.append(
            f"{needed} constraints make {needed} velocities dependent, but these were named: {listed(dependent)}."
        )
    if problems:
        raise ModelError("the choice of dependent coordinates is not usable", problems)
    s = [coordinates.index(q) for q in dependent]
    J_s = J[:, s]
    if needed and np.linalg.svd(J_s, compute_uv=False)[-1] <= 1e-9 * np.abs(J_s).max(initial=1e-300):
        better = [coordinates[i] for i in best_columns(J)]
        raise ModelError(
            "the choice of dependent coordinates is not usable",
            [
                Finding(
                    f"the constraints do not determine the velocities of {listed(dependent)}.",
                    ["Use ", call("derive", dependent=better), "."],
                )
            ],
        )
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
