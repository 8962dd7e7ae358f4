"""Sections about equilibria, steady motions, borders of stability and controllers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from files.small import refusal

x, y, theta, s, phi = dynamicsymbols("x y theta s phi")
u, v = sp.symbols("u v")


def problems(text):
    return str(refusal(text))


# -- equilibria and steady motions ---------------------------------------------------------------------------------

HOOP = """
[system]
coordinates = ["theta", "phi"]
inputs = ["u"]
kinetic_energy = "(dot(theta)^2 + (1 + sin(theta)^2)*dot(phi)^2)/2"
potential_energy = "-9.81*cos(theta)"
dissipation = "(dot(theta)^2 + dot(phi)^2)/2"
forces = { phi = "u" }
[equilibrium]
"""
"""A bead on a hoop that a torque turns: it rises where cos(theta) = 9.81/dot(phi)^2, and dot(phi) = u."""


def test_a_steady_motion_with_an_unknown_speed():
    point = vn.examine(vn.model.loads(HOOP + "given = { u = 4 }\nsteady = true\nnear = { theta = 1 }\n")).point
    assert point.rest.steady
    assert point.rest[dynamicsymbols("phi").diff()] == pytest.approx(4)
    assert np.cos(point.rest[theta]) == pytest.approx(9.81 / 16)
    assert point.linear.states == (theta, theta.diff(), phi.diff())
    assert point.verdict.kind == "asymptotically stable"


def test_a_rest_has_no_moving_coordinates():
    point = vn.examine(vn.model.loads(HOOP + "given = { u = 0, phi = 0 }\n")).point
    assert not point.rest.steady
    assert point.linear.states == (theta, phi, theta.diff(), phi.diff())


def test_coordinates_are_dropped_where_no_one_feels_them():
    model = vn.model.loads(HOOP + 'given = { u = 0, phi = 0 }\ndrop = ["phi"]\n')
    assert vn.examine(model).point.linear.states == (theta, theta.diff(), phi.diff())
    ignored = vn.model.loads(HOOP.replace("[equilibrium]", 'ignored = ["phi"]\n[equilibrium]') + "given = { u = 0 }\n")
    assert ignored.system.ignored == (phi,)
    assert vn.examine(ignored).point.linear.states == (theta, theta.diff(), phi.diff())
    felt = vn.examine(vn.model.loads(HOOP + 'given = { u = 0, phi = 0 }\ndrop = ["theta"]\n'))
    assert "must stay a state" in felt.refusals["linear model at equilibrium 1"]


def test_names_in_an_equilibrium_are_checked():
    assert "x is not a coordinate" in problems(HOOP + 'drop = ["x"]\n')
    assert "x is not a coordinate" in problems(HOOP + 'moving = ["x"]\n')
    assert "Remove steady = false" in problems(HOOP + 'moving = ["phi"]\nsteady = false\n')
    assert "x is not a coordinate" in problems(HOOP.replace("[equilibrium]", 'ignored = ["x"]\n'))


def test_only_moving_coordinates_run():
    given = "given = { u = 4 }\nnear = { theta = 1 }\n"
    moving = vn.examine(vn.model.loads(HOOP + given + 'moving = ["phi"]\n')).point.rest
    assert moving[phi.diff()] == pytest.approx(4)
    refused = vn.examine(vn.model.loads(HOOP + given)).refusals
    assert "No equilibrium with u = 4" in refused["equilibria"]


def test_an_affine_system_is_analyzed():
    """x = 1 is held by u + v; v - x = dot(y) on the circle."""
    held = '[affine]\nstates = ["x", "y"]\ninputs = ["u"]\nrates = { x = "y - 4*x + u", y = "x - y" }\n'
    held += '[constraints]\nhold = "x - 1"\n[form]\nname = "program"\nrates = 2.0\n[equilibrium]\n'
    point = vn.examine(vn.model.loads(held)).point
    assert (point.rest[y], point.rest.reactions["u"]) == pytest.approx((1, 3))
    assert point.linear.roots == pytest.approx([-1])
    assert point.verdict.kind == "asymptotically stable"


def test_an_affine_system_without_constraints_has_given_inputs():
    text = '[affine]\nstates = ["x", "y"]\ninputs = ["u"]\nrates = { x = "-x + u", y = "x - 2*y" }\n'
    point = vn.examine(vn.model.loads(text + "[equilibrium]\ngiven = { u = 2 }\n")).point
    assert (point.rest[x], point.rest[y]) == pytest.approx((2, 1))
    np.testing.assert_allclose(point.linear.roots, [-1, -2])


STUCK = """
[system]
coordinates = ["theta"]
inputs = ["u"]
kinetic_energy = "dot(theta)^2/2"
potential_energy = "19.62*cos(theta)"
forces = { theta = "u - 9.81*sign(dot(theta))" }
[equilibrium]
given = { theta = 0.2, u = 0 }
"""


def test_a_verdict_without_a_linear_model():
    results = vn.examine(vn.model.loads(STUCK))
    assert results.failures == []
    assert results.point.linear is None
    assert (results.point.verdict.kind, results.point.verdict.theorem) == ("stable", "dry friction on every velocity")
    controlled = vn.examine(vn.model.loads(STUCK + "[control]\n"))
    assert "have a corner at this point" in controlled.refusals["linear model"]
    assert controlled.point.verdict.kind == "stable"


STANDING = """
parameters = { k = 2 }
[system]
coordinates = ["theta"]
kinetic_energy = "dot(theta)^2/2"
potential_energy = "k*theta^2/2 + cos(theta)"
dissipation = "dot(theta)^2/4"
[equilibrium]
given = { theta = 0 }
borders = { over = "k", between = [0, 3], points = 4 }
"""


def test_borders_of_stability():
    """A standing pendulum on a spring is stable for k > 1."""
    results = vn.examine(vn.model.loads(STANDING))
    assert results.failures == []
    (border,) = results.borders
    assert (border.value, border.gained) == (pytest.approx(1, rel=1e-9), True)


def test_names_of_modes_reach_verdict_and_borders():
    """θ̈ + θ̇/2 + (k - 1) θ = 0 at k = 2: -1/4 ± i √(15)/4; at k = 1 one root is zero, and the pair has become two."""
    named = STANDING.replace("borders", "modes = { swing = [-0.25, 0.97] }\nborders")
    results = vn.examine(vn.model.loads(named))
    assert results.failures == []
    assert results.point.verdict.modes[0].name == "swing"
    assert results.borders[0].mode.name == ""
    undamped = vn.examine(vn.model.loads(named.replace('dissipation = "dot(theta)^2/4"', "").replace("-0.25", "0")))
    assert undamped.borders[0].mode.name == "swing"
    wrong = vn.examine(vn.model.loads(named.replace("}\nborders", ", fall = [-0.2, 0.9] }\nborders")))
    assert "fall and swing are near the same root" in wrong.refusals["linear model"]


def test_borders_need_a_known_name_and_two_values():
    with pytest.raises(
        vn.VinculumError, match=r"kk is not a parameter, coordinate, velocity or input\. Did you mean k"
    ):
        vn.model.loads(STANDING.replace('over = "k"', 'over = "kk"'))
    with pytest.raises(vn.VinculumError, match=r"equilibrium\.borders\.between"):
        vn.model.loads(STANDING.replace("between = [0, 3]", "between = [0]"))


# -- controllers ---------------------------------------------------------------------------------------------------

UPRIGHT = """
[system]
coordinates = ["theta"]
inputs = ["u"]
kinetic_energy = "dot(theta)^2/2"
potential_energy = "4*cos(theta)"
forces = { theta = "u" }
[equilibrium]
given = { theta = 0 }
[closed_loop]
initial = { theta = 0.1, "dot(theta)" = 0 }
times = [0, 20]
"""
CONTROLLERS = {
    "poles": ('poles = [[-1, 2]]', [[-9.0, -2.0]]),
    "gain": ('gain = { u = { theta = -9, "dot(theta)" = -2 } }', [[-9.0, -2.0]]),
    "pid": ('pid = { output = "theta", input = "u", kp = 9, ki = 0.5, kd = 2 }', [[0.0, 0.0]]),
    "integral": ('state_weights = 1\nintegral = ["theta"]\nintegral_weights = [2]', None),
    "inputs and outputs": ('inputs = ["u"]\noutputs = ["theta"]\nstate_weights = [10]', None),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controllers_of_every_kind_hold_the_equilibrium(name):
    text, gain = CONTROLLERS[name]
    model = vn.model.loads(UPRIGHT + f"[control]\n{text}\n")
    findings = vn.examine(model)
    assert findings.failures == []
    if gain is not None:
        np.testing.assert_allclose(findings.point.law.gain, gain, atol=1e-9)
    assert findings.point.closed_verdict.kind == "asymptotically stable"


def test_a_reduced_observer_of_a_file():
    text = '[control]\n[observer]\noutputs = ["theta"]\norder = "reduced"\n'
    findings = vn.examine(vn.model.loads(UPRIGHT + text))
    assert findings.failures == []
    assert findings.point.estimator.order == "reduced"
    assert len(findings.point.closed_verdict.roots) == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("poles = [-1, -2]\nstate_weights = 1", "poles determines the feedback. Remove state_weights, or poles."),
        ("gain = { v = { theta = 1 } }", "v is not an input"),
        ("gain = { u = { phi = 1 } }", "phi is not a state"),
        ('pid = { output = "u", input = "u", kp = 1 }', "u is not a coordinate or velocity"),
        ('pid = { output = "theta", input = "u" }', "kp is missing. Proportional gain."),
        ('inputs = ["w"]', "w is not an input"),
        ("poles = [[-1, 2, 3]]", "3 entries were found; 2 are needed"),
        ("integral_weights = [-1]", "it must be zero or more"),
    ],
)
def test_controllers_that_cannot_be_read(text, complaint):
    assert complaint in problems(UPRIGHT + f"[control]\n{text}\n")


def test_a_wrong_order_of_an_observer():
    assert "not one of full, reduced" in problems(
        UPRIGHT + '[control]\n[observer]\noutputs = ["theta"]\norder = "half"\n'
    )
