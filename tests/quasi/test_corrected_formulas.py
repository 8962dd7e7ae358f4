"""The equations (13) and (16) of Khusanov (2020) with their errata put right come out symbolically; as printed they
do not.
"""

from __future__ import annotations

from functools import cache

import pytest
import sympy as sp

import vinculum as vn
from examples import gyroscope_in_gimbals as gyro
from examples import sleigh_with_servo as sleigh
from examples.gyroscope_in_gimbals import A1, A2, B1, C1, A, C, beta
from examples.sleigh_with_servo import M, alpha, e1, e2, e3, k
from vinculum.derivation.mechanics.lagrange import mechanics
from vinculum.derivation.mechanics.sample_states import generic_states
from vinculum.derivation.quasi.characteristics import branch_state, build_characteristics
from vinculum.derivation.quasi.chart import chart
from vinculum.derivation.quasi.quasi_equations import coefficients
from vinculum.graph import to_sympy

mu1, mu2, lam = sp.symbols("mu_e1 mu_e2 lambda_knife")
d1, d2, d3 = (e.diff() for e in (e1, e2, e3))
b, c, h, p1, p2, p3, w = sp.symbols("b c h p1 p2 p3 w", positive=True)
b_ = sleigh.beta
u = sp.sqrt(e2**2 - e3**2)
ud = (e2 * d2 - e3 * d3) / u


def zero(expression: sp.Expr) -> bool:
    """Whether an expression of φ, e and ė vanishes: rational parameters for e2² - e3² = u² and for the circle decide
    it.
    """
    e3_, u_ = 2 * b * (b + c), c * (c + 2 * b)
    circle = {sp.sin(sleigh.phi): 2 * h / (1 + h**2), sp.cos(sleigh.phi): (1 - h**2) / (1 + h**2)}
    rational = expression.xreplace({d1: p1, d2: p2, d3: p3}).xreplace({e1: w, e2: b**2 + (b + c) ** 2, e3: e3_})
    rational = rational.xreplace(circle)
    halves = {r for r in rational.atoms(sp.Pow) if r.exp.is_Rational and r.exp.q == 2}
    roots = {r: sp.sqrt(sp.factor(r.base)) ** (2 * r.exp) for r in halves}
    assert all(root.is_rational_function(b, c, h) for root in roots.values()), roots
    assert sp.expand((b**2 + (b + c) ** 2) ** 2 - e3_**2 - u_**2) == 0
    return sp.cancel(sp.together(rational.xreplace(roots))) == 0


@cache
def sleigh_lines() -> list[sp.Expr]:
    """L_a - Q̃_a of the released sleigh."""
    released = vn.quasi.release(sleigh.system(), sleigh.characteristics())
    equations = vn.derive(released, "hamel", characteristics=sleigh.characteristics() | {e3: sleigh.slip})
    return [to_sympy(left) - to_sympy(right) for left, right in equations.form.lines(equations)[3:]]


@cache
def gyro_lines() -> list[sp.Expr]:
    released = vn.quasi.release(gyro.system(), gyro.characteristics())
    chosen = gyro.characteristics() | {gyro.e3: gyro.spin}
    equations = vn.derive(released, "hamel", characteristics=chosen)
    return [sp.simplify(to_sympy(left) - to_sympy(right)) for left, right in equations.form.lines(equations)[3:]]


def X() -> sp.Expr:
    return M * (ud - b_ * d1 - alpha * e1**2 + e1 * e3)


def Y() -> sp.Expr:
    return M * (d3 - alpha * d1 - e1 * u + b_ * e1**2)


SLEIGH = [
    M * ((k**2 + alpha**2 + b_**2) * d1 - b_ * ud - alpha * d3 - b_ * e1 * e3 + alpha * e1 * u) - mu1,
    e2 / u * X() - mu2 * e2**2 / u**2,
    -e3 / u * X() + Y() - lam + mu2 * e2 * e3 / u**2,
]


