"""Events are found at their exact times, in order, in the direction asked for."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import NUMBERS, angle_pendulum, g, hanging, particle, pendulum, run, t, theta, x, y

HEIGHT, SPEED = 2.0, 3.0
GROUND_TIME = SPEED + np.sqrt(SPEED**2 + 2 * HEIGHT)  # of x = HEIGHT + SPEED t - t²/2
METHODS = [("taylor", {}, 1e-14), ("rk4", {"step": 0.01}, 1e-13), ("ab4", {"step": 0.01}, 1e-13), ("bdf", {}, 1e-6)]
every_method = pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)


@cache
def ball() -> vn.EquationsOfMotion:
    """A ball thrown upwards in unit gravity; cubic Hermite pieces follow its parabola exactly."""
    return particle(g * x)


def thrown(events: list[vn.Event], method: str = "taylor", times: object = (0, 10), **options: object):
    return run(ball(), {x: HEIGHT, x.diff(): SPEED}, times, method, events=events, **options)


def occurred(motion: vn.Trajectory) -> list[tuple[str, bool]]:
    return [(event.name, event.rising) for event in motion.events]


def times_of(motion: vn.Trajectory) -> np.ndarray:
    return np.array([event.time for event in motion.events])


# -- where and which way --------------------------------------------------------------------------------------


@every_method
def test_the_ball_meets_the_ground_at_its_exact_time(method, options, accuracy):
    motion = thrown([vn.Event(x, "ground")], method, **options)
    assert occurred(motion) == [("ground", False)]
    assert times_of(motion) == pytest.approx([GROUND_TIME], abs=accuracy)
    assert motion.outcome.kind == "finished"


@every_method
@pytest.mark.parametrize("direction", ["rising", "falling", "any"])
def test_direction_filters(method, options, accuracy, direction):
    """The height 5 is passed upwards and downwards."""
    motion = thrown([vn.Event(x - 5, "level", direction=direction)], method, **options)
    root = np.sqrt(SPEED**2 - 2 * 3)
    expected = [(SPEED - root, True), (SPEED + root, False)]
    wanted = {"rising": expected[:1], "falling": expected[1:], "any": expected}[direction]
    assert [event.rising for event in motion.events] == [rising for _, rising in wanted]
    assert times_of(motion) == pytest.approx([time for time, _ in wanted], abs=accuracy)


@every_method
def test_an_event_that_does_not_occur_is_not_reported(method, options, accuracy):
    motion = thrown([vn.Event(x - 100, "high"), vn.Event(x + 100, "deep")], method, **options)
    assert motion.events == ()


@every_method
def test_an_event_zero_at_the_start_does_not_fire_there(method, options, accuracy):
    """Thrown from the ground: it fires on the way back."""
    motion = run(ball(), {x: 0.0, x.diff(): 1.0}, (0, 3), method, events=[vn.Event(x, "ground")], **options)
    assert occurred(motion) == [("ground", False)]
    assert times_of(motion) == pytest.approx([2.0], abs=10 * accuracy)


@every_method
@pytest.mark.parametrize("direction", ["falling", "any"])
def test_a_terminal_event_zero_at_the_start_does_not_end_the_run_there(method, options, accuracy, direction):
    event = vn.Event(x, "ground", direction=direction, terminal=True)
    motion = run(ball(), {x: 0.0, x.diff(): 1.0}, (0, 3), method, events=[event], **options)
    assert motion.outcome.kind == "event"
    assert motion.outcome.time == pytest.approx(2.0, abs=10 * accuracy)


@pytest.mark.parametrize("method", ["euler", "rk4", "ab3"])
def test_a_zero_exactly_on_a_step_is_one_event_and_goes_the_right_way(method):
    """x = 1 - t and x = t - 1 with a step of 1/4: zero at the fourth step, to the last bit."""
    for speed in (-1.0, 1.0):
        start = {x: -speed, x.diff(): speed}
        motion = run(particle(), start, (0, 2), method, step=0.25, events=[vn.Event(x, "zero")])
        assert occurred(motion) == [("zero", speed > 0)]
        assert times_of(motion) == pytest.approx([1.0], abs=1e-15)


@every_method
def test_a_backward_run_meets_the_same_events_in_its_own_order(method, options, accuracy):
    """From t = 8 back to 0; an event that rises with time is a rising one, whichever way it is met."""
    end = {x: HEIGHT + SPEED * 8 - 32, x.diff(): SPEED - 8}
    motion = run(ball(), end, (8, 0), method, events=[vn.Event(x - 5, "level"), vn.Event(x, "ground")], **options)
    root = np.sqrt(SPEED**2 - 2 * 3)
    expected = [("ground", False), ("level", False), ("level", True)]
    assert occurred(motion) == expected
    assert times_of(motion) == pytest.approx([GROUND_TIME, SPEED + root, SPEED - root], abs=10 * accuracy)


@every_method
def test_direction_means_the_same_backwards(method, options, accuracy):
    """Only the rising passage through the level 5, with time running backwards."""
    end = {x: HEIGHT + SPEED * 8 - 32, x.diff(): SPEED - 8}
    motion = run(ball(), end, (8, 0), method, events=[vn.Event(x - 5, "level", direction="rising")], **options)
    assert occurred(motion) == [("level", True)]
    assert times_of(motion) == pytest.approx([SPEED - np.sqrt(SPEED**2 - 6)], abs=10 * accuracy)


# -- several --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "options"), [("taylor", {}), ("rk4", {"step": 5.0}), ("bdf", {})])
def test_several_events_in_one_step_come_in_order_of_time(method, options):
    """Levels listed from the top; a straight motion passes them from below, all in one step."""
    levels = [vn.Event(x - level, f"level {level}") for level in (4, 3, 2, 1)]
    motion = run(particle(), {x: 0.0, x.diff(): 1.0}, (0, 5), method, events=levels, **options)
    assert [event.name for event in motion.events] == ["level 1", "level 2", "level 3", "level 4"]
    assert times_of(motion) == pytest.approx([1, 2, 3, 4], abs=1e-9)


@every_method
def test_events_before_a_terminal_one_are_kept_and_later_ones_are_not(method, options, accuracy):
    events = [
        vn.Event(x - 1, "above", direction="falling"),
        vn.Event(x, "ground", terminal=True),
        vn.Event(x + 1, "below"),
    ]
    motion = thrown(events, method, **options)
    assert [event.name for event in motion.events] == ["above", "ground"]


def test_unnamed_events_get_names_of_their_own():
    motion = thrown([vn.Event(x), vn.Event(x - 5)], "rk4", step=0.01)
    assert {event.name for event in motion.events} == {"event_1", "event_2"}


@every_method
def test_every_swing_is_found(method, options, accuracy):
    """The pendulum passes below twice a period, alternately to the right and to the left."""
    from scipy.special import ellipk

    quarter = np.sqrt(1 / NUMBERS[g]) * ellipk(np.sin(0.5) ** 2)
    motion = run(
        angle_pendulum(), {theta: 1.0}, (0, 20.2 * quarter), method, events=[vn.Event(theta, "below")], **options
    )
    found = times_of(motion)
    errors = {"taylor": 1e-12, "rk4": 1e-6, "ab4": 1e-4, "bdf": 1e-6}
    assert found == pytest.approx(quarter * np.arange(1, 21, 2), abs=errors[method])
    assert [event.rising for event in motion.events] == [False, True] * 5


# -- terminal -------------------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("times", [(0, 10), np.linspace(0, 10, 4)], ids=["interval", "array"])
def test_a_terminal_event_ends_the_run_at_its_time(method, options, accuracy, times):
    """The last sample is at the event, the samples before it are those asked for, none lies beyond."""
    motion = thrown([vn.Event(x, "ground", terminal=True)], method, times, **options)
    assert motion.outcome.kind == "event"
    assert motion.outcome
    assert "'ground'" in motion.outcome.reason
    assert motion.outcome.time == motion.t[-1]
    assert motion.t[-1] == pytest.approx(GROUND_TIME, abs=accuracy)
    assert motion[x][-1] == pytest.approx(0.0, abs=10 * accuracy)
    assert np.all(np.diff(motion.t) > 0)
    assert occurred(motion) == [("ground", False)]
    if len(times) > 2:
        np.testing.assert_array_equal(motion.t[:-1], times[times < GROUND_TIME])


def test_steps_of_a_later_run_are_not_cut_by_an_earlier_event():
    """The same compiled integrator, used again, goes on to its end."""
    event = vn.Event(x, "ground", terminal=True)
    first = thrown([event])
    again = thrown([event])
    assert first.outcome.time == again.outcome.time
    assert thrown([event], times=(0, 1)).outcome.kind == "finished"


def test_events_do_not_change_the_stabilization():
    """The rate of the feedback is that of the motion, also where a terminal event is zero at the start."""
    plain = run(pendulum(), hanging(0.0, 3.0), (0, 0.1))
    watched = run(pendulum(), hanging(0.0, 3.0), (0, 0.1), events=[vn.Event(x, "below", terminal=True)])
    assert watched.stabilization == plain.stabilization


# -- what an event may be made of -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options", "accuracy"),
    [("taylor", {}, 1e-13), ("rk4", {"step": 1e-3}, 1e-9), ("ab4", {"step": 1e-3}, 1e-7), ("bdf", {}, 1e-6)],
)
def test_the_rod_is_slack_at_the_known_angle(method, options, accuracy):
    """From below with angular velocity w the tension m l w² - 2 m g (1 - cos θ) + m g cos θ ends at
    cos θ = (2 - w²/(g/l))/3."""
    speed = 6.0
    event = vn.Event(vn.reaction("rod"), "slack", direction="rising", terminal=True)
    motion = run(pendulum(), hanging(0.0, speed), (0, 3), method, events=[event], **options)
    assert motion.outcome.kind == "event"
    cosine = (2 - speed**2 / NUMBERS[g]) / 3
    assert -motion[y][-1] == pytest.approx(cosine, abs=accuracy)
    assert motion.reactions["rod"][-1] == pytest.approx(0.0, abs=100 * accuracy)
    assert motion.reactions["rod"][-2] < 0


@every_method
def test_events_of_time_and_acceleration(method, options, accuracy):
    """sin πt passes zero at whole numbers; the oscillator's acceleration where x does, at odd quarters."""
    equations = particle(x**2 / 2)
    events = [vn.Event(sp.sin(sp.pi * t), "whole"), vn.Event(x.diff(t, 2), "middle")]
    motion = run(equations, {x: 1.0}, (0.5, 3.2), method, events=events, **options)
    assert [event.name for event in motion.events] == ["whole", "whole", "middle", "whole"]
    near = {"taylor": 1e-13, "rk4": 1e-7, "ab4": 1e-6, "bdf": 1e-6}[method]  # cubics between steps of the oscillator
    assert times_of(motion) == pytest.approx([1, 2, 0.5 + np.pi / 2, 3], abs=near)


