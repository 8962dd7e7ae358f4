"""What shows the errata of the text: coefficients of (7), what a start needs, the gutter, the ranges, the letters."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from papers.reactions import wheel as w
from papers.reactions.moments import Moment, off_the_manifold
from papers.record import Evidence, evidence
from papers.truth import numbers, relative


def binomials() -> Evidence:
    """Roots of (7) with λ^k and with C(r, k) λ^k; all must be -λ. λ = 3, r = 1 to 4."""
    errors = []
    for binomial in (lambda r, k: 1, comb):
        found = [np.roots([binomial(r, k) * 3.0**k for k in range(r + 1)]) for r in (2, 3)]
        errors.append(max(float(np.abs(roots + 3).max()) for roots in found))
    return evidence("distance of the roots of (7) from -λ = -3, r = 2 and 3", errors, accepted=1e-4)


def hidden_condition() -> Evidence:
    """f of (12) with λ = 10 from f = 0, without and with the condition ḟ = 0 on the start."""
    largest = []
    for rate in (0.1, 0.0):
        run = solve_ivp(
            lambda t, y: [y[1], -20 * y[1] - 100 * y[0]], (0, 3), [0.0, rate], rtol=1e-10, atol=1e-14, max_step=0.02
        )
        largest.append(float(np.abs(run.y[0]).max()))
    return evidence(
        "largest f₁ from a start with f₁ = 0 that meets the printed conditions only, and the hidden one too", largest
    )


def printed_gutter(at: sp.Symbol) -> sp.Expr:
    """p of h = z - x⁴ + 0.13x³ - 0.5x² - 0.13x - 0.5 as it stands."""
    return at**4 - sp.Rational(13, 100) * at**3 + at**2 / 2 + sp.Rational(13, 100) * at + sp.Rational(1, 2)


def lost_brackets() -> Evidence:
    """Local maxima of the gutter in [-1, 1]; the paper speaks of one."""
    s = sp.Symbol("s")
    counts = []
    for p in (printed_gutter(s), w.gutter(s)):
        places = [x for x in sp.Poly(p.diff(s), s).nroots() if x.is_real and abs(x) < 1]
        counts.append(sum(bool(p.diff(s, 2).subs(s, x) < 0) for x in places))
    return evidence(
        "local maxima of the gutter besides the one described", [abs(count - 1) for count in counts], exact=True
    )


def range_of_the_wheel() -> Evidence:
    """How far the axle leaves the printed interval before the chaos, and the one that energy allows, ever."""
    run = w.long_run()
    early, x = run[w.x][run.t <= 10], run[w.x]
    pairs = ((early, (-0.67, 0.75)), (x, energy_range()))
    excess = [max(0.0, low - float(part.min()), float(part.max()) - high) for part, (low, high) in pairs]
    return evidence("how far the axle leaves the interval, as printed in [0, 10], in [0, 200]", excess, exact=True)


@cache
def energy_range(gravity: float = 9.81) -> tuple[float, float]:
    """Where the axle can be with the energy of the start: the pendulum hanging, everything at rest."""
    start = w.start() | w.NUMBERS | {w.g: gravity}
    total = float(numbers([w.KINETIC + w.POTENTIAL], start)[0])
    radius, length = w.NUMBERS[w.r], w.NUMBERS[w.l]
    contacts = np.linspace(-1, 1, 200_001)
    s = sp.Symbol("s")
    p, slope = (sp.lambdify(s, w.gutter(s, k))(contacts) for k in (0, 1))
    root = np.sqrt(1 + slope**2)
    weight = gravity * ((w.NUMBERS[w.M] + w.NUMBERS[w.m]) * (p + radius / root) - w.NUMBERS[w.m] * length)
    reachable = (contacts - radius * slope / root)[weight <= total]
    return float(reachable.min()), float(reachable.max())


def third_residual() -> Evidence:
    """max|f₃|/max|f₂| in the run of the paper: "much smaller", or about a half."""
    largest = w.largest(w.adams("ab2", 20.0))
    ratio = largest["tangency"] / largest["rolling"]
    return Evidence(
        "max|f₃| / max|f₂| by AB2, step 1e-5, t ≤ 20: distance from 0 and from 0.5",
        ratio,
        abs(ratio - 0.5),
        accepted=0.2,
        wrong=0.25,
    )


def two_meanings_of_U() -> Evidence:
    """z̈ from (13) with the U of (21), which does not depend on z, and with the potential energy."""

    def vertical(x: Moment, weight: float) -> np.ndarray:
        falling = x.accelerations.copy()
        falling[1] += w.NUMBERS[w.g] - weight
        return falling

    moments = off_the_manifold()
    errors = [[relative(vertical(x, weight), x.accelerations) for x in moments] for weight in (0.0, w.NUMBERS[w.g])]
    return evidence(
        "accelerations by (13) with ∂U/∂z of the one U and of the other, ten random states",
        [min(errors[0]), max(errors[1])],
    )
