"""Square roots that vanish on the way: √(v²) is |v|, but its Taylor series is v, also beyond the zero."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum import measure

x, y = dynamicsymbols("x y")
speed = sp.sqrt(x.diff() ** 2 + y.diff() ** 2)
G, DRAG = 9.81, 0.1

by_code = pytest.mark.parametrize("compact", [None, True, False])


def particle(potential=0, **forces):
    return vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, potential, forces={x: forces["x"], y: forces["y"]})


def thrown():
    """A ball in air, whose drag grows with the square of its speed."""
    return particle(G * y, x=-DRAG * speed * x.diff(), y=-DRAG * speed * y.diff())


def up(v):
    return {x: 0.0, y: 0.0, x.diff(): 0.0, y.diff(): v}


def rise(v):
    """Time and height of the turning point of a ball thrown straight up."""
    fall = np.sqrt(G / DRAG)
    return np.arctan(v / fall) / np.sqrt(G * DRAG), np.log(1 + (v / fall) ** 2) / (2 * DRAG)


def landing(v):
    """When it is back: down with y = h - log cosh(t √(g c)) / c."""
    time, height = rise(v)
    return time + np.arccosh(np.exp(DRAG * height)) / np.sqrt(G * DRAG)


@by_code
@pytest.mark.parametrize("v", [0.3, 12.0, 80.0])
def test_a_ball_thrown_straight_up_is_braked_on_its_way_down(v, compact):
    """The speed is zero at the top. Beyond, the series of the root would push the ball instead of braking it."""
    ground = vn.Event(y, direction="falling", terminal=True)
    motion = vn.simulate(thrown(), up(v), (0, 60), events=ground, compact=compact)
    assert motion.outcome.kind == "event"
    assert motion.outcome.time == pytest.approx(landing(v), rel=1e-11)
    assert motion.energy_error < 1e-11 * v**2


@by_code
@pytest.mark.parametrize("drag", [1e-3, 0.1, 50.0])
def test_a_ball_may_begin_at_rest(drag, compact):
    """Dropped into air, y = -log cosh(t √(g c)) / c."""
    system = particle(G * y, x=-drag * speed * x.diff(), y=-drag * speed * y.diff())
    times = np.linspace(0, 2, 9)
    motion = vn.simulate(system, up(0.0), times, compact=compact)
    assert motion.outcome
    assert list(motion.t) == list(times)
    np.testing.assert_allclose(motion[y], -np.log(np.cosh(times * np.sqrt(G * drag))) / drag, rtol=1e-11, atol=1e-15)


@by_code
@pytest.mark.parametrize("slant", [0.0, 1e-12, 1e-6, 1e-2])
def test_a_ball_thrown_nearly_straight_up_moves_nearly_the_same_way(slant, compact):
    times = np.linspace(0, landing(12.0), 50)
    start = up(12.0) | {x.diff(): slant}
    motion = vn.simulate(thrown(), start, times, compact=compact)
    other = vn.simulate(thrown(), start, times, "bdf", tolerance=1e-12)
    assert motion.outcome.kind == "finished"
    np.testing.assert_allclose(motion[y], other[y], rtol=0, atol=1e-9)


def test_samples_and_polynomials_cover_the_turning_point():
    top, height = rise(12.0)
    times = np.sort([0.0, *(top + np.array([-1e-3, -1e-11, 0, 1e-12, 5e-12, 1e-11, 1e-9, 1e-3])), 1.5])
    motion = vn.simulate(thrown(), up(12.0), times, dense=True)
    assert list(motion.t) == list(times)
    np.testing.assert_allclose(motion[y][2:-2], height, rtol=0, atol=1e-14)
    np.testing.assert_allclose(motion.at(times)["y"], motion[y], rtol=0, atol=1e-13)


@pytest.mark.parametrize("tolerance", [0.1, 1e-3, 1e-6, 1e-12, 1e-18])
def test_any_tolerance_sees_the_turning_point(tolerance):
    """Also series of a few terms."""
    motion = vn.simulate(thrown(), up(12.0), (0, landing(12.0)), tolerance=tolerance)
    assert motion.outcome
    assert motion[y][-1] == pytest.approx(0, abs=max(10 * tolerance, 1e-11))


def test_a_run_backwards_returns_to_its_start():
    there = vn.simulate(thrown(), up(12.0), (0, 1.7))
    back = vn.simulate(thrown(), there, (1.7, 0))
    assert back.outcome
    assert back[y][-1] == pytest.approx(0, abs=1e-11)
    assert back[y.diff()][-1] == pytest.approx(12, abs=1e-11)


@by_code
@pytest.mark.parametrize("v", [1e-3, 2.0, 1e3])
def test_dry_friction_in_the_plane_ends_at_rest(v, compact):
    """-v/|v| stops the body after |v|. It has no value there; turning round would be wrong, with a perfect balance."""
    system = particle(x=-x.diff() / speed, y=-y.diff() / speed)
    start = {x: 0.0, y: 0.0, x.diff(): 0.6 * v, y.diff(): 0.8 * v}
    motion = vn.simulate(system, start, (0, 2 * v), compact=compact)
    assert motion.outcome.kind == "non-finite"
    assert motion.outcome.time == pytest.approx(v, rel=1e-9)
    assert "dot(x) * dot(x)" in motion.outcome.reason
    assert motion[y][-1] == pytest.approx(0.4 * v**2, rel=1e-9)


@by_code
def test_a_root_of_a_square_is_an_absolute_value(compact):
    """V = 5 √(x²): parabolas with the period 4 √(2/5)."""
    system = vn.System([x], x.diff() ** 2 / 2, 5 * sp.sqrt(x**2))
    quarter = np.sqrt(2 / 5)
    times = quarter * np.arange(0, 13, 2.0)
    motion = vn.simulate(system, {x: 1.0, x.diff(): 0.0}, times, compact=compact)
    assert motion.outcome
    np.testing.assert_allclose(motion[x], np.cos(np.pi * np.arange(7)), rtol=0, atol=1e-7)


def test_a_spring_that_swings_through_its_anchor_agrees_with_bdf():
    """In the plane a spring of length √(x² + y²) with a rest length; the motion goes straight through the anchor."""
    pull = 1 - sp.Rational(1, 2) / sp.sqrt(x**2 + y**2)
    system = particle(x=-4 * pull * x, y=-4 * pull * y)
    start, times = {x: 1.2, y: 0.9, x.diff(): 0.0, y.diff(): 0.0}, np.linspace(0, 3, 31)
    motion, other = (vn.simulate(system, start, times, **how) for how in ({}, {"method": "rk4", "step": 1e-4}))
    assert motion.outcome
    np.testing.assert_allclose(motion[x], other[x], rtol=0, atol=1e-3)  # one step of rk4 crosses the jump


def test_runs_of_a_study_are_the_same_runs():
    speeds = np.array([0.0, 0.5, 3.0, 12.0])
    runs = vn.study(
        thrown(), {x: 0.0, y: 0.0, x.diff(): 0.0}, (0, 2.0), over={y.diff(): speeds},
        measure={"top": measure.maximum(y)}, keep="end",
    )  # fmt: skip
    for k, v in enumerate(speeds):
        alone = vn.simulate(thrown(), up(v), (0, 2.0))
        assert float(runs["y"][k]) == pytest.approx(alone[y][-1], rel=1e-12, abs=1e-12)
        assert float(runs.top[k]) == pytest.approx(rise(v)[1], rel=1e-9, abs=1e-12)


def test_a_velocity_constraint_that_is_not_held_is_named():
    """A skate in large steps without stabilization slips sideways."""
    heading = dynamicsymbols("theta")
    skate = vn.System(
        [x, y, heading], (x.diff() ** 2 + y.diff() ** 2 + heading.diff() ** 2) / 2,
        constraints=[vn.Nonholonomic(x.diff() * sp.sin(heading) - y.diff() * sp.cos(heading), name="blade")],
    )  # fmt: skip
    start = {x: 0.0, y: 0.0, heading: 0.0, x.diff(): 1.0, y.diff(): 0.0, heading.diff(): 1.0}
    lost, kept = (
        vn.simulate(vn.derive(skate, "lyapunov"), start, (0, 60), "euler", step=step, stabilization="none")
        for step in (0.3, 1e-3)
    )
    assert lost.outcome.kind == "inaccurate"
    assert kept.outcome.kind == "finished"
