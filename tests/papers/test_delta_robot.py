"""The Delta robot (Krasinskiy's method, three geometric constraints): reference numbers, to the digits given."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import vinculum as vn
from examples.delta_robot import (
    DATA,
    HEIGHT,
    TORQUE_WEIGHTS,
    J_f,
    X,
    Y,
    Z,
    at_height,
    g,
    l1,
    l2,
    m_f,
    m_p,
    platform,
    stabilized,
    system,
    theta,
    u,
)
from roots import assert_roots
from vinculum.simulation.problem.problem import build_problem

STILL = {q.diff(): 0.0 for q in theta}


@cache
def torques():
    return stabilized()


@cache
def voltages():
    return stabilized(motors=True)


@cache
def with_theta_dependent():
    _, rest, _, _ = torques()
    return vn.linearize(vn.derive(system(), "shulgin", dependent=theta), at=rest)


def closed_roots(linear, gain):
    return np.linalg.eigvals(linear.system_matrix + linear.input_matrix @ gain)


# -- unit test and equilibrium --------------------------------------------------------------------------------------

STATE = dict(zip((*theta, *platform), (0.409743738, -0.31871036, 0.137842462, -0.2, 0.15, -0.85), strict=True))
SPEEDS = dict(zip((q.diff() for q in theta), (0.5, -0.3, 0.2), strict=True))
INPUTS = dict(zip(u, (-10.0, -20.0, 5.0), strict=True))
ACCELERATIONS = (2.20547234, 0.757434868, 12.295332793, 1.22706097, 4.308111426, -1.682502927)
REACTIONS = (-4.856221911, -18.070940857, 3.677180829)


@pytest.mark.parametrize("dependent", [platform, None], ids=["platform", "chosen"])
def test_unit_accelerations_and_reactions(dependent):
    """With the angles solved on the constraints, of which the page gives nine digits."""
    equations = vn.derive(system(), "shulgin", dependent=dependent)
    place = {q: STATE[q] for q in platform}
    start = vn.consistent_state(equations, place | SPEEDS, guess={q: STATE[q] for q in theta})
    np.testing.assert_allclose([start[q] for q in theta], [STATE[q] for q in theta], rtol=0, atol=6e-10)
    found = equations.recover({key: start[key] for key in equations.states} | INPUTS)
    accelerations = [found[q.diff().diff()] for q in (*theta, *platform)]
    np.testing.assert_allclose(accelerations, ACCELERATIONS, rtol=0, atol=1e-9)
    np.testing.assert_allclose([found[f"forearm {i}"] for i in (1, 2, 3)], REACTIONS, rtol=0, atol=1e-9)


def test_equilibrium():
    _, rest, _, _ = torques()
    np.testing.assert_allclose([rest[q] for q in theta], 0.114629, rtol=0, atol=5e-7)
    np.testing.assert_allclose([rest[k] for k in u], -15.541373, rtol=0, atol=5e-7)
    _, held, _, _ = voltages()
    currents = [held[vn.motors.charge_of(system(), k).diff()] for k in u]
    np.testing.assert_allclose(currents, -0.403672, rtol=0, atol=5e-7)


# -- open loop ------------------------------------------------------------------------------------------------------

STRICT = [1.475694, -1.475694, *[2.556382j, -2.556382j] * 2]


def test_open_loop_with_constant_torques():
    _, _, linear, _ = torques()
    assert_roots(linear.roots, STRICT)
    assert linear.critical == 3
    verdict = vn.stability(linear)
    assert verdict.kind == "unstable"
    assert "1.47569" in verdict.explanation


def test_without_curvature_the_instability_is_missed():
    _, _, linear, _ = torques()
    wrong = linear.without_curvature()
    assert_roots(wrong.roots, [0.911687j, -0.911687j, *[0.732084j, -0.732084j] * 2])
    assert vn.stability(wrong).kind == "undecided"
    assert vn.stability(linear).kind == "unstable"


def test_the_robot_does_fall():
    """The full nonlinear robot at its holding torques, a tenth of a millirad away, leaves as exp(1.4757 t)."""
    equations, rest, _, _ = torques()
    start = {q: rest[q] + 1e-4 for q in theta} | STILL
    held = {k: rest[k] for k in u}
    motion = vn.simulate(equations, start, np.linspace(0, 4, 401), guess={Z: HEIGHT}, inputs=held)
    away = np.abs(motion[Z] - HEIGHT)
    rate = np.log(away[200] / away[150]) / 0.5
    assert rate == pytest.approx(1.4757, rel=0.02)


def test_the_printed_formula_with_theta_dependent():
    """Without PB the printed (24) gives two real pairs and an imaginary one."""
    linear = with_theta_dependent()
    assert_roots(linear.roots, STRICT)
    wrong = [2.204962j, -2.204962j, *[2.738717, -2.738717] * 2]
    assert_roots(linear.as_printed().roots, wrong)


def test_minimum_numbers():
    _, _, linear, _ = torques()
    assert vn.linear.minimum_actuators(linear) == 2
    assert vn.linear.sufficient_inputs(linear) == [(u[0], u[1]), (u[0], u[2]), (u[1], u[2])]
    assert [len(chosen) for chosen in vn.linear.sufficient_outputs(linear, theta)] == [2, 2, 2]


def test_open_loop_with_motors():
    _, _, linear, _ = voltages()
    assert_roots(linear.roots[:3], [-0.006742, -0.006742, 0.001449])
    assert linear.critical == 3
    assert len(linear.states) == 9


# -- feedback -------------------------------------------------------------------------------------------------------


def test_torque_law():
    _, _, linear, law = torques()
    first = [-93.096502, -4.811898, -4.811898, -20.209745, 0.707617, 0.707617]
    np.testing.assert_allclose(law.gain[0], first, rtol=0, atol=5.1e-7)
    pair = -5.471063 + 4.773396j
    outer = -7.623702 + 4.799509j
    assert_roots(law.roots, [outer, outer.conjugate(), *[pair, pair.conjugate()] * 2])
    assert linear.states == (*theta, *(q.diff() for q in theta))


def test_voltage_law():
    _, _, _, law = voltages()
    for part, expected in zip(np.split(law.gain, 3, axis=1), (-386.653183, -2.678926, -2.556345), strict=True):
        np.testing.assert_allclose(np.diag(part), expected, rtol=0, atol=5.1e-7)
    assert_roots(law.roots[:1], [-9.73614], digits=5)
    assert_roots(law.roots[1:3], [-9.7394, -9.7394], digits=4)
    double, single = -330.0 + 226.4j, -332.2 + 371.6j
    assert_roots(law.roots[3:], [single, single.conjugate(), *[double, double.conjugate()] * 2], digits=1)


@pytest.mark.parametrize("offset", [0.05, 0.37])
@pytest.mark.parametrize(("loop", "settling"), [(torques, 0.8), (voltages, 0.4)], ids=["torques", "voltages"])
def test_the_loop_converges_in_the_nonlinear_model(loop, settling, offset):
    equations, rest, _, law = loop()
    place = {X: offset, Y: 0.0, Z: HEIGHT} | {q.diff(): 0.0 for q in platform}
    start = vn.consistent_state(equations, place, guess=dict.fromkeys(theta, 0.1))
    motion = vn.simulate(vn.close_loop(equations, law), start, np.linspace(0, 4, 801))
    away = np.sqrt(sum((motion[q] - rest[q]) ** 2 for q in platform))
    assert away[0] == pytest.approx(offset)
    assert away[-1] < 1e-8
    assert motion.t[np.flatnonzero(away > 0.02 * offset)[-1]] == pytest.approx(settling, abs=0.02)
    assert max(motion.largest_residuals.values()) < 1e-10


def test_an_unmodelled_payload():
    """6 kg move the platform by 0.9 mm under the voltage law."""
    equations, rest, _, law = voltages()
    start = {q: rest[q] for q in theta} | STILL
    heavier = {m_p: DATA[9] + 6.0}
    motion = vn.simulate(vn.close_loop(equations, law), start, (0, 3), guess={Z: HEIGHT}, parameters=heavier)
    assert motion[Z][-1] - HEIGHT == pytest.approx(-0.9e-3, abs=0.05e-3)


@pytest.fixture(scope="module")
def two_motors():
    """Joint 3 at constant torque."""
    _, rest, _, _ = torques()
    robot = system()
    pair = replace(robot, forces={**robot.forces, theta[2]: sp.Float(rest[u[2]])}, inputs=u[:2])
    equations = vn.derive(pair, "shulgin", dependent=platform)
    held = at_height(equations)
    return equations, held, vn.stabilize(vn.linearize(equations, at=held), **TORQUE_WEIGHTS)


def test_two_motors_only(two_motors):
    equations, held, law = two_motors
    assert_roots(law.roots[:2], [-0.698735 + 2.355016j, -0.698735 - 2.355016j])
    place = {X: 0.045, Y: 0.0, Z: HEIGHT} | {q.diff(): 0.0 for q in platform}
    start = vn.consistent_state(equations, place, guess=dict.fromkeys(theta, 0.1))
    motion = vn.simulate(vn.close_loop(equations, law), start, (0, 20))
    assert [motion[q][-1] for q in platform] == pytest.approx([held[q] for q in platform], abs=1e-7)
    assert max(motion.largest_residuals.values()) < 1e-10


def test_strong_gains_designed_without_curvature():
    """Only 6 % different, and stable."""
    _, _, linear, law = torques()
    blind = vn.stabilize(linear.without_curvature(), **TORQUE_WEIGHTS)
    assert np.abs(blind.gain - law.gain).max() / np.abs(law.gain).max() == pytest.approx(0.06, abs=0.005)
    assert closed_roots(linear, blind.gain).real.max() < -5


@pytest.mark.parametrize(("cost", "root"), [(0.01, 0.90), (100.0, 1.47)])
def test_weak_gains_designed_without_curvature_are_unstable(cost, root):
    _, _, linear, _ = torques()
    blind = vn.stabilize(linear.without_curvature(), 0.01 * np.eye(6), cost)
    assert blind.roots.real.max() < 0  # as the linearized constraint sees it
    assert closed_roots(linear, blind.gain).real.max() == pytest.approx(root, abs=0.005)


def test_two_encoders_suffice_in_theory_only():
    _, _, linear, _ = voltages()
    assert vn.linear.minimum_actuators(linear) == 2
    observer = vn.observe(linear, theta[:2])
    assert observer.roots[0].real == pytest.approx(-0.0055, abs=1e-4)


@pytest.mark.parametrize(
    ("upper", "imaginary", "real"), [(1 / 2, 2.45347, None), (2 / 3, 2.386849, 1.328593)], ids=["halves", "thirds"]
)
def test_lumped_forearms(upper, imaginary, real):
    """Masses at the ends of the forearms in place of exact parallelograms: roots wrong by 4 to 10 %."""
    robot, lower = system(), 1 - upper
    # forearm of the example: m_f |middle|²/2 + J_f |ends|²/(2 l₂²), at the half height of its ends
    T = robot.kinetic_energy.subs({m_f: 0, J_f: 0})
    V = robot.potential_energy.subs(m_f, 0)
    down = sum(q.diff() ** 2 for q in platform)
    for angle in theta:
        T += m_f * (upper * l1**2 * angle.diff() ** 2 + lower * down) / 2
        V += m_f * g * (lower * Z - upper * l1 * sp.sin(angle))
    lumped = replace(robot, kinetic_energy=T, potential_energy=V)
    equations = vn.derive(replace(lumped, parameters=_used(lumped, l2)), "shulgin", dependent=platform)
    roots = vn.linearize(equations, at=at_height(equations)).roots
    assert roots.imag.max() == pytest.approx(imaginary, abs=5e-6)
    if real:
        assert roots.real.max() == pytest.approx(real, abs=5e-7)


def _used(robot, *further):
    """The parameters that still appear."""
    present = (robot.kinetic_energy + robot.potential_energy).free_symbols | set(further)
    for constraint in robot.constraints:
        present |= constraint.expression.free_symbols
    return {p: value for p, value in robot.parameters.items() if p in present}


def test_a_start_off_the_constraints_stays_off():
    """5 mm off: F is an integral, and the platform stays 4.99 mm from where it should be."""
    equations, rest, _, law = torques()
    closed = vn.close_loop(equations, law)
    start = {key: rest[key] for key in (*closed.system.coordinates, *closed.system.velocities)}
    start[Z] += 0.005
    problem, x = build_problem(closed, start, 0.0, closed.laws, dict(closed.system.parameters), [])
    rates, residuals = problem.compiled(problem.nodes.rates), problem.compiled(problem.nodes.residuals[:3])
    found = solve_ivp(lambda t, x: rates(t, x, problem.values), (0, 6), x, method="DOP853", rtol=1e-12, atol=1e-13)
    first, last = (residuals(0.0, found.y[:, i], problem.values) for i in (0, -1))
    assert np.abs(first).min() > 1e-3
    np.testing.assert_allclose(last, first, rtol=0, atol=1e-12)
    end = dict(zip(closed.states, found.y[:, -1], strict=False))
    assert np.hypot(np.hypot(end[X], end[Y]), end[Z] - HEIGHT) == pytest.approx(4.99e-3, abs=0.02e-3)
