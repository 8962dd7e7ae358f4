"""Linear-quadratic feedback: the Riccati equation, reach of the inputs, weights, saturation, python-control."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import control
import vinculum as vn
from analyze.machines import random_machine
from examples import ball_and_beam, delta_robot
from examples.ball_and_beam import PLACE, VOLTAGE, alpha, r, theta, u
from vinculum.derivation.mechanics.integrable_mechanics import change_partition
from vinculum.derivation.mechanics.partition import Partition

x1, x2, x3 = dynamicsymbols("x1:4")
f, f2 = sp.symbols("f f2")


@cache
def machine(seed):
    system = random_machine(seed)
    equations = vn.derive(system, "shulgin")
    return vn.linearize(equations, at=vn.equilibrium(equations, dict.fromkeys(system.inputs, 0.3)))


def linear_of(system):
    equations = vn.derive(system, "shulgin")
    at = dict.fromkeys(system.coordinates, 0.0) | dict.fromkeys(system.inputs, 0.0)
    return vn.linearize(equations, at=vn.equilibrium(equations, at, starts=0))


def masses(forces, inputs, springs=(1.0, 1.0, 1.0), damping=0.0):
    """Three equal masses, each on its own spring."""
    q = (x1, x2, x3)
    return vn.System(
        q,
        sum(x.diff() ** 2 for x in q) / 2,
        sum(k * x**2 for k, x in zip(springs, q, strict=True)) / 2,
        forces=forces,
        dissipation=damping * sum(x.diff() ** 2 for x in q) / 2,
        inputs=inputs,
    )


# -- Riccati ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_law_solves_the_riccati_equation(seed):
    """K = -R⁻¹HᵀX with FᵀX + XF - XHR⁻¹HᵀX + Q = 0: X from Lyapunov's equation of the closed loop."""
    linear = machine(seed)
    n, k = linear.input_matrix.shape
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    Q, R = root @ root.T, np.diag(random.uniform(0.1, 2, k))
    law = vn.stabilize(linear, Q, R)
    F, H, K = linear.system_matrix, linear.input_matrix, law.gain
    cost = Q + K.T @ R @ K
    X = control.lyap((F + H @ K).T, (cost + cost.T) / 2)
    residual = F.T @ X + X @ F - X @ H @ np.linalg.solve(R, H.T @ X) + Q
    assert np.abs(residual).max() < 1e-8 * np.abs(X @ F).max()
    np.testing.assert_allclose(K, -np.linalg.solve(R, H.T @ X), atol=1e-8 * np.abs(K).max())
    assert law.roots.real.max() < 0


def test_the_law_is_that_of_python_control():
    _, _, linear, law = delta_robot.stabilized()
    K, _, _ = control.lqr(linear.to_control(), np.diag([100.0] * 3 + [1.0] * 3), 0.01 * np.eye(3))
    np.testing.assert_allclose(law.gain, -K, rtol=1e-8, atol=1e-8)


def test_weights_may_be_numbers_vectors_or_matrices():
    linear = machine(0)
    n, k = linear.input_matrix.shape
    gains = [vn.stabilize(linear, *w).gain for w in ((None, 0.5), (1.0, [0.5] * k), (np.eye(n), 0.5 * np.eye(k)))]
    np.testing.assert_allclose(gains[1], gains[0])
    np.testing.assert_allclose(gains[2], gains[0])


def test_the_law_is_written_in_the_users_symbols():
    _, rest, linear, law = ball_and_beam.stabilized(0)
    (expression,) = law.laws.values()
    off = dict(zip(linear.states, (0.1, -0.2, 0.3, 0.4, -0.05), strict=True))
    value = expression.subs({key: rest[key] + d for key, d in off.items()})
    assert float(value) == pytest.approx(rest[VOLTAGE] + law.gain[0] @ list(off.values()), rel=1e-12)
    assert "distance to losing a mode" in repr(law)


# -- reach of the inputs ----------------------------------------------------------------------------------------------


