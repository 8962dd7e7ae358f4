"""Force laws with corners, and rests under dry friction."""

from __future__ import annotations

import sympy as sp

import vinculum as vn
from laws.verdicts.cases import ASYMPTOTIC, REFUSED, STABLE, UNSTABLE, Case, Draw, t, x, y


def corners(seed: int) -> Case:
    draw = Draw(seed, "corners")
    T, V, D = x.diff(t) ** 2 / 2, x**2 / 2, draw.number() * x.diff(t) ** 2 / 2
    s = draw.number()
    shifted = {x: s}
    choices = [
        Case("one-sided spring", vn.System([x], T, sp.Max(0, x) ** 2), REFUSED),
        Case("one-sided springs", vn.System([x], T, V + sp.Max(0, x) ** 2, dissipation=D), REFUSED),
        Case("|x|", vn.System([x], T, sp.Abs(x)), REFUSED),
        Case("cases", vn.System([x], T, sp.Piecewise((x**2, x > 0), (2 * x**2, True))), REFUSED),
        Case("|x| beside a spring", vn.System([x], T, V, forces={x: -sp.Abs(x) * x.diff(t)}), REFUSED),
        Case("quadratic drag", vn.System([x], T, V, forces={x: -sp.Abs(x.diff(t)) * x.diff(t)}), REFUSED),
        Case("off the corner", vn.System([x], T, sp.Max(0, x) ** 2 - 2 * s * x, dissipation=D), ASYMPTOTIC, shifted),
        Case("off the corner of |x|", vn.System([x], T, sp.Abs(x) ** 3 / 3 - s**2 * x), STABLE, shifted),
        Case("hilltop off the corner", vn.System([x], T, -(sp.Abs(x) ** 3) / 3 + s**2 * x), UNSTABLE, shifted),
        Case("sqrt of a square", vn.System([x], T, V + sp.sqrt(x**2)), REFUSED),
        Case("minimum of two wells", vn.System([x], T, -sp.Min(x, 2 * x) + V), REFUSED),
    ]
    return choices[seed % len(choices)]


def dry_friction() -> list[Case]:
    """Cases with slips at rest and their truth, for a theorem on dry friction (sections 5, D1 and D2)."""
    T, v = x.diff(t) ** 2 / 2, x.diff(t)
    rubbed = {x: -sp.sign(v)}
    both = (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
    return [
        Case("mass and spring, inside", vn.System([x], T, x**2 / 2, forces=rubbed), STABLE, {x: 0.3}),
        Case("mass and spring, at the border", vn.System([x], T, x**2 / 2, forces=rubbed), STABLE, {x: 1.0}),
        Case("hill held by friction", vn.System([x], T, -(x**2) / 2, forces=rubbed), STABLE, {x: 0.3}),
        Case("hill at the border", vn.System([x], T, -(x**2) / 2, forces=rubbed), UNSTABLE, {x: 1.0}),
        Case("one of two", vn.System([x, y], both, (x**2 + (x - y) ** 2) / 2, forces=rubbed), STABLE),
        Case("the other on a hill", vn.System([x, y], both, x**2 - y**2, forces=rubbed), UNSTABLE),
        Case("free on a rough table", vn.System([x], T, forces=rubbed), STABLE),
    ]
