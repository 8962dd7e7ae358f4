"""What shows the errata of the first approximation, (16) to (38): differences of the exact motion at an equilibrium."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from vinculum.papers.record import Evidence, evidence
from vinculum.papers.redundant import ball_and_beam as bb
from vinculum.papers.redundant import linkages
from vinculum.papers.redundant.linkages import five_bar, five_bar_model, five_bar_rest, phi, theta, x, y
from vinculum.papers.redundant.scalar import Scalar, scalar
from vinculum.papers.truth import motion, relative

_NEAR = 1e-6  # what differences of fourth order leave


# -- the truth: differences of the motion with multipliers -----------------------------------------------------------


def moved(r: np.ndarray, s: np.ndarray, rates: np.ndarray) -> Scalar:
    """The five-bar robot at its holding torques, beside its equilibrium."""
    rest = five_bar_rest()
    values = {u: rest[u] for u in five_bar().inputs}
    places = zip((*theta, *phi), (*r, *s), strict=True)
    velocities = zip((q.diff() for q in (*theta, *phi)), (*rates, 0.0, 0.0), strict=True)
    return scalar(five_bar(), phi, dict(places) | dict(velocities) | values)


def place() -> tuple[np.ndarray, np.ndarray]:
    """r and s of the equilibrium."""
    rest = five_bar_rest()
    return np.array([rest[q] for q in theta]), np.array([rest[q] for q in phi])


def accelerations(change: np.ndarray) -> np.ndarray:
    """r̈ at (x, y, ẋ) from the equilibrium, with multipliers."""
    r, s = place()
    return moved(r + change[:2], s + change[2:4], change[4:]).truth()[0][:2]


@cache
def exact() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, h and b of ẍ = a x + b ẋ + h y, by central differences of fourth order."""
    step, columns = 1e-3, []
    for e in step * np.eye(6):
        ends = [accelerations(k * e) for k in (1, -1, 2, -2)]
        columns.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * step))
    a, h, b = np.split(np.array(columns).T, 3, axis=1)
    return a, h, b


@cache
def stiffness() -> np.ndarray:
    """K of A ẍ + (G - D) ẋ + K x = 0."""
    a, h, _ = exact()
    return -five_bar_model().A @ (a + h @ five_bar_model().B)


def roots(damping: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Of A λ² + damping λ + K for the five-bar, sorted."""
    n, inverse = len(K), np.linalg.inv(five_bar_model().A)
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ damping]])
    return np.sort_complex(np.linalg.eigvals(matrix))


@cache
def exact_roots() -> np.ndarray:
    _, _, b = exact()
    return roots(-five_bar_model().A @ b, stiffness())


def of_roots(what: str, printed: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]) -> Evidence:
    errors = [relative(roots(*found), exact_roots()) for found in (printed, corrected)]
    return evidence(f"roots of the five-bar {what}, against differences of the motion", errors, accepted=_NEAR)


# -- (16) to (21) ----------------------------------------------------------------------------------------------------


def perturbation() -> Evidence:
    """q - (q₀ + x) for a given q and x = q - q₀, with q₀ in place of q as printed."""
    rest, q = bb.rests()[0][bb.r], 0.3
    x = q - rest
    return Evidence(
        "what is left of the relation for the ball moved by 0.1 m, in meters",
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
    return evidence("K of the five-bar without C₃ and with C₃ = C₂ᵀ, against differences", errors, accepted=_NEAR)


def missing_PB() -> Evidence:
    model = five_bar_model()
    damping = model.G - model.D
    return of_roots("without and with P^B", (damping, model.stiffness + model.PB), (damping, model.stiffness))


def without_forces() -> Evidence:
    model = five_bar_model()
    potential = model.stiffness + model.P + model.PB
    return of_roots("by (26) as it stands", (model.G, potential), (model.G - model.D, model.stiffness))


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
        "where a damped pendulum ends that starts 0.14 m outside its circle: distance from the equilibrium "
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
        accepted=_NEAR,
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
        "block (2, 3) for the five-bar against differences", relative(0 * h, -h), relative(found, -h), accepted=_NEAR
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
    return evidence("roots of the five-bar by the determinant, against differences", errors, accepted=_NEAR)


def motor() -> Evidence:
    """e i = R i² + d/dt(L i²/2) + τ ω: the power balance with the back-EMF of acceleration or of speed."""
    k, R, L = bb.MOTOR.torque_constant * bb.MOTOR.gear, bb.MOTOR.resistance, bb.MOTOR.inductance
    i, speed, acceleration, e = 0.3, 1.7, -4.0, 6.0
    errors = []
    for felt in (acceleration, speed):
        rate = (e - R * i - k * felt) / L
        errors.append(abs(e * i - R * i**2 - L * i * rate - k * i * speed) / abs(e * i))
    return evidence("power taken up less heat, magnetic energy and shaft power, as a share", errors)


def proportional_lever() -> Evidence:
    """The rightmost root with motor by α = (d/L)(θ - θ₀): at the second equilibrium and at the first."""
    errors = [relative(bb.assumed(k).roots[:1], bb.linear(k, motor=True).roots[:1]) for k in (1, 0)]
    return evidence(
        "rightmost root by the proportional constraint against the strict one, at θ = 2.498 and at θ = 0", errors
    )