@pytest.mark.parametrize("row", range(3))
def test_corrected_13(row):
    assert zero(sleigh_lines()[row] - SLEIGH[row])


def test_printed_13a_is_another_equation():
    """Printed: + β e1 e3 - α e1 u. The difference is twice these terms."""
    printed = M * ((k**2 + alpha**2 + b_**2) * d1 - b_ * ud - alpha * d3 + b_ * e1 * e3 - alpha * e1 * u) - mu1
    assert not zero(sleigh_lines()[0] - printed)
    assert zero(sleigh_lines()[0] - printed - 2 * M * (alpha * e1 * u - b_ * e1 * e3))


@cache
def sleigh_coefficients() -> sp.Matrix:
    """W_a^τ, row a."""
    terms = mechanics(vn.servo.idealized(sleigh.system()))
    of = build_characteristics(terms, sleigh.characteristics(), {"knife": e3}, None, None, generic_states(terms))
    found = coefficients(chart(of, [branch_state(of, None)]))
    return sp.Matrix(3, 3, [to_sympy(node) for node in found.ravel()])


@pytest.mark.parametrize(
    ("place", "right", "printed"),
    [
        ((0, 2), -u, -u),
        ((1, 1), e3 * (e3 * d2 - e2 * d3) / (e2 * u**2) + e1 * e3 / u, e3 * (e3 * d2 - e2 * d3) / (e2 * u**2)),
        ((1, 2), e1 * e2 / u, e3 * e2 / u),
        ((2, 1), -(e3 * d2 - e2 * d3 + e1 * e2 * u) / u**2, (e3 * d2 - e2 * d3 + e1 * e2 * u) / u**2),
        ((2, 2), -e1 * e3 / u, e1 * e3 / u),
    ],
)
def test_coefficients_of_the_sleigh(place, right, printed):
    found = sleigh_coefficients()[place]
    assert zero(found - right)
    assert zero(right - printed) or not zero(found - printed)


def test_coefficients_in_print():
    """The record that is read gives the same W as the equations use, and T̃ as in the paper."""
    terms = vn.quasi.quasi_velocities(sleigh.system(), sleigh.characteristics(), release={"knife": e3})
    assert all(zero(one - other) for one, other in zip(terms.W, sleigh_coefficients(), strict=True))
    assert zero(terms.coefficient(e2, e3) - e1 * e2 / u)
    gyration = (k**2 + alpha**2 + b_**2) * e1**2
    assert zero(terms.kinetic_energy - M / 2 * (gyration - 2 * b_ * e1 * u - 2 * alpha * e1 * e3 + e2**2))
    assert terms.conditions == (
        "the characteristics e1, e2 determine the velocities only where sqrt(e2**2 - e3**2) is not zero",
    )
    text = terms.latex()
    assert r"W_{e_{2}}^{e_{3}} &= \frac{e_{1} e_{2}}{\sqrt{e_{2}^{2} - e_{3}^{2}}}" in text
    assert r"\frac{\partial}{\partial \pi_{e_{1}}} &= \frac{\partial}{\partial \phi}" in text


def test_derivatives_by_pi_in_print():
    """Gyroscope: ∂/∂π₁ = ∂/∂α - sin β ∂/∂γ, ∂T̃/∂π₂ = (C₁ - A - A₁) sin β cos β e₁², W₂³ = -e₁ cos β."""
    terms = vn.quasi.quasi_velocities(gyro.system(), gyro.characteristics(), release={"spin": gyro.e3})
    assert list(terms.K[:, 0]) == [1, 0, -sp.sin(beta)]
    slope = (C1 - A - A1) * sp.sin(beta) * sp.cos(beta) * gyro.e1**2
    assert sp.simplify(terms.derivatives[gyro.e2] - slope) == 0
    assert terms.coefficient(gyro.e2, gyro.e3) == -gyro.e1 * sp.cos(beta)


