"""The optimum over the true cost, modes that weights or inputs miss, units, other parameters, points as plain dicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import control
import vinculum as vn

x, y, theta = dynamicsymbols("x y theta")
f, f2, m, k = sp.symbols("f f2 m k")


def double_integrator():
    return vn.linear.model([[0, 1], [0, 0]], [[0], [1]], states=["x", "v"], inputs=["u"])


def cost(linear, gain, Q, R):
    """Trace of the cost matrix: the cost summed over unit starts."""
    A = linear.system_matrix + linear.input_matrix @ gain
    if np.linalg.eigvals(A).real.max() >= 0:
        return 1e12
    return float(np.trace(scipy.linalg.solve_continuous_lyapunov(A.T, -(Q + gain.T @ R @ gain))))


def test_the_double_integrator_has_the_gain_of_the_textbook():
    """Q = diag(1, 0), R = 1: u = -x - √2 v; with Q = E: u = -x - √3 v."""
    law = vn.stabilize(double_integrator())
    np.testing.assert_allclose(law.gain, [[-1, -np.sqrt(3)]], rtol=1e-12)
    law = vn.stabilize(double_integrator(), [1, 0])
    np.testing.assert_allclose(law.gain, [[-1, -np.sqrt(2)]], rtol=1e-12)


def test_an_unreachable_mode_that_decays_is_part_of_the_optimum():
    """x' = 0.5x + w + u, w' = -w: the best law acts on w too. Compared with a minimization of the cost itself."""
    linear = vn.linear.model([[0.5, 1.0], [0.0, -1.0]], [[1.0], [0.0]], states=["x", "w"], inputs=["u"])
    Q, R = np.diag([3.0, 1.0]), np.eye(1)
    law = vn.stabilize(linear, [3.0, 1.0])
    best = scipy.optimize.minimize(
        lambda row: cost(linear, row.reshape(1, 2), Q, R), [-3.0, 0.0], method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
    )  # fmt: skip
    assert cost(linear, law.gain, Q, R) == pytest.approx(best.fun, rel=1e-10)
    np.testing.assert_allclose(law.gain[0], best.x, rtol=1e-4)
    assert abs(law.gain[0, 1]) > 0.3


@pytest.mark.parametrize("seed", range(10))
def test_no_law_nearby_is_cheaper(seed):
    """Random plants with an unreachable decaying part: the cost is stationary and least at the law."""
    random = np.random.default_rng(seed)
    n, free, inputs = int(random.integers(2, 5)), int(random.integers(1, 3)), int(random.integers(1, 3))
    A = random.normal(size=(n + free, n + free))
    A[n:, :n] = 0
    A[n:, n:] -= (np.linalg.eigvals(A[n:, n:]).real.max() + 0.5) * np.eye(free)
    B = np.vstack([random.normal(size=(n, inputs)), np.zeros((free, inputs))])
    linear = vn.linear.model(A, B)
    law = vn.stabilize(linear)
    Q, R = np.eye(n + free), np.eye(inputs)
    least = cost(linear, law.gain, Q, R)
    for _ in range(30):
        assert cost(linear, law.gain + 1e-3 * random.normal(size=law.gain.shape), Q, R) > least
    assert sum(mode.structural for mode in law.modes) == free


@pytest.mark.parametrize("seed", range(10))
def test_units_do_not_change_the_law(seed):
    """States and inputs in units that differ by up to 24 orders of magnitude: the same law in the new units."""
    random = np.random.default_rng(seed)
    n, inputs = int(random.integers(2, 6)), int(random.integers(1, 3))
    A, B = random.normal(size=(n, n)), random.normal(size=(n, inputs))
    d, s = 10.0 ** random.uniform(-12, 12, n), 10.0 ** random.uniform(-12, 12, inputs)
    plain = vn.stabilize(vn.linear.model(A, B))
    other = vn.linear.model(A * d / d[:, None], B * s / d[:, None])  # η = d ζ, u = s v
    scaled = vn.stabilize(other, d**2, s**2)
    np.testing.assert_allclose(scaled.gain * s[:, None] / d, plain.gain, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose([a.distance for a in scaled.modes], [a.distance for a in plain.modes], rtol=1e-6)


def test_weights_that_miss_an_undamped_mode_are_refused_by_name():
    linear = vn.linear.model(
        scipy.linalg.block_diag([[0, 1], [-4, 0]], [[0, 1], [-1, 0]]),
        [[0], [1], [0], [1]], states=["a", "da", "b", "db"], inputs=["u"],
    )  # fmt: skip
    with pytest.raises(
        vn.VinculumError, match=r"(?s)state_weights miss 2 modes.*root .*2i.* in a, da.*weight to a or da"
    ):
        vn.stabilize(linear, {linear.states[2]: 1.0})
    assert vn.stabilize(linear, {linear.states[2]: 1.0, linear.states[0]: 1e-3}).roots.real.max() < 0


def test_an_unstable_mode_needs_no_weight():
    """The cheapest stabilizing law mirrors the root 1 to -1."""
    law = vn.stabilize(vn.linear.model([[1.0]], [[1.0]]), [0.0])
    np.testing.assert_allclose(law.gain, [[-2.0]], rtol=1e-10)


def test_a_place_without_a_weight_is_refused():
    with pytest.raises(vn.VinculumError, match=r"(?s)miss 1 mode .*root 0 in x.*Give a weight to x"):
        vn.stabilize(double_integrator(), [0, 1])


def test_an_uncontrollable_symmetric_mode_is_named_as_within_rounding():
    """Equal masses pulled by the same force: the difference cannot be controlled, which no zero entry shows."""
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.array([[1.3, -0.3], [-0.3, 1.3]]), np.zeros((2, 2))]])
    linear = vn.linear.model(A, [0, 0, 1, 1], states=["a", "b", "da", "db"])
    lost = [mode for mode in vn.linear.controllability(linear) if mode.lost]
    assert len(lost) == 2
    assert all(mode.undecided and not mode.structural for mode in lost)
    np.testing.assert_allclose([abs(mode.root) for mode in lost], np.sqrt(1.6))
    with pytest.raises(vn.VinculumError, match="cannot control 2 modes"):
        vn.stabilize(linear)


def test_two_integrators_on_one_input_are_lost_by_the_pattern():
    linear = vn.linear.model(np.zeros((2, 2)), [1.0, 0.3])
    assert all(mode.structural for mode in vn.linear.controllability(linear))


@pytest.mark.parametrize("decades", [0, 12])
def test_fast_electrical_poles_do_not_merge_slow_modes(decades):
    """Roots 1e6 apart from slow ones that differ by a thousandth: one actuator is enough; two equal ones need two."""
    random = np.random.default_rng(0)
    d = 10.0 ** random.uniform(-decades, decades, 4)
    for other, count in ((-1.001, 1), (-1.0, 2)):
        A = np.diag([-1e6, -1.0, other, -2.0])
        A[1, 0] = A[2, 0] = A[3, 0] = 1.0
        linear = vn.linear.model(A * d / d[:, None], (np.array([1.0, 0, 0, 0]) / d))
        assert vn.linear.minimum_actuators(linear) == count


def test_a_part_of_the_inputs_and_weights_of_outputs():
    """Both forces move both masses; with f alone the other stays at its holding value, and the cost is that of y."""
    system = vn.System(
        [x, y], x.diff() ** 2 / 2 + y.diff() ** 2 / 2, (x - y) ** 2 / 2 - x, forces={x: f, y: f2}, inputs=[f, f2]
    )
    equations = vn.derive(system)
    linear = vn.linearize(equations, vn.equilibrium(equations, {x: 0, y: 0}))
    law = vn.stabilize(linear, [10.0], inputs=[f2], outputs=[x])
    row, C = linear.inputs.index(f2), np.array([linear.measured[x]])
    K, _, _ = control.lqr(linear.system_matrix, linear.input_matrix[:, [row]], 10.0 * C.T @ C, np.eye(1))
    np.testing.assert_allclose(law.gain[row], -K[0], rtol=1e-8, atol=1e-9)
    assert not law.gain[1 - row].any()
    assert law.laws[f] == pytest.approx(-1.0)
    with pytest.raises(vn.ModelError, match="g is not an input"):
        vn.stabilize(linear, inputs=[sp.Symbol("g")])


def pendulum():
    """An inverted pendulum of unit length with a torque."""
    g = 9.81
    system = vn.System(
        [theta], m * theta.diff() ** 2 / 2, m * g * sp.cos(theta), forces={theta: f}, inputs=[f], parameters={m: 1.0}
    )
    return vn.derive(system)


def test_the_loop_has_the_parameters_of_the_design():
    """A law for m = 5 closes a loop around m = 5; a plant whose own parameters differ keeps them."""
    equations = pendulum()
    rest = vn.equilibrium(equations, {theta: 0}, parameters={m: 5.0})
    law = vn.stabilize(vn.linearize(equations, rest))
    closed = vn.close_loop(equations, law)
    assert closed.system.parameters[m] == 5.0
    motion = vn.simulate(closed, {theta: 0.01, theta.diff(): 0}, (0, 1))
    eta = scipy.linalg.expm(vn.feedback.closed_model(law).system_matrix) @ [0.01, 0]
    assert motion[theta][-1] == pytest.approx(eta[0], abs=1e-5)
    heavier = vn.derive(replace(equations.system, parameters={m: 6.0}))
    assert vn.close_loop(heavier, law).system.parameters[m] == 6.0


def test_a_point_may_be_a_plain_dict():
    equations = pendulum()
    law = vn.stabilize(vn.linearize(equations, {theta: 0.0, f: 0.0}))
    motion = vn.simulate(vn.close_loop(equations, law), {theta: 0.1, theta.diff(): 0}, (0, 8))
    assert abs(motion[theta][-1]) < 1e-3


def test_the_weights_of_the_observer_too():
    linear = double_integrator()
    with pytest.raises(vn.VinculumError, match="state_noise miss"):
        vn.observe(linear, [linear.states[0]], [1.0, 0.0])


def test_the_cart_and_pole_of_the_michigan_tutorials():
    """M = 0.5, m = 0.2, b = 0.1, I = 0.006, l = 0.3; Q = CᵀC, R = 1: K = [-1, -1.6567, 18.6854, 3.4594]."""
    M, mass, b, I, l, g = 0.5, 0.2, 0.1, 0.006, 0.3, 9.8
    p = I * (M + mass) + M * mass * l**2
    A = [[0, 1, 0, 0], [0, -(I + mass * l**2) * b / p, mass**2 * g * l**2 / p, 0], [0, 0, 0, 1],
         [0, -mass * l * b / p, mass * g * l * (M + mass) / p, 0]]  # fmt: skip
    B = [0, (I + mass * l**2) / p, 0, mass * l / p]
    linear = vn.linear.model(A, B, states=["x", "dx", "phi", "dphi"])
    law = vn.stabilize(linear, [1, 0, 1, 0])
    np.testing.assert_allclose(law.gain, [[1.0, 1.6567, -18.6854, -3.4594]], atol=6e-5)


def test_a_momentum_that_no_input_changes_is_left_alone():
    """A pendulum on a turning shaft: a torque on θ cannot change the momentum, and the loop keeps its present value."""
    theta, phi = dynamicsymbols("theta phi")
    torque = sp.Symbol("torque")
    T = (theta.diff() ** 2 + (1 + sp.sin(theta) ** 2) * phi.diff() ** 2) / 2
    system = vn.System([theta, phi], T, -9.81 * sp.cos(theta), forces={theta: torque}, inputs=[torque])
    equations = vn.derive(system)
    steady = vn.steady(equations, {phi.diff(): 4.0, torque: 0.0}, near={theta: 1.0})
    law = vn.stabilize(vn.linearize(equations, at=steady))
    closed = vn.close_loop(equations, law)
    verdict = vn.stability(vn.linearize(closed, at=steady))
    assert (verdict.kind, verdict.theorem) == ("stable", "the Lyapunov-Malkin theorem")
    start = {theta: steady[theta] + 0.1, phi: 0.0, theta.diff(): 0.0, phi.diff(): 4.2}
    motion = vn.simulate(closed, start, (0, 40))
    assert abs(motion[theta.diff()][-1]) < 1e-6
    momentum = (1 + sp.sin(theta) ** 2) * phi.diff()
    assert motion[momentum][-1] == pytest.approx(motion[momentum][0], rel=1e-10)
