"""Functions whose series leave their ranges: that of atan2(sin t, cos t) is t, also beyond π, where it jumps."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum import measure

x = dynamicsymbols("x")
y = dynamicsymbols("y")
t = dynamicsymbols._t
n = sp.symbols("n")
PI = np.pi

by_code = pytest.mark.parametrize("compact", [None, True, False])
WRAPPED = sp.atan2(sp.sin(x), sp.cos(x))


def moved_by(force, parameters=None):
    return vn.System([x], x.diff() ** 2 / 2, forces={x: force}, parameters=parameters or {})


def still(place=0.0):
    return {x: place, x.diff(): 0.0}


# f(t), its period, and the changes of velocity ∫f and of place ∫∫f in the first one, by hand
WAVES = {
    "sawtooth": (sp.atan2(sp.sin(t), sp.cos(t)), 2 * PI, 0.0, PI**3 / 3),
    "triangle": (sp.asin(sp.sin(t)), 2 * PI, 0.0, PI**3 / 4),
    "raised triangle": (sp.acos(sp.cos(t)), 2 * PI, PI**2, PI**3),
    "short sawtooth": (sp.atan(sp.tan(t)), PI, 0.0, PI**3 / 24),
    "rectified cube": ((sp.sin(t) ** 2) ** sp.Rational(3, 2), PI, 4 / 3, 2 * PI / 3),
}


@by_code
@pytest.mark.parametrize("wave", WAVES)
def test_forces_that_turn_or_jump_in_time(wave, compact):
    """After n periods v = n Δv and x = n Δx + n (n - 1)/2 T Δv."""
    force, period, change, way = WAVES[wave]
    n = np.arange(8)
    motion = vn.simulate(moved_by(force), still(), n * period, compact=compact)
    assert motion.outcome
    np.testing.assert_allclose(motion[x.diff()], n * change, rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[x], n * way + n * (n - 1) / 2 * period * change, rtol=0, atol=1e-9)


@by_code
def test_arctan_jumps_where_its_argument_is_infinite(compact):
    """∫ arctan(1/t) dt = t arctan(1/t) + log(1 + t²)/2."""
    times = np.linspace(-1, 1, 7)
    motion = vn.simulate(moved_by(sp.atan(1 / t)), still(), times, compact=compact)
    assert motion.outcome
    times[3] = 1e-300
    velocity = times * np.arctan(1 / times) + np.log1p(times**2) / 2
    np.testing.assert_allclose(motion[x.diff()], velocity - velocity[0], rtol=0, atol=1e-12)


@by_code
@pytest.mark.parametrize("v", [3.2, 4.0, 50.0])
def test_a_spring_that_pulls_the_shorter_way_round(v, compact):
    """The torque -w of the wrapped angle w: θ = v sin t up to θ = π, so each turn takes 2 arcsin(π/v)."""
    turns = np.arange(12)
    times = turns * 2 * np.arcsin(PI / v)
    start = {x: 0.0, x.diff(): v}
    for system in (moved_by(-WRAPPED), vn.System([x], x.diff() ** 2 / 2, WRAPPED**2 / 2)):
        motion = vn.simulate(system, start, times, compact=compact)
        assert motion.outcome
        np.testing.assert_allclose(motion[x], 2 * PI * turns, rtol=1e-10)
        np.testing.assert_allclose(motion[x.diff()], v, rtol=1e-10)


@by_code
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-12])
def test_any_tolerance_sees_the_jump(tolerance, compact):
    motion = vn.simulate(
        moved_by(-WRAPPED), {x: 0.0, x.diff(): 4.0}, (0, 4 * np.arcsin(PI / 4)), compact=compact, tolerance=tolerance
    )
    assert motion.outcome
    assert motion[x][-1] == pytest.approx(4 * PI, abs=max(100 * tolerance, 1e-10))


@pytest.mark.parametrize("force", [-WRAPPED, -sp.asin(sp.sin(x)), -sp.acos(sp.cos(x)), -sp.atan(sp.tan(x))], ids=str)
def test_a_run_backwards_returns_to_its_start(force):
    there = vn.simulate(moved_by(force), {x: 0.5, x.diff(): 3.0}, (0, 3))
    back = vn.simulate(moved_by(force), there, (3, 0))
    assert there.outcome
    assert back.outcome
    assert back[x][-1] == pytest.approx(0.5, abs=1e-8)
    assert back[x.diff()][-1] == pytest.approx(3, abs=1e-8)


@pytest.mark.parametrize("wave", WAVES)
def test_a_run_may_begin_at_the_end_of_a_range(wave):
    """One period later everything repeats."""
    force, period, _, _ = WAVES[wave]
    edge = {"triangle": PI / 2, "short sawtooth": PI / 2, "sawtooth": PI}.get(wave, 0.0)
    once, again = (
        vn.simulate(moved_by(force), still(), start + np.linspace(0, 1, 5) * period) for start in (edge, edge + period)
    )
    assert once.outcome
    assert again.outcome
    np.testing.assert_allclose(once[x], again[x], rtol=0, atol=1e-9)


@by_code
def test_an_event_happens_where_its_function_passes_zero_and_where_it_jumps_over_it(compact):
    """w of θ = 2 t rises through zero after every turn and falls from π to -π half a turn later."""
    turning, times = moved_by(0 * x), (0.1, 4 * PI - 0.1)
    start = {x: 0.2, x.diff(): 2.0}
    motion = vn.simulate(turning, start, times, compact=compact, events=vn.Event(WRAPPED, name="w"))
    found = [(event.time, event.rising) for event in motion.events]
    assert [rising for _, rising in found] == [False, True] * 3 + [False]
    np.testing.assert_allclose([time for time, _ in found], PI / 2 * np.arange(1, 8), rtol=0, atol=1e-9)


@by_code
def test_a_zero_at_a_start_at_the_end_of_a_range_is_not_an_event(compact):
    start, times = {x: 0.0, x.diff(): 1.0}, (PI / 2, PI)
    leaving = vn.Event(x, name="left", terminal=True)
    motion = vn.simulate(moved_by(sp.asin(sp.sin(t))), start, times, compact=compact, events=leaving)
    assert motion.outcome.kind == "finished"
    assert not motion.events


def test_runs_of_a_study_are_the_same_runs():
    speeds = np.array([2.0, 3.2, 4.0, 9.0])
    runs = vn.study(
        moved_by(-WRAPPED), {x: 0.0}, (0, 5.0), over={x.diff(): speeds}, measure={"top": measure.maximum(x)}, keep="end"
    )
    for k, v in enumerate(speeds):
        alone = vn.simulate(moved_by(-WRAPPED), {x: 0.0, x.diff(): v}, (0, 5.0))
        assert float(runs["x"][k]) == pytest.approx(alone[x][-1], rel=1e-12)


def test_an_integral_may_begin_at_the_end_of_a_range():
    """∫ √(x²) dt of x = v t is v t²/2."""
    speeds = np.array([1.0, 2.0])
    runs = vn.study(
        moved_by(0 * x), {x: 0.0}, (0, 2), over={x.diff(): speeds}, measure={"area": measure.integral(sp.sqrt(x**2))}
    )
    np.testing.assert_allclose(runs["area"], 2 * speeds, rtol=1e-12)


@by_code
def test_a_run_that_cannot_go_on_names_the_function(compact):
    motion = vn.simulate(moved_by(-sp.asin(x)), {x: 0.5, x.diff(): 3.0}, (0, 20), compact=compact)
    assert motion.outcome.kind == "non-finite"
    assert motion[x][-1] == pytest.approx(1, abs=1e-6)
    assert "asin" in motion.outcome.reason


@pytest.mark.parametrize(("exponent", "force"), [(1, -x), (3, -(x**3))])
def test_a_parameter_that_is_a_whole_exponent_ends_no_range(exponent, force):
    """xⁿ with n = 3 is negative where x is."""
    times = np.linspace(0, 20, 5)
    found = vn.simulate(moved_by(-(x**n), {n: exponent}), still(1.0), times)
    assert found.outcome
    np.testing.assert_allclose(found[x], vn.simulate(moved_by(force), still(1.0), times)[x], rtol=0, atol=1e-10)


@by_code
def test_a_parameter_that_is_another_exponent_ends_one(compact):
    _, period, change, way = WAVES["rectified cube"]
    motion = vn.simulate(moved_by((sp.sin(t) ** 2) ** n, {n: 1.5}), still(), (0, period), compact=compact)
    assert motion.outcome
    assert motion[x.diff()][-1] == pytest.approx(change, abs=1e-10)
    assert motion[x][-1] == pytest.approx(way, abs=1e-9)


@by_code
@pytest.mark.parametrize("apart", [1e-9, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("wave", [lambda t: sp.asin(sp.sin(t)), lambda t: sp.atan2(sp.sin(t), sp.cos(t))])
def test_the_ends_of_two_functions_may_be_near_each_other(wave, apart, compact):
    """The motion by two forces is the sum of their motions."""
    times = np.linspace(0, 20, 5)
    forces = wave(t), wave(t + sp.Float(apart))
    alone = [vn.simulate(moved_by(force), still(), times, compact=compact) for force in forces]
    both = vn.simulate(moved_by(sum(forces)), still(), times, compact=compact)
    assert both.outcome
    np.testing.assert_allclose(both[x], alone[0][x] + alone[1][x], rtol=0, atol=1e-8)


@by_code
def test_a_collision_is_not_the_end_of_a_range(compact):
    """A body that falls on a center from rest at the distance 1 is there after π/√8; √(x² + y²) is zero there, too."""
    falling = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, -1 / sp.sqrt(x**2 + y**2))
    motion = vn.simulate(falling, {x: 0.8, y: 0.6}, (0, 5), compact=compact)
    assert motion.outcome.kind == "non-finite"
    assert motion.outcome.time == pytest.approx(PI / np.sqrt(8), rel=1e-9)


@by_code
def test_a_motion_that_stays_at_a_jump_names_it(compact):
    """v̇ = w(v) drives v to the jump from π to -π from both sides."""
    force = WRAPPED.subs(x, x.diff())
    motion = vn.simulate(moved_by(force), {x: 0.0, x.diff(): 1.0}, (0, 3), compact=compact)
    assert motion.outcome.kind == "non-finite"
    assert motion.outcome.time == pytest.approx(np.log(PI), rel=1e-9)
    assert "atan2(sin(dot(x)), cos(dot(x))) turns or jumps" in motion.outcome.reason