def test_the_others_vanish():
    found = sleigh_coefficients()
    assert all(zero(found[place]) for place in [(0, 0), (0, 1), (1, 0), (2, 0)])


def test_matrices_of_the_release():
    """A_22 = e2²/u², B = -e2 e3/u² (sleigh); A_11 = 1 + sin²β, A_22 = 1, B_31 = -sin β (gyroscope)."""
    A_, B_ = vn.quasi.release_matrices(sleigh.system(), sleigh.characteristics(), release={"knife": e3})
    assert zero(A_[1, 1] - e2**2 / u**2)
    assert zero(B_[0, 1] + e2 * e3 / u**2)
    A_, B_ = vn.quasi.release_matrices(gyro.system(), gyro.characteristics())
    assert sp.simplify(A_ - sp.diag(1 + sp.sin(beta) ** 2, 1)) == sp.zeros(2)
    assert sp.simplify(B_ - sp.Matrix([[-sp.sin(beta), 0]])) == sp.zeros(1, 2)


def test_the_decoupling_metric_makes_a_unit_matrix():
    A_, B_ = vn.quasi.release_matrices(sleigh.system(), sleigh.characteristics(), "decoupling", release={"knife": e3})
    assert (sp.eye(2), sp.zeros(1, 2)) == (A_, B_)


def test_the_kinetic_metric_gives_the_reduced_mass_matrix():
    A_, _ = vn.quasi.release_matrices(gyro.system(), gyro.characteristics(), "kinetic")
    rings = A2 + (A1 + A) * sp.cos(beta) ** 2 + C1 * sp.sin(beta) ** 2
    assert sp.simplify(A_ - sp.diag(rings, A + B1)) == sp.zeros(2)


def test_corrected_16():
    """(C1 - A - A1) sin 2β in the first; the paper prints C in place of C1."""
    f1, f2, f3 = gyro.e1, gyro.e2, gyro.e3
    m1, m2, spin = sp.symbols("mu_e1 mu_e2 lambda_spin")
    rings = A2 + (A1 + A) * sp.cos(beta) ** 2 + C1 * sp.sin(beta) ** 2

    def first(inner: sp.Symbol) -> sp.Expr:
        gyration = C * f2 * f3 * sp.cos(beta) + (inner - A - A1) * sp.sin(2 * beta) * f1 * f2
        return rings * f1.diff() + gyration - (1 + sp.sin(beta) ** 2) * m1

    second = (
        (B1 + A) * f2.diff() - (C1 - A - A1) * sp.cos(beta) * sp.sin(beta) * f1**2 - C * f1 * f3 * sp.cos(beta) - m2
    )
    third = C * f3.diff() - spin + m1 * sp.sin(beta)
    lines = gyro_lines()
    assert sp.simplify(lines[0] - first(C1)) == 0
    assert sp.simplify(lines[0] - first(C)) != 0
    assert sp.simplify(lines[1] - second) == 0
    assert sp.simplify(lines[2] - third) == 0


def test_printed_equation_of_the_ideal_sleigh_creates_energy():
    """γ² ė1 - β ė2 - α e1 e2 = 0 as printed gives dE/dt = 2 M α e1² e2; with + α e1 e2 energy is conserved."""
    g2 = k**2 + alpha**2 + b_**2
    energy = M / 2 * (k**2 * e1**2 + (b_ * e1 - e2) ** 2 + (alpha * e1) ** 2)
    for sign, gain in ((-1, 2 * M * alpha * e1**2 * e2), (1, 0)):
        rates = sp.solve([g2 * d1 - b_ * d2 + sign * alpha * e1 * e2, d2 - b_ * d1 - alpha * e1**2], [d1, d2])
        change = energy.diff(e1) * rates[d1] + energy.diff(e2) * rates[d2]
        assert sp.simplify(change - gain) == 0
