"""Incomplete information: observers from chosen outputs, dependent coordinates included, and output feedback."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from analyze.machines import random_machine
from examples import ball_and_beam, delta_robot
from examples.ball_and_beam import PLACE, alpha, r, theta

x1, x2 = dynamicsymbols("x1:3")
f = sp.Symbol("f")


@cache
def beam(number=0):
    return ball_and_beam.stabilized(number)


@cache
def pair(springs=(1.0, 2.0), damping=0.0):
    """Two masses on springs of their own, pushed by one force."""
    system = vn.System(
        [x1, x2],
        (x1.diff() ** 2 + x2.diff() ** 2) / 2,
        (springs[0] * x1**2 + springs[1] * x2**2) / 2,
        forces={x1: f, x2: f},
        dissipation=damping * (x1.diff() ** 2 + x2.diff() ** 2) / 2,
        inputs=[f],
    )
    equations = vn.derive(system)
    return vn.linearize(equations, at={x1: 0.0, x2: 0.0, f: 0.0})


@pytest.mark.parametrize("seed", range(4))
def test_the_gain_solves_the_dual_riccati_equation(seed):
    """L = Y Cᵀ V⁻¹ with F Y + Y Fᵀ - Y CᵀV⁻¹C Y + W = 0."""
    import control

    system = random_machine(seed)
    equations = vn.derive(system, "shulgin")
    linear = vn.linearize(equations, at=vn.equilibrium(equations, dict.fromkeys(system.inputs, 0.3)))
    outputs = system.coordinates[:2]
    W, V = np.diag(np.arange(1.0, len(linear.states) + 1)), np.diag([0.5, 2.0])
    found = vn.observe(linear, outputs, W, V)
    F, C, L = linear.system_matrix, found.C, found.gain
    Y = control.lyap(F - L @ C, W + L @ V @ L.T)
    np.testing.assert_allclose(L, Y @ C.T @ np.linalg.inv(V), atol=1e-8 * np.abs(L).max())
    assert found.roots.real.max() < 0


def test_a_dependent_coordinate_is_seen_through_B():
    _, _, linear, _ = delta_robot.stabilized()
    found = vn.observe(linear, delta_robot.platform)
    np.testing.assert_allclose(found.C, np.hstack([linear.B, np.zeros((3, 3))]))
    assert found.roots.real.max() < 0


def test_distances_to_losing_a_mode():
    """A sensor on one mass does not see the other."""
    modes = vn.linear.observability(pair(), [x1])
    lost = [mode.root for mode in modes if mode.lost]
    np.testing.assert_allclose(lost, [np.sqrt(2) * 1j, -np.sqrt(2) * 1j], atol=1e-12)
    assert not any(mode.lost for mode in vn.linear.observability(pair(), [x1, x2]))


def test_an_unobservable_set_of_outputs_is_refused():
    with pytest.raises(
        vn.VinculumError, match=r"1\.41421i are not observable in the output x1.*Sufficient outputs: x1, x2"
    ):
        vn.observe(pair(), [x1])


def test_unseen_modes_that_die_out_are_no_obstacle():
    """Nothing is corrected in what is not seen: its rows of the gain are zero and its roots stay where they were."""
    found = vn.observe(pair((1.0, 2.0), 0.3), [x1])
    rows = dict(zip(found.linear.states, found.gain[:, 0], strict=True))
    assert [abs(rows[key]) < 1e-12 for key in (x1, x2, x1.diff(), x2.diff())] == [False, True, False, True]
    for root in np.roots([1, 0.3, 2.0]):
        assert np.abs(found.roots - root).min() < 1e-9
    alone = vn.observe(pair((1.0, 2.0), 0.3), [x1, x2])
    seen = [found.linear.states.index(key) for key in (x1, x1.diff())]
    np.testing.assert_allclose(found.gain[seen, 0], alone.gain[seen, 0], rtol=1e-9)  # two masses that do not meet


def test_minimum_number_of_sensors():
    assert vn.linear.minimum_actuators(pair()) == 1
    assert vn.linear.sufficient_outputs(pair(), [x1, x2]) == [
        (x1, x2)
    ]  # one sensor of the sum would do, these two have none
    assert vn.linear.minimum_actuators(pair((1.0, 1.0))) == 2
    _, _, linear, _ = beam()
    assert vn.linear.sufficient_outputs(linear, [r, theta, alpha]) == [(r,), (theta,), (alpha,)]


@pytest.mark.parametrize(
    ("outputs", "complaint"),
    [([], "No outputs were given. Choose from r, theta"), ([sp.Symbol("thta")], r"thta cannot be measured.*theta")],
    ids=["none", "unknown"],
)
def test_unusable_outputs(outputs, complaint):
    with pytest.raises(vn.ModelError, match=complaint):
        vn.observe(beam()[2], outputs)


def test_noise_of_wrong_size_or_sign():
    linear = beam()[2]
    with pytest.raises(vn.ModelError, match=r"output_noise.*Pass 2 numbers, for r, theta".replace(".*", "(?s:.*)")):
        vn.observe(linear, [r, theta], output_noise=[1.0, 1.0, 1.0])
    with pytest.raises(vn.ModelError, match="Invalid state_noise"):
        vn.observe(linear, [r, theta], state_noise=-1.0)


# -- output feedback ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1], ids=["E1", "E2"])
@pytest.mark.parametrize("outputs", [(r, theta), (r, alpha)], ids=["r theta", "r alpha"])
def test_output_feedback_brings_the_ball_home(number, outputs):
    """The composite has the roots of the law and of the observer; the nonlinear loop converges with |F| < 1e-10."""
    plant, rest, linear, law = beam(number)
    observer = vn.observe(linear, outputs, output_noise=1e-3)
    composite = vn.feedback.closed_model(law, observer)
    verdict = vn.stability(composite)
    assert verdict.kind == "asymptotically stable"
    assert verdict.critical == 1
    for root in (*law.roots, *observer.roots):
        assert np.abs(composite.roots - root).min() < 1e-6 * abs(root)
    start = {r: PLACE + 0.03, theta: rest[theta], r.diff(): 0, theta.diff(): 0}
    closed = vn.close_loop(plant, law, observer)
    motion = vn.simulate(closed, start, (0, 15), method="bdf", guess={alpha: 0})
    assert motion.outcome
    assert motion.largest_residuals[("lever", "position")] < 1e-10
    assert motion[r][-1] == pytest.approx(PLACE, abs=1e-5)
    assert motion[theta][-1] == pytest.approx(rest[theta], abs=1e-4)


def test_the_estimate_may_be_started():
    """With the true perturbation as its first estimate, the loop moves as with full information, to second order."""
    plant, rest, linear, law = beam()
    observer = vn.observe(linear, [r, theta], output_noise=1e-3)
    estimates = vn.feedback.closed_model(law, observer).states[len(linear.states) :]
    assert [str(e.func) for e in estimates[:2]] == ["estimate_r", "estimate_theta"]
    offset = 1e-4
    start = {
        r: PLACE + offset,
        theta: rest[theta],
        r.diff(): 0,
        theta.diff(): 0,
        linear.states[-1]: rest[linear.states[-1]],
    }
    full = vn.simulate(vn.close_loop(plant, law), start, (0, 2), guess={alpha: 0})
    known = start | {estimates[0]: offset}
    seen = vn.simulate(vn.close_loop(plant, law, observer), known, (0, 2), guess={alpha: 0})
    assert seen[r][-1] - PLACE == pytest.approx(full[r][-1] - PLACE, abs=1e-3 * offset)
    assert seen[estimates[0]][-1] == pytest.approx(seen[r][-1] - PLACE, abs=1e-3 * offset)


def test_the_estimator_introduces_itself():
    shown = repr(vn.observe(beam()[2], [r, theta]))
    for part in ("outputs", "r, theta", "slowest", "distance to losing a mode"):
        assert part in shown
