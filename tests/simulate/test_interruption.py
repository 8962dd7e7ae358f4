"""Ctrl-C leaves what was computed."""

from __future__ import annotations

import os
import signal
import threading
from itertools import pairwise

import numpy as np
import pytest

import vinculum as vn
from simulate.models import hanging, pendulum, run, x

LONG = 1e6
METHODS = [("taylor", {}), ("rk4", {"step": 1e-3}), ("ab4", {"step": 1e-3}), ("bdf", {})]
every_method = pytest.mark.parametrize(("method", "options"), METHODS)


def assert_kept(motion: vn.Trajectory) -> None:
    """The samples are those of the same motion, from the start to the time the outcome names."""
    assert motion.outcome.kind == "interrupted"
    assert not motion.outcome
    assert motion.t[0] == 0
    assert motion.t[-1] == motion.outcome.time
    assert 0 <= motion.outcome.time < LONG
    for quantity in (x, x.diff()):
        assert np.all(np.isfinite(motion[quantity]))
    assert len(motion.reactions["rod"]) == len(motion.t)


@every_method
def test_an_interrupt_between_two_stretches_of_work(method, options):
    """Raised by the progress function, as Ctrl-C would be in Python code."""
    calls = []

    def third_time(share: float) -> None:
        calls.append(share)
        if len(calls) == 3:
            raise KeyboardInterrupt

    motion = vn.simulate(pendulum(), hanging(), np.linspace(0, LONG, 10**6), method, progress=third_time, **options)
    assert_kept(motion)
    assert len(motion.t) > 1


@every_method
def test_a_signal_in_the_middle_of_work(method, options):
    """A real SIGINT, while compiled code is running: a moment after the first sign of progress."""
    alarm = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    def set_once(share: float) -> None:
        if alarm.ident is None:
            alarm.start()

    try:
        motion = vn.simulate(pendulum(), hanging(), (0, LONG), method, progress=set_once, **options)
    finally:
        alarm.cancel()
    assert_kept(motion)


def test_an_interrupted_motion_is_part_of_the_whole():
    calls = []

    def second_time(share: float) -> None:
        calls.append(share)
        if len(calls) == 2:
            raise KeyboardInterrupt

    times = np.linspace(0, 100, 10001)
    part = vn.simulate(pendulum(), hanging(), times, "rk4", step=1e-3, progress=second_time)
    whole = run(pendulum(), hanging(), times, "rk4", step=1e-3)
    count = len(part.t)
    assert 1 < count < len(times)
    np.testing.assert_array_equal(part.t, times[:count])
    np.testing.assert_array_equal(part[x], whole[x][:count])


@every_method
def test_progress_is_a_share_that_grows_to_one(method, options):
    shares: list[float] = []
    vn.simulate(pendulum(), hanging(), (0, 5), method, progress=shares.append, **options)
    assert all(0 <= a <= b <= 1 for a, b in pairwise(shares))
    assert shares[-1] == pytest.approx(1.0, abs=1e-12)


@every_method
def test_progress_of_a_backward_run_grows_too(method, options):
    shares: list[float] = []
    vn.simulate(pendulum(), hanging(), (5, 0), method, progress=shares.append, **options)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0, abs=1e-12)
