"""Modes in the user's coordinates against textbook modes; names that stay with their modes; borders close together."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")
p = sp.Symbol("p")


def linear_of(system: vn.System, **parameters: float) -> vn.linear.LinearModel:
    return vn.linearize(vn.derive(system), dict.fromkeys(system.coordinates, 0.0))


def coupled(unit: float = 1.0) -> vn.System:
    """Two equal oscillators with a spring between: in phase at ω² = 1, in opposite phase at ω² = 1 + 2k."""
    T, V = (x.diff() ** 2 + (unit * y.diff()) ** 2) / 2, (x**2 + (unit * y) ** 2) / 2 + 0.3 * (x - unit * y) ** 2 / 2
    return vn.System([x, y], T, V)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e3])
def test_coupled_oscillators_move_together_and_against_each_other(unit):
    against, together = sorted(linear_of(coupled(unit)).modes, key=lambda mode: -mode.root.imag)
    assert (against.root.imag, together.root.imag) == (pytest.approx(1.6**0.5), pytest.approx(1.0))
    for mode, sign in ((together, 1), (against, -1)):
        assert mode.shares[x] == pytest.approx(0.5) == mode.shares[y]
        ratio = mode.shape[y] / mode.shape[x] * unit
        assert ratio == pytest.approx(sign, rel=1e-9)
        assert mode.motion == f"oscillates at {mode.root.imag:.6g} rad/s"


def test_a_charge_in_a_magnetic_field_circles():
    """ẍ = ẏ - x, ÿ = -ẋ - y: both modes are circles, so y is a quarter turn from x."""
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, (x**2 + y**2) / 2,
                       forces={x: y.diff(), y: -x.diff()})  # fmt: skip
    for mode in linear_of(system).modes:
        assert abs(np.degrees(np.angle(mode.shape[y] / mode.shape[x]))) == pytest.approx(90)
        assert "at 90 deg" in str(mode) or "at -90 deg" in str(mode)


def test_a_cart_moves_under_its_pendulum():
    """The cart recoils: the center of mass stays, M x + m (x + l θ) = 0, in every mode that is not a drift."""
    theta = dynamicsymbols("theta")
    T = x.diff() ** 2 + ((x.diff() + theta.diff() * sp.cos(theta)) ** 2 + (theta.diff() * sp.sin(theta)) ** 2) / 2
    grows, decays = linear_of(vn.System([x, theta], T, 9.81 * sp.cos(theta))).modes
    assert grows.root == pytest.approx(-decays.root)
    for mode in (grows, decays):
        assert mode.shape[x] == pytest.approx(-mode.shape[theta] / 3)
    assert str(grows) == "theta 1, x -0.333; grows without oscillating"


def test_the_verdict_tells_the_mode():
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, (4 * x**2 - y**2) / 2)
    linear = linear_of(system).named({"swing": 2j, "fall": 1.0})
    assert "(fall: y 1; grows without oscillating)" in str(vn.stability(linear))
    assert {mode.name for mode in vn.stability(linear).modes} == {"swing", "fall", ""}


def test_names_must_mean_one_root_each():
    linear = linear_of(vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, (x**2 + 4 * y**2) / 2))
    with pytest.raises(vn.ModelError, match=r"slow = 0\+1.5i is not clearly near one root. The roots are 0\+2i, 0\+1i"):
        linear.named({"slow": 1.5j})
    with pytest.raises(vn.ModelError, match=r"two and one are near the same root 0\+1i"):
        linear.named({"one": 1j, "two": 1.1j})


# -- sweeps ----------------------------------------------------------------------------------------------------------


def test_names_stay_with_modes_that_cross():
    """√p of x passes the frequency 1 of y at p = 1; x becomes unstable at p = 0. The names must not be exchanged."""
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, (p * x**2 + y**2) / 2, parameters={p: 4.0},
                       dissipation=0.05 * (x.diff() ** 2 + y.diff() ** 2))  # fmt: skip
    equations = vn.derive(system)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0, y: 0})).named({"first": 2j, "second": 1j})
    (border,) = vn.hurwitz.stability_borders(equations, {x: 0, y: 0}, p, (-0.5, 3.0), moving=(), points=5, named=linear)
    assert border.value == pytest.approx(0.0, abs=1e-12)
    assert list(border.shape) == [x]
    assert border.mode.name == ""  # the pair of "first" became two real roots at p = 0.0025
    sweep = vn.hurwitz.stability_borders(equations, {x: 0, y: 0}, p, (0.5, 1.5), moving=(), points=5, named=linear)
    assert sweep == ()


def test_names_reach_borders_through_a_crossing_of_frequencies():
    """x has the frequency √p and the damping p - 0.3: unstable below 0.3, past the crossing with y at p = 1."""
    T, V = (x.diff() ** 2 + y.diff() ** 2) / 2, (p * x**2 + y**2 + 0.02 * x * y) / 2
    system = vn.System([x, y], T, V, forces={x: -(p - 0.3) * x.diff(), y: -0.2 * y.diff()}, parameters={p: 2.0})
    equations = vn.derive(system)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0, y: 0}))
    first = next(mode.root for mode in linear.modes if max(mode.shares, key=mode.shares.get) == x)
    (border,) = vn.hurwitz.stability_borders(
        equations, {x: 0, y: 0}, p, (0.1, 1.9), moving=(), points=5, named=linear.named({"of x": first})
    )
    assert border.value == pytest.approx(0.3, abs=1e-3)
    assert border.mode.name == "of x"


def test_two_borders_between_two_points_of_the_scan():
    """Damping (p - 0.53)² - 10⁻⁴ is negative between 0.52 and 0.54; the points of the scan are 0, 1/4, ..., 1."""
    system = vn.System([x], x.diff() ** 2 / 2, x**2 / 2, forces={x: -((p - 0.53) ** 2 - 1e-4) * x.diff()},
                       parameters={p: 0.0})  # fmt: skip
    lost, gained = vn.hurwitz.stability_borders(vn.derive(system), {x: 0}, p, (0, 1), moving=(), points=5)
    assert (lost.value, gained.value) == (pytest.approx(0.52, abs=1e-9), pytest.approx(0.54, abs=1e-9))
    assert (lost.gained, gained.gained) == (False, True)


def test_a_shaft_is_unstable_between_its_critical_speeds():
    """Unequal stiffness in the turning frame: without damping, roots leave the axis for √k₁ < p < √k₂ alone."""
    k1, k2 = 1.0, 1.05
    T = ((x.diff() - p * y) ** 2 + (y.diff() + p * x) ** 2) / 2
    system = vn.System([x, y], T, (k1 * x**2 + k2 * y**2) / 2, parameters={p: 0.5})
    lost, gained = vn.hurwitz.stability_borders(vn.derive(system), {x: 0, y: 0}, p, (0.5, 1.5), moving=(), points=4)
    assert lost.value == pytest.approx(k1**0.5, rel=1e-6)
    assert gained.value == pytest.approx(k2**0.5, rel=1e-6)
