"""What shows the errata of (16) to (27) and of the appendix: derivatives of f along motions by Lagrange's equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from papers.reactions import wheel as w
from papers.reactions.moments import RATE, Moment, moment, off_the_manifold, on_the_manifold
from papers.record import Evidence
from papers.truth import numbers, relative

M, m, r, l, g = (w.NUMBERS[p] for p in (w.M, w.m, w.r, w.l, w.g))
Rule = Callable[[Moment], float]


def compared(measure: str, moments: list[Moment], printed: Rule, corrected: Rule, truth: Rule) -> Evidence:
    """The smallest relative error of the printed form and the largest of the corrected one."""
    true = np.array([truth(x) for x in moments])
    wrong, right = (np.abs(np.array([rule(x) for x in moments]) - true) / np.abs(true) for rule in (printed, corrected))
    return Evidence(
        f"{measure} against derivatives along Lagrange's motion; {len(moments)} random states",
        float(wrong.min()),
        float(right.max()),
    )


# -- (16), (22) to (24) ----------------------------------------------------------------------------------------------


def accelerations() -> tuple[str, float]:
    errors = [relative(numbers(w.SECOND, x.values), x.accelerations) for x in off_the_manifold()]
    return "(16), (17) against (13) to (15) solved numerically, ten random states", max(errors)


def constraints_hold() -> tuple[str, float]:
    """(18) to (20) in rolling: the material point at the contact is on the curve and at rest, μ is normal to it."""
    left = [abs(x.derivative(name, 0)) for x in on_the_manifold() for name in w.RESIDUALS]
    slipping = [float(np.abs(x.v + r * x[w.thetad] * x.chi).max()) for x in on_the_manifold()]
    return "f₁, f₂, f₃ and the velocity of the material contact point in rolling, ten states", max(*left, *slipping)


def first_derivatives() -> tuple[str, float]:
    def first(x: Moment) -> float:
        return float(x.v @ x.eta - (x.mu @ x.tau) * r * x[w.U])

    def third(x: Moment) -> float:
        return float((x.mu @ x.eta - x.chi @ x.H2 @ x.chi * r) * x[w.U] - x.v @ x.H2 @ x.chi)

    moments = off_the_manifold()
    of_first = relative(np.array([first(x) for x in moments]), np.array([x.derivative("contact", 1) for x in moments]))
    of_third = relative(np.array([third(x) for x in moments]), np.array([x.derivative("tangency", 1) for x in moments]))
    return "(22) to (24) off the manifold too, ten random states", max(of_first, of_third)


# -- (25) ------------------------------------------------------------------------------------------------------------


def reaction_part(x: Moment) -> float:
    a, b, c = x.coefficients
    hx, hz = x.eta
    return float(((a * hx + b * hz) * x[w.Rx] + (b * hx + c * hz) * x[w.Rz]) / (M + m))


def printed_25(x: Moment) -> float:
    return reaction_part(x) + float(r * (x.v @ x.H2 @ x.chi) * x[w.U] - g * x.eta[1] + x.v @ x.H2 @ x.v)


def corrected_25(x: Moment) -> float:
    """With the centrifugal force of the pendulum."""
    hx, hz = x.eta
    swing = m * l * x[w.phid] ** 2 / (M + m)
    return printed_25(x) + swing * (hx * np.sin(x[w.phi]) - hz * np.cos(x[w.phi]))


def second_of_f1(x: Moment) -> float:
    return x.derivative("contact", 2)


def centrifugal_term() -> Evidence:
    return compared("f₁'' on the manifold", on_the_manifold(tangent=True), printed_25, corrected_25, second_of_f1)


def f1_off_the_manifold() -> Evidence:
    """What (25) leaves out: - r U ḟ₃ - r f₃ U̇."""

    def full(x: Moment) -> float:
        f3, rate = (x.derivative("tangency", k) for k in (0, 1))
        return corrected_25(x) - r * x[w.U] * rate - r * f3 * x[RATE]

    return compared("f₁'' off the manifold", off_the_manifold(), corrected_25, full, second_of_f1)


# -- (26), (27) ------------------------------------------------------------------------------------------------------


def of_f2(x: Moment, angle: float) -> float:
    """(26) with the angle of its cosine."""
    a, b, c = x.coefficients
    cos, sin = x.mu
    pushed = ((b * cos - a * sin) * x[w.Rx] + (c * cos - b * sin) * x[w.Rz]) / (M + m)
    turned = (-sin * x[w.Rx] + cos * x[w.Rz]) / M
    return float(pushed + turned - m * l * x[w.phid] ** 2 * np.cos(angle) / (M + m) - g * cos)


def difference(x: Moment) -> float:
    return of_f2(x, x[w.phi] - x[w.alpha])


def rate_of_f2(x: Moment) -> float:
    return x.derivative("rolling", 1)


def angle_of_26() -> Evidence:
    return compared(
        "ḟ₂ on the manifold", on_the_manifold(), lambda x: of_f2(x, x[w.phi] + x[w.alpha]), difference, rate_of_f2
    )


def f2_off_the_manifold() -> Evidence:
    return compared(
        "ḟ₂ off the manifold",
        off_the_manifold(),
        difference,
        lambda x: difference(x) - x[w.U] * float(x.v @ x.mu),
        rate_of_f2,
    )


def rate_of_f3(x: Moment, normal: float) -> float:
    return (normal - float(x.chi @ x.H2 @ x.chi) * r) * x[w.U] - float(x.v @ x.H2 @ x.chi)


def normal_of_27() -> Evidence:
    return compared(
        "ḟ₃ on the manifold",
        on_the_manifold(),
        lambda x: rate_of_f3(x, float(np.linalg.norm(x.eta))),
        lambda x: rate_of_f3(x, float(x.mu @ x.eta)),
        lambda x: x.derivative("tangency", 1),
    )


# -- the appendix ----------------------------------------------------------------------------------------------------


def changed(x: Moment, **changes: float) -> Moment:
    """The same state with other reactions."""
    keys = {"Rx": w.Rx, "Rz": w.Rz, "U": w.U}
    inputs = {key: x[key] for key in (w.Rx, w.Rz, w.U, RATE)} | {keys[name]: value for name, value in changes.items()}
    return moment({key: x[key] for key in w.STATES}, list(inputs.values()))


def rows(x: Moment) -> np.ndarray:
    """A of A N + φ: slopes of d/dt(v, η), ḟ₂, ḟ₃ with respect to Rx, Rz, U; differences are exact, all is linear."""
    columns = []
    for name in ("Rx", "Rz", "U"):
        ends = [changed(x, **{name: value}) for value in (1.0, 0.0)]
        columns.append(
            [ends[0].derivative(f, 1) - ends[1].derivative(f, 1) for f in ("approach", "rolling", "tangency")]
        )
    return np.array(columns).T


def coefficient_e() -> Evidence:
    def e(x: Moment, factor: float) -> float:
        return (M + m) * factor * float(x.v @ x.H2 @ x.chi)

    return compared(
        "e = (M + m) ∂/∂U of d/dt (v, η)",
        on_the_manifold(),
        lambda x: e(x, 1.0),
        lambda x: e(x, r),
        lambda x: (M + m) * rows(x)[0, 2],
    )


def minor() -> Evidence:
    def product(x: Moment) -> float:
        a, b, c = x.coefficients
        return float(a * c - b**2)

    gamma = m / M
    return compared("the minor ac - b²", on_the_manifold(), lambda x: 1 - gamma, lambda x: 1 + gamma, product)


def coefficient_d(x: Moment, printed: bool) -> float:
    """d by the signed radius of curvature ρ = |η|³/(τ, H₂τ)."""
    size = float(np.linalg.norm(x.eta))
    curvature = float(x.tau @ x.H2 @ x.tau) / size**3
    s = 1.0 if printed else float(np.sign(x.mu @ x.eta))
    return s * size * (1 - s * r * curvature)


def signed_d() -> Evidence:
    return compared(
        "d = ∂ḟ₃/∂U",
        on_the_manifold(),
        lambda x: coefficient_d(x, True),
        lambda x: coefficient_d(x, False),
        lambda x: rows(x)[2, 2],
    )


def determinant() -> Evidence:
    gamma = m / M

    def formula(x: Moment, angle: float) -> float:
        beta = x.mu[0] / x.mu[1]
        bracket = 2 + 2 * beta**2 + gamma * (beta * np.cos(angle) + np.sin(angle)) ** 2
        return float(coefficient_d(x, False) * x.eta[1] * x.mu[1] * (1 + gamma) * bracket / (M + m) ** 2)

    return compared(
        "det A",
        on_the_manifold(),
        lambda x: formula(x, x[w.alpha]),
        lambda x: formula(x, x[w.phi]),
        lambda x: float(np.linalg.det(rows(x))),
    )
