"""Every kind of law on a processor: PID, computed torque, program, and what limits do to integrators."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from compilers import compiled, run
from vinculum.control.digital_law import digital_law
from vinculum.control.discrete_design import sampled_loop

x, v, t = *dynamicsymbols("x v"), dynamicsymbols._t
m, c, k, u = sp.symbols("m c k u")


@pytest.fixture(scope="module")
def plant():
    system = vn.System([x], m * x.diff() ** 2 / 2, k * x**2 / 2, forces={x: u - c * x.diff()}, inputs=[u],
                       parameters={m: 0.7, c: 0.3, k: 5.0}, name="oscillator")  # fmt: skip
    return vn.derive(system)


@pytest.fixture(scope="module")
def linear(plant):
    return vn.linearize(plant, at=vn.equilibrium(plant, {u: 0}))


def held(F, H, T):
    """exp(FT) and ∫exp(Fs)ds H by one exponential."""
    whole = np.zeros((3, 3))
    whole[:2, :2], whole[:2, 2] = F, H
    found = scipy.linalg.expm(T * whole)
    return found[:2, :2], found[:2, 2]


def test_a_pid_is_its_hand_written_loop(plant, linear):
    """e = -y, the integral by the rectangle rule of held samples, the derivative from its filter, exactly."""
    kp, ki, kd, tau, T = 8.0, 6.0, 1.5, 0.05, 0.02
    law = vn.feedback.pid(linear, x, u, kp, ki, kd, filter=tau)
    motion = vn.simulate(plant, {x: 0.3}, np.arange(201) * T, inputs=vn.Digital(law, T))
    Phi, gamma = held([[0, 1], [-5 / 0.7, -0.3 / 0.7]], [0, 1 / 0.7], T)
    state, integral, w = np.array([0.3, 0.0]), 0.0, 0.0
    for n in range(200):
        y = state[0]
        force = -kp * y - ki * integral - kd * (y - w) / tau
        state = Phi @ state + gamma * force
        integral, w = integral + T * y, y + (w - y) * np.exp(-T / tau)
        assert motion[x][n + 1] == pytest.approx(state[0], abs=1e-12)


def test_a_limited_pid_does_not_wind_up(plant, linear):
    """A weak actuator far from the goal: with the integrator stopped at the limit the mass overshoots less."""
    law = vn.feedback.pid(linear, x, u, 8.0, 6.0, 3.0, filter=0.02)
    times = np.linspace(0, 12, 1201)
    found = {}
    for anti_windup in (True, False):
        board = vn.Digital(law, 0.02, limits={u: 1.0}, anti_windup=anti_windup)
        motion = vn.simulate(plant, {x: 2.0}, times, parameters={k: 0.2}, inputs=board)
        assert np.abs(motion[u]).max() <= 1.0
        found[anti_windup] = -motion[x].min()
    assert found[True] < 0.5 * found[False]


def test_the_exported_controller_stops_its_integrator_too(linear, tmp_path):
    law = vn.feedback.pid(linear, x, u, 8.0, 6.0, 3.0, filter=0.02)
    digital = digital_law(law, 0.02, limits={u: 1.0})
    assert len(digital.integrators) == 1
    w, y = np.array([0.4, 0.1]), np.array([2.0])
    sent, after = digital(w, y)
    assert sent[0] == -1.0
    assert after[0] == w[0]  # asks for less than -1 already
    w, y = np.array([0.4, -0.1]), np.array([-0.1])
    assert digital(w, y)[0][0] == -1.0
    assert digital(w, y)[1][0] == pytest.approx(0.4 - 0.02 * 0.1)  # leads out of the limit
    files = vn.export_c(law, tmp_path / "law.c", period=0.02, limits={u: 1.0}, check=20)
    assert "comparisons" in run(compiled(files, tmp_path / "check"))
    loose = vn.export_c(law, tmp_path / "loose.c", period=0.02, limits={u: 1.0}, anti_windup=False)
    assert files[1].read_text().replace("law", "loose") != loose[1].read_text()


def arm():
    mass, first, second = sp.symbols("mass first second")
    bodies = [
        vn.Body(name, parent, axis=(0, 1, 0), origin=place, mass=mass, center_of_mass=(0.2, 0, 0),
                inertia=(0.001, 0.03, 0.03), torque=torque)
        for name, parent, place, torque in (("upper", None, (0, 0, 0), first), ("lower", "upper", (0.4, 0, 0), second))
    ]  # fmt: skip
    return vn.BodyTree(bodies, parameters={mass: 1.5}, name="arm"), mass


def test_computed_torques_follow_their_path_and_tell_a_slow_period():
    tree, mass = arm()
    system = tree.system()
    a, b = tree.coordinates
    desired = {a: sp.sin(2 * t) / 2, b: sp.cos(t) - 1}
    torques = vn.bodies.computed_torque(tree, desired, frequency=20.0)
    equations, start = vn.derive(system), {a: 0, b: 0, a.diff(): 1, b.diff(): 0}
    errors = []
    for period in (0.004, 0.002):
        motion = vn.simulate(equations, start, (0, 2), inputs=vn.Digital(torques, period))
        errors.append(np.abs(motion[a] - np.sin(2 * motion.t) / 2).max())
    assert errors[0] < 3e-3
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1)  # the held torque is late by half a period
    heavy = vn.simulate(equations, start, (0, 2), inputs=vn.Digital(torques, 0.002), parameters={mass: 1.8})
    assert np.abs(heavy[a] - np.sin(2 * heavy.t) / 2).max() > 3 * errors[1]  # the law has the mass of the model
    with pytest.warns(UserWarning, match="near the start, but with the period 0.15"):
        vn.simulate(equations, start, (0, 0.3), inputs=vn.Digital(torques, 0.15))


CART = vn.AffineSystem([x, v], [v, -c * v / m], [u], [[0], [1 / m]], {"track": x - sp.sin(t)}, {m: 2.0, c: 0.5})


def test_a_program_law_is_its_hand_written_loop():
    """m (-sin t - 2k ẏ - k² y) + c v, held through each period, on a cart with another mass."""
    program, T, rate = vn.derive(CART, "program", rates=5.0), 0.01, 5.0
    motion = vn.simulate(program, {x: 0.3, v: 0.0}, np.arange(301) * T, inputs=vn.Digital(program, T),
                         parameters={m: 2.4})  # fmt: skip
    Phi, gamma = held([[0, 1], [0, -0.5 / 2.4]], [0, 1 / 2.4], T)
    state = np.array([0.3, 0.0])
    for n in range(300):
        y, dy = state[0] - np.sin(n * T), state[1] - np.cos(n * T)
        force = 2.0 * (-np.sin(n * T) - 2 * rate * dy - rate**2 * y) + 0.5 * state[1]
        assert motion[u][n] == pytest.approx(force, abs=1e-11)
        state = Phi @ state + gamma * force
        assert motion[x][n + 1] == pytest.approx(state[0], abs=1e-12)


def test_a_program_starts_on_its_constraints_and_needs_all_inputs():
    program = vn.derive(CART, "program", rates=5.0)
    motion = vn.simulate(program, {}, (0, 1), inputs=vn.Digital(program, 0.01))
    assert motion[x][0] == pytest.approx(0, abs=1e-12)
    assert motion[v][0] == pytest.approx(1, abs=1e-12)
    with pytest.raises(vn.ModelError, match="u has no law"):
        vn.simulate(program, {x: 0.0, v: 1.0}, (0, 1), inputs=vn.Digital({}, 0.01))


def test_every_law_of_roots_warns_when_it_is_sampled_too_slowly(plant, linear):
    laws = {
        "pid": vn.feedback.pid(linear, x, u, 400.0, 0.0, 10.0),
        "poles": vn.feedback.place(linear, [-20, -25]),
        "formula": {u: -400 * x - 10 * x.diff()},
    }
    for law in laws.values():
        with pytest.warns(UserWarning, match="outside the unit circle"):
            vn.simulate(plant, {x: 0.01}, (0, 0.3), inputs=vn.Digital(law, 0.15))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            vn.simulate(plant, {x: 0.01}, (0, 0.01), inputs=vn.Digital(law, 0.002))


def test_a_python_function_warns_of_a_plant_that_is_too_fast():
    """Its own roots are not known, but nothing can act on what happens between the samples."""
    for forces, said in (({x: -500 * x + u}, "fewer than two samples per oscillation"), ({x: 30 * x + u}, "factor")):
        driven = vn.derive(vn.System([x], m * x.diff() ** 2 / 2, forces=forces, inputs=[u], parameters={m: 1.0}))
        with pytest.warns(UserWarning, match=said):
            vn.simulate(driven, {x: 0.01}, (0, 0.2), inputs=vn.Digital(lambda t, y, memory: -y[0], 0.2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            vn.simulate(driven, {x: 0.01}, (0, 0.02), inputs=vn.Digital(lambda t, y, memory: -y[0], 0.01))


def test_a_limited_continuous_loop_does_not_wind_up(plant, linear):
    """A weak actuator far from the goal: what the limit takes is fed back to the integrator."""
    law = vn.feedback.pid(linear, x, u, 30.0, 40.0, 8.0, filter=0.02)
    start, limit = {x: 1.0}, {u: 6.0}
    free = vn.simulate(vn.close_loop(plant, law, limits=limit, anti_windup=False), start, (0, 8))
    kept = vn.simulate(vn.close_loop(plant, law, limits=limit), start, (0, 8))
    assert free.outcome
    assert kept.outcome
    assert free[x].min() < -0.2  # the overshoot
    assert kept[x].min() > -0.02
    assert abs(kept[x][-1]) < 1e-4
    loose = vn.simulate(vn.close_loop(plant, law, limits={u: 1e4}), start, (0, 8))
    alone = vn.simulate(vn.close_loop(plant, law), start, (0, 8))
    assert loose[x] == pytest.approx(alone[x], abs=1e-11)  # a limit that never holds changes nothing


# -- margins -----------------------------------------------------------------------------------------------------------


def largest(model, law):
    return np.abs(np.linalg.eigvals(sampled_loop(model, law))).max()


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.05])
@pytest.mark.parametrize("kind", ["observer", "pid"])
def test_at_its_margins_a_sampled_loop_has_a_root_on_the_unit_circle(linear, kind, delay):
    """Against the roots of the loop themselves: with the gain, and with the delay, that the margin allows."""
    T = 0.02
    estimator = vn.observe(linear, [x]) if kind == "observer" else None
    law = (
        vn.stabilize(linear, state_weights=[50, 1])
        if estimator
        else vn.feedback.pid(linear, x, u, 6, 4, 1, filter=0.05)
    )
    board = vn.Digital(law, T, delay, estimator=estimator)
    found, digital = board.margins()[u], digital_law(law, T, estimator)
    model = linear.discrete(T, delay)
    for factor in (found.gain, found.gain_reduction):
        if 0 < factor < np.inf:
            assert largest(replace(model, B=factor * model.B), digital) == pytest.approx(1, abs=1e-7)
    assert np.isfinite(found.gain)
    assert found.delay > 0
    assert largest(linear.discrete(T, delay + found.delay), digital) == pytest.approx(1, abs=1e-7)
    assert 0 < found.phase < np.pi
    assert all(0 < w <= np.pi / T for w in found.gain_crossovers)


def test_fast_sampling_has_the_margins_of_the_continuous_loop(linear):
    law = vn.feedback.pid(linear, x, u, 6, 4, 1, filter=0.05)
    continuous, sampled = vn.linear.margins(law)[u], vn.Digital(law, 1e-5).margins()[u]
    assert sampled.phase == pytest.approx(continuous.phase, rel=1e-3)
    assert sampled.delay == pytest.approx(continuous.delay, rel=1e-3)
    assert sampled.gain_crossovers == pytest.approx(continuous.gain_crossovers, rel=1e-3)


def test_a_digital_design_has_margins_with_its_model(linear):
    law = vn.feedback.digital(linear, 0.1, state_weights=[50, 1], input_weights=0.1, delay=0.03)
    found = vn.Digital(law, 0.1, 0.03).margins(linear)[u]
    assert largest(linear.discrete(0.1, 0.03 + found.delay), law) == pytest.approx(1, abs=1e-7)
    with pytest.raises(vn.VinculumError, match="linear="):
        vn.Digital(law, 0.1, 0.03).margins()
    with pytest.raises(vn.VinculumError, match="not stable"):
        vn.feedback.digital_margins(linear, law, delay=0.03 + 2 * found.delay)
