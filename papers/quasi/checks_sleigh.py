"""What shows the errata of the sleigh: every printed formula at random states of a released sleigh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from papers.quasi import systems as of
from papers.quasi.chart import Moment, sleigh_moments
from papers.quasi.checks_general import REDUCED, compared
from papers.record import Evidence, evidence
from papers.truth import motion, numbers, relative

M, a, b, k = (of.SLEIGH[p] for p in (of.M, of.alpha, of.beta, of.k))
g2 = k**2 + a**2 + b**2


def known(moment: Moment) -> tuple[float, ...]:
    """e1, e2, e3, u and ė1, ė2, ė3."""
    e1, e2, e3 = moment.e
    return (e1, e2, e3, float(np.sqrt(e2**2 - e3**2)), *moment.rates)


# -- the text, T, (12) -----------------------------------------------------------------------------------------------


def sideways_velocity() -> Evidence:
    """V_Ay from the axes of the body: the second component of R(φ)ᵀ (ξ̇, η̇)."""

    def across(moment: Moment) -> np.ndarray:
        angle = moment.values[of.phi]
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return (turn.T @ moment.velocities[:2])[1:]

    return compared("V_Ay of the sleigh", sleigh_moments(), lambda m: m.e[2:], lambda m: -m.e[2:], across)


def kinetic_energy() -> Evidence:
    """As printed, with its brackets read as they must have been meant, against M|v_C|²/2 + M k² φ̇²/2."""
    t, phi = of.t, of.phi
    C = (
        of.xi + of.alpha * sp.cos(phi) - of.beta * sp.sin(phi),
        of.eta + of.alpha * sp.sin(phi) + of.beta * sp.cos(phi),
    )
    truth = of.M / 2 * (sum(x.diff(t) ** 2 for x in C) + of.k**2 * phi.diff() ** 2)
    first = of.xi.diff() - phi.diff() * (of.alpha * sp.sin(phi) + of.beta * sp.cos(of.beta))
    second = of.eta.diff() + phi * (of.alpha * sp.cos(phi) - of.beta * sp.sin(phi))
    printed = of.M / 2 * (first**2 + second**2 + of.k**2 * phi.diff() ** 2)
    forms = (printed, of.sleigh().kinetic_energy, truth)
    rules = [lambda m, T=T: numbers([T], m.values) for T in forms]
    return compared("T of the sleigh against M|v_C|²/2 + Mk²φ̇²/2", sleigh_moments(), *rules)


def inverse_12() -> Evidence:
    """ξ̇ and η̇ from e, against the velocities that gave e."""

    def velocities(moment: Moment, second: Callable[[float], tuple[float, float]]) -> np.ndarray:
        _, _, e3, u, *_ = known(moment)
        angle = moment.values[of.phi]
        x, y = second(angle)
        return np.array([u * np.cos(angle) + e3 * x, u * np.sin(angle) - e3 * y])

    return compared(
        "ξ̇ and η̇ of the sleigh from e",
        sleigh_moments(),
        lambda m: velocities(m, lambda angle: (np.cos(angle), np.sin(angle))),
        lambda m: velocities(m, lambda angle: (np.sin(angle), np.cos(angle))),
        lambda m: m.velocities[:2],
    )


def undefined_mass() -> Evidence:
    """Symbols of T̃ that nothing defines: m, or none."""
    defined = set(of.SLEIGH) | {*sp.symbols("e1:4"), of.t}
    forms = (REDUCED.subs(of.M, sp.Symbol("m")), REDUCED)
    undefined = [float(len(T.free_symbols - defined)) for T in forms]
    return evidence("symbols in T̃ that nothing defines", undefined, exact=True)


# -- W ---------------------------------------------------------------------------------------------------------------


def coefficient(place: tuple[int, int], printed: Callable[..., float], corrected: Callable[..., float]) -> Evidence:
    def rule(formula: Callable[..., float]) -> Callable[[Moment], np.ndarray]:
        return lambda moment: np.array([formula(*known(moment))])

    lower, upper = place[0] + 1, place[1] + 1
    truth = lambda moment: np.array([moment.W[place]])  # noqa: E731  # one formula
    return compared(
        f"W of the sleigh, {lower} below, {upper} above, against its definition",
        sleigh_moments(),
        rule(printed),
        rule(corrected),
        truth,
    )


def W22() -> Evidence:
    def first(e1: float, e2: float, e3: float, u: float, d1: float, d2: float, d3: float) -> float:
        return e3 * (e3 * d2 - e2 * d3) / (e2 * u**2)

    return coefficient((1, 1), first, lambda e1, e2, e3, u, *d: first(e1, e2, e3, u, *d) + e1 * e3 / u)


def W23() -> Evidence:
    return coefficient((1, 2), lambda e1, e2, e3, u, *d: e3 * e2 / u, lambda e1, e2, e3, u, *d: e1 * e2 / u)


def W32() -> Evidence:
    def printed(e1: float, e2: float, e3: float, u: float, d1: float, d2: float, d3: float) -> float:
        return (e3 * d2 - e2 * d3 + e1 * e2 * u) / u**2

    return coefficient((2, 1), printed, lambda *x: -printed(*x))


def W33() -> Evidence:
    return coefficient((2, 2), lambda e1, e2, e3, u, *d: e1 * e3 / u, lambda e1, e2, e3, u, *d: -e1 * e3 / u)


def W13() -> tuple[str, float]:
    errors = [relative(np.array([-known(m)[3]]), m.W[:1, 2]) for m in sleigh_moments()]
    return "against the definition of W, ten random states", max(errors)


# -- (13) ------------------------------------------------------------------------------------------------------------


def residual(
    measure: str, printed: Callable[[Moment], list[float]], corrected: Callable[[Moment], list[float]]
) -> Evidence:
    """Left less right side, in a motion that Lagrange's equations with the same reactions give, as a share of the
    greatest term.
    """

    def error(terms: list[float]) -> float:
        return abs(sum(terms)) / max(map(abs, terms))

    wrong, right = ([error(form(m)) for m in sleigh_moments()] for form in (printed, corrected))
    return Evidence(
        f"{measure} of the sleigh moved by Lagrange's equations; {len(wrong)} random states", min(wrong), max(right)
    )


def first_equation() -> Evidence:
    def terms(moment: Moment, sign: float) -> list[float]:
        e1, e2, e3, u, d1, d2, d3 = known(moment)
        inertia = [g2 * d1, -b * (e2 * d2 - e3 * d3) / u, -a * d3, sign * b * e1 * e3, -sign * a * e1 * u]
        return [*(M * x for x in inertia), -moment.mu[0]]

    return residual("residual of (13a)", lambda m: terms(m, 1.0), lambda m: terms(m, -1.0))


def second_equation() -> Evidence:
    def terms(moment: Moment, printed: bool) -> list[float]:
        e1, e2, e3, u, d1, d2, d3 = known(moment)
        s = -1.0 if printed else 1.0
        below = u**3 if printed else e2 * u**2
        product = (b * e1 * e2 / u - e2) * (e3 * (e3 * d2 - e2 * d3) / below + e1 * e3 / u)
        inertia = [(b * d1 * e2 * u**2 - b * e1 * e3 * (e3 * d2 - e2 * d3)) / u**3, -d2, s * product]
        inertia += [a * e1**2 * e2 / u, -b * e1**2 * e2 * e3 / u**2]
        return [*(M * x for x in inertia), s * moment.mu[1] * e2**2 / u**2]

    return residual("residual of (13b)", lambda m: terms(m, True), lambda m: terms(m, False))


def third_equation() -> Evidence:
    def left(moment: Moment, product: float, last: float) -> list[float]:
        e1, e2, e3, u, d1, d2, d3 = known(moment)
        inertia = [a * d1, -(b * e3 * d1 * u**2 + b * e1 * e2 * (e2 * d3 - e3 * d2)) / u**3]
        inertia += [-product / u**2, -a * e1**2 * e3 / u, -last / u**2]
        return [M * x for x in inertia]

    def printed(moment: Moment) -> list[float]:
        e1, e2, e3, u, _, d2, d3 = known(moment)
        product = (b * e3 * e1 - e2 * u) / u * (np.sqrt(e3 * d2 - e3 * d3) - d3 * e2 + e1 * e2 * u)
        return [*left(moment, product, b * e1**2 * e2**2), -moment.lam, moment.mu[1] * e1 * e3 / (e2 * u)]

    def corrected(moment: Moment) -> list[float]:
        e1, e2, e3, u, _, d2, d3 = known(moment)
        product = (b * e1 * e2 - e2 * u) / u * (e3 * d2 - e2 * d3 + e1 * e2 * u)
        return [*left(moment, product, -b * e1**2 * e3**2), moment.lam, -moment.mu[1] * e2 * e3 / u**2]

    return residual("residual of (13c)", printed, corrected)


def compact_form() -> tuple[str, float]:
    """X and Y of the compact form: (e₂/u) X = μ₂e₂²/u², -(e₃/u) X + Y = λ - μ₂e₂e₃/u²."""
    errors = []
    for moment in sleigh_moments():
        e1, e2, e3, u, d1, d2, d3 = known(moment)
        X = M * ((e2 * d2 - e3 * d3) / u - b * d1 - a * e1**2 + e1 * e3)
        Y = M * (d3 - a * d1 - e1 * u + b * e1**2)
        left = np.array([e2 / u * X, -e3 / u * X + Y])
        right = np.array([moment.mu[1] * e2**2 / u**2, moment.lam - moment.mu[1] * e2 * e3 / u**2])
        errors.append(float(np.abs(left - right).max() / np.abs([X, Y]).max()))
    return "left less right side in motions by Lagrange's equations, ten random states", max(errors)


# -- the ideal sleigh ------------------------------------------------------------------------------------------------


def ideal(e1: float, e2: float) -> tuple[np.ndarray, float]:
    """ė and λ on the knife edge at φ = 0 with multipliers: ė1 = φ̈, ė2 = ξ̈."""
    state = {of.xi: 0.0, of.eta: 0.0, of.phi: 0.0, of.xi.diff(): e2, of.eta.diff(): 0.0, of.phi.diff(): e1}
    second, (lam,) = motion(of.ideal_sleigh(), state | {of.tau: 0.0}).solve()
    return second[[2, 0]], float(lam)


STATES = [(0.9, 1.6), (-1.3, 0.7), (0.4, 2.2), (2.0, 1.1)]


def ideal_equation() -> Evidence:
    """γ²ė1 - βė2 ∓ αe1e2 = 0."""
    errors = []
    for e1, e2 in STATES:
        d1, d2 = ideal(e1, e2)[0]
        errors.append([abs(g2 * d1 - b * d2 + sign * a * e1 * e2) / abs(a * e1 * e2) for sign in (-1, 1)])
    wrong, right = np.array(errors).T
    return Evidence(
        "residual of the equation on the knife edge, with multipliers, relative to α e₁e₂; four states",
        wrong.min(),
        right.max(),
    )


def ideal_reaction() -> Evidence:
    errors = []
    for e1, e2 in STATES:
        (d1, _), lam = ideal(e1, e2)
        formula = M * (a * d1 - b * e1**2 + e1 * e2)
        errors.append([abs(sign * formula - lam) / abs(lam) for sign in (1, -1)])
    wrong, right = np.array(errors).T
    return Evidence(
        "λ on the knife edge against the multiplier of M q̈ + h = Jᵀλ; four states", wrong.min(), right.max()
    )


def release_matrix() -> tuple[str, float]:
    errors = []
    for moment in sleigh_moments():
        _, e2, _, u, *_ = known(moment)
        errors.append(abs(moment.K[:, 1] @ moment.K[:, 1] - e2**2 / u**2) / (e2**2 / u**2))
    return "against Σ (∂q̇_i/∂e_2)², ten random states", max(errors)