def test_an_event_of_an_input_and_a_parameter():
    push = sp.Symbol("push")
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, forces={x: push}, inputs=[push], parameters={g: 2.0}))
    motion = run(equations, {x: 0.0}, (0, 3), inputs={push: t**2}, events=[vn.Event(push - g, "strong")])
    assert times_of(motion) == pytest.approx([np.sqrt(2)], abs=1e-14)


@pytest.mark.parametrize(("method", "options"), [("rk4", {"step": 1e-3}), ("ab4", {"step": 1e-3}), ("taylor", {})])
def test_events_are_not_lost_where_pivots_are_chosen_again(changing, method, options):
    """A regular motion with many changes of pivots: every passage is found, as in the motion without constraints."""
    equations = changing()
    angle, a, b = equations.system.coordinates
    start = {angle: 0.3, a: np.cos(0.3), b: np.sin(0.3), angle.diff(): 3.0}
    events = [vn.Event(a, "upright"), vn.Event(b, "level")]
    motion = run(equations, start, (0, 10), method, events=events, **options)
    passages = [event.time for event in motion.events]
    turned = motion[angle][-1] - 0.3
    expected = np.arange(1, int((turned + 0.3) / (np.pi / 2)) + 1) * np.pi / 2
    assert len(passages) == len(expected)
    assert len(motion.segments) > 5


