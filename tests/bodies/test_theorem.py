"""The corrected Theorem 1 against an independent kinetic energy, in exact arithmetic.

Polynomials over the rationals in c_a, s_a, φ̇_a, φ̈_a, m_a, V_1, V̇_1, Ω_0, g, reduced modulo c² + s² = 1. The independent
energy differentiates positions; the independent equations are d/dt ∂T/∂φ̇ - ∂T/∂φ (`papers.graph.exact`).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from sympy import QQ

import vinculum as vn
from papers.graph.checks_theorem import lagrange
from papers.graph.exact import exact
from vinculum.derivation.bodies.theorem import (
    Tree,
    closed_form_kinetic_energy,
    coefficients,
    direction_cosines,
    gravity_forces,
)
from vinculum.graph.vectors import IDENTITY, matrix_times, times, transposed

SHAPES = ("planar 2R", "skew 3R", "tree of four", "two roots")


@pytest.mark.parametrize("base", ["fixed", "translating", "turning"])
@pytest.mark.parametrize("shape", SHAPES)
def test_kinetic_energy_is_exact(shape, base):
    case = exact(shape, base)
    T = coefficients(case.tree).energy(case.rates, QQ(1, 2))
    assert case.reduced(T - case.energy) == 0
    assert case.reduced(T) != 0


@pytest.mark.parametrize("shape", ["planar 2R", "skew 3R", "tree of four"])
def test_lagrange_equations_and_gravity_are_exact(shape):
    case = exact(shape, "translating")
    g = case.vector("g")
    V = case.potential(g)
    lines = lagrange(case, coefficients(case.tree))
    for b, (left, right) in enumerate(zip(lines, case.equations, strict=True)):
        assert case.reduced(left - right) == 0
        assert case.reduced(gravity_forces(case.tree, g)[b] + case.by_angle(V, b)) == 0


def test_direction_cosines_near_antiparallel_axes():
    for k in range(1, 17):
        angle = sp.N(sp.pi - sp.Rational(1, 10**k), 40)
        e = (float(sp.sin(angle)) * 0.6, float(sp.sin(angle)) * 0.8, float(sp.cos(angle)))
        A = direction_cosines(e)
        product = matrix_times(A, transposed(A))
        assert max(abs(product[i][j] - (i == j)) for i in range(3) for j in range(3)) < 1e-15
        assert tuple(A[2]) == e
    assert direction_cosines((0, 0, -1)) == ((1, 0, 0), (0, -1, 0), (0, 0, -1))


def test_the_free_angle_of_lemma_1_does_not_matter():
    case = exact("skew 3R")
    R, tree = case.R, case.tree
    twist = Fraction(3, 5), Fraction(4, 5)
    c, s = (R.one * QQ(x.numerator, x.denominator) for x in twist)
    turn = ((c, s, R.zero), (-s, c, R.zero), (R.zero, R.zero, R.one))
    arcs = []
    for i, a in enumerate(tree.arcs):
        before = transposed(turn) if a.parent >= 0 else IDENTITY
        J = matrix_times(matrix_times(turn, a.J), transposed(turn))
        moved = times(turn, a.r) if a.parent >= 0 else a.r
        arcs.append(replace(a, A=matrix_times(matrix_times(turn, a.A), before), r=moved, rho=times(turn, a.rho), J=J))
        assert i == len(arcs) - 1
    one, other = coefficients(tree).alpha_bc, coefficients(Tree(arcs)).alpha_bc
    assert all(case.reduced(x - y) == 0 for x, y in zip(one.ravel(), other.ravel(), strict=True))


def printed_arm(axes):
    """Four links on a base that turns and travels, all lengths and masses symbols."""
    t, w, a = sp.symbols("t w a")
    m, l, J = (sp.symbols(f"{name}1:5") for name in "mlJ")
    bodies = [
        vn.Body(
            f"b{i}", f"b{i - 1}" if i else None, axis=axis, origin=(l[i - 1] if i else 0, 0, 0), mass=m[i],
            center_of_mass=(l[i] / 2, 0, 0), inertia=(J[i], 2 * J[i], 2 * J[i]),
        )
        for i, axis in enumerate(axes)
    ]  # fmt: skip
    values = dict.fromkeys((*m, *l, *J), 1.0) | {w: 2.0, a: 0.3}
    base = {"base_angular_velocity": (0, 0, w * sp.cos(t)), "base_velocity": (a * sp.sin(t), 0, 0)}
    return vn.BodyTree(bodies, parameters=values, **base)


STRAIGHT = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0))
SKEW = ((0, 0, 1), (sp.Rational(3, 5), sp.Rational(4, 5), 0), (0, sp.Rational(5, 13), sp.Rational(12, 13)), (1, 0, 0))


@pytest.mark.parametrize(("axes", "named"), [(STRAIGHT, False), (SKEW, True)])
def test_the_energy_of_four_links_on_a_turning_base_is_printed(axes, named):
    """SymPy's trigonometric rules took minutes: their calls are few now, and large formulas have intermediates."""
    energy = closed_form_kinetic_energy(printed_arm(axes))
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        text = energy.latex()
    finally:
        sys.setprofile(None)
    assert count < 25_000_000
    assert len(text) < 60_000
    assert ("z_{1} &=" in text) == named
    assert text.count(r"\alpha_") == 1 + 4 + 10


def test_printed_coefficients_equal_the_exact_ones(random):
    """At random angles: what is printed without squares is the same polynomial."""
    from vinculum.derivation.bodies.theorem import _tidy

    energy = closed_form_kinetic_energy(printed_arm(STRAIGHT))
    entry = energy.alpha_bc[0, 0]
    leaves = sorted(entry.atoms(sp.Symbol, sp.core.function.AppliedUndef), key=str)
    values = {x: float(random.normal()) for x in leaves if x != sp.Symbol("t")}
    found, expected = (float(x.subs(values).evalf(30)) for x in (_tidy(entry), entry))
    assert found == pytest.approx(expected, rel=1e-12)
