"""Functions of the state that are constant to the last digit next to a steep place: no series sees it from there."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x = dynamicsymbols("x")
v = x.diff()

by_code = pytest.mark.parametrize("compact", [None, True, False])
widths = pytest.mark.parametrize("w", [0.01, 0.002])


def moved_by(force):
    return vn.System([x], v**2 / 2, forces={x: force})


@by_code
@widths
def test_smooth_friction_brings_a_body_to_rest(w, compact):
    """v' = -tanh(v/w) with sinh(v/w) = sinh(v₀/w) exp(-t/w): the speed falls by 1 in a second, to zero."""
    times = np.linspace(0, 1.5, 16)
    motion = vn.simulate(moved_by(-sp.tanh(v / w)), {x: 0.0, v: 1.0}, times, compact=compact)
    assert motion.outcome
    speed = w * np.logaddexp(0, (1 - times) / w)  # arsinh(e^s / 2) = s, or 0, but for the corner
    far = np.abs(times - 1) > 40 * w
    np.testing.assert_allclose(motion[v][far], speed[far], rtol=0, atol=1e-12)


@by_code
@widths
@pytest.mark.parametrize("wall", [lambda s: -sp.tanh(s), lambda s: -1 + 2 / (1 + sp.exp(s)), lambda s: sp.exp(-s) - 1])
def test_a_steep_wall_reflects(wall, w, compact):
    """A force -1 for x > 0 from a potential: what falls from rest at x = 1 rises to x = 1."""
    there = vn.simulate(
        moved_by(wall(x / w)), {x: 1.0, v: 0.0}, (0, 6), events=vn.Event(v, name="turn"), compact=compact
    )
    assert there.outcome
    top = vn.simulate(moved_by(wall(x / w)), {x: 1.0, v: 0.0}, (0, there.event_times["turn"][1]), compact=compact)
    assert top[x][-1] == pytest.approx(1, abs=1e-9)


@by_code
def test_backward_through_a_steep_place(compact):
    system = moved_by(-x - sp.tanh(x / 0.01))
    there = vn.simulate(system, {x: 1.0, v: 0.0}, (0, 5), compact=compact)
    back = vn.simulate(system, there, (5, 0), compact=compact)
    assert back[x][-1] == pytest.approx(1, abs=1e-9)
    assert back[v][-1] == pytest.approx(0, abs=1e-9)


@by_code
def test_a_function_with_all_derivatives_zero_at_a_point(compact):
    """exp(-1/x²) is smooth, but its series at x = 0 is zero; the energy ẋ²/2 + x²/2 - ∫ f is kept."""
    times = np.linspace(0, 6, 25)
    system = moved_by(-x + sp.exp(-1 / x**2) / 10)
    motion = vn.simulate(system, {x: 1.0, v: 0.1}, times, compact=compact)
    other = vn.simulate(system, {x: 1.0, v: 0.1}, times, "bdf", tolerance=1e-12)
    assert motion.outcome
    np.testing.assert_allclose(motion[x], other[x], rtol=0, atol=1e-8)


@by_code
def test_a_root_with_a_triple_zero(compact):
    """x'' + x = √(τ⁶) = |τ|³ with τ = t - 2, whose series -τ³ has a zero that heyoka may not find.

    x = 5 cos t + 6 sin t + |τ|³ - 6 |τ|, and 12 sin τ more behind τ = 0.
    """
    t, times = dynamicsymbols._t, np.linspace(0, 6, 25)
    motion = vn.simulate(moved_by(sp.sqrt((t - 2) ** 6) - x), {x: 1.0, v: 0.0}, times, compact=compact)
    assert motion.outcome
    tau = times - 2
    exact = 5 * np.cos(times) + 6 * np.sin(times) + np.abs(tau) ** 3 - 6 * np.abs(tau) + 12 * np.sin(np.maximum(tau, 0))
    np.testing.assert_allclose(motion[x], exact, rtol=0, atol=1e-9)


@by_code
@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("bump", [lambda s: sp.exp(-(s**2)), sp.tanh, lambda s: 1 / sp.cosh(s / 2)])
def test_no_pulse_of_a_force_is_passed_over(bump, width, compact):
    """A narrow bump or step of the potential: a pulse of the force, which no end of a step shows. The energy tells."""
    V = x**2 / 2 + bump((x - sp.Rational(1, 5)) / width) / 10
    motion = vn.simulate(vn.System([x], v**2 / 2, V), {x: 1.0, v: 0.0}, (0, 20), compact=compact)
    assert motion.outcome
    assert motion.energy_error < 1e-11