# -- refusals -------------------------------------------------------------------------------------------------


def test_an_unknown_direction_is_refused():
    with pytest.raises(vn.VinculumError, match=r"upwards.*any, rising or falling"):
        vn.Event(x, "ground", direction="upwards")


def test_an_event_with_an_unknown_symbol_is_refused():
    with pytest.raises(vn.ModelError, match=r"the event 'ground'(.|\n)*z is not known"):
        thrown([vn.Event(sp.Symbol("z"), "ground")])


def test_an_event_on_an_unknown_reaction_is_refused_with_the_nearest_known_one():
    with pytest.raises(vn.ModelError, match=r"Did you mean reaction\(rod\)"):
        run(pendulum(), hanging(), (0, 1), events=[vn.Event(vn.reaction("rood"), "slack")])


@pytest.mark.parametrize("method", ["taylor", "bdf", "rk4"])
def test_an_event_that_cannot_happen_is_refused(method):
    for constant in (sp.Symbol("m") + 1, sp.Integer(3)):
        system = vn.System([x], sp.Symbol("m") * x.diff() ** 2 / 2, parameters={sp.Symbol("m"): 2})
        options = {"step": 0.1} if method == "rk4" else {}
        with pytest.raises(vn.ModelError, match="the event can never occur"):
            vn.simulate(
                vn.derive(system), {x: 0, x.diff(): 1}, (0, 1), method, events=[vn.Event(constant, "e")], **options
            )


def test_the_name_of_an_event_is_text():
    for name in (["a"], 3, None):
        with pytest.raises(
            vn.VinculumError, match=r'The name of the event x.* is .*; it must be text, as name="contact"'
        ):
            vn.Event(x, name=name)
    with pytest.raises(vn.VinculumError, match=r"\['a'\]; use any, rising or falling"):
        vn.Event(x, direction=["a"])


def test_an_event_with_a_huge_number_is_refused_with_its_name():
    with pytest.raises(vn.ModelError, match=r"the event 'far'(.|\n)*outside the range of double precision"):
        thrown([vn.Event(x - 10**400, "far")])
