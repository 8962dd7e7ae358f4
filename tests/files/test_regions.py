"""[attraction] and [stability_map]: against regions known from energy and from Hurwitz."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum as vn
from vinculum.model import loads
from vinculum.present.report import attraction, regions
from vinculum.present.report.page import page

HANGING = """
name = "hanging <b>"
parameters = { c = 0.5 }
[system]
coordinates = ["theta"]
kinetic_energy = "dot(theta)^2/2"
potential_energy = "-cos(theta)"
dissipation = "c*dot(theta)^2/2"
[equilibrium]
given = { theta = 0 }
starts = 0
[attraction]
over = { theta = { from = -3, to = 3, count = 9 }, "dot(theta)" = [-4, -2, -1, 0, 1, 2, 4] }
time = 60
"""

UPRIGHT = """
parameters = { m = 1 }
[system]
coordinates = ["theta"]
inputs = ["u"]
kinetic_energy = "m*dot(theta)^2/2"
potential_energy = "m*cos(theta)"
forces = { theta = "u" }
[equilibrium]
given = { theta = 0 }
starts = 0
[control]
state_weights = 1
input_weights = 1
[observer]
outputs = ["theta"]
[attraction]
over = { theta = { from = -0.2, to = 0.2, count = 5 } }
time = 30
[stability_map]
over = { K_u_theta = [-3, -2, -0.5, 1], K_u_theta_dot = [-2, -1, 1] }
"""
WITHOUT_OBSERVER = UPRIGHT.replace('[observer]\noutputs = ["theta"]\n', "")


@pytest.fixture(scope="module")
def hanging():
    return vn.examine(loads(HANGING))


def test_starts_below_the_energy_of_the_saddle_converge(hanging):
    """A damped pendulum with θ̇²/2 - cos θ < 1 cannot pass over the top."""
    assert hanging.failures == []
    (theta,) = hanging.model.system.coordinates
    sampled = hanging.attraction.sampled
    energy = np.array([start[theta.diff()] ** 2 / 2 - np.cos(start[theta]) for start in sampled.starts])
    assert sampled.converged[energy < 1].all()
    assert not sampled.converged.all(), "fast starts turn over and converge to another equilibrium"


def test_the_set_of_the_form_is_inside(hanging):
    found = hanging.attraction
    inside = np.array([found.estimate.contains(start) for start in found.sampled.starts])
    assert inside.sum() > 1
    assert found.sampled.converged[inside].all()
    x, y = attraction._outline(found.estimate, list(found.sampled.starts[0]))
    states = found.estimate.states
    for share, within in ((0.999, True), (1.001, False)):
        starts = [dict(zip(states, share * z, strict=True)) for z in np.array([x, y]).T]
        assert all(found.estimate.contains(start) == within for start in starts)


def test_every_start_is_drawn_once(hanging):
    drawn = str(attraction.attraction(hanging).html)
    sampled = hanging.attraction.sampled
    assert drawn.count('r="3.2"') == sampled.converged.sum()
    assert drawn.count('stroke="var(--bad)"') == (~sampled.converged).sum()
    assert "fill-opacity" in drawn, "the set"
    assert "none did not converge" in drawn
    assert 'id="attraction"' in page(hanging)


def test_gains_that_stabilize_are_those_of_hurwitz():
    """θ̈ = θ + K θ + D θ̇ is stable for K < -1 and D < 0."""
    results = vn.examine(loads(WITHOUT_OBSERVER))
    assert results.failures == []
    found = results.stability_map
    K, D = np.meshgrid(found.first, found.second, indexing="ij")
    assert (found.stable == ((K < -1) & (D < 0))).all()
    root = np.sqrt(D**2 / 4 + 1 + K + 0j)
    assert found.rightmost == pytest.approx((D / 2 + root).real, rel=1e-9)
    drawn = str(regions.stability_map(results).html)
    assert drawn.count("<rect") == 12
    assert f"stable at {int(found.stable.sum())} of 12" in drawn
    assert "the numbers of the model" in drawn, "the gains of the feedback are marked"


def test_a_loop_with_an_observer_has_a_region_too():
    results = vn.examine(loads(UPRIGHT))
    assert results.failures == []
    found = results.attraction
    assert found.sampled.converged.all()
    assert len(found.estimate.states) == 4, "two states and their estimates"
    assert "remaining deviation" in str(attraction.attraction(results).html)


def test_a_map_without_feedback():
    """A pendulum with damping c on a spring k: stable for k > 1 and c > 0; on the axis for c = 0."""
    text = """
parameters = { k = 2, c = 1 }
[system]
coordinates = ["theta"]
kinetic_energy = "dot(theta)^2/2"
potential_energy = "k*theta^2/2 + cos(theta)"
dissipation = "c*dot(theta)^2/2"
[equilibrium]
given = { theta = 0 }
[stability_map]
over = { k = [0.5, 2], c = [-1, 0, 1] }
"""
    found = vn.examine(loads(text)).stability_map
    assert found.sides.tolist() == [["unstable"] * 3, ["unstable", "undecided", "stable"]]
    assert "1 undecided" in str(regions.stability_map(vn.examine(loads(text))).html)


def test_borders_are_drawn_over_their_value():
    text = WITHOUT_OBSERVER.split("[control]")[0].replace("starts = 0", 'borders = { over = "m", between = [1, 2] }')
    results = vn.examine(loads(text.replace("given = { theta = 0 }", "given = { theta = 0, u = 0 }")))
    assert results.failures == []
    drawn = str(regions.continuation(results).html)
    assert "unstable everywhere" in drawn
    assert "real parts of the roots" in drawn
    assert "imaginary parts" not in drawn, "both roots are real"


WRONG = {
    "over = { theta = { from = -0.2, to = 0.2, count = 5 } }": (
        "over = { thet = [0, 1] }",
        "thet is not a coordinate or velocity",
    ),
    "time = 30": ("time = 0", "it must be positive"),
    '[control]\nstate_weights = 1\ninput_weights = 1\n[observer]\noutputs = ["theta"]\n': ("", r"needs \[control\]"),
    "K_u_theta_dot = [-2, -1, 1]": ("K_u_theta_dot = [-2]", "needs two values or more"),
    ", K_u_theta_dot = [-2, -1, 1]": ("", "over has 1 of 2 quantities"),
    "K_u_theta = [-3, -2, -0.5, 1]": ("u = [0, 1]", "u is not a parameter or gain"),
    "[-3, -2, -0.5, 1]": ('["1 N*m", "2 m"]', r"K_u_theta\[2\]: its dimension is m, but"),
    "count = 5": ("count = 20000", "20000 combinations are too many"),
}


@pytest.mark.parametrize("found", WRONG)
def test_what_is_wrong_is_told_at_its_place(found):
    replaced, words = WRONG[found]
    with pytest.raises(vn.VinculumError, match=words):
        loads(UPRIGHT.replace(found, replaced))
