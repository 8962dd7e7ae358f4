"""A motion can be run backwards: by time, and by turning the velocities round."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import (
    KINDS,
    SKATE_START,
    angle_pendulum,
    end,
    hanging,
    largest,
    pendulum,
    run,
    skate,
    theta,
    x,
    y,
)

FORMS = ("multipliers", "lyapunov")
REVERSIBLE = {
    "pendulum in its angle": (lambda form: angle_pendulum(), {theta: 1.0, theta.diff(): -0.3}),
    "pendulum in x and y": (pendulum, hanging(speed=-0.3)),
    "skate": (skate, SKATE_START),
}
OTHERS = {
    "turning wire": KINDS["moving wire"],
    "constant speed": KINDS["given speed"],
}


def back(motion: vn.Trajectory, times: tuple[float, float], **options: object) -> vn.Trajectory:
    """From the end of a motion; its last digits may move onto the constraints."""
    return run(motion.problem.equations, end(motion), times, fixed=[], **options)


def assert_state(motion: vn.Trajectory, expected: dict[sp.Expr, float], tolerance: float) -> None:
    found = end(motion)
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=tolerance), str(key)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stabilization", ["none", "baumgarte", "projection"])
@pytest.mark.parametrize("name", [*REVERSIBLE, *OTHERS])
def test_back_in_time(form, stabilization, name):
    """Times that decrease: the run returns to where it came from and stays on the constraints."""
    equations, start = (REVERSIBLE | OTHERS)[name]
    forward = run(equations(form), start, (0, 3), stabilization=stabilization)
    returned = back(forward, (3, 0), stabilization=stabilization)
    assert_state(returned, vn.consistent_state(equations(form), start), 1e-11)
    assert max(returned.largest_residuals.values(), default=0.0) < 1e-13


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [("euler", 0.1), ("midpoint", 1e-4), ("rk4", 1e-8), ("ab2", 1e-4), ("ab4", 1e-7), ("abm3", 1e-6), ("bdf", 1e-5)],
)
def test_back_in_time_by_other_methods(method, tolerance):
    """The default stabilization draws the residual to zero in both directions of time."""
    step = {} if method == "bdf" else {"step": 1e-3}
    forward = run(pendulum(), hanging(), (0, 3), method, **step)
    returned = back(forward, (3, 0), method=method, **step)
    assert_state(returned, hanging(), tolerance)
    assert largest(returned) < 2 * largest(forward) + 1e-9


@pytest.mark.usefixtures("anywhere")
def test_a_given_rate_draws_to_the_constraint_in_both_directions():
    """Started off the rod, the residual is smaller at the end, whichever way time runs."""
    start = hanging() | {x: 0.85}
    for times in ((0, 2), (2, 0)):
        motion = run(pendulum(), start, times, stabilization=vn.Baumgarte(4.0))
        residual = np.abs(motion.residuals["rod", "position"])
        assert residual[-1] < 0.02 * residual[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REVERSIBLE)
def test_with_velocities_turned_round(form, name):
    """No forces that depend on the velocity, constraints homogeneous in it: the motion retraces its path."""
    equations, start = REVERSIBLE[name]
    forward = run(equations(form), start, (0, 3))
    velocities = equations(form).system.velocities
    turned = {key: -value if key in velocities else value for key, value in end(forward).items()}
    returned = run(equations(form), turned, (0, 3), fixed=[])
    expected = vn.consistent_state(equations(form), start)
    assert_state(returned, {key: -value if key in velocities else value for key, value in expected.items()}, 1e-11)


def test_samples_of_a_backward_run_are_those_of_the_forward_run():
    times = np.linspace(0, 3, 31)
    forward = run(pendulum(), hanging(), times, stabilization="none")
    returned = run(pendulum(), end(forward), times[::-1], fixed=[], stabilization="none")
    np.testing.assert_array_equal(returned.t, times[::-1])
    np.testing.assert_allclose(returned[y][::-1], forward[y], rtol=0, atol=1e-12)
