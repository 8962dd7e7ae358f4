"""All questions of a model at once: the same answers as one by one, refusals in words, nothing that was not asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.model.examine import closed_motion_of, equations_of, held_motion_of, law_of, linear_of, loop_of, rest_of
from vinculum.model.model import Model

theta = dynamicsymbols("theta")
u, m, g, c = sp.symbols("u m g c")
PENDULUM = vn.System(
    [theta],
    m * theta.diff() ** 2 / 2,
    m * g * sp.cos(theta),
    {theta: u},
    c * theta.diff() ** 2 / 2,
    parameters={m: 1, g: 9.81, c: 0.2},
    inputs=[u],
    name="pendulum",
)
MODEL = Model(
    PENDULUM,
    simulation={"initial": {theta: 0.1}, "times": (0, 1), "inputs": {u: 0}},
    equilibrium={"given": {u: 0}},
    control={"state_weights": [10, 1], "input_weights": 1},
    closed_loop={"initial": {theta: 0.1}, "times": (0, 30), "limits": {u: 50}},
)


@pytest.fixture(scope="module")
def results():
    return vn.examine(MODEL)


def test_every_question_is_answered(results):
    assert not results.refusals
    assert results.motion.outcome.kind == "finished"
    assert sorted(abs(round(point.rest[theta], 9)) for point in results.points) == [0, round(np.pi, 9)]
    assert [point.verdict.kind for point in results.points] == ["unstable", "asymptotically stable"]
    assert all(point.closed_verdict.kind == "asymptotically stable" for point in results.points)


def test_answers_are_those_of_the_verbs(results):
    equations = vn.derive(PENDULUM)
    linear = vn.linearize(equations, vn.equilibrium(equations, {u: 0}))
    law = vn.stabilize(linear, [10, 1], 1)
    np.testing.assert_array_equal(results.point.law.gain, law.gain)
    np.testing.assert_array_equal(results.point.linear.roots, linear.roots)


def test_closed_loop_starts_as_far_from_every_equilibrium(results):
    for point in results.points:
        closed, held = point.closed_motion, point.held_motion
        assert closed[theta][0] - point.rest[theta] == pytest.approx(0.1)
        assert held[theta][0] == closed[theta][0]
        assert closed[theta][-1] == pytest.approx(point.rest[theta], abs=1e-6)
    upright = results.points[0]
    assert abs(upright.held_motion[theta]).max() > 1, "without feedback it falls"


def test_each_step_alone(results):
    equations = equations_of(MODEL)
    rest = rest_of(MODEL, equations)
    law = law_of(MODEL, linear_of(MODEL, equations, rest))
    loop = loop_of(MODEL, equations, law, None)
    end = closed_motion_of(MODEL, loop, law, rest)[theta][-1]
    assert end == results.point.closed_motion[theta][-1]
    assert held_motion_of(MODEL, equations, law, rest)[theta][-1] == results.point.held_motion[theta][-1]


def test_what_is_not_asked_is_not_answered():
    results = vn.examine(Model(PENDULUM))
    assert results.equations is not None
    assert (results.motion, results.points, results.refusals) == (None, (), {})
    with pytest.raises(vn.VinculumError, match="control"):
        law_of(Model(PENDULUM), vn.examine(replace(MODEL, control=None)).point.linear)


def test_a_refused_step_is_told_in_words_and_the_rest_goes_on():
    results = vn.examine(replace(MODEL, simulation={"initial": {theta: 0.1}, "times": (0, 1)}))
    assert list(results.refusals) == ["motion"]
    assert "u has no law" in results.refusals["motion"]
    assert results.point.closed_motion is not None


def test_refused_feedback_names_its_equilibrium():
    results = vn.examine(replace(MODEL, control={"state_weights": [1, 1, 1]}))
    assert list(results.refusals) == ["feedback at equilibrium 1", "feedback at equilibrium 2"]
    assert results.point.verdict is not None


def test_observer_in_the_loop():
    results = vn.examine(replace(MODEL, observer={"outputs": [theta]}))
    point = results.point
    assert len(point.closed_model.roots) == 2 * len(point.linear.roots)
    assert point.closed_motion[theta][-1] == pytest.approx(point.rest[theta], abs=1e-4)


def test_an_ellipse_that_is_run_through_has_no_equilibrium():
    x, y = dynamicsymbols("x y")
    ellipse = vn.AffineSystem([x, y], [-4 * y, x], [u], [[x], [4 * y]], {"ellipse": x**2 / 2 + 2 * y**2 - 2})
    model = Model(
        ellipse,
        derivation={"rates": 1.0},
        simulation={"initial": {x: 2, y: 0}, "times": (0, 1)},
        equilibrium={},
    )
    results = vn.examine(model)
    assert results.motion.outcome.kind == "finished"
    assert "No equilibrium with nothing given was found" in results.refusals["equilibria"]


def test_progress_goes_from_zero_to_one_in_every_step():
    seen: dict[str, list[float]] = {}
    results = vn.examine(MODEL, progress=lambda step, share: seen.setdefault(step, []).append(share))
    assert set(seen) == set(results.seconds)
    assert all(shares[0] == 0 and shares[-1] == 1 for shares in seen.values())
    assert all(0 <= share <= 1 for shares in seen.values() for share in shares)


def test_versions_and_times_are_kept(results):
    assert results.versions["vinculum"] == vn.__version__
    assert {"sympy", "heyoka", "python"} <= set(results.versions)
    assert all(seconds >= 0 for seconds in results.seconds.values())
