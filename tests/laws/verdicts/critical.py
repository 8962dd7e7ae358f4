"""Critical cases, exact and to rounding."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

import vinculum as vn
from laws.verdicts.cases import ASYMPTOTIC, BORDER, STABLE, UNSTABLE, W_, Case, Draw, a, b, c, l, t, theta, x, y


def critical(seed: int) -> Case:
    draw = Draw(seed, "critical")
    p, q, e = (draw.number() for _ in range(3))
    v, T = x.diff(t), x.diff(t) ** 2 / 2
    D = p * v**2 / 2
    both = T + y.diff(t) ** 2 / 2
    u = y.diff(t)
    sums = {a: 0.1 * seed, b: 0.2, c: 0.1 * seed + 0.2}
    cancel = a + b - c
    choices = [
        Case("cubic spring, damped", vn.System([x], T, q * x**4, dissipation=D), ASYMPTOTIC, weaker=(STABLE,)),
        Case("cubic repulsion, damped", vn.System([x], T, -q * x**4, dissipation=D), UNSTABLE),
        Case("x³, damped", vn.System([x], T, q * x**3, dissipation=D), UNSTABLE),
        Case("x³, undamped", vn.System([x], T, q * x**3), UNSTABLE),
        Case("x⁴, undamped", vn.System([x], T, q * x**4), STABLE),
        Case("-x⁴, undamped", vn.System([x], T, -q * x**4), UNSTABLE),
        Case("cubic damping", vn.System([x], T, e * x**2, forces={x: -q * v**3}), ASYMPTOTIC, weaker=(STABLE,)),
        Case("cubic driving", vn.System([x], T, e * x**2, forces={x: q * v**3}), UNSTABLE),
        Case("van der Pol at its border", vn.System([x], T, e * x**2, forces={x: -q * x**2 * v}), ASYMPTOTIC,
             weaker=(STABLE,)),
        Case("x²v driving", vn.System([x], T, e * x**2, forces={x: q * x**2 * v}), UNSTABLE),
        Case("x⁶, damped", vn.System([x], T, q * x**6, dissipation=D), ASYMPTOTIC, weaker=(STABLE,)),
        Case("fifth-order damping", vn.System([x], T, e * x**2, forces={x: -q * v**5}), ASYMPTOTIC, weaker=(STABLE,)),
        Case("thin cone of power", vn.System([x, y], both, (x**2 + y**2) / 2,
             forces={x: -v - (1 + x**2) * u, y: -u - (1 + x**2) * v}), UNSTABLE),
        Case("quadratic and cubic", vn.System([x, y], both, x**4 + x**2 * y * q + y**2 * e, dissipation=both * p),
             # on the center manifold y = -q x²/2e: x⁴(1 - q²/4e)
             ASYMPTOTIC if q**2 < 4 * e else UNSTABLE, weaker=(STABLE,) if q**2 < 4 * e else ()),
        Case("cancels to rounding, x³", vn.System([x], T, cancel * x**2 + q * x**3, dissipation=D, parameters=sums),
             BORDER),
        Case("cancels to rounding, x⁴", vn.System([x], T, cancel * x**2 + q * x**4, dissipation=D, parameters=sums),
             BORDER, weaker=(STABLE,)),
        Case("damping cancels to rounding", vn.System([x], T, e * x**2, forces={x: -cancel * v - q * v**3},
             parameters=sums), BORDER),
        Case("rod at its critical load", vn.System([theta], q * theta.diff(t) ** 2, e * theta**2 / 2 * l * l +
             e * l * l * sp.cos(theta), dissipation=theta.diff(t) ** 2, parameters={l: p}), ASYMPTOTIC,
             weaker=(STABLE,)),
        _critical_hoop(draw, p),
        Case("negative cubic beside damping", vn.System([x], T, e * x**2, forces={x: -p * v + q * v**3}), ASYMPTOTIC),
        Case("linear conservative, damped elsewhere", vn.System([x, y], both, x**2 + y**2, forces={y: -u}), STABLE),
        Case("energy sink by a cubic coupling", vn.System([x, y], both, x**2 + y**2, forces={x: -q * y**2 * v,
             y: -p * u}), STABLE),
    ]  # fmt: skip
    found = choices[seed % len(choices)]
    if found.truth == BORDER and found.what.startswith(("cancels", "damping cancels")):
        exact = sp.Rational(sums[a]) + sp.Rational(sums[b]) - sp.Rational(sums[c])
        if not exact:
            return critical(seed + len(choices))
        # for the floats as they are, the sum has a sign: an answer by exact arithmetic is true as well
        return replace(found, weaker=(*found.weaker, *((STABLE, ASYMPTOTIC) if exact > 0 else (UNSTABLE,))))
    return found


def _critical_hoop(draw: Draw, damping: float) -> Case:
    """A pendulum in a hoop turned at W = √(g/l), to rounding."""
    length = draw.number()
    T = length**2 * (theta.diff(t) ** 2 + sp.sin(theta) ** 2 * W_**2) / 2
    system = vn.System(
        [theta], T, -9.81 * length * sp.cos(theta), dissipation=damping * theta.diff(t) ** 2,
        parameters={W_: (9.81 / length) ** 0.5},
    )  # fmt: skip
    return Case("hoop at its critical speed", system, BORDER)
