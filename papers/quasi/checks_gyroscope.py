"""What shows the errata of the gyroscope in gimbals, and what is right as printed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from papers.quasi import systems as of
from papers.quasi.chart import Moment, gyroscope_moments
from papers.quasi.checks_general import compared
from papers.record import Evidence, evidence
from papers.truth import numbers, relative

A, A1, A2, B1, C, C1 = (of.GYROSCOPE[p] for p in (of.A, of.A1, of.A2, of.B1, of.C, of.C1))


def angle(moment: Moment) -> tuple[float, float]:
    """sin β, cos β."""
    return float(np.sin(moment.values[of.inner])), float(np.cos(moment.values[of.inner]))


def left_sides(moment: Moment, inner: float = C1) -> np.ndarray:
    """Of (16); ``inner`` stands where C1 must, in the first line."""
    s, c = angle(moment)
    e1, e2, e3 = moment.e
    d1, d2, d3 = moment.rates
    rings = A2 + (A1 + A) * c**2 + C1 * s**2
    first = rings * d1 + C * e2 * e3 * c + (inner - A - A1) * 2 * s * c * e1 * e2
    second = (B1 + A) * d2 - (C1 - A - A1) * c * s * e1**2 - C * e1 * e3 * c
    return np.array([first, second, C * d3])


def right_sides(moment: Moment) -> np.ndarray:
    s, _ = angle(moment)
    return np.array([(1 + s**2) * moment.mu[0], moment.mu[1], moment.lam - moment.mu[0] * s])


def first_equation() -> Evidence:
    return compared(
        "left side of (16a) against (1 + sin²β) μ₁ in motions by Lagrange's equations",
        gyroscope_moments(),
        lambda m: left_sides(m, C)[:1],
        lambda m: left_sides(m)[:1],
        lambda m: right_sides(m)[:1],
    )


def other_equations() -> tuple[str, float]:
    errors = [relative(left_sides(m)[1:], right_sides(m)[1:]) for m in gyroscope_moments()]
    return "left against right side in motions by Lagrange's equations, ten random states", max(errors)


def generic_third() -> Evidence:
    """The third of the generic equations: Σ μ_s A_s3, read with B for A_s3, without λ, and with it."""

    def right(moment: Moment, lam: float) -> np.ndarray:
        return np.array([lam - moment.mu[0] * angle(moment)[0]])

    return compared(
        "right side of the third equation of the gyroscope against Kᵀ R",
        gyroscope_moments(),
        lambda m: right(m, 0.0),
        lambda m: right(m, m.lam),
        lambda m: (m.K.T @ m.force)[2:],
    )


def W(place: tuple[int, int]) -> Callable[[Moment], np.ndarray]:
    return lambda moment: np.array([moment.W[place]])


def W23() -> Evidence:
    return compared(
        "W of the gyroscope, 2 below, 3 above, against its definition",
        gyroscope_moments(),
        lambda m: np.array([m.e[0] * angle(m)[1]]),
        lambda m: np.array([-m.e[0] * angle(m)[1]]),
        W((1, 2)),
    )


def W13() -> tuple[str, float]:
    errors = [relative(np.array([m.e[1] * angle(m)[1]]), W((0, 2))(m)) for m in gyroscope_moments()]
    others = max(float(np.abs(np.delete(m.W.ravel(), [2, 5])).max()) for m in gyroscope_moments())
    return "against the definition of W, the others zero, ten random states", max(*errors, others)


def kinetic_energy() -> tuple[str, float]:
    errors = []
    for moment in gyroscope_moments():
        s, c = angle(moment)
        e1, e2, e3 = moment.e
        found = ((A2 + (A1 + A) * c**2 + C1 * s**2) * e1**2 + C * e3**2 + (A + B1) * e2**2) / 2
        errors.append(relative(np.array([found]), numbers([of.gyroscope().kinetic_energy], moment.values)))
    return "against T(q, q̇), ten random states", max(errors)


def release_matrices() -> tuple[str, float]:
    errors = []
    for moment in gyroscope_moments():
        s, _ = angle(moment)
        printed = np.array([[1 + s**2, 0, -s], [0, 1, 0]])
        errors.append(relative(printed, moment.K[:, :2].T @ moment.K))
    return "A₁₁, A₂₂, B₃₁ against Σ ∂q̇_i/∂e_a ∂q̇_i/∂e_s, ten random states", max(errors)


def held_reaction() -> tuple[str, float]:
    """λ that makes ė3 = 0, from (16c) as printed and from Kᵀ R with e3 at rest."""
    errors = []
    for moment in gyroscope_moments():
        s, _ = angle(moment)
        needed = moment.lam - moment.rates[2] * C  # ė3 falls by 1/C for every unit of λ less
        errors.append(abs(needed - moment.mu[0] * s))
    return "λ that leaves e₃ at rest against μ₁ sin β, ten random states", max(errors)


def kinematic_equations() -> Evidence:
    """(14) is one relation for three velocities; (15) gives all."""
    e = sp.symbols("e1:4")
    velocities = of.gyroscope().velocities
    of_14 = sp.Matrix([of.spin])
    of_15 = sp.Matrix(velocities) - sp.Matrix([e[0], e[1], e[2] - e[0] * sp.sin(of.inner)])
    missing = [3 - part.jacobian(velocities).rank() for part in (of_14, of_15)]
    return evidence("velocities that the kinematic equations named leave open", missing, exact=True)
