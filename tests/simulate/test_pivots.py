"""A pivot that goes to zero on a regular motion is the program's concern, not the user's.

In `spinner` the constraint gradients turn with the motion: pivots chosen at a state go bad several times in a
revolution, while the matrix stays perfectly regular. Lagrange's equations with multipliers are eliminated in an order
that is always good, and a small matrix of dependent coordinates is divided by its determinant alone. Large matrices of
other kinds need chosen pivots; the fixture `changing` makes the spinner use them too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import difference, end, hanging, largest, pendulum, run, spinner, spinning_angle, t, x

ANGLE, SPEED = 0.3, 3.0
Make = Callable[..., vn.EquationsOfMotion]
METHODS = [("taylor", {}, 1e-12), ("rk4", {"step": 1e-3}, 1e-10), ("ab4", {"step": 1e-3}, 1e-8), ("bdf", {}, 1e-6)]


def start(equations: vn.EquationsOfMotion) -> dict[sp.Expr, float]:
    """All spinners of a system at one angle, turning over the top."""
    coordinates = equations.system.coordinates
    values: dict[sp.Expr, float] = {}
    for angle, a, b in zip(coordinates[::3], coordinates[1::3], coordinates[2::3], strict=True):
        values |= {angle: ANGLE, a: float(np.cos(ANGLE)), b: float(np.sin(ANGLE)), angle.diff(): SPEED}
    return values


@cache
def angles(duration: float) -> vn.Trajectory:
    """The same motion without constraints."""
    return run(spinning_angle(), {x: ANGLE, x.diff(): SPEED}, (0, duration), dense=True)


def error(motion: vn.Trajectory, duration: float) -> float:
    """The largest error of the first angle and of what it carries, at all samples."""
    angle, a, b = motion.problem.equations.system.coordinates[:3]
    exact = angles(duration).at(motion.t)["x"]
    found = (motion[angle] - exact, motion[a] - np.cos(exact), motion[b] - np.sin(exact))
    return float(np.abs(found).max())


def changes(motion: vn.Trajectory) -> int:
    """How often pivots were chosen again."""
    return len(motion.segments) - 1


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
@pytest.mark.parametrize("count", [1, 2])
def test_a_regular_motion_needs_no_change_of_pivots(method, options, accuracy, count):
    """One spinner, and two side by side: the order of the start is good to the end."""
    equations = spinner(count)
    motion = run(equations, start(equations), (0, 10), method, **options)
    assert error(motion, 10) < accuracy
    assert changes(motion) == 0


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
@pytest.mark.parametrize("count", [1, 2])
def test_the_motion_goes_on_accurately(changing, method, options, accuracy, count):
    """One spinner, and two side by side whose pivots go bad at the same time."""
    equations = changing(count)
    motion = run(equations, start(equations), (0, 10), method, **options)
    assert motion.outcome.kind == "finished"
    assert error(motion, 10) < accuracy
    if method != "bdf":  # which looks at its pivots at the samples only
        assert changes(motion) > 10


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
def test_a_backward_motion_goes_on_accurately_too(changing, method, options, accuracy):
    """Pivots go bad on the way back as well."""
    equations = changing()
    forward = run(equations, start(equations), (0, 10))
    back = run(equations, end(forward), np.linspace(10, 0, 101), method, fixed=[], **options)
    assert error(back, 10) < 10 * accuracy


def test_residuals_and_energy_stay_at_rounding(changing):
    equations = changing()
    motion = run(equations, start(equations), (0, 10))
    assert largest(motion) < 1e-13
    assert motion.energy_error < 1e-13


@pytest.mark.parametrize(("method", "options"), [("rk4", {"step": 0.01}), ("taylor", {})])
def test_thousands_of_changes_do_not_end_a_run(changing, method, options):
    """A wheel that turns for a long time is as regular at the end as at the start."""
    equations = changing()
    motion = run(equations, start(equations), np.linspace(0, 300, 11), method, **options)
    assert motion.outcome.kind == "finished"
    assert motion.t[-1] == 300


def test_samples_between_the_steps_stay_accurate_where_pivots_change(changing):
    """One instant in the middle of every step: the cubic through both ends of a step, also the last before a change."""
    equations = changing()
    step, count = 1e-2, 300
    instants = np.concatenate([[0], (np.arange(count) + 0.5) * step, [count * step]])
    motion = run(equations, start(equations), instants, "rk4", step=step)
    np.testing.assert_array_equal(motion.t, instants)
    assert error(motion, 3) < 1e-6


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_no_step_loses_its_events_where_pivots_change(changing, method):
    """An event of time in the middle of every step: as many events as steps."""
    equations = changing()
    step, count = 1e-2, 300
    event = vn.Event(sp.cos(sp.pi * t / step), "middle")
    motion = run(equations, start(equations), (0, count * step), method, step=step, events=[event])
    expected = (np.arange(count) + 0.5) * step
    np.testing.assert_allclose([happened.time for happened in motion.events], expected, rtol=0, atol=1e-9)


def test_taylor_loses_no_event_where_pivots_change(changing):
    equations = changing()
    count = 300
    event = vn.Event(sp.cos(100 * sp.pi * t), "middle")
    motion = run(equations, start(equations), (0, count / 100), events=[event])
    expected = (np.arange(count) + 0.5) / 100
    np.testing.assert_allclose([happened.time for happened in motion.events], expected, rtol=0, atol=1e-12)


def test_every_step_is_counted_once(changing):
    equations = changing()
    motion = run(equations, start(equations), (0, 3), "rk4", step=1e-2)
    assert motion.steps == 300


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS[:3])
def test_samples_stand_once_and_in_order(changing, method, options, accuracy):
    equations = changing()
    for times in ((0, 10), np.linspace(0, 10, 77)):
        motion = run(equations, start(equations), times, method, **options)
        assert np.all(np.diff(motion.t) > 1e-6)
        assert motion.t[0] == 0
        assert motion.t[-1] == 10


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS[:3])
def test_dense_output_across_changes(changing, method, options, accuracy):
    """The states between the samples of a run that changed its pivots."""
    equations = changing()
    motion = run(equations, start(equations), (0, 3), method, dense=True, **options)
    times = np.linspace(0, 3, 1234)
    exact = angles(3).at(times)["x"]
    found = motion.at(times)
    np.testing.assert_allclose(found["x0"], exact, rtol=0, atol=10 * accuracy)
    np.testing.assert_allclose(found["a0"], np.cos(exact), rtol=0, atol=10 * accuracy)


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS[:3])
def test_accelerations_and_reactions_are_computed_with_good_pivots(changing, method, options, accuracy):
    """ẍ = -cos x and the reactions that carry the weight of b, at every sample of every stretch."""
    equations = changing()
    angle = equations.system.coordinates[0]
    motion = run(equations, start(equations), (0, 5), method, **options)
    np.testing.assert_allclose(motion[angle.diff(t, 2)], -np.cos(motion[angle]), rtol=0, atol=10 * accuracy)
    # V = b: the forces on the massless a and b balance, (0, -1) + Jᵀλ = 0 with the gradients (cos, sin), (-sin, cos)
    np.testing.assert_allclose(motion.reactions["along0"], np.sin(motion[angle]), rtol=0, atol=10 * accuracy)
    np.testing.assert_allclose(motion.reactions["across0"], np.cos(motion[angle]), rtol=0, atol=10 * accuracy)


@pytest.mark.parametrize("form", ["shulgin", "lurie-suslov"])
@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
def test_dependent_coordinates_that_stay_good_need_no_change_of_pivots(form, method, options, accuracy):
    """F_s of (a, b) is a rotation matrix: each of its entries vanishes twice in a revolution, its determinant never."""
    system = spinner().system
    equations = vn.derive(system, form, dependent=system.coordinates[1:])
    motion = run(equations, start(equations), (0, 10), method, **options)
    assert error(motion, 10) < accuracy
    assert changes(motion) == 0


# -- dependent coordinates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["shulgin", "lurie-suslov"])
@pytest.mark.parametrize(
    ("method", "options", "accuracy"),
    [("taylor", {}, 1e-11), ("rk4", {"step": 1e-3}, 1e-5), ("ab4", {"step": 1e-3}, 1e-5), ("bdf", {}, 1e-4)],
)
def test_dependent_coordinates_are_changed_before_they_fail(form, method, options, accuracy):
    """A pendulum that goes round: neither x nor y can be the dependent one all the way.

    Next to a change the dependent velocity is a large multiple of the independent one, which costs a fixed step digits.
    """
    equations = vn.derive(pendulum().system, form)
    motion = run(equations, hanging(0.3, 8.0), np.linspace(0, 3, 301), method, **options)
    reference = run(pendulum(), hanging(0.3, 8.0), motion.t)
    assert difference(motion, reference) < 8 * accuracy  # velocities reach 8


def test_a_form_with_given_dependent_coordinates_ends_where_they_fail():
    """With y dependent the pendulum cannot pass y = 0, and the outcome says which choice to make."""
    y = pendulum().system.coordinates[1]
    equations = vn.derive(pendulum().system, "shulgin", dependent=[y])
    motion = vn.simulate(equations, hanging(0.3, 8.0), (0, 3), progress=False)
    assert motion.outcome.kind == "singular"
    assert "Use x there" in motion.outcome.reason
    assert abs(end(motion)[y]) < 0.05