def test_distances_by_hand():
    """q̈ = -q + f: [λE - F, H] is far from singular for one mass; a second mass without force is out of reach."""
    one = linear_of(vn.System([x1], x1.diff() ** 2 / 2, x1**2 / 2, forces={x1: f}, inputs=[f]))
    for mode in vn.linear.controllability(one):
        F = np.array([[0, 1], [-1, 0]])
        expected = np.linalg.svd(np.hstack([mode.root * np.eye(2) - F, [[0], [1]]]), compute_uv=False)[-1]
        assert mode.distance == pytest.approx(expected, rel=1e-12)
        assert not mode.lost
    lost = [
        mode for mode in vn.linear.controllability(linear_of(masses({x1: f, x2: f2}, [f, f2], (1, 2, 3)))) if mode.lost
    ]
    np.testing.assert_allclose([mode.root for mode in lost], [np.sqrt(3) * 1j, -np.sqrt(3) * 1j], atol=1e-12)


def test_an_uncontrollable_mode_is_named_with_root_and_shape():
    linear = linear_of(masses({x1: f}, [f], (1, -4, 1), damping=0.1))
    with pytest.raises(vn.VinculumError) as refused:
        vn.stabilize(linear)
    message = str(refused.value)
    assert "The input f cannot control 1 mode: " in message
    assert "root 1.95" in message
    assert "x2" in message
    assert "x1" not in message
    root = (-0.1 + np.sqrt(0.01 + 16)) / 2
    (bad,) = [mode for mode in vn.linear.controllability(linear) if mode.lost and mode.root.real > 0]
    assert bad.root == pytest.approx(root, rel=1e-9)
    assert {name for name, share in bad.shape.items() if share > 1e-6} == {"x2", "dot(x2)"}


def test_modes_that_die_out_may_be_out_of_reach():
    """The law acts on the controllable part; the rest keeps its own roots."""
    linear = linear_of(masses({x1: f}, [f], (-4, 2, 3), damping=0.2))
    law = vn.stabilize(linear)
    own = [root for k in (2, 3) for root in np.roots([1, 0.2, k])]
    for root in own:
        assert np.abs(law.roots - root).min() < 1e-9
    assert law.roots.real.max() < 0
    np.testing.assert_allclose(law.gain[0, [1, 2, 4, 5]], 0, atol=1e-9)


def test_minimum_number_of_inputs():
    """Three equal oscillators need three inputs, two equal ones two, different ones one."""
    full = {x1: f, x2: f2, x3: f + f2}
    for springs, number in (((1, 1, 1), 3), ((1, 1, 2), 2), ((1, 2, 3), 1)):
        assert vn.linear.minimum_actuators(linear_of(masses(full, [f, f2], springs))) == number


def test_sufficient_inputs_are_of_the_actual_ones():
    """One input would do in theory; of these two only f reaches both masses."""
    linear = linear_of(masses({x1: f, x2: f + f2, x3: f}, [f, f2], (1, 2, 3)))
    assert vn.linear.minimum_actuators(linear) == 1
    assert vn.linear.sufficient_inputs(linear) == [(f,)]
    assert vn.linear.sufficient_inputs(linear_of(masses({x1: f}, [f], (1, 2, 3)))) == []


def test_the_minimum_is_reported_when_no_input_acts():
    linear = linear_of(masses({x1: f}, [f], (1, 1, 1)))
    with pytest.raises(vn.VinculumError, match="At least 3 inputs are needed"):
        vn.stabilize(linear)


# -- refusals --------------------------------------------------------------------------------------------------------


def test_an_input_that_enters_nowhere():
    with pytest.raises(vn.VinculumError, match="Input f2 has no effect at this point"):
        vn.stabilize(linear_of(masses({x1: f + f2 * x1, x2: f, x3: f}, [f, f2], (1, 2, 3))))


def test_a_system_without_inputs():
    with pytest.raises(vn.VinculumError, match="The system has no inputs"):
        vn.stabilize(linear_of(masses({}, [])))


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ({"state_weights": [1, 2, 3]}, r"state_weights.*shape is \(3, 3\)\. Pass 5 numbers, for r, theta"),
        ({"input_weights": [1, 1]}, r"input_weights.*shape is \(2, 2\)\. Pass 1 number, for e_u"),
        ({"state_weights": [1, 1, -1, 1, 1]}, r"state_weights.*semidefinite; its smallest eigenvalue is -1"),
        ({"input_weights": -1.0}, r"input_weights.*semidefinite; its smallest eigenvalue is -1"),
        ({"input_weights": 0.0}, r"It must be positive definite"),
        ({"state_weights": np.triu(np.ones((5, 5)))}, r"must be symmetric"),
        ({"state_weights": [1, 1, np.nan, 1, 1]}, r"Invalid state_weights.*not finite"),
    ],
    ids=["size of states", "size of inputs", "negative state", "negative input", "free input", "skewed", "nan"],
)
def test_unusable_weights(weights, complaint):
    linear = ball_and_beam.stabilized(0)[2]
    with pytest.raises(vn.ModelError, match=f"(?s){complaint}"):
        vn.stabilize(linear, **weights)


