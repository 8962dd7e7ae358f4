"""Every run ends in an outcome: at rest on a kink, after corners and events that accumulate, with absurd numbers."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, t = dynamicsymbols("x"), sp.Symbol("t")
FRICTION = sp.Rational(3, 10)


def block(force: sp.Expr, potential: sp.Expr = 0) -> vn.System:
    """A unit mass on a line."""
    return vn.System([x], x.diff() ** 2 / 2, potential, forces={x: force})


def run(
    system: vn.System, start: float = 1.0, times: tuple = (0, 20), method: str = "taylor", **options
) -> vn.Trajectory:
    return vn.simulate(system, {x: start}, times, method, progress=False, **options)


# -- corners -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_potential", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_dry_friction_brings_a_block_to_rest_on_a_kink(scale, as_potential):
    """ẍ = -k sign x - 0.3 k sign ẋ: each half swing takes √(2a) (1/√1.3 + 1/√0.7) and leaves 7/13 of its height a."""
    drag = -FRICTION * scale * sp.sign(x.diff())
    system = block(drag, scale * sp.Abs(x)) if as_potential else block(drag - scale * sp.sign(x))
    motion = run(system, start=scale)
    first, turn = np.sqrt(2 / 0.7), np.sqrt(2) * (1 / np.sqrt(1.3) + 1 / np.sqrt(0.7))
    ratio = np.sqrt(0.7 / 1.3)
    rest = first + ratio * turn / (1 - ratio)
    assert rest == pytest.approx(9.769, abs=1e-3)
    assert motion.outcome.kind == "finished"
    assert motion.t[-1] == 20
    late = motion.t > rest
    assert np.abs(motion[x][late]).max() < 1e-10 * scale + 1e-11
    assert np.abs(motion[x.diff()][late]).max() < 1e-10 * scale + 1e-11
    assert np.abs(motion[x.diff()][motion.t < rest - 0.3]).max() > 0.1 * scale


@pytest.mark.parametrize("method", ["taylor", "bdf"])
@pytest.mark.parametrize("drag", [0, FRICTION])
def test_a_block_rests_on_a_kink_until_the_load_exceeds_it(method, drag):
    """With the load t/10, the block leaves the kink of |x| at t = 10 (1 + μ) and then moves with (t - that)³/60."""
    motion = run(block(-drag * sp.sign(x.diff()) + t / 10, sp.Abs(x)), start=0.0, method=method)
    leaves = 10 * (1 + float(drag))
    assert motion.outcome.kind == "finished"
    assert motion[x] == pytest.approx(np.maximum(motion.t - leaves, 0) ** 3 / 60, abs=1e-6)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
@pytest.mark.parametrize("times", [(0, 20), (20, 0)])
def test_a_block_at_rest_on_a_kink_stays(method, times):
    for drag in (0, -FRICTION * sp.sign(x.diff())) if times[0] == 0 else (0,):
        motion = run(block(drag, sp.Abs(x)), start=0.0, times=times, method=method)
        assert motion.outcome.kind == "finished"
        assert np.abs(motion[x]).max() < 1e-12


def test_a_block_on_a_ridge_leaves_it():
    motion = run(block(0, -sp.Abs(x)), start=0.0, times=(0, 2))
    assert abs(motion[x][-1]) == pytest.approx(2.0)


def test_the_less_accurate_method_rests_too_or_says_that_corners_do_not_end():
    motion = run(block(-sp.sign(x) - FRICTION * sp.sign(x.diff())), method="bdf")
    assert motion.outcome.kind == "finished" or motion.outcome.cause.name == "endless corners"
    assert np.abs(motion[x][motion.t > 9.76]).max() < 1e-4


# -- events ------------------------------------------------------------------------------------------------------


def test_events_that_accumulate_end_the_run_with_the_reason():
    motion = run(block(-x), times=(-1, 1), events=[vn.Event(sp.sin(1 / t), name="ripple")])
    assert motion.outcome.kind == "stalled"
    assert motion.outcome.cause.name == "endless events"
    assert motion.outcome.cause.named("event") == ["ripple"]
    assert -1e-3 < motion.t[-1] < 0
    found = np.array(motion.event_times["ripple"])
    assert found[:1000] == pytest.approx(-1 / (np.pi * np.arange(1, 1001)), rel=1e-9)  # none is left out


def test_many_even_events_are_not_an_accumulation():
    motion = run(block(-x), times=(0, 20), events=[vn.Event(sp.sin(1000 * t), name="tick")])
    assert motion.outcome.kind == "finished"
    assert len(motion.events) == int(20 * 1000 / np.pi)


# -- absurd numbers ----------------------------------------------------------------------------------------------

NO_NUMBERS = [1j, "1e-3", True, float("nan"), float("inf"), [1e-3], np.array([1e-3, 1e-3]), {}]


def refused(**options) -> str:
    """The refusal of a run, which takes less than a second."""
    began = time.perf_counter()
    given = {"times": (0, 20), **options}
    with pytest.raises(vn.VinculumError) as error:
        vn.simulate(SPRING, {x: 1}, **given)
    assert time.perf_counter() - began < 1
    return str(error.value)


SPRING = vn.derive(block(-x))


@pytest.mark.parametrize("method", ["taylor", "bdf", "auto"])
@pytest.mark.parametrize("value", [1e-300, 1e-19, 0, -1e-9, 1.0, *NO_NUMBERS], ids=repr)
def test_a_tolerance_beyond_double_precision_is_refused(method, value):
    assert "tolerance" in refused(method=method, tolerance=value)


@pytest.mark.parametrize("method", ["euler", "rk4", "ab4", "abm4"])
@pytest.mark.parametrize("value", [1e-300, 1e-16, 1e300, 0, -1, None, *NO_NUMBERS], ids=repr)
def test_an_impossible_step_is_refused(method, value):
    assert "step" in refused(method=method, step=value)


@pytest.mark.parametrize(
    "value",
    [1j, None, 5, "ab", ("0", "1"), (0, None), (0, 1j), (True, False), (0, np.inf), (0, 10**400), np.zeros((2, 2)),
     (1.0, np.nextafter(1.0, 2.0)), (1e16, 1e16 + 4), (1e300, 1e300 * (1 + 1e-15)), {0: 1}],
    ids=repr,
)  # fmt: skip
def test_times_that_are_not_instants_are_refused(value):
    assert "imes" in refused(times=value)


@pytest.mark.parametrize("method", ["taylor", "bdf"])
def test_an_end_that_cannot_be_reached_ends_the_run_at_once(method):
    began = time.perf_counter()
    motion = run(SPRING, times=(0, 1e300), method=method)
    assert motion.outcome.kind == "stalled"
    assert np.all(np.isfinite(motion[x]))
    assert time.perf_counter() - began < 5


def test_a_fixed_step_over_an_endless_interval_is_refused():
    assert "interval" in refused(times=(0, 1e300), method="rk4", step=1e-3)
    assert "dense" in refused(times=(0, 20), method="rk4", step=1e-9, dense=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("compact", "yes"), ("compact", np.ones(2)), ("dense", "x"), ("dense", np.ones(2)), ("progress", 5),
     ("fixed", 5), ("fixed", "x"), ("guess", {x: "a"}), ("guess", 5)],
)  # fmt: skip
def test_other_options_of_the_wrong_kind_are_refused(name, value):
    assert refused(**{name: value})


# -- Ctrl-C ------------------------------------------------------------------------------------------------------

ENDLESS = {
    "taylor": {"times": (0, 1e14)},
    "bdf": {"times": (0, 1e12), "method": "bdf"},
    "euler": {"times": (0, 1e6), "method": "euler", "step": 1e-8},
    "abm4": {"times": (0, 1e6), "method": "abm4", "step": 1e-8},
    "events": {"times": (1e-9, 1e9), "events": [vn.Event(sp.sin(1000 * t))]},
}


@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_is_heard_within_a_second_or_two(name):
    pressed = []

    def press(number, frame):
        pressed.append(time.perf_counter())
        raise KeyboardInterrupt

    def started(share):
        if not began:
            began.append(signal.setitimer(signal.ITIMER_REAL, 0.3))

    began = []
    former = signal.signal(signal.SIGALRM, press)
    try:
        motion = vn.simulate(SPRING, {x: 1.0}, **ENDLESS[name], progress=started)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert motion.outcome.kind == "interrupted"
    assert time.perf_counter() - pressed[0] < 3
