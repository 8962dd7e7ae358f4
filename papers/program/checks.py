"""What shows the errata of the general part: accelerations, decay, partial integrals, bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from papers.program import ellipse
from papers.record import Evidence, evidence
from papers.truth import motion, numbers, relative

# -- (4) to (8) ------------------------------------------------------------------------------------------------------


def potential_forces() -> Evidence:
    """b^l of an elastic pendulum: m^{lk}(Q_k - Γ v v), without and with -∂P/∂q^k."""
    r, a = dynamicsymbols("r a")
    T, P = (r.diff() ** 2 + r**2 * a.diff() ** 2) / 2, 10 * (r - 1) ** 2 - sp.Float(9.81) * r * sp.cos(a)
    force = {a: -sp.Rational(1, 5) * a.diff()}
    system = vn.System([r, a], T, P, force, name="elastic pendulum")
    q, v = system.coordinates, system.velocities
    mass = sp.hessian(T, v)
    bend = [sum(_christoffel(mass, q, i, j, k) * v[i] * v[j] for i in range(2) for j in range(2)) for k in range(2)]
    right = [sp.Matrix([force.get(x, 0) - b - w * P.diff(x) for x, b in zip(q, bend, strict=True)]) for w in (0, 1)]
    values = {r: 1.2, a: 0.7, r.diff(): 0.4, a.diff(): -1.5}
    truth = motion(system, values).solve()[0]
    errors = [relative(numbers(list(mass.inv() * side), values), truth) for side in right]
    return evidence("accelerations of an elastic pendulum against Lagrange's equations", errors)


def _christoffel(mass: sp.Matrix, q: Sequence[sp.Expr], i: int, j: int, k: int) -> sp.Expr:
    return (mass[i, k].diff(q[j]) + mass[j, k].diff(q[i]) - mass[i, j].diff(q[k])) / 2


def drift_from_t0() -> Evidence:
    """f of f'' = 0 from t₀ = 2: f₀ + φ₀ t, and f₀ + φ₀ (t - t₀)."""
    f0, rate, t0, t = 0.3, -0.7, 2.0, 5.0
    truth = solve_ivp(lambda t, y: [y[1], 0.0], (t0, t), [f0, rate], rtol=1e-12, atol=1e-12).y[0, -1]
    errors = [abs(found - truth) for found in (f0 + rate * t, f0 + rate * (t - t0))]
    return evidence("deviation at t = 5 from t₀ = 2 against f'' = 0 integrated", errors)


def sign_of_decay() -> Evidence:
    """|φ| after ten seconds of dφ/dt = ±2φ: the trivial solution is to be asymptotically stable."""
    ends = [
        abs(solve_ivp(lambda t, y, s=s: s * 2 * y, (0, 10), [1.0], rtol=1e-10, atol=1e-14).y[0, -1]) for s in (1, -1)
    ]
    return evidence("|φ| after ten seconds, φ = 1 at the start, γ = 2", ends, accepted=1e-8)


# -- (10), (11) ------------------------------------------------------------------------------------------------------

_t = sp.Symbol("t")
_x = sp.symbols("x1:5")
PHI = sp.Matrix([_x[0] ** 2 + _x[1] * _x[2] - sp.sin(_t), _x[3] * _x[0] - sp.cos(2 * _t) * _x[1]])
FACTOR = 3.0  # φ⁰
POINT = (0.4, -1.1, 0.7, 1.3)


def family(with_time: bool, squared: bool = False) -> list[float]:
    """X = φ⁰ X_τ + X_ν at a point and t = 0.6, in R⁴ with two integrals; c³ is constant."""
    known = dict(zip((*_x, _t), (*POINT, 0.6), strict=True))
    J = numbers(list(PHI.jacobian(_x)), known).reshape(2, 4)
    phi, drift = numbers(list(PHI), known), numbers(list(PHI.diff(_t)), known)
    F = -np.array([5.0, 8.0]) * phi
    tangent = minors(np.vstack([J, [0.3, 0.1, -0.4, 0.8]]))
    normal = J.T @ np.linalg.solve(J @ J.T, F - drift if with_time else F)
    rate = FACTOR * (FACTOR if squared else 1.0) * tangent + normal
    return [*rate, *(J @ rate + drift - F), *tangent]


def minors(rows: np.ndarray) -> np.ndarray:
    """The vector product of three rows in R⁴."""
    return np.array([(-1) ** i * np.linalg.det(np.delete(rows, i, axis=1)) for i in range(4)])


def factor_twice() -> Evidence:
    """X - X_ν against φ⁰ times the vector product; the arbitrary factor printed in X and in X_τ too."""
    tangent = np.array(family(True)[6:])
    normal = np.array(family(True)[:4]) - FACTOR * tangent
    errors = [relative(np.array(family(True, squared)[:4]) - normal, FACTOR * tangent) for squared in (True, False)]
    return evidence("tangential part against φ⁰[∇φ¹∇φ²c³], φ⁰ = 3", errors)


def time_in_the_normal_part() -> Evidence:
    """dφ/dt - F for φ that depend on time."""
    left = [max(map(abs, family(with_time)[4:6])) for with_time in (False, True)]
    return evidence("dφ/dt - F in R⁴, two integrals that depend on time", left)


def room_for_a_product() -> Evidence:
    """2n - 1 factors: with r = 2n integrals one is too many, with r = 2n - 1 none; n = 2."""
    too_many = [max(0, r - (2 * 2 - 1)) for r in (4, 3)]
    return evidence("integrals beyond the factors of the vector product, n = 2", too_many, exact=True)


def controls() -> tuple[str, float]:
    """p u = h for u of (16), s = 4 controls and r = 2 constraints, any c₀."""
    random = np.random.default_rng(4)
    p, h, c = random.normal(size=(2, 4)), random.normal(size=2), random.normal(size=(1, 4))
    errors = []
    for factor in (0.0, 0.7):
        control = factor * minors(np.vstack([p, c])) + p.T @ np.linalg.solve(p @ p.T, h)
        errors.append(float(np.abs(p @ control - h).max()))
    return "p u - h for two constraints and four controls, c₀ = 0 and 0.7", max(errors)


# -- (17) to (25) ----------------------------------------------------------------------------------------------------


def general_kinematics() -> Evidence:
    """q̇ of (1) with a(q, v) = v + q/2 (a turning frame, say): v itself, or a."""
    q, v = np.array([0.3, -0.8]), np.array([1.1, 0.4])
    truth = v + q / 2
    return evidence("dq/dt with a = v + q/2, relative", [relative(v, truth), relative(v + q / 2, truth)])


def index_of_the_residuals() -> Evidence:
    """dη^μ/dt = y^{m+μ} or η^{m+μ}: y has only m components; m = 2 constraints of position."""
    m = 2
    y, z = [sp.Symbol(f"y{i + 1}") for i in range(m)], [sp.Symbol(f"z{i + 1}") for i in range(m)]
    eta = [*y, *z]
    missing = [sum(m + i >= len(of) for i in range(m)) for of in (y, eta)]
    return evidence("right sides of (20) that do not exist, m = 2", missing, exact=True)


def exponential_bound() -> Evidence:
    """η' = -η with V = η²/2: c₁ = c₂ = 1/2, a = 1. How far |η|² exceeds the bound at t = 2."""
    a, c1, c2, t = 1.0, 0.5, 0.5, 2.0
    square = np.exp(-2 * t)
    excess = [max(0.0, square / (c2 / c1 * np.exp(-rate * t)) - 1) for rate in (2 * a / c2, a / c2)]
    return evidence("excess of |η|² over the bound, η' = -η at t = 2", excess)