# -- closed loops ----------------------------------------------------------------------------------------------------


@cache
def beam():
    return ball_and_beam.stabilized(0)


def test_saturation_holds_in_the_simulation():
    plant, rest, _, law = beam()
    start = {r: PLACE + 0.15, theta: rest[theta], r.diff(): 0, theta.diff(): 0}
    free = vn.simulate(vn.close_loop(plant, law), start, (0, 8), guess={alpha: 0})
    assert abs(free[VOLTAGE]).max() > 12
    limited = vn.close_loop(plant, law, limits={VOLTAGE: 12.0})
    motion = vn.simulate(limited, start, (0, 8), method="auto", guess={alpha: 0})
    assert abs(motion[VOLTAGE]).max() == pytest.approx(12.0, abs=1e-12)
    assert motion[r][-1] == pytest.approx(PLACE, abs=1e-4)
    assert "tried both" in motion.method


def test_limits_must_leave_room_for_the_holding_value():
    plant, _, _, law = beam()
    with pytest.raises(vn.ModelError, match=r"The limit 2.0 of e_u must be larger"):
        vn.close_loop(plant, law, limits={VOLTAGE: 2.0})
    with pytest.raises(vn.ModelError, match="u is not an input of the law"):
        vn.close_loop(plant, law, limits={u: 2.0})


def test_small_perturbations_follow_the_closed_linear_model():
    """The nonlinear loop from 1e-5 away equals exp(t(F + HK)) to second order."""
    from scipy.linalg import expm

    plant, rest, linear, law = beam()
    start = {r: PLACE + 1e-5, theta: rest[theta], r.diff(): 0, theta.diff(): 0}
    current = linear.states[-1]
    motion = vn.simulate(vn.close_loop(plant, law), start | {current: rest[current]}, (0, 2), guess={alpha: 0})
    eta = expm(2 * vn.feedback.closed_model(law).system_matrix) @ [1e-5, 0, 0, 0, 0]
    found = [motion[key][-1] - rest[key] for key in linear.states]
    np.testing.assert_allclose(found, eta, rtol=0, atol=1e-9)


def test_closed_model_has_the_roots_of_the_law():
    _, _, linear, law = beam()
    closed = vn.feedback.closed_model(law)
    np.testing.assert_allclose(closed.roots, law.roots)
    assert closed.equations.laws  # the equations of the loop, not the open ones with another matrix
    assert vn.stability(closed).critical == linear.critical == 1


def test_region_of_attraction():
    """The ball from places along the beam, and from where no voltage of this law brings it back."""
    plant, rest, _, law = beam()
    closed = vn.close_loop(plant, law, limits={VOLTAGE: 24.0})
    found = vn.feedback.region_of_attraction(closed, rest, {r: [0.05, 0.3, 1.6], theta: [0.0, 0.2]}, 8.0, method="bdf")
    assert len(found.starts) == 6
    np.testing.assert_array_equal(found.converged, [True, True, True, True, False, False])
    assert repr(found) == "Attraction: 4 of 6 starts converged"
    assert found.starts[3] == {r: 0.3, theta: 0.2}


def test_a_region_of_attraction_needs_something_to_vary():
    plant, rest, _, law = beam()
    with pytest.raises(vn.VinculumError, match="Nothing to vary"):
        vn.feedback.region_of_attraction(vn.close_loop(plant, law), rest, {}, 1.0)


# -- python-control --------------------------------------------------------------------------------------------------


