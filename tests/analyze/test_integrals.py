"""Stability by integrals: free bodies, gyroscopic forces, potentials of high order; and what only looks conserved."""

from __future__ import annotations

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")
w = dynamicsymbols("w1:4")


def free_body(k: int, units: list[sp.Expr]) -> tuple[vn.AffineSystem, sp.Matrix]:
    """J ω̇ = (J ω) × ω in axes that are not those of inertia, ω_i in units of their own; and the axes as columns.

    The axes are those of Cayley's rational rotation (1 - S)⁻¹(1 + S): with rounded numbers nothing would be conserved.
    """
    S = sp.Matrix([[0, -k, 1], [k, 0, 2 - k], [-1, k - 2, 0]]) / 3
    R = (sp.eye(3) - S).inv() * (sp.eye(3) + S)
    J = R * sp.diag(1, sp.Rational(17, 10), sp.Rational(23, 10)) * R.T
    omega = sp.Matrix([unit * e for unit, e in zip(units, w, strict=True)])
    rate = J.inv() * (J * omega).cross(omega)
    return vn.AffineSystem(w, sp.Matrix([sp.expand(rate[i] / unit) for i, unit in enumerate(units)])), R


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("scale", [1, sp.Rational(1, 32)])
def test_a_free_body_turns_stably_about_its_largest_and_smallest_axis(k, scale):
    """Euler: the middle axis is unstable. Two integrals, energy and momentum, decide the others."""
    units = [sp.Integer(1), sp.sympify(scale), sp.Integer(1)]
    system, R = free_body(k, units)
    for axis, kind in enumerate(("stable", "unstable", "stable")):
        at = {e: float(R[i, axis] / units[i]) for i, e in enumerate(w)}
        verdict = vn.stability(vn.linearize(system, at))
        assert verdict.kind == kind
    assert "2 quadratic quantities are conserved" in verdict.explanation


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_gyroscopic_forces_hold_a_maximum_of_the_potential(share):
    """ẍ + γ ẏ = κ x, ÿ - γ ẋ = κ y is stable for γ² > 4κ: energy and momentum together have a minimum."""
    kappa = 1.7
    gamma = 2 * kappa**0.5 * share
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, -kappa * (x**2 + y**2) / 2,
                       forces={x: -gamma * y.diff(), y: gamma * x.diff()})  # fmt: skip
    verdict = vn.stability(vn.linearize(vn.derive(system), {x: 0, y: 0}))
    assert verdict.kind == ("stable" if share > 1 else "unstable")
    assert share < 1 or verdict.theorem == "the Routh-Lyapunov theorem on combinations of integrals"


def test_what_is_almost_conserved_proves_nothing():
    """A damping of 10⁻¹³, within the errors of the roots, makes gyroscopic stabilization unstable (Kelvin-Chetaev)."""
    kappa, gamma, d = 1.7, 3.0, 1e-13
    T, V = (x.diff() ** 2 + y.diff() ** 2) / 2, -kappa * (x**2 + y**2) / 2
    system = vn.System([x, y], T, V, forces={x: -gamma * y.diff() - d * x.diff(), y: gamma * x.diff()})
    assert vn.stability(vn.linearize(vn.derive(system), {x: 0, y: 0})).kind == "undecided"
    balanced = vn.System([x, y], T, V, forces={x: -gamma * y.diff() - d * x.diff(), y: gamma * x.diff() + d * y.diff()})
    # here s⁴ + (γ² - 2κ - d²) s² + κ² = 0 has no odd powers: the roots are imaginary exactly
    assert vn.stability(vn.linearize(vn.derive(balanced), {x: 0, y: 0})).kind == "stable"


@pytest.mark.parametrize("power", [4, 6, 8, 10])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_minimum_of_high_order(power, damping):
    system = vn.System([x], x.diff() ** 2 / 2, 0.7 * x**power, dissipation=damping * x.diff() ** 2 / 2)
    verdict = vn.stability(vn.linearize(vn.derive(system), {x: 0}))
    assert verdict.kind == ("asymptotically stable" if damping else "stable")


@pytest.mark.parametrize("potential", [-(x**6), x**5, x**7 - x**6])
def test_no_minimum_of_high_order(potential):
    verdict = vn.stability(vn.linearize(vn.derive(vn.System([x], x.diff() ** 2 / 2, potential)), {x: 0}))
    assert verdict.kind == "unstable"


def test_a_potential_that_is_flat_to_rounding_is_left_open():
    """0.1 + 0.2 - 0.3 = 5.6e-17 times x²: the sign of a rounding error decides nothing."""
    a, b, c = sp.symbols("a b c")
    system = vn.System([x], x.diff() ** 2 / 2, (a + b - c) * x**2 + x**6, parameters={a: 0.1, b: 0.2, c: 0.3},
                       dissipation=x.diff() ** 2 / 2)  # fmt: skip
    verdict = vn.stability(vn.linearize(vn.derive(system), {x: 0}))
    assert verdict.kind in ("undecided", "asymptotically stable")  # for the floats as they are the sum is positive


def test_an_integral_that_says_nothing_about_a_direction():
    """ẋ = ẏ = x y keeps x - y and its square, and runs away along the diagonal."""
    system = vn.AffineSystem([x, y], sp.Matrix([0.83 * x * y, 0.83 * x * y]))
    assert vn.stability(vn.linearize(system, {x: 0, y: 0})).kind == "undecided"
