"""No event is passed over: not two in one step, not one at a corner; and events without end are an outcome."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import ADAMS, RUNGE_KUTTA, angle_pendulum, particle, t, theta, x
from vinculum.ensembles.ensemble import OUTCOMES

STEP = 0.0625
METHODS = [("taylor", {}), ("bdf", {}), ("auto", {}), *((name, {"step": STEP}) for name in (*RUNGE_KUTTA, *ADAMS))]
every_method = pytest.mark.parametrize(("method", "options"), METHODS)
BEGIN, SPEED = -0.5123, 1.0  # x = BEGIN + SPEED t, which every method follows exactly
ZERO = -BEGIN / SPEED


@cache
def spring() -> vn.EquationsOfMotion:
    return particle(x**2 / 2)


def moved(expression: sp.Expr, method: str, options: dict, times: tuple = (0, 1), **further) -> vn.Trajectory:
    event = vn.Event(expression, name="ripple", **further)
    start = {x: BEGIN, x.diff(): SPEED}
    return vn.simulate(particle(), start, times, method, events=[event], progress=False, **options)


# -- events that accumulate ---------------------------------------------------------------------------------------

ENDLESS = {
    "to zero from below": (sp.sin(1 / t), (-1, 1), 0.0),
    "backwards": (sp.sin(1 / t), (1, 0), 0.0),
    "at the end": (sp.sin(1 / (1 - t)), (0, 1), 1.0),
    "as a geometric series": (sp.sin(sp.log(1 - t)), (0, 1), 1.0),
    "as a geometric series, inside": (sp.sin(sp.log(sp.Abs(1 - t))), (0, 2), 1.0),
    "slowly, as a geometric series": (sp.sin(40 * sp.log(sp.Abs(1 - t))), (0, 2), 1.0),
    "two in a period": (sp.sin(1 / (1 - t)) - sp.Rational(1, 2), (0, 2), 1.0),
    "with the state": (sp.sin(1 / x), (0, 1), ZERO),
    "with ever smaller waves": (x * sp.sin(1 / x), (0, 1), ZERO),
}


@every_method
@pytest.mark.parametrize("case", ENDLESS)
def test_events_without_end_end_the_run_with_the_reason(case, method, options):
    expression, times, where = ENDLESS[case]
    motion = moved(expression, method, options, times)
    assert motion.outcome.kind == "stalled"
    assert motion.outcome.cause.name == "endless events"
    assert motion.outcome.cause.named("event") == ["ripple"]
    assert motion.outcome.time == pytest.approx(where, abs=1e-4)
    direction = np.sign(times[1] - times[0])
    assert direction * (motion.outcome.time - where) <= 0  # nothing behind the place is stored
    assert np.all(direction * (motion.t - motion.outcome.time) <= 0)
    assert np.all(direction * (np.array(motion.event_times["ripple"]) - motion.outcome.time) <= 0)


@every_method
def test_none_is_left_out_before_the_end(method, options):
    found = np.array(moved(sp.sin(1 / t), method, options, (-1, 1)).event_times["ripple"])
    assert len(found) > 10_000
    assert found == pytest.approx(-1 / (np.pi * np.arange(1, len(found) + 1)), rel=1e-9)


@pytest.mark.parametrize(("method", "options"), METHODS[:3])
def test_a_motion_with_a_singular_end_of_its_own_events_says_so_too(method, options):
    """x'' = -x from x = -1/2: 1/x ripples before x = 0 at t = arctan(1/2)."""
    start = {x: -0.5, x.diff(): 1.0}
    event = vn.Event(sp.sin(1 / x), name="ripple")
    motion = vn.simulate(spring(), start, (0, 2), method, events=[event], progress=False, **options)
    assert motion.outcome.cause.name == "endless events"
    assert motion.outcome.time == pytest.approx(np.arctan(0.5), abs=1e-4)


# -- as many as there are -----------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("frequency", [100, 160, 1000, sp.pi * 256])
def test_many_events_in_a_step_are_all_found(frequency, method, options):
    """π 256 has the same phase at the beginning of every step of 1/16."""
    motion = moved(sp.sin(frequency * (x + sp.Rational(1, 3))), method, options)
    first, last = (float(frequency * (place + 1 / 3) / sp.pi) for place in (BEGIN, BEGIN + SPEED))
    numbers = np.arange(np.ceil(first), np.floor(last) + 1)
    expected = (numbers * np.pi / float(frequency) - 1 / 3 - BEGIN) / SPEED
    assert motion.event_times["ripple"] == pytest.approx(expected, abs=1e-9)
    assert motion.outcome.kind == "finished"


@every_method
@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9])
def test_a_dip_below_zero_is_two_events(depth, method, options):
    """x² passes a small number downwards and upwards within one step."""
    for expression, half in ((x**2 - depth, np.sqrt(depth)), (sp.Abs(x) - depth, depth)):
        motion = moved(expression, method, options)
        assert [event.rising for event in motion.events] == [False, True]
        assert motion.event_times["ripple"] == pytest.approx([ZERO - half, ZERO + half], abs=1e-10)


@every_method
def test_the_first_of_two_in_a_step_ends_the_run(method, options):
    motion = moved(x**2 - 1e-6, method, options, terminal=True)
    assert motion.outcome.kind == "event"
    assert motion.outcome.time == pytest.approx(ZERO - 1e-3, abs=1e-10)
    rising = moved(x**2 - 1e-6, method, options, terminal=True, direction="rising")
    assert rising.outcome.time == pytest.approx(ZERO + 1e-3, abs=1e-10)


@every_method
def test_a_function_that_jumps_has_its_events_at_the_jumps(method, options):
    """A sign, and a branch: from 1/4 to -1/4."""
    branch = sp.Piecewise((x, x < sp.Rational(1, 4)), (-x, True))
    assert moved(sp.sign(x), method, options).event_times["ripple"] == pytest.approx([ZERO], abs=1e-9)
    found = moved(branch, method, options).event_times["ripple"]
    assert found == pytest.approx([ZERO, ZERO + 0.25], abs=1e-9)


@every_method
def test_rounding_is_not_an_event(method, options):
    motion = moved(sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, method, options)
    assert (motion.outcome.kind, motion.events) == ("finished", ())


@every_method
def test_a_zero_at_the_start_hides_no_other_in_the_same_step(method, options):
    """A ball is thrown from the ground and lands: in one run, and in a study."""
    ball, landing = particle(9.81 * x), vn.Event(x, "landing", terminal=True)
    step = {"step": 0.3} if options else {}
    motion = vn.simulate(ball, {x: 0, x.diff(): 1}, (0, 0.9), method, events=[landing], progress=False, **step)
    assert [event.rising for event in motion.events] == [False]
    assert motion.t[-1] > 0.2
    if method != "auto":
        over = {x.diff(): [1.0, 0.5]}
        found = vn.study(ball, {x: 0}, (0, 0.9), over=over, until=landing, method=method, progress=False, **step)
        assert found.end_time[0] == motion.t[-1]


@every_method
def test_a_function_may_rest_at_zero_and_leave_it(method, options):
    """Nothing ends while it rests, and what follows is found."""
    leaving = sp.Piecewise((0, t < 1), (sp.sin(10 * (t - 1)), True))
    motion = moved(leaving, method, options, (0, 2))
    assert motion.outcome.kind == "finished"
    assert motion.event_times["ripple"] == pytest.approx(1 + np.pi / 10 * np.arange(1, 4), abs=1e-9)
    assert moved(sp.Max(0, 0.04 - (t - 0.5) ** 2), method, options, (0, 2)).outcome.kind == "finished"


@every_method
def test_a_touch_is_not_an_event(method, options):
    assert moved(x**2, method, options).events == ()


# -- expressions without a value ----------------------------------------------------------------------------------

WITHOUT_VALUE = {
    "a pole": (1 / x, ZERO),
    "a pole of even order": (1 / x**2 - 100, ZERO),
    "a tangent": (sp.tan(3 * x), ZERO + np.pi / 6),
    "the edge of a root": (sp.sqrt(-x) - 10, ZERO),
    "a logarithm at the start": (sp.log(x), 0.0),
}


@every_method
@pytest.mark.parametrize("case", WITHOUT_VALUE)
def test_an_event_whose_expression_has_no_value_ends_the_run(case, method, options):
    expression, where = WITHOUT_VALUE[case]
    motion = moved(expression, method, options, (0, 2))
    assert (motion.outcome.kind, motion.outcome.cause.name) == ("non-finite", "event undefined")
    assert motion.outcome.time == pytest.approx(where, abs=1e-6)
    assert motion.t[-1] <= where + 1e-6


# -- studies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "options"), [("taylor", {}), ("bdf", {}), ("rk4", {"step": STEP})])
def test_runs_of_a_study_end_as_simulate_ends_them(method, options):
    """Two events in a step, a ripple, a pole and a missing value: by the start, as the first event or as no value."""
    starts = np.array([-0.5123, -0.3, 0.2, 0.7])
    for expression in (x**2 - 1e-6, sp.sin(1 / x), 1 / x - 3, sp.sqrt(-x) - sp.Rational(1, 2)):
        until = vn.Event(expression, name="ripple")
        study = vn.study(
            particle(),
            {x.diff(): SPEED},
            (0, 1),
            over={x: starts},
            until=until,
            method=method,
            progress=False,
            **options,
        )
        for k, place in enumerate(starts):
            event = vn.Event(expression, name="ripple", terminal=True)
            alone = vn.simulate(
                particle(), {x: place, x.diff(): SPEED}, (0, 1), method, events=[event], progress=False, **options
            )
            assert OUTCOMES[int(study["outcome"].values[k])] == alone.outcome.kind, (expression, place)
            assert float(study["end_time"].values[k]) == pytest.approx(alone.t[-1], abs=1e-9)


def test_the_swings_of_a_pendulum_are_found_with_long_steps():
    """BDF makes steps of a quarter of a period at a low tolerance."""
    level = vn.Event(sp.cos(theta) - sp.Rational(999, 1000), name="low")
    found = [
        vn.simulate(angle_pendulum(), {theta: 1.0}, (0, 20), method, events=[level], progress=False, **options)
        for method, options in (("taylor", {}), ("bdf", {"tolerance": 1e-3}), ("rk4", {"step": 0.1}))
    ]
    assert [len(motion.events) for motion in found] == [len(found[0].events)] * 3
