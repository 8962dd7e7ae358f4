"""What shows the errata of Lemma 2, Lemma 3 and Theorem 1: exact polynomials against differentiated positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sympy import QQ

from papers.graph import literal
from papers.graph.exact import Exact, exact
from papers.graph.literal import literal_coefficients
from papers.record import Evidence, evidence
from vinculum.derivation.bodies.theorem import Coefficients, Tree, coefficients, gravity_forces
from vinculum.graph.vectors import NULL, cross, dot, plus, scaled, times

HALF = QQ(1, 2)


def differences(case: Exact, printed: list[Any], corrected: list[Any], truth: list[Any]) -> list[float]:
    """The share by which the printed form is wrong at a random configuration; zero if the corrected one is exact."""
    found, true = case.values(printed), case.values(truth)
    exact_zero = all(case.reduced(x - y) == 0 for x, y in zip(corrected, truth, strict=True))
    right = 0.0 if exact_zero else float(np.abs(case.values(corrected) - true).max())
    return [float(np.abs(found - true).max() / np.abs(true).max()), right]


def of_energy(shape: str, base: str, printed: Coefficients) -> Evidence:
    """T by coefficients as printed, and by the corrected ones."""
    case = exact(shape, base)
    right = coefficients(case.tree)
    energies = [[found.energy(case.rates, HALF)] for found in (printed, right)]
    errors = differences(case, energies[0], energies[1], [case.energy])
    where = shape if base == "fixed" else f"{shape} on a {base} base"
    return evidence(f"T of the {where} against differentiated positions, in exact arithmetic", errors, exact=True)


def with_tree(shape: str, kind: Callable[..., Tree], base: str = "fixed") -> Evidence:
    tree = exact(shape, base).tree
    return of_energy(shape, base, coefficients(kind(tree.arcs, tree.V1, tree.Omega0, tree.R0)))


def turned_frames() -> Evidence:
    return with_tree("planar 2R", literal.TurnsBefore)


def mixed_frames() -> Evidence:
    return with_tree("planar 3R", literal.MixedFrames)


def forward_vectors() -> Evidence:
    return with_tree("planar 2R", literal.Forward)


def inertial_velocity() -> Evidence:
    return with_tree("pendulum", literal.WithoutFirstTurn, "translating")


def center_of_the_wrong_body() -> Evidence:
    return of_energy("planar 2R", "fixed", literal_coefficients(exact("planar 2R").tree, center="b"))


def nearest_index() -> Evidence:
    return of_energy("tree of four", "fixed", coefficients(literal.nearest_smaller(exact("tree of four").tree)))


def single_root() -> Evidence:
    return of_energy("two roots", "fixed", coefficients(literal.one_root(exact("two roots").tree)))


def turning_base() -> Evidence:
    """Without the terms of Ω_0, as the theorem stands."""
    tree = exact("skew 2R", "turning").tree
    return of_energy("skew 2R", "turning", coefficients(replace(tree, Omega0=NULL)))


# -- the Lagrange equations ------------------------------------------------------------------------------------------


def lagrange(case: Exact, found: Coefficients) -> list[Any]:
    """The left sides of the printed Lagrange equations, from any coefficients."""
    n, w, dw = case.n, case.rates, [case[f"dw{i}"] for i in range(case.n)]
    moved = {i: case.vector("dV")[i] for i in range(3)}
    result = []
    for b in range(n):
        drift = sum(case.R(found.alpha[b]).diff(case[f"V{i}"]) * moved[i] for i in range(3))
        left = dot(found.alpha_bc[b], dw) - drift - case.by_angle(found.alpha_0, b) / 2
        for c in range(n):
            left += (case.by_angle(found.alpha[c], b) - case.by_angle(found.alpha[b], c)) * w[c]
            for d in range(n):
                slope = case.by_angle(found.alpha_bc[b, c], d) - case.by_angle(found.alpha_bc[d, c], b) / 2
                left += slope * w[c] * w[d]
        result.append(left)
    return result


def asymmetric() -> Evidence:
    """2([C_ac, B_ab e_b], d): T is right, the Lagrange equations are not."""
    case = exact("planar 2R", "translating")
    forms = [lagrange(case, literal_coefficients(case.tree, mixed=kind)) for kind in ("double", "symmetric")]
    errors = differences(case, forms[0], forms[1], case.equations)
    return evidence(
        "Lagrange equations of the planar 2R against d/dt T_φ̇ - T_φ, in exact arithmetic", errors, exact=True
    )


def signs_of_lagrange() -> tuple[str, float]:
    case = exact("planar 3R", "translating")
    lines = lagrange(case, coefficients(case.tree))
    wrong = sum(case.reduced(x - y) != 0 for x, y in zip(lines, case.equations, strict=True))
    return "planar 3R on a translating base against d/dt T_φ̇ - T_φ, exact", float(wrong)


def translating_base() -> tuple[str, float]:
    """α_0 = (Σ m)|V_1|², and the gyroscopic sum is zero."""
    case = exact("skew 2R", "translating")
    found = coefficients(case.tree)
    whole = sum(arc.m for arc in case.tree.arcs) * dot(case.tree.V1, case.tree.V1)
    curls = [case.by_angle(found.alpha[c], b) - case.by_angle(found.alpha[b], c) for b in range(2) for c in range(2)]
    wrong = sum(case.reduced(p) != 0 for p in (found.alpha_0 - whole, *curls))
    return "skew 2R on a translating base, exact: terms that do not vanish", float(wrong)


def gravity() -> Evidence:
    """The forces of gravity: none in the paper, -α_b with V_1 := g."""
    case = exact("skew 2R")
    g = case.vector("g")
    truth = [-case.by_angle(case.potential(g), b) for b in range(2)]
    errors = differences(case, [case.R.zero] * 2, gravity_forces(case.tree, g), truth)
    return evidence(
        "generalized forces of gravity on the skew 2R against -∂V/∂φ, in exact arithmetic", errors, exact=True
    )


# -- steps of the proof ----------------------------------------------------------------------------------------------


def velocities(case: Exact, a: int) -> tuple[Any, Any]:
    """V_a and Ω_a in the axes of the body, from positions."""
    rotation, origin, _ = case.places[a]
    columns = tuple(zip(*rotation, strict=True))
    return times(columns, case.velocity(origin)), case.angular_velocity(a)


def first_body_only() -> Evidence:
    """[V_1, Ω_i] = [V_1, e_1] φ̇_1 for i = 2 and for i = 1 (l. 155), in inertial axes of a planar arm."""
    case = exact("planar 2R", "translating")
    V, right = case.tree.V1, cross(case.tree.V1, (0, 0, case["w0"]))
    printed, corrected = (cross(V, case.angular_velocity(i)) for i in (1, 0))
    errors = differences(case, list(printed[:2]), list(corrected[:2]), list(right[:2]))
    return evidence("[V_1, Ω_i] of the planar 2R with i = 2 and i = 1, exact", errors, exact=True)


def duplicated_term() -> Evidence:
    """The first line of l. 159 has a term twice, with opposite signs; the second line is right."""
    case = exact("planar 2R", "translating")
    tree, a = case.tree, 1
    e = {b: scaled(case.rates[b], tree.direction(a, b)) for b in tree.paths[a]}
    omega = plus(*e.values())
    arms = plus(*(scaled(case.rates[c], tree.C(a, c)) for c in tree.paths[a][:-1]))
    base = cross(tree.u(a), omega)
    first = plus(base, scaled(-1, base), scaled(-1, cross(arms, omega)))
    second = plus(base, scaled(-1, cross(arms, omega)))
    truth = cross(*velocities(case, a))
    errors = differences(case, list(first[:2]), list(second[:2]), list(truth[:2]))
    return evidence("[V_a, Ω_a] of the planar 2R against positions, exact", errors, exact=True)


def missing_minus() -> Evidence:
    """([V_1, Ω_1], O_1C_1) = ∓([V_1, e_1], d_11) φ̇_1 with d_11 = C_1O_1 (l. 165)."""
    case = exact("pendulum", "translating")
    arc = case.tree.arcs[0]
    V, omega = velocities(case, 0)
    truth = dot(cross(V, omega), arc.rho)
    product = dot(cross(case.tree.u(0), (0, 0, 1)), scaled(-1, arc.rho)) * case["w0"]
    errors = differences(case, [product], [-product], [truth])
    return evidence("([V_1, Ω_1], O_1C_1) of a pendulum on a moving base, exact", errors, exact=True)


def number_in_a_bracket() -> Evidence:
    """[(V_1, e_1), d_11] is a number times a vector, three numbers; ([V_1, e_1], d_11) is one (l. 181)."""
    V, e, d = np.array([0.3, -0.2, 0.5]), np.array([0.0, 0.0, 1.0]), np.array([0.1, 0.4, -0.3])
    sizes = [np.size((V @ e) * d), np.size(np.cross(V, e) @ d)]
    return evidence("numbers in the energy term other than one", [size - 1 for size in sizes], exact=True)


def lost_term() -> Evidence:
    """The last T (l. 188) without ([B_a1 V_1, B_ab e_b], d_aa)."""
    case = exact("planar 2R", "translating")
    full = coefficients(case.tree)
    lost = [
        sum(
            arc.m * dot(case.tree.u(a), case.tree.C(a, b))
            for a, arc in enumerate(case.tree.arcs)
            if b in case.tree.paths[a]
        )
        for b in range(2)
    ]
    return of_energy("planar 2R", "translating", replace(full, alpha=lost))


def axis_of_another_hinge() -> Evidence:
    """B_ac e_b, twice (l. 189)."""
    return of_energy("skew 2R", "fixed", literal_coefficients(exact("skew 2R").tree, axis="c"))


def sum_to_b() -> Evidence:
    """Σ_{a=1}^{b} of the tensors of inertia (l. 189) in place of Σ_{a=1}^{n}."""
    case = exact("planar 2R")
    full = coefficients(case.tree)
    short = full.alpha_bc.copy()
    for b in range(2):
        for c in range(2):
            missing = [a for a in range(2) if a > b and b in case.tree.paths[a] and c in case.tree.paths[a]]
            for a in missing:
                axes = case.tree.direction(a, b), case.tree.direction(a, c)
                short[b, c] = short[b, c] - dot(times(case.tree.arcs[a].J, axes[0]), axes[1])
    return of_energy("planar 2R", "fixed", replace(full, alpha_bc=short))


def energy_of_one_body() -> tuple[str, float]:
    """T_i = m V²/2 + m([V, Ω], O_aC) + (JΩ, Ω)/2, printed sign."""
    case = exact("skew 2R", "translating")
    total: Any = 0
    for i, arc in enumerate(case.tree.arcs):
        V, omega = velocities(case, i)
        total += (
            HALF * arc.m * dot(V, V) + arc.m * dot(cross(V, omega), arc.rho) + HALF * dot(times(arc.J, omega), omega)
        )
    return "skew 2R on a translating base against positions, exact", float(case.reduced(total - case.energy) != 0)