def order_of_the_remainder() -> Evidence:
    """η⁺ of Euler's method for Υ = -kη + cη²: remainder (τ²/2)Υ'' or (τ/2)Υ_ηη ηη."""
    tau, k, c, eta = 0.01, 3.0, 0.7, 0.2
    truth = eta + tau * (-k * eta + c * eta**2)
    second = 2 * c * eta**2
    errors = [
        abs(eta - tau * k * eta + factor * second - truth) / (tau * c * eta**2) for factor in (tau**2 / 2, tau / 2)
    ]
    return evidence("remainder of the expansion, relative to its quadratic term", errors)


def estimate() -> Evidence:
    """|η⁺| = |η + τkη|: |δ + τkη| is not even small with η."""
    tau, k, eta = 0.01, -30.0, 1e-3
    truth = abs(eta + tau * k * eta)
    errors = [abs(found - truth) / truth for found in (abs(1 + tau * k * eta), abs(1 + tau * k) * abs(eta))]
    return evidence("estimate of the next residual, linear equation, relative", errors)


def theorem() -> Evidence:
    """Gains that each form of the theorem admits for ε = 10⁻³ on the ellipse: how far |y| exceeds ε.

    As printed, θ ≤ 1 and a right side near one: k = 1 is admitted. Corrected: 8 ≤ k ≤ 1992.
    """
    epsilon = 1e-3
    excess = [max(0.0, ellipse.largest(k) / epsilon - 1) for k in (1.0, 8.1)]
    return evidence("excess of |y| over ε with a gain that the theorem admits, k = 1 and k = 8.1", excess, exact=True)