def test_poles_and_step_response_of_python_control():
    plant, rest, linear, law = beam()
    model = linear.to_control()
    np.testing.assert_allclose(np.sort_complex(model.poles()), np.sort_complex(linear.roots), rtol=1e-8, atol=1e-8)
    assert model.state_labels[:2] == ["r", "theta"]
    assert model.input_labels == ["e_u"]
    closed = control.ss(vn.feedback.closed_model(law).system_matrix, linear.input_matrix, np.eye(5), np.zeros((5, 1)))
    response = control.step_response(closed, T=np.linspace(0, 6, 61))
    final = -np.linalg.solve(closed.A, closed.B).ravel()
    np.testing.assert_allclose(response.outputs[:, 0, -1], final, rtol=0.01, atol=1e-4)
    # the same step of a small voltage in the full nonlinear loop
    step = 0.01
    loop = vn.close_loop(plant, law)
    (held,) = law.laws.values()
    start = {key: rest[key] for key in (r, theta, r.diff(), theta.diff(), linear.states[-1])}
    motion = vn.simulate(loop, start, (0, 6), guess={alpha: 0}, inputs={VOLTAGE: held + step})
    assert motion[r][-1] - PLACE == pytest.approx(step * response.outputs[0, 0, -1], rel=2e-3)


# -- laws of what is not a state ---------------------------------------------------------------------------------------


def test_a_law_may_contain_dependent_velocities():
    """Friction of the wheel, u = -0.05 dθ/dt, with θ dependent, independent, or dependent until the choice is changed.

    The wheel is turned back over the angle at which α is greatest, where θ cannot be the dependent coordinate.
    """
    system = ball_and_beam.system()
    start = vn.consistent_state(
        vn.derive(system), {r: 0.2, theta: 2.6, r.diff(): 0.0, theta.diff(): -10.0}, guess={alpha: -0.01}
    )
    run = {"times": np.linspace(0, 0.3, 31), "inputs": {u: -0.5 - 0.05 * theta.diff()}}
    expected = vn.simulate(vn.derive(system), start, **run)
    named = vn.simulate(vn.derive(system, "shulgin", dependent=[alpha]), start, **run)
    chosen = change_partition(vn.derive(system, "shulgin"), Partition((0, 2), (1,), chosen=True))
    switched = vn.simulate(chosen, start, **run)
    used = {segment.problem.equations.partition.s for segment in switched.segments}
    assert used == {(1,), (2,)}, "the run began with theta dependent and went on with alpha"
    for motion in (named, switched):
        for key in (r, theta, alpha, theta.diff(), u):
            np.testing.assert_allclose(motion[key], expected[key], rtol=1e-9, atol=1e-10)


def test_what_no_force_can_change_is_told_with_the_coordinate_to_leave_out():
    """A ball rolls on a wheel in a plane: rolling is integrable, so one combination of the angles is constant."""
    phi, psi, x, y = dynamicsymbols("phi psi x y")
    inputs = sp.symbols("u v w")
    touch = vn.Holonomic(x**2 + y**2 - sp.Rational(1, 25), name="touch")
    rolling = vn.Nonholonomic(5 * (x * y.diff() - y * x.diff()) - psi.diff() / 20 - 3 * phi.diff() / 20, name="rolling")
    kinetic = phi.diff() ** 2 / 100 + psi.diff() ** 2 / 10000 + (x.diff() ** 2 + y.diff() ** 2) / 10
    for count in (1, 3):
        forces = dict(zip((phi, psi, x), inputs[:count], strict=False))
        system = vn.System([phi, psi, x, y], kinetic, 2 * y, forces=forces, inputs=list(inputs[:count]),
                           constraints=[touch, rolling])  # fmt: skip
        equations = vn.derive(system)
        given = dict.fromkeys((phi, psi, x, *inputs[:count]), 0)
        top = vn.equilibrium(equations, given, near={y: 0.2})
        with pytest.raises(vn.VinculumError, match=r"No force can: .* is constant") as refused:
            vn.stabilize(vn.linearize(equations, at=top))
        assert "cannot control 1 mode" in str(refused.value)
        left_out = {"phi": phi, "psi": psi}[str(refused.value).split("drop=[")[1].split("]")[0]]
        law = vn.stabilize(vn.linearize(equations, at=top, drop=[left_out]))
        assert law.roots.real.max() < 0
