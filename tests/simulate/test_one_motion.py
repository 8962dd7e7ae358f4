"""Forms, methods, stabilizations and coordinates are choices; the motion is one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import (
    ADAMS,
    KINDS,
    NUMBERS,
    RUNGE_KUTTA,
    angle_pendulum,
    difference,
    g,
    hanging,
    l,
    m,
    omega,
    pendulum,
    r,
    run,
    skate,
    theta,
    turning_rod,
    x,
    y,
)

TIMES = np.linspace(0, 2, 21)
ACCURACY = {  # at a step of 1e-3, a few times what the order of the method promises
    "taylor": 1e-12, "bdf": 3e-6,
    "euler": 5e-2, "midpoint": 1e-4, "rk4": 1e-9,
    "ab2": 5e-4, "ab3": 5e-6, "ab4": 5e-8, "ab5": 1e-9, "abm2": 1e-4, "abm3": 5e-7, "abm4": 5e-9,
}  # fmt: skip
TREATMENTS = {"taylor": ("none", "baumgarte", "projection"), "bdf": ("none", "baumgarte")}
TREATMENTS |= dict.fromkeys(RUNGE_KUTTA, ("none", "baumgarte", "projection", "sampled"))
TREATMENTS |= dict.fromkeys(ADAMS, ("none", "baumgarte", "projection"))


@cache
def reference(name: str) -> vn.Trajectory:
    equations, start = KINDS[name]
    return run(equations(), start, TIMES, stabilization="none")


@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("method", "treatment"), [(key, one) for key, names in TREATMENTS.items() for one in names])
def test_one_motion_by_every_form_method_and_stabilization(form, name, method, treatment):
    equations, start = KINDS[name]
    step = {} if method in ("taylor", "bdf") else {"step": 1e-3}
    motion = run(equations(form), start, TIMES, method, stabilization=treatment, **step)
    # continuous feedback in the stages of a Runge-Kutta step costs order: its defect is O(τ²)
    coarse = 1e-5 if treatment == "baumgarte" and method in ("rk4", "midpoint") else 0.0
    assert difference(motion, reference(name)) < max(ACCURACY[method], coarse)


@pytest.mark.parametrize("form", ["shulgin", "lurie-suslov"])
@pytest.mark.parametrize("name", ["rod", "moving wire"])
@pytest.mark.parametrize("method", ["taylor", "rk4", "ab4", "abm3", "bdf"])
@pytest.mark.parametrize("treatment", ["none", "baumgarte"])
def test_one_motion_by_the_forms_of_holonomic_systems(form, name, method, treatment):
    """Fewer states, and residuals of first order where the velocities follow the constraints by themselves."""
    equations, start = KINDS[name]
    step = {} if method in ("taylor", "bdf") else {"step": 1e-3}
    motion = run(vn.derive(equations().system, form), start, TIMES, method, stabilization=treatment, **step)
    coarse = 1e-5 if treatment == "baumgarte" and method == "rk4" else 0.0
    # next to a change of the dependent coordinates their velocities are large multiples of the others
    assert difference(motion, reference(name)) < max(100 * ACCURACY[method], coarse)


def test_a_cyclic_coordinate_by_its_momentum():
    """A spherical pendulum by Routh's equations and by Lagrange's: one motion, and the momentum is constant."""
    around = sp.Function("around")(theta.args[0])
    kinetic = m * l**2 * (theta.diff() ** 2 + sp.sin(theta) ** 2 * around.diff() ** 2) / 2
    system = vn.System([theta, around], kinetic, -m * g * l * sp.cos(theta), parameters=NUMBERS)
    start = {theta: 1.0, around: 0.2, theta.diff(): 0.3, around.diff(): 2.0}
    motion = run(vn.derive(system, "routh"), start, TIMES)
    assert difference(motion, run(vn.derive(system), start, TIMES)) < 1e-12
    momentum = motion[m * l**2 * sp.sin(theta) ** 2 * around.diff()]
    assert np.ptp(momentum) < 1e-14


def test_tolerance_sets_the_accuracy_of_adaptive_methods():
    """A tighter tolerance gives a smaller error, for both of them."""
    equations, start = KINDS["rod"]
    for method in ("taylor", "bdf"):
        errors = [
            difference(run(equations(), start, TIMES, method, tolerance=tolerance), reference("rod"))
            for tolerance in (1e-4, 1e-7, 1e-10)
        ]
        assert errors[0] > 10 * errors[1] > 100 * errors[2]


# -- coordinates ----------------------------------------------------------------------------------------------


def polar_pendulum() -> vn.EquationsOfMotion:
    """The pendulum in polar coordinates, the rod as the constraint r = l."""
    kinetic = m * (r.diff() ** 2 + r**2 * theta.diff() ** 2) / 2
    rod = vn.Holonomic(r - l, name="rod")
    return vn.derive(vn.System([r, theta], kinetic, -m * g * r * sp.cos(theta), constraints=[rod], parameters=NUMBERS))


def test_a_pendulum_in_three_kinds_of_coordinates():
    """Angle; x and y with a rod; r and angle with r = l: one place, one velocity, one tension."""
    angle = run(angle_pendulum(), {theta: 1.0, theta.diff(): 0.5}, TIMES)
    cartesian = run(pendulum(), hanging(1.0, 0.5), TIMES)
    polar = run(polar_pendulum(), {r: 1.0, theta: 1.0, theta.diff(): 0.5}, TIMES)
    for motion in (angle, polar):
        np.testing.assert_allclose(np.sin(motion[theta]), cartesian[x], rtol=0, atol=1e-13)
        np.testing.assert_allclose(-np.cos(motion[theta]), cartesian[y], rtol=0, atol=1e-13)
        speed = motion[theta.diff()] * np.cos(motion[theta])
        np.testing.assert_allclose(speed, cartesian[x.diff()], rtol=0, atol=1e-13)
        np.testing.assert_allclose(motion.energy, cartesian.energy, rtol=0, atol=1e-13)
    np.testing.assert_allclose(polar.reactions["rod"], cartesian.reactions["rod"], rtol=0, atol=1e-12)


def test_a_pendulum_rolling_over_the_top_has_the_period_of_its_elliptic_integral():
    """T = 4 √(l/g) K(sin² θ₀/2) for a release at rest."""
    from scipy.special import ellipk

    period = 4 * np.sqrt(1 / NUMBERS[g]) * ellipk(np.sin(0.5) ** 2)
    motion = run(angle_pendulum(), {theta: 1.0}, (0, 10 * period))
    assert motion[theta][-1] == pytest.approx(1.0, abs=1e-12)
    assert motion[theta.diff()][-1] == pytest.approx(0.0, abs=1e-11)


def test_a_skate_on_a_plane_that_is_level_goes_round_in_circles():
    """Without gravity: θ = ωt, and the contact point runs on a circle of radius v/ω."""
    start = {x: 0.0, y: 0.0, theta: 0.0, x.diff(): 1.2, theta.diff(): 0.8}
    motion = run(skate(), start, TIMES, parameters={g: 0.0})
    np.testing.assert_allclose(motion[x], 1.5 * np.sin(0.8 * TIMES), rtol=0, atol=1e-13)
    np.testing.assert_allclose(motion[y], 1.5 * (1 - np.cos(0.8 * TIMES)), rtol=0, atol=1e-13)
    mass = skate().system.parameters[m]
    expected = -mass * 1.2 * 0.8 * np.ones(len(TIMES))  # the sideways force m v ω, along (sin θ, -cos θ)
    np.testing.assert_allclose(motion.reactions["edge"], expected, rtol=0, atol=1e-12)


def test_a_skate_on_a_slope_drifts_sideways():
    """Known since Chaplygin: x = g sin²(ωt)/(2ω²), y = g (2ωt - sin 2ωt)/(4ω²) from rest along the slope."""
    turn = 0.9
    start = {x: 0.0, y: 0.0, theta: 0.0, x.diff(): 0.0, y.diff(): 0.0, theta.diff(): turn}
    motion = run(skate(), start, TIMES)
    slope = skate().system.parameters[g]
    np.testing.assert_allclose(motion[x], slope * np.sin(turn * TIMES) ** 2 / (2 * turn**2), rtol=0, atol=1e-13)
    drift = slope * (2 * turn * TIMES - np.sin(2 * turn * TIMES)) / (4 * turn**2)
    np.testing.assert_allclose(motion[y], drift, rtol=0, atol=1e-13)


def test_a_bead_on_a_turning_wire_is_thrown_out():
    """r = r₀ cosh ωt, and the wire pushes with 2 m ω ṙ."""
    motion = run(turning_rod(), {x: 0.6, y: 0.0, x.diff(): 0.0}, TIMES)
    numbers = turning_rod().system.parameters
    turn = numbers[omega]
    distance = 0.6 * np.cosh(turn * TIMES)
    np.testing.assert_allclose(motion[sp.sqrt(x**2 + y**2)], distance, rtol=1e-13)
    push = 2 * numbers[m] * turn**2 * 0.6 * np.sinh(turn * TIMES)
    np.testing.assert_allclose(-motion.reactions["wire"], push, rtol=0, atol=1e-12)


def test_units_do_not_matter():
    """Millimeters and grams instead of meters and kilograms: the same motion, scaled."""
    large = run(pendulum(), hanging(), TIMES)
    scaled = {m: 1e3 * NUMBERS[m], l: 1e3 * NUMBERS[l], g: 1e3 * NUMBERS[g]}
    small = run(pendulum(), {key: 1e3 * value for key, value in hanging().items()}, TIMES, parameters=scaled)
    np.testing.assert_allclose(small[x], 1e3 * large[x], rtol=0, atol=1e-9)
    np.testing.assert_allclose(small.reactions["rod"], 1e3 * large.reactions["rod"], rtol=0, atol=1e-8)
