"""A million steps: the constraint holds, the memory does not grow."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from simulate.models import g, hanging, l, m, pendulum, run, x

MILLION = 1_000_000


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_a_million_steps_hold_the_constraint(method):
    """The defect of a step of 1e-3 is some 1e-15 for RK4 and 1e-12 for Adams; it must not add up."""
    motion = run(pendulum(), hanging(), (0, 1000), method, step=1e-3)
    assert motion.steps == MILLION
    bound = {"rk4": 1e-14, "ab4": 1e-10}[method]
    assert motion.largest_residuals["rod", "position"] < bound
    assert motion.largest_residuals["rod", "velocity"] < 1e3 * bound  # a position defect per step


def test_a_million_steps_leave_a_thousand_samples():
    motion = run(pendulum(), hanging(), (0, 1000), "rk4", step=1e-3)
    assert 500 < len(motion.t) <= 1001


def test_memory_does_not_grow_with_the_steps():
    """Ten times the steps, at most a few kilobytes more at the peak."""

    def peak(duration: float) -> int:
        tracemalloc.start()
        run(pendulum(), hanging(), (0, duration), "rk4", step=1e-3)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(1000) < peak(100) + 200_000


def test_taylor_holds_the_constraint_for_a_thousand_swings():
    """Rounding alone: the energy wanders as a random walk, the residual does not grow."""
    motion = run(pendulum(), hanging(2.0), (0, 2000))
    assert motion.largest_residuals["rod", "position"] < 1e-14
    assert motion.largest_residuals["rod", "velocity"] < 1e-13
    assert motion.energy_error < 1e-11
    assert len(motion.t) == 1001


def test_the_phase_of_a_long_run():
    """After a thousand periods, the place of the start; the period is known."""
    from scipy.special import ellipk

    period = 4 * np.sqrt(1 / 9.81) * ellipk(np.sin(0.5) ** 2)
    motion = run(pendulum(), hanging(), (0, 1000 * period), parameters={m: 1.0, g: 9.81, l: 1.0})
    assert motion[x][-1] == pytest.approx(np.sin(1.0), abs=1e-11)
    assert motion[x.diff()][-1] == pytest.approx(0.0, abs=1e-8)
