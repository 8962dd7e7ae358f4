"""Stabilization of the free motion under servo constraints by tangential reactions (Khusanov 2020, conclusion).

x' = A x + B μ at a steady motion,   μ = μ₀ - R⁻¹Bᵀ P x,   AᵀP + P A - P B R⁻¹ Bᵀ P + Q = 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.internal import first_approximation
from vinculum.analyze.modes import reach
from vinculum.control.refuse_modes import refuse_unweighted
from vinculum.control.regulator import regulator, unweighted_modes
from vinculum.control.weights import Weights, weights
from vinculum.derivation import EquationsOfMotion
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.names import name_of
from vinculum.text_printer import number
from vinculum.units.given import numbers_in_si


def stabilize_free_motion(
    equations: EquationsOfMotion,
    at: Mapping[sp.Expr, float],
    states: Sequence[sp.Expr],
    inputs: Sequence[sp.Expr] | None = None,
    *,
    state_weights: Weights = None,
    input_weights: Weights = None,
) -> dict[sp.Expr, sp.Expr]:
    """Laws {input: expression of the states} that stabilize a steady motion, by LQR on the first approximation.

    ``at`` is the steady motion with its inputs; ``states`` are those that are constant in it. Weights are as in
    `stabilize`. Pass the laws to ``simulate(..., inputs=laws)``.
    """
    if not isinstance(at, Equilibrium):
        at = numbers_in_si(at, dimensions_of(equations), "Invalid point")
    driven = tuple(inputs if inputs is not None else equations.system.free_inputs)
    A, B = first_approximation(equations, at, states, driven)
    Q = weights(state_weights, len(A), "state_weights", tuple(states))
    R = weights(input_weights, len(driven), "input_weights", driven, definite=True)
    refuse_uncontrollable(A, B, states)
    refuse_unweighted(unweighted_modes(A, Q, [name_of(x) for x in states]))
    gain = regulator(A, B, Q, R)
    distance = sp.Matrix([x - at[x] for x in states])
    return {u: at[u] + (sp.Matrix(gain)[i, :] * distance)[0] for i, u in enumerate(driven)}


def refuse_uncontrollable(A: np.ndarray, B: np.ndarray, states: Sequence[sp.Expr]) -> None:
    """A root that does not decay must be controllable (Popov, Belevitch, Hautus)."""
    for mode in reach(A, B, [name_of(x) for x in states]):
        if mode.lost and not mode.decays:
            shape = ", ".join(mode.states)
            raise ModelError(
                "The free motion cannot be stabilized",
                [f"No input can control the root {number(mode.root, 4)} in {shape}. Add an input that acts on it."],
            )
