"""What shows the errata of the theorem and of (29) to (38)."""

from __future__ import annotations

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from papers.record import Evidence, evidence
from papers.redundant import ball_and_beam as bb
from papers.redundant import linkages
from papers.redundant.differences import NEAR, exact, exact_roots, moved, place
from papers.redundant.linkages import five_bar_model, x, y
from papers.redundant.scalar import scalar
from papers.truth import motion, relative

# -- the theorem -----------------------------------------------------------------------------------------------------


def start_beside_the_constraint() -> Evidence:
    """A damped pendulum started 0.1 m outside its circle, by Shulgin's equations."""
    system = linkages.pendulum(1.5)

    def rates(t: float, state: np.ndarray) -> list[float]:
        found = scalar(system, [y], {x: state[0], y: state[1], x.diff(): state[2], y.diff(): 0.0})
        return [state[2], float((found.B @ found.rates)[0]), found.truth()[0][0]]

    end = solve_ivp(rates, (0, 30), [0.3, -1.1, 0.0], method="DOP853", rtol=1e-9, atol=1e-11).y[:, -1]
    shifted = -np.hypot(0.3, 1.1)
    return Evidence(
        "final position of a damped pendulum that starts 0.14 m outside its circle: distance from the equilibrium "
        "of the theorem, and from the equilibrium on its own circle F = c",
        float(np.hypot(end[0], end[1] + 1)),
        float(np.hypot(end[0], end[1] - shifted)),
        accepted=1e-7,
    )


def pendulum_slopes(friction: float) -> np.ndarray:
    """The linear system of the hanging pendulum in (x, ẋ), by differences."""

    def acceleration(place: float, rate: float) -> float:
        down = -np.sqrt(1 - place**2)
        values = {x: place, y: down, x.diff(): rate, y.diff(): -place * rate / down}
        return float(motion(linkages.pendulum(friction), values).solve()[0][0])

    h = 1e-4
    slopes = [(acceleration(*e) - acceleration(*-e)) / (2 * h) for e in h * np.eye(2)]
    return np.array([[0, 1], slopes])


def real_parts() -> Evidence:
    """A pendulum with its damper reversed: it has no real root at all, so "the real roots are negative"."""
    found = np.linalg.eigvals(pendulum_slopes(-0.4))
    real = found[np.abs(found.imag) < 1e-9].real
    growth = 0.2  # of exp(0.2 t) for ẍ - 0.4 ẋ + 9.81 x = 0
    return Evidence(
        "growth rate of a pendulum driven by its damper: largest real root (none: no growth), largest real part",
        abs(max(real, default=0.0) - growth),
        abs(found.real.max() - growth),
        accepted=NEAR,
    )


def order_of_the_subsystem() -> Evidence:
    n = len(five_bar_model().A)
    order = len(five_bar_model().system_matrix)
    return Evidence(
        "order of (26) in normal form for n = 2", float(abs(order - n)), float(abs(order - 2 * n)), exact=True
    )


# -- (29) to (38) ----------------------------------------------------------------------------------------------------


def meaning_of_x1() -> Evidence:
    """ẋ against ẋ₁, which is the acceleration, and against x₁."""
    rates = np.array([0.7, -0.4])
    state = moved(*place(), rates)
    errors = [relative(found, rates) for found in (state.truth()[0][:2], state.rates)]
    return evidence("ṙ of the five-bar in motion", errors)


def block_of_32() -> Evidence:
    """The coefficient of z in the second row, zero or -h."""
    _, h, _ = exact()
    found = -five_bar_model().normal_form.h
    return Evidence(
        "block (2, 3) for the five-bar against differences", relative(0 * h, -h), relative(found, -h), accepted=NEAR
    )


def determinant_of_33() -> Evidence:
    a, h, b = exact()
    lam = sp.Symbol("lambda")
    E, block = sp.eye(2), sp.Matrix(a + h @ five_bar_model().B)
    errors = []
    for corner in (lam * E, -E):
        matrix = sp.Matrix(sp.BlockMatrix([[lam * E, corner], [-block, lam * E - sp.Matrix(b)]]))
        found = np.roots(np.array(sp.Poly(matrix.det(method="berkowitz"), lam).all_coeffs(), dtype=float))
        errors.append(relative(np.sort_complex(found), exact_roots()))
    return evidence("roots of the five-bar by the determinant, against differences", errors, accepted=NEAR)


def motor() -> Evidence:
    """e i = R i² + d/dt(L i²/2) + τ ω: the power balance with the back-EMF of acceleration or of speed."""
    k, R, L = bb.MOTOR.torque_constant * bb.MOTOR.gear, bb.MOTOR.resistance, bb.MOTOR.inductance
    i, speed, acceleration, e = 0.3, 1.7, -4.0, 6.0
    errors = []
    for felt in (acceleration, speed):
        rate = (e - R * i - k * felt) / L
        errors.append(abs(e * i - R * i**2 - L * i * rate - k * i * speed) / abs(e * i))
    return evidence("electrical power minus heat, magnetic and shaft power, relative", errors)


def proportional_lever() -> Evidence:
    """The rightmost root with motor by α = (d/L)(θ - θ₀): at the second equilibrium and at the first."""
    errors = [relative(bb.assumed(k).roots[:1], bb.linear(k, motor=True).roots[:1]) for k in (1, 0)]
    return evidence(
        "rightmost root by the proportional constraint against the strict one, at θ = 2.498 and at θ = 0", errors
    )
