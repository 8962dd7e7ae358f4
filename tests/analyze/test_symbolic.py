"""The first approximation in symbols, and its normal form, against the numbers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam, watt_governor

x, s = dynamicsymbols("x s")
m, k, c, g, l = sp.symbols("m k c g l")


def sliding_bob() -> vn.EquationsOfMotion:
    """A bob on a parabola s = x²/(2l) with a spring and a damper along x: redundant height s."""
    system = vn.System(
        [x, s],
        m * (x.diff() ** 2 + s.diff() ** 2) / 2,
        k * x**2 / 2 + m * g * s,
        dissipation=c * x.diff() ** 2 / 2,
        constraints=[vn.Holonomic(s - x**2 / (2 * l), name="wire")],
        parameters={m: 2.0, k: 3.0, c: 0.5, g: 9.81, l: 0.7},
    )
    return vn.derive(system, "shulgin", dependent=[s])


def test_the_matrices_of_a_bob_on_a_wire_in_symbols():
    """A = m, D = -c, K = k + m g / l: the curvature of the wire is all of CB."""
    found = vn.hurwitz.symbolic_matrices(sliding_bob(), {x: 0, s: 0}, [m, k, c, g, l])
    assert found["A"] == sp.Matrix([[m]])
    assert found["D"] == sp.Matrix([[-c]])
    assert sp.simplify(found["CB"][0] - m * g / l) == 0
    assert sp.simplify(found["K"][0] - k - m * g / l) == 0


def test_symbols_and_numbers_agree():
    equations = sliding_bob()
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0}))
    values = equations.system.parameters
    found = vn.hurwitz.symbolic_matrices(equations, {x: 0, s: 0}, [m, k, c, g, l])
    for name in ("A", "G", "D", "C1", "C2", "C3", "C4", "CB", "PB", "P", "V_u"):
        numbers = np.array(found[name].subs(values), dtype=float).reshape(getattr(linear, name).shape)
        np.testing.assert_allclose(numbers, getattr(linear, name), rtol=1e-13, atol=1e-13)


def test_a_point_that_is_no_equilibrium_for_all_parameters_is_refused():
    with pytest.raises(vn.VinculumError, match="not an equilibrium for all values"):
        vn.hurwitz.symbolic_matrices(sliding_bob(), {x: 0.1, s: 0.01 / 1.4}, [k])


@pytest.mark.parametrize("which", [0, 1])
def test_the_normal_form_gives_back_the_stiffness(which):
    """K = -A (a + hB), b = -A⁻¹ (G - D), at both equilibria of the ball and beam."""
    equations = vn.derive(ball_and_beam.system(), "shulgin", dependent=[ball_and_beam.alpha])
    rest = vn.equilibrium(equations, {ball_and_beam.r: 0.2})
    linear = vn.linearize(equations, (rest, *rest.others)[which])
    form = linear.normal_form
    np.testing.assert_allclose(-linear.A @ (form.a + form.h @ linear.B), linear.stiffness, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(-linear.A @ form.b, linear.G - linear.D, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", ["shulgin", "routh"])
@pytest.mark.parametrize("changed", [{}, {watt_governor.m_s: 0.7, watt_governor.I: 0.05, watt_governor.c: 0.1}])
def test_conserved_momenta_are_eliminated_in_symbols(form, changed):
    """The governor's polynomial in sleeve, spindle and friction; its roots are those of the numbers at every value."""
    alpha, phi, parts = watt_governor.alpha, watt_governor.phi, watt_governor
    cosine = (parts.m + parts.m_s) * parts.g / (parts.m * parts.l * parts.SPEED**2)
    at = {alpha: sp.acos(cosine), parts.s: -2 * parts.l * cosine, phi.diff(): parts.SPEED}
    equations = vn.derive(parts.system(), form, dependent=[parts.s])
    polynomial = vn.hurwitz.characteristic_polynomial(equations, at, [parts.m_s, parts.I, parts.c])
    values = dict(equations.system.parameters) | changed
    coefficients = [float(a.subs(values)) for a in polynomial.all_coeffs()]
    rest = vn.equilibrium(equations, {phi.diff(): parts.SPEED}, near={alpha: 1.0}, parameters=changed)
    linear = vn.linearize(equations, at=rest)
    assert polynomial.degree() == len(linear.roots) == 2
    np.testing.assert_allclose(np.sort_complex(np.roots(coefficients)), np.sort_complex(linear.roots), rtol=1e-9)


def test_hurwitz_conditions_of_a_steady_motion():
    """A governor is stable while its sleeve has friction: c > 0 is the only condition on c."""
    parts = watt_governor
    cosine = (parts.m + parts.m_s) * parts.g / (parts.m * parts.l * parts.SPEED**2)
    at = {parts.alpha: sp.acos(cosine), parts.s: -2 * parts.l * cosine, parts.phi.diff(): parts.SPEED}
    equations = vn.derive(parts.system(), "shulgin", dependent=[parts.s])
    conditions = vn.hurwitz.hurwitz_conditions(vn.hurwitz.characteristic_polynomial(equations, at, [parts.c]))
    signs = {c: [float(k.subs(parts.c, c)) > 0 for k in conditions] for c in (0.3, -0.3)}
    assert all(signs[0.3])
    assert signs[-0.3].count(False) == 1


def _all_left(coefficients):
    return bool(np.all(np.roots(coefficients).real < 0))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_hurwitz_conditions_hold_for_every_sign_of_the_coefficients(degree):
    """Random coefficients of both signs, and roots of both kinds, with nothing assumed about the symbols."""
    a = sp.symbols(f"a0:{degree + 1}")
    conditions = vn.hurwitz.hurwitz_conditions(sp.Poly(a, sp.Symbol("lambda")))
    random, seen = np.random.default_rng(degree), set()
    for _ in range(200):
        roots = random.uniform(-1, 0.3, degree) if random.random() < 0.5 else random.uniform(-1, 1, degree)
        values = random.choice([-1.0, 1.0]) * random.uniform(0.5, 2) * np.poly(roots)
        found = all(float(c.subs(dict(zip(a, values, strict=True)))) > 0 for c in conditions)
        assert found == _all_left(values)
        seen.add((found, values[0] > 0))
    assert len(seen) == 4


def test_assumptions_of_symbols_give_the_sign_of_the_leading_coefficient():
    positive, negative, b, root = sp.Symbol("a", positive=True), sp.Symbol("a", negative=True), *sp.symbols("b lambda")
    assert vn.hurwitz.hurwitz_conditions(sp.Poly(positive * root + b, root)) == [positive, b]
    assert vn.hurwitz.hurwitz_conditions(sp.Poly(negative * root + b, root)) == [-negative, -b]
    free = sp.Symbol("a")
    assert vn.hurwitz.hurwitz_conditions(sp.Poly(free * root + b, root)) == [free * b]


def test_a_region_of_a_conservative_system_is_undecided_where_it_oscillates():
    """ẍ = (c - k) x: oscillation for k > c, a saddle for k < c; no noise decides."""
    system = vn.System([x], m * x.diff() ** 2 / 2, (k - c) * x**2 / 2, parameters={m: 1.0, k: 3.0, c: 1.0})
    region = vn.hurwitz.stability_region(vn.derive(system), {}, {k: [0.3, 0.5, 2.0, 3.0], c: [1.0, 1.5]}, near={x: 0.0})
    np.testing.assert_array_equal(region.undecided, [[False] * 2] * 2 + [[True] * 2] * 2)
    np.testing.assert_array_equal(region.unstable, ~region.undecided)
    assert not region.stable.any()