# -- example (26) ----------------------------------------------------------------------------------------------------


def decay(printed_b: bool, factor: float) -> np.ndarray:
    """(dy/dt)/y with u = factor · y at points of the ellipse's neighborhood, which must be -1 (k = 1)."""
    q1, q2, u, y = ellipse.q1, ellipse.q2, ellipse.u, ellipse.y
    rates = ellipse.rates(printed_b)
    rate = sum(y.diff(q) * f for q, f in zip((q1, q2), rates, strict=True)).subs(u, factor * y) / y
    return np.array([numbers([rate], {q1: a, q2: b})[0] for a, b in ((1.9, 0.4), (0.5, 1.1), (-1.2, 0.7))])


def factor_b() -> Evidence:
    errors = [relative(decay(printed, 1.0), -np.ones(3)) for printed in (True, False)]
    return evidence("(dy/dt)/(-ky) with b as printed and corrected, less one; three points", errors)


def control() -> Evidence:
    """u = k(q1² + 4q2² - 4) = 2ky, or ky."""
    errors = [relative(decay(False, factor), -np.ones(3)) for factor in (2.0, 1.0)]
    return evidence("(dy/dt)/(-ky) with u as printed and corrected, less one; three points", errors)


def interval() -> Evidence:
    """The admissible k by the theorem for ε = 10⁻³ and 4·10⁻⁵, against the printed 200 and 1800."""
    ends = [vn.simulation.gain_interval("euler", ellipse.STEP, epsilon, curvature=16) for epsilon in (1e-3, 4e-5)]
    printed = np.array([200.0, 1800.0])
    errors = [relative(np.array([end.low, end.high]), printed) for end in ends]
    return evidence("ends of the interval of k by the theorem against 200 < k < 1800", errors)


def helmholtz() -> Evidence:
    """(8) as it stands fails Helmholtz's conditions by 4α; with the multiplier e^{2αt} it meets them."""
    f = dynamicsymbols("f")
    t = dynamicsymbols._t
    damped = f.diff().diff() + 2 * f.diff() + f
    failed = vn.program.helmholtz([damped], [f]).failed
    with_multiplier = vn.program.helmholtz([sp.exp(2 * t) * damped], [f]).failed
    left = [float(sum(abs(x) for matrix in found.values() for x in matrix)) for found in (failed, with_multiplier)]
    return evidence(
        "what f'' + 2f' + f leaves of Helmholtz's conditions, as it stands and with a multiplier", left, exact=True
    )
