"""Equations with corners: dry friction, branches, saturation. The exact motion goes from corner to corner."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.interpolate import make_interp_spline
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import ball_and_beam

x, y = dynamicsymbols("x y")
k, mu = sp.symbols("k mu")
t = dynamicsymbols._t


def block(force: sp.Expr = 0, friction: float = 0.5) -> vn.EquationsOfMotion:
    """A unit mass on a spring k = 10 with dry friction."""
    return vn.derive(
        vn.System(
            [x], x.diff() ** 2 / 2, k * x**2 / 2, {x: force - mu * sp.sign(x.diff())}, parameters={k: 10, mu: friction}
        )
    )


@pytest.mark.parametrize(("method", "error"), [("taylor", 1e-13), ("bdf", 2e-6), ("auto", 1e-13)])
def test_dry_friction_takes_the_same_from_every_swing_and_then_holds(method, error):
    """Each half swing of π/√k takes 2μ/k from the amplitude; the block rests as soon as k|x| ≤ μ."""
    half = np.pi / np.sqrt(10)
    times = half * np.arange(0, 14, 0.5)
    motion = vn.simulate(block(), {x: 1.03}, times, method=method)
    stops = 1.03 - 0.1 * np.arange(11)  # 0.03 in the end: 10 · 0.03 < 0.5
    expected = np.where(np.arange(11) % 2, -stops, stops)
    np.testing.assert_allclose(motion[x][:22:2], expected, rtol=0, atol=error)
    np.testing.assert_allclose(motion[x][20:], expected[-1], rtol=0, atol=error)
    np.testing.assert_allclose(motion[x.diff().diff()][21:], 0, atol=1e-13)
    assert motion.energy_error < 3 * error


def test_at_its_limit_friction_holds():
    """The block stops where spring and friction are equal: 10 · 0.2 = 2."""
    motion = vn.simulate(block(friction=2.0), {x: 1.0}, (0, 10))
    assert motion.outcome.kind == "finished"
    assert motion[x][-1] == pytest.approx(0.2, abs=1e-13)


def test_a_growing_force_breaks_the_block_loose_at_its_time():
    """F t = μ + k x at rest in x = 0: loose at t = μ/F, then ẍ = F t - μ - k x, until it stops."""
    F = 0.3
    motion = vn.simulate(block(F * t), {x: 0.0}, np.linspace(0, 2.5, 126))
    loose = 0.5 / F
    later = np.maximum(motion.t - loose, 0.0)
    w = np.sqrt(10)
    expected = F / 10 * (later - np.sin(w * later) / w)
    np.testing.assert_allclose(motion[x], expected, rtol=0, atol=1e-9)  # friction is let go at 1 + 5e-10
    assert np.all(motion[x][motion.t <= loose] == 0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_friction_of_coupled_bodies_obeys_its_law(seed, method):
    """M a = Q - μ∘σ with σ = sign v where something moves and |σ| ≤ 1 where it rests; random masses and springs."""
    random = np.random.default_rng(seed)
    q = dynamicsymbols("q1:4")
    v = sp.Matrix([c.diff() for c in q])
    L, S = random.normal(size=(2, 3, 3))
    M, K, limits = L @ L.T + np.eye(3), S @ S.T + np.eye(3), random.uniform(0.2, 1.0, 3)
    drive = random.normal(size=3)
    Q = -sp.Matrix(K) * sp.Matrix(q) + sp.Matrix(drive) * sp.sin(2 * t)
    forces = {c: force - limit * sp.sign(c.diff()) for c, force, limit in zip(q, Q, limits, strict=True)}
    equations = vn.derive(vn.System(q, (v.T * sp.Matrix(M) * v)[0] / 2, 0, forces))
    start = dict(zip(q, random.normal(size=3), strict=True))
    motion = vn.simulate(equations, start, np.linspace(0, 8, 801), method=method)
    assert motion.outcome.kind == "finished"
    a = np.array([motion[c.diff().diff()] for c in q])
    applied = -K @ np.array([motion[c] for c in q]) + drive[:, None] * np.sin(2 * motion.t)
    sigma = (applied - M @ a) / limits[:, None]
    speed = np.array([motion[c.diff()] for c in q])
    moving = np.abs(speed) > (1e-9 if method == "taylor" else 1e-4)
    np.testing.assert_allclose(sigma[moving], np.sign(speed[moving]), atol=1e-7)
    assert np.abs(sigma).max() < 1 + 1e-7
    assert (~moving).any()
    assert motion.energy_error < (1e-12 if method == "taylor" else 1e-4)


@pytest.mark.parametrize(
    "push", [-2 * sp.sign(x + x.diff()), sp.Piecewise((-2, x + x.diff() > 0), (2, True))], ids=["sign", "branch"]
)
def test_sliding_along_a_switching_line(push):
    """ẍ = -2 sign(x + ẋ): once on the line x + ẋ = 0 the motion stays there, x = x_s exp(-(t - t_s))."""
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, 0, {x: push}))
    motion = vn.simulate(equations, {x: 0.5, x.diff(): 0.4}, np.linspace(0, 6, 601))
    line = np.abs(motion[x] + motion[x.diff()])
    on = np.flatnonzero(line < 1e-12)[0]
    assert 0 < on < 300
    assert line[on:].max() < 1e-12
    expected = motion[x][on] * np.exp(-(motion.t[on:] - motion.t[on]))
    np.testing.assert_allclose(motion[x][on:], expected, rtol=0, atol=1e-13)


def test_friction_that_differs_in_its_two_directions():
    """A joint with 0.3 N m one way and 0.9 the other, on a spring: it rests anywhere in -0.9 ≤ -k q ≤ 0.3."""
    q = dynamicsymbols("q")
    arm = vn.Body("arm", axis=(0, 0, 1), inertia=(1, 1, 1), angle=q, stiffness=2.0, friction=(0.3, 0.9))
    equations = vn.derive(vn.BodyTree([arm], gravity=(0, 0, 0)).system())
    for start, stop in ((-0.14, -0.14), (0.44, 0.44), (0.7, 0.2)):  # forward is resisted by 0.3, backward by 0.9
        motion = vn.simulate(equations, {q: start}, (0, 20))
        assert motion[q][-1] == pytest.approx(stop, abs=1e-12)
    assert motion.energy_error < 1e-13


def test_a_valley_of_two_planes():
    """V = |x|: parabolas of the height 1 and the period 4√2, one after another."""
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, sp.Abs(x)))
    quarter = np.sqrt(2)
    motion = vn.simulate(equations, {x: 1.0}, np.linspace(0, 40 * quarter, 401))
    phase = motion.t / quarter % 4
    expected = np.select([phase < 1, phase < 3], [1 - phase**2, (phase - 2) ** 2 - 1], 1 - (4 - phase) ** 2)
    np.testing.assert_allclose(motion[x], expected, rtol=0, atol=1e-12)
    assert motion.energy_error < 1e-13


def test_a_law_through_measured_points_is_followed_over_its_knots():
    """ẍ = p(t) with a cubic spline p: the motion is its second integral, exactly."""
    places, heights = np.arange(8.0), np.array([0, 1, -1, 2, 0.5, -2, 1, 0])
    u = sp.Symbol("u")
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, 0, {x: u}, inputs=[u]))
    law = {u: vn.spline(t, places, heights, degree=3)}
    motion = vn.simulate(equations, {x: 0.0}, np.linspace(0, 7, 71), inputs=law)
    exact = make_interp_spline(places, heights, k=3).antiderivative(2)
    np.testing.assert_allclose(motion[x], exact(motion.t), rtol=0, atol=1e-13)


def test_a_saturated_motor_is_one_motion_for_both_methods():
    """The ball and beam from 0.15 m with 6 V at most: the voltage meets its limit and leaves it again."""
    equations, rest, _, law = ball_and_beam.stabilized(0)
    r, theta, alpha, voltage = ball_and_beam.r, ball_and_beam.theta, ball_and_beam.alpha, ball_and_beam.VOLTAGE
    closed = vn.close_loop(equations, law, limits={voltage: 6.0})
    start = {r: ball_and_beam.PLACE + 0.1, theta: rest[theta], r.diff(): 0, theta.diff(): 0}
    times = np.linspace(0, 1, 101)
    taylor, bdf = (
        vn.simulate(closed, start, times, guess={alpha: 0}, method=method, tolerance=tolerance)
        for method, tolerance in (("taylor", None), ("bdf", 1e-12))
    )
    assert np.abs(taylor[voltage]).max() == pytest.approx(6.0, abs=1e-12)
    assert np.abs(taylor[voltage]).min() < 5.9
    np.testing.assert_allclose(taylor[r], bdf[r], rtol=0, atol=1e-8)


def test_backwards_over_corners():
    """A swing in the valley, run back from its end."""
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, sp.Abs(x)))
    forth = vn.simulate(equations, {x: 1.0}, (0, 10))
    back = vn.simulate(equations, {x: forth[x][-1], x.diff(): forth[x.diff()][-1]}, (10, 0))
    assert back[x][-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("method", "error"), [("taylor", 1e-13), ("bdf", 1e-8)])
def test_conditions_joined_by_and_or_not(method, error):
    """A push of 1 on 0.2 < t < 0.5 and from 0.8 on: the speed is the time it lasted."""
    pushed = sp.Or(sp.And(t > 0.2, t < 0.5), sp.Not(t < 0.8, evaluate=False))
    cart = vn.System([x], x.diff() ** 2 / 2, forces={x: sp.Piecewise((1, pushed), (0, True))})
    motion = vn.simulate(vn.derive(cart), {x: 0, x.diff(): 0}, (0, 1), method=method)
    assert motion[x.diff()][-1] == pytest.approx(0.5, abs=error)


def landing(bounces: int, height: float = 1.0, gravity: float = 9.81, stiffness: float = 1000.0) -> list[float]:
    """Instants at which a unit mass dropped on a spring meets it and leaves it again."""
    omega, speed = stiffness**0.5, (2 * gravity * height) ** 0.5
    fall, contact = speed / gravity, 2 * (np.pi - np.arctan(speed * omega / gravity)) / omega
    first = [fall, fall + contact]
    return [instant + i * (2 * fall + contact) for i in range(bounces) for instant in first]


WAYS = {
    "branches": sp.Piecewise((500 * x**2, x < 0), (0, True)),
    "smaller": 500 * sp.Min(x, 0) ** 2,
    "absolute": 125 * (sp.Abs(x) - x) ** 2,
}


@pytest.mark.parametrize("spring", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("method", "error"), [("taylor", 1e-11), ("bdf", 1e-5)])
def test_events_at_a_corner_are_seen(spring, method, error):
    """The contact of a dropped mass begins and ends where its potential has the corner."""
    falling = vn.derive(vn.System([x], x.diff() ** 2 / 2, 9.81 * x + spring))
    events = [vn.Event(x, "any"), vn.Event(x, "down", "falling"), vn.Event(x, "up", "rising"), vn.Event(2e-6 - x, "a")]
    motion = vn.simulate(falling, {x: 1, x.diff(): 0}, (0, 4), method, events=events)
    found = {name: [e.time for e in motion.events if e.name == name] for name in ("any", "down", "up")}
    exact = landing(4)
    assert found["any"] == pytest.approx(exact, abs=error)
    assert found["down"] == pytest.approx(exact[::2], abs=error)
    assert found["up"] == pytest.approx(exact[1::2], abs=error)
    assert [e.rising for e in motion.events if e.name == "any"] == [False, True] * 4


@pytest.mark.parametrize(("direction", "number"), [("any", 0), ("falling", 0), ("rising", 1)])
def test_a_terminal_event_at_a_corner_ends_the_run(direction, number):
    falling = vn.derive(vn.System([x], x.diff() ** 2 / 2, 9.81 * x + WAYS["branches"]))
    end = vn.Event(x, "contact", direction, terminal=True)
    for times in ((0, 4), np.linspace(0, 4, 17)):
        motion = vn.simulate(falling, {x: 1, x.diff(): 0}, times, events=[end])
        assert motion.outcome.kind == "event"
        assert motion.t[-1] == pytest.approx(landing(1)[number], abs=1e-12)


def test_events_at_corners_are_the_same_backwards():
    falling = vn.derive(vn.System([x], x.diff() ** 2 / 2, 9.81 * x + WAYS["branches"]))
    motion = vn.simulate(falling, {x: 1, x.diff(): 0}, (0, -4), events=[vn.Event(x, "contact")])
    assert [-e.time for e in motion.events] == pytest.approx(landing(4), abs=1e-11)
    assert [e.rising for e in motion.events] == [True, False] * 4


def test_turning_points_under_dry_friction_are_events_up_to_the_last():
    """Half a period apart, each 2 μ/k shorter, until |x| < μ/k at a turning point: there the block stays."""
    motion = vn.simulate(block(), {x: 0.97, x.diff(): 0}, (0, 12), events=[vn.Event(x.diff(), "turn")])
    assert [e.time for e in motion.events] == pytest.approx(np.arange(1, 11) * np.pi / 10**0.5, abs=1e-11)


def test_an_event_function_that_jumps_over_zero_is_an_event():
    pushed = vn.derive(vn.System([x], x.diff() ** 2 / 2, forces={x: sp.Piecewise((1, t < 0.5), (-2, True))}))
    events = [vn.Event(x.diff(t, 2), "jump"), vn.Event(t - 0.5, "switch", "rising"), vn.Event(t - 0.5, "no", "falling")]
    motion = vn.simulate(pushed, {x: 0, x.diff(): 0}, (0, 1), events=events)
    assert [(e.name, e.time, e.rising) for e in motion.events] == [("jump", 0.5, False), ("switch", 0.5, True)]
