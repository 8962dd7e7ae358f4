"""What shows the errata of the first approximation, (16) to (26): differences of the exact motion at an equilibrium."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

from papers.record import Evidence, evidence
from papers.redundant import ball_and_beam as bb
from papers.redundant.differences import NEAR, moved, of_roots, place, stiffness
from papers.redundant.linkages import five_bar, five_bar_model, five_bar_rest, phi, theta
from papers.truth import relative

# -- (16) to (21) ----------------------------------------------------------------------------------------------------


def perturbation() -> Evidence:
    """q - (q₀ + x) for a given q and x = q - q₀, with q₀ in place of q as printed."""
    rest, q = bb.rests()[0][bb.r], 0.3
    x = q - rest
    return Evidence(
        "residual of the relation for the ball moved by 0.1 m, in meters",
        abs(rest - (rest + x)),
        abs(q - (rest + x)),
        accepted=1e-15,
    )


def perturbed_relations() -> Evidence:
    """(18) are values at rest; only (20) has the rates ẏ in which z is put."""
    B, rates = five_bar_model().B, sp.symbols("ydot1 ydot2 xdot1 xdot2")
    at_rest = sp.Matrix([five_bar_rest()[u] for u in five_bar().inputs])  # numbers, as all of (18)
    constraints = sp.Matrix(rates[:2]) - sp.Matrix(B) * sp.Matrix(rates[2:])
    missing = [2 - part.jacobian(rates[:2]).rank() for part in (at_rest, constraints)]
    return evidence("rates of y that the relations named do not contain", missing, exact=True)


def following_rates() -> Evidence:
    """ẏ of (20) for the five-bar against F_q q̇ = 0."""
    rates = np.array([0.7, -0.4])
    state = moved(*place(), rates)
    truth = -np.linalg.solve(state.F[:, state.s], state.F[:, state.r] @ rates)
    errors = [relative(found, truth) for found in (state.B.T @ rates, state.B @ rates)]
    return evidence("ẏ of the five-bar against F_q q̇ = 0", errors)


# -- non-potential forces --------------------------------------------------------------------------------------------


@cache
def slopes_of_forces() -> tuple[np.ndarray, np.ndarray]:
    """f = ∂Q/∂q̇ and p = ∂Q/∂q of the five-bar."""
    forces = sp.Matrix([five_bar().forces[q] for q in (*theta, *phi)])
    f, p = (np.array(forces.jacobian(part), dtype=float) for part in (five_bar().velocities, five_bar().coordinates))
    return f, p


def expansion_of_forces() -> Evidence:
    """Q_i - Q_i(0) at a displaced state; "i q_μ" read with the index as factor."""
    _, p = slopes_of_forces()
    change = np.array([0.1, -0.2, 0.3, 0.15])
    truth = p @ change
    literal = p[:, :2] @ change[:2] + np.arange(1, 5) * change[2:].sum()
    full = p[:, :2] @ change[:2] + p[:, 2:] @ change[2:]
    return Evidence(
        "change of the forces of the five-bar with its position", relative(literal, truth), relative(full, truth)
    )


def projected(full: np.ndarray) -> np.ndarray:
    """X_rr + X_rs B + Bᵀ X_sr + Bᵀ X_ss B."""
    P = np.vstack([np.eye(2), five_bar_model().B])
    return P.T @ full @ P


def projected_forces() -> Evidence:
    """D and P of (24) literally, b of (4) in it, against the change of (E Bᵀ) Q along the constraints."""
    (f, p), B = slopes_of_forces(), five_bar_model().B
    b = moved(*place(), np.zeros(2)).F
    D = f[:2, :2] + (f[:2, 2:] @ B).diagonal()[:, None] + f[2:, :2].T @ (b[:, :2] + b[:, 2:] @ B)
    P = p[:2, :2] + (p[:2, 2:] @ B).diagonal()[:, None] + (B * p[2:, :2]).sum(axis=0) + B.T @ p[2:, 2:] @ B
    literal, right = np.hstack([D, P]), np.hstack([five_bar_model().D, five_bar_model().P])
    truth = np.hstack([projected(f), projected(p)])
    return Evidence(
        "D and P of the five-bar against the forces along its constraints",
        relative(literal, truth),
        relative(right, truth),
    )


def signs_of_forces() -> Evidence:
    model = five_bar_model()
    K = model.stiffness
    return of_roots("with + D, + P and with - D, - P", (model.G + model.D, K + 2 * model.P), (model.G - model.D, K))


def undefined_C3() -> Evidence:
    model = five_bar_model()
    without = model.stiffness - model.B.T @ model.C3
    errors = [relative(K, stiffness()) for K in (without, without + model.B.T @ model.C2.T)]
    return evidence("K of the five-bar without C₃ and with C₃ = C₂ᵀ, against differences", errors, accepted=NEAR)


def missing_PB() -> Evidence:
    model = five_bar_model()
    damping = model.G - model.D
    return of_roots("without and with P^B", (damping, model.stiffness + model.PB), (damping, model.stiffness))


def without_forces() -> Evidence:
    model = five_bar_model()
    potential = model.stiffness + model.P + model.PB
    return of_roots("by (26) as it stands", (model.G, potential), (model.G - model.D, model.stiffness))
