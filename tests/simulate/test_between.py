"""A run between its samples: Taylor polynomials where they were kept, cubics with exact rates otherwise."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.model.model import Drawing
from vinculum.present.drawing import scene
from vinculum.simulation.trajectory.between import resampled

x = dynamicsymbols("x")
SPRING = vn.System([x], x.diff() ** 2 / 2, x**2 / 2, name="spring")


def error(samples: int, **how: object) -> float:
    """The largest error of x = sin t at many instants, from few samples."""
    motion = vn.simulate(SPRING, {x: 0, x.diff(): 1}, np.linspace(0, 6, samples), **how)
    times = np.linspace(0, 6, 997)
    run = resampled(motion.live, times)
    return float(np.max(np.abs(run.expressions([x])[:, 0] - np.sin(times))))


def test_the_error_of_the_cubic_falls_with_the_fourth_power_of_the_spacing():
    """h⁴/384 times the largest fourth derivative, which is 1."""
    for samples in (21, 41, 81):
        assert error(samples) <= 1.05 * (6 / (samples - 1)) ** 4 / 384 + 1e-12
    assert np.log2(error(21) / error(41)) == pytest.approx(4, abs=0.15)


def test_the_polynomials_of_a_dense_run_are_exact():
    assert error(3, method="taylor", dense=True) < 1e-13


def test_a_backward_run_is_followed_too():
    motion = vn.simulate(SPRING, {x: 0, x.diff(): 1}, np.linspace(0, -6, 61))
    times = np.linspace(0, -6, 301)
    np.testing.assert_allclose(resampled(motion.live, times).expressions([x])[:, 0], np.sin(times), atol=3e-7)


def test_a_fast_beginning_between_two_samples_is_not_thrown_far_away():
    """x' decays a thousand times faster than samples follow: no cubic overshoots."""
    k = sp.Integer(1000)
    damped = vn.System([x], x.diff() ** 2 / 2, 0, forces={x: -k * x.diff()}, name="damped")
    motion = vn.simulate(damped, {x: 0, x.diff(): 1000}, np.linspace(0, 1, 11))
    drawn = scene(motion, Drawing({"p": (x, 0)}), frames=600).strokes[0].places[:, 0, 0]
    assert drawn.min() >= 0
    assert drawn.max() <= 1 + 1e-9


def test_frames_are_equally_spaced_and_paths_have_all_samples():
    motion = vn.simulate(SPRING, {x: 0, x.diff(): 1}, np.geomspace(1e-3, 6, 50))
    found = scene(motion, Drawing({"p": (x, 0)}, traces=["p"]), frames=360)
    np.testing.assert_allclose(np.diff(found.t), (6 - 1e-3) / 359, rtol=1e-9)
    np.testing.assert_array_equal(found.paths["p"][:, 0], motion[x])
