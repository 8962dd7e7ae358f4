"""The gains g of the feedback c = Σ g_j y_j of every constraint, given by the user or taken from method and step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from vinculum.derivation.interface import Equations, Feedback, linear_feedback
from vinculum.derivation.program.perturbation import binomial
from vinculum.errors import VinculumError
from vinculum.names import suggestion
from vinculum.simulation.stabilization.stabilization import (
    Baumgarte,
    Gain,
    Projection,
    Sampled,
    Stabilization,
    Unstabilized,
)

# Share of the natural rate for residual equations of an order r above two. A correction c held through a step τ moves
# the residual by c τʳ/r!, with a relative error of the order τ^(p+1-r) of the method: third for r = 2 and RK4, but
# first for r = 4, with a constant that grows where inputs lose their grip; and rounding ε of the residual comes back as
# a jump ε/τ^(r-1) of its last derivative. Deadbeat leans on that answer with 1/τʳ, and drives what it should damp.
_GENTLE = 0.05


def feedback(
    stabilization: Stabilization,
    equations: Equations,
    natural_rate: float,
    method_order: float,
    direction: float = 1.0,
) -> Feedback:
    """The corrections c of every constraint, stable in the direction of the run.

    Where the user gave no gains, those that belong to the equations are used, and where there are none either,
    ``natural_rate``: for `Sampled` it is 1/τ, and ``method_order`` decides what is deadbeat.
    """
    names, chains = equations.constraint_names, equations.chains
    if isinstance(stabilization, (Projection, Unstabilized)):
        return linear_feedback(chains, [[0.0] * len(chain) for chain in chains])
    _refuse_strange_names(stabilization, names)
    if not stabilization.given and equations.prescribed is not None:
        return equations.prescribed
    rows = []
    for name, chain in zip(names, chains, strict=True):
        row = _row(stabilization, name, len(chain), natural_rate, method_order)
        rows.append([g * direction ** (len(chain) - j) for j, g in enumerate(row)])
    return linear_feedback(chains, rows)


def _refuse_strange_names(stabilization: Baumgarte | Sampled, names: Sequence[str]) -> None:
    """Refuse gains for constraints that there are not."""
    for gain in (stabilization.rate, getattr(stabilization, "alpha", None), getattr(stabilization, "beta", None)):
        for name in gain if isinstance(gain, Mapping) else ():
            if name not in names:
                raise VinculumError(f"A gain was given for {name}, which is no constraint.{suggestion(name, names)}")


def deadbeat(order: int, method_order: float) -> np.ndarray:
    """Gains, in units of the step, with which a residual chain of any order is zero after as many steps.

    With N the nilpotent chain and p the order of the method, a step with c held is y⁺ = Φ y - b c,
    Φ = Σ_{j ≤ p} Nʲ/j!, b = Σ_{j < p} Nʲ/(j+1)! e_r. Ackermann's formula for Φ - b g nilpotent: g = e_rᵀ C⁻¹ Φʳ.
    """
    N = np.eye(order, k=1)
    powers = [np.linalg.matrix_power(N, j) for j in range(order + 1)]
    Phi = sum(powers[j] / math.factorial(j) for j in range(int(min(method_order, order)) + 1))
    b = sum(powers[j][:, -1] / math.factorial(j + 1) for j in range(int(min(method_order, order))))
    controllability = np.column_stack([np.linalg.matrix_power(Phi, j) @ b for j in range(order)])
    return np.linalg.solve(controllability.T, np.eye(order)[-1]) @ np.linalg.matrix_power(Phi, order)


def _row(
    stabilization: Baumgarte | Sampled, name: str, order: int, natural: float, method_order: float
) -> Sequence[float]:
    """g_0 ... g_{r-1} of one constraint."""
    rate = _given(stabilization.rate, name)
    if isinstance(stabilization, Sampled) and rate is None and order <= 2:
        return [g * natural ** (order - j) for j, g in enumerate(deadbeat(order, method_order))]
    base = natural if rate is None else rate
    if order == 2 and isinstance(stabilization, Baumgarte):
        alpha, beta = _given(stabilization.alpha, name), _given(stabilization.beta, name)
        return [(base if beta is None else beta) ** 2, 2 * (base if alpha is None else alpha)]
    if order > 2 and rate is None:
        base *= _GENTLE
    return binomial(order, base)


def _given(gain: Gain | None, name: str) -> float | None:
    """The gain that the user gave for a constraint."""
    value = gain.get(name) if isinstance(gain, Mapping) else gain
    if value is not None and (not math.isfinite(value) or value < 0):
        raise VinculumError(f"the stabilization gain of {name} is {value}; it must be finite and not negative.")
    return value
