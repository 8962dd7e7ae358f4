"""Verdicts of every kind, each with its theorem; Hurwitz conditions and regions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from analyze.machines import P, c, follower_column, k, k_y, phi1, phi2, y
from examples import ball_and_beam, watt_governor

x, z = dynamicsymbols("x z")


def verdict(system, given=None, **near):
    equations = vn.derive(system, "shulgin")
    at = dict.fromkeys(system.coordinates, 0.0) if given is None else given
    return vn.stability(vn.linearize(equations, at=vn.equilibrium(equations, at, starts=0, **near)))


# -- verdicts --------------------------------------------------------------------------------------------------------


def test_asymptotically_stable_without_constraints():
    found = verdict(vn.System([x], x.diff() ** 2 / 2, 2 * x**2, dissipation=0.1 * x.diff() ** 2))
    assert found.kind == "asymptotically stable"
    assert found
    assert found.theorem == "Lyapunov's theorem on the first approximation"
    assert found.critical == 0
    np.testing.assert_allclose(found.damping_ratios, 0.1 / 2)


def test_asymptotically_stable_with_constraints():
    """Perturbations off the constraints do not decay, and the verdict says so."""
    equations = vn.derive(follower_column(), "shulgin", dependent=[y])
    found = vn.stability(
        vn.linearize(equations, at=vn.equilibrium(equations, dict.fromkeys((phi1, phi2), 0), starts=0))
    )
    assert found.kind == "asymptotically stable"
    assert "Krasinskiy" in found.theorem
    assert found.critical == 1
    assert "stable, not asymptotically" in found.explanation
    assert str(found).startswith("asymptotically stable: all roots except 1 structural zero have negative real parts")


def test_unstable():
    found = verdict(vn.System([x], x.diff() ** 2 / 2, -2 * x**2))
    assert found.kind == "unstable"
    assert not found
    assert "instability by the first approximation" in found.theorem
    assert "the root 2" in found.explanation


def test_lagrange_dirichlet_on_the_constraints():
    """V = g z has no minimum in the plane, but it has one on the circle: the curvature of the constraint makes it."""
    circle = vn.Holonomic((x**2 + z**2 - 1) / 2, name="rod")
    pendulum = vn.System([x, z], (x.diff() ** 2 + z.diff() ** 2) / 2, 9.81 * z, constraints=[circle])
    found = verdict(pendulum, {x: 0.0}, near={z: -1.0})
    assert found.kind == "stable"
    assert "Lagrange-Dirichlet" in found.theorem
    np.testing.assert_allclose(np.abs(found.roots.imag), np.sqrt(9.81))
    assert verdict(pendulum, {x: 0.0}, near={z: 1.0}).kind == "unstable"


def test_a_force_with_a_potential_counts_as_potential():
    assert verdict(vn.System([x], x.diff() ** 2 / 2, forces={x: -x})).kind == "stable"


def test_gyroscopic_stabilization_of_a_maximum():
    """Linear: energy and momentum together decide. With a force that has no momentum, nothing does."""
    spinning = (x.diff() ** 2 + z.diff() ** 2) / 2 + 3 * (x * z.diff() - z * x.diff())
    for V, kind in ((-(x**2) - z**2, "stable"), (-(x**2) - z**2 - x**3, "undecided")):
        found = verdict(vn.System([x, z], spinning, V))
        assert found.kind == kind
        assert "complete dissipation would make it unstable (Kelvin-Chetaev)" in found.explanation
        assert np.abs(found.roots.real).max() < 1e-9
    assert found.theorem == "critical case"
    assert "imaginary axis" in found.explanation


def test_steady_motion_of_the_governor():
    """Other speeds are steady too, so the motion is stable, not asymptotically."""
    equations = vn.derive(watt_governor.system(), "routh", dependent=[watt_governor.s])
    rest = vn.equilibrium(equations, {watt_governor.phi.diff(): 14.0}, near={watt_governor.alpha: 1.0})
    found = vn.stability(vn.linearize(equations, at=rest))
    assert (found.kind, found.theorem) == ("stable", "the Lyapunov-Malkin theorem")
    assert found.critical == 2
    hanging = next(other for other in rest.others if abs(other[watt_governor.alpha]) < 1e-6)
    assert vn.stability(vn.linearize(equations, at=hanging)).kind == "unstable"


# -- Hurwitz conditions ----------------------------------------------------------------------------------------------

STRAIGHT = {phi1: 0, phi2: 0, y: 0}


@cache
def column():
    return vn.derive(follower_column(), "shulgin", dependent=[y])


@cache
def conditions():
    return vn.hurwitz.hurwitz_conditions(vn.hurwitz.characteristic_polynomial(column(), STRAIGHT, [P, c, k_y]))


def test_polynomial_of_the_column_by_hand():
    """Without damping and tip spring: 2 λ⁴ + (7 k - 2 P) λ² + k² = 0 (Ziegler)."""
    polynomial = vn.hurwitz.characteristic_polynomial(column(), STRAIGHT, [P, c, k_y])
    root = polynomial.gen
    bare = sp.expand(polynomial.as_expr().subs({c: 0, k_y: 0}))
    assert sp.simplify(bare - (2 * root**4 + (7 - 2 * P) * root**2 + 1)) == 0


def test_conditions_agree_with_roots():
    """On random values of load, damping and tip spring, both verdicts occurring."""
    random, verdicts = np.random.default_rng(4), []
    for _ in range(40):
        values = {P: random.uniform(-1, 4), c: random.uniform(-0.05, 0.3), k_y: random.uniform(-0.3, 0.5)}
        at = vn.equilibrium(column(), dict.fromkeys((phi1, phi2), 0.0), parameters=values, starts=0)
        roots = vn.linearize(column(), at=at).roots
        by_conditions = all(float(condition.subs(values)) > 0 for condition in conditions())
        assert by_conditions == (roots.real.max() < 0), values
        verdicts.append(by_conditions)
    assert 5 < sum(verdicts) < 35


def test_polynomial_agrees_with_roots_on_a_curved_constraint():
    """Ball and beam at its second equilibrium, in the masses: the curvature is in the polynomial too."""
    system = ball_and_beam.system()
    equations = vn.derive(system, "shulgin", dependent=[ball_and_beam.alpha])
    m, M, d, l, L, g = (
        ball_and_beam.m,
        ball_and_beam.M,
        ball_and_beam.d,
        ball_and_beam.l,
        ball_and_beam.L,
        ball_and_beam.g,
    )
    angle = 2 * np.arctan(3.0)
    holding = sp.Rational(-1, 8) * (m * g / 5 + M * g * L / 2)
    at = {ball_and_beam.r: 0.2, ball_and_beam.theta: angle, ball_and_beam.alpha: 0.0, ball_and_beam.u: holding}
    polynomial = vn.hurwitz.characteristic_polynomial(equations, at, [m, M])
    assert {m, M} <= polynomial.free_symbols_in_domain
    for mass in (0.0282, 0.3):
        values = {m: mass, M: 0.334}
        rest = vn.equilibrium(
            equations, {ball_and_beam.r: 0.2}, near={ball_and_beam.theta: 2.5}, parameters=values, starts=0
        )
        expected = vn.linearize(equations, at=rest).roots
        found = np.roots([float(a.subs(values)) for a in polynomial.all_coeffs()])
        np.testing.assert_allclose(np.sort(found.real), np.sort(expected.real), atol=1e-6)
    assert {d, l} <= set(system.parameters)


def test_a_point_that_is_no_equilibrium_for_all_parameters_is_refused():
    with pytest.raises(vn.VinculumError, match="not an equilibrium for all values of the parameters"):
        vn.hurwitz.characteristic_polynomial(column(), {phi1: 0.1, phi2: 0, y: sp.sin(0.1)}, [P])


# -- regions ---------------------------------------------------------------------------------------------------------


def test_region_agrees_with_the_conditions():
    loads, springs = np.linspace(0.25, 3.9, 8), np.linspace(-0.35, 0.4, 6)
    region = vn.hurwitz.stability_region(column(), dict.fromkeys((phi1, phi2), 0.0), {P: loads, k_y: springs})
    damping = column().system.parameters[c]
    expected = [
        [all(float(e.subs({P: p, k_y: s, c: damping})) > 0 for e in conditions()) for s in springs] for p in loads
    ]
    np.testing.assert_array_equal(region.stable, expected)
    assert 0 < region.stable.sum() < region.stable.size
    assert column().system.parameters[k] == 1.0
    figure = region.plot()
    assert figure.layout.xaxis.title.text == "P"
    assert figure.layout.yaxis.title.text == "k_y"
    np.testing.assert_allclose(figure.data[0].z, region.rightmost.T)


@pytest.mark.slow
def test_a_region_is_the_same_in_several_processes():
    over, seen = {P: np.linspace(0.25, 3.9, 6), k_y: np.linspace(-0.35, 0.4, 6)}, []
    given = dict.fromkeys((phi1, phi2), 0.0)
    one = vn.hurwitz.stability_region(column(), given, over, progress=seen.append)
    two = vn.hurwitz.stability_region(column(), given, over, processes=2)
    np.testing.assert_array_equal(one.rightmost, two.rightmost)
    np.testing.assert_array_equal(one.sides, two.sides)
    assert seen[-1] == 1.0
    with pytest.raises(vn.VinculumError, match="positive number"):
        vn.hurwitz.stability_region(column(), given, over, processes=0)


def test_a_region_needs_two_parameters():
    with pytest.raises(vn.VinculumError, match="two parameters, got 1"):
        vn.hurwitz.stability_region(column(), {}, {P: [1.0]})


@pytest.mark.parametrize("values", [1.0, [], np.array(2.0), [1.0, np.nan], [np.inf], [[1.0, 2.0]], [None], [10**400]])
def test_the_values_of_a_region_are_lists_of_finite_numbers(values):
    given = dict.fromkeys((phi1, phi2), 0.0)
    with pytest.raises(
        vn.ModelError, match=r"the values of P are .* Give a list of finite numbers, such as \[1, 2, 3\]"
    ):
        vn.hurwitz.stability_region(column(), given, {P: values, k_y: [1.0]})


def test_the_parameters_of_a_region_may_be_named():
    given = dict.fromkeys((phi1, phi2), 0.0)
    found = vn.hurwitz.stability_region(column(), given, {"P": [1.0], k_y: [1.0]})
    assert found.parameters == (P, k_y)
    with pytest.raises(vn.ModelError, match="q is not a parameter"):
        vn.hurwitz.stability_region(column(), given, {sp.Symbol("q"): [1.0], k_y: [1.0]})
