"""Residuals obey the equations that the stabilization was built for, exactly or to leading order.

The runs start off the constraints on purpose.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import (
    FIXED_STEP,
    RUNGE_KUTTA,
    SKATE_START,
    SPEED_START,
    cartesian_system,
    constant_speed,
    g,
    hanging,
    l,
    largest,
    m,
    pendulum,
    run,
    skate,
    theta,
    turning_rod,
    x,
    y,
)

FORMS = ("multipliers", "lyapunov")
TIMES = np.linspace(0, 2, 41)
OFF = hanging() | {x: 0.9, x.diff(): 0.02}  # off the circle and moving away from it


def free_decay(t: np.ndarray, f: float, rate: float, alpha: float, beta: float) -> np.ndarray:
    """The solution of f̈ + 2α ḟ + β² f = 0, also for α = β and β = 0."""
    A = np.array([[0.0, 1.0], [-(beta**2), -2 * alpha]])
    return np.array([(exponential(A * time) @ [f, rate])[0] for time in t])


def exponential(A: np.ndarray) -> np.ndarray:
    from scipy.linalg import expm

    return expm(A)


def start_of(motion: vn.Trajectory, name: str) -> tuple[float, float]:
    return motion.residuals[name, "position"][0], motion.residuals[name, "velocity"][0]


# -- continuous feedback, integrated without error ------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("treatment", "alpha", "beta"),
    [
        (vn.Baumgarte(3.0), 3.0, 3.0),
        (vn.Baumgarte(rate={"rod": 2.0}), 2.0, 2.0),
        (vn.Baumgarte(alpha=1.0, beta=5.0), 1.0, 5.0),
        (vn.Baumgarte(alpha=4.0, beta=1.5), 4.0, 1.5),
        (vn.Baumgarte(alpha={"rod": 0.5}, beta={"rod": 0.0}), 0.5, 0.0),
        (vn.Baumgarte(0.0), 0.0, 0.0),
    ],
)
def test_a_holonomic_residual_is_a_damped_oscillator(form, treatment, alpha, beta):
    """f̈ + 2α ḟ + β² f = 0 along the motion, however far from f = 0."""
    motion = run(pendulum(form), OFF, TIMES, stabilization=treatment)
    f, rate = start_of(motion, "rod")
    assert abs(f) > 0.05
    expected = free_decay(TIMES, f, rate, alpha, beta)
    np.testing.assert_allclose(motion.residuals["rod", "position"], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_moving_constraint_has_the_same_residual_equation(form):
    start = {x: 1.0, y: 0.1, x.diff(): 0.0, y.diff(): 0.9}
    motion = run(turning_rod(form), start, TIMES, stabilization=vn.Baumgarte(2.0))
    f, rate = start_of(motion, "wire")
    expected = free_decay(TIMES, f, rate, 2.0, 2.0)
    np.testing.assert_allclose(motion.residuals["wire", "position"], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("equations", "start", "name"),
    [
        (skate, SKATE_START | {y.diff(): 0.7}, "edge"),
        (constant_speed, {x: 0.0, y: 0.0, x.diff(): 1.4, y.diff(): 0.9}, "speed"),
    ],
)
def test_a_nonholonomic_residual_decays_with_its_rate(form, equations, start, name):
    """φ = φ₀ e^{-κt}, linear or nonlinear in the velocities."""
    motion = run(equations(form), start, TIMES, stabilization=vn.Baumgarte(1.7))
    residual = motion.residuals[name, "velocity"]
    assert abs(residual[0]) > 0.05
    np.testing.assert_allclose(residual, residual[0] * np.exp(-1.7 * TIMES), rtol=0, atol=1e-12)


def test_a_residual_of_redundant_coordinates_is_of_first_order():
    """Shulgin's form holds ḟ = 0 by itself, so the feedback makes it ḟ = -κ f."""
    equations = vn.derive(cartesian_system(), "shulgin", dependent=[y])
    motion = run(equations, OFF, np.linspace(0, 0.25, 11), stabilization=vn.Baumgarte(3.0))
    residual = motion.residuals["rod", "position"]
    assert abs(residual[0]) > 0.05
    np.testing.assert_allclose(residual, residual[0] * np.exp(-3.0 * motion.t), rtol=0, atol=1e-12)


def test_every_constraint_has_a_gain_of_its_own():
    """Rates by name; a constraint without one gets the rate of the run."""
    support = vn.Nonholonomic(y.diff() - x.diff() / 2, name="slope")
    wall = vn.Holonomic(theta - x, name="wall")
    system = vn.System(
        [x, y, theta], x.diff() ** 2 + y.diff() ** 2 + theta.diff() ** 2, sp.cos(x), constraints=[support, wall]
    )
    start = {x: 0.1, y: 0.2, theta: 0.4, x.diff(): 0.5, y.diff(): 0.0, theta.diff(): 0.3}
    motion = run(vn.derive(system), start, TIMES, stabilization=vn.Baumgarte({"slope": 0.5, "wall": 2.0}))
    slope, (f, rate) = motion.residuals["slope", "velocity"], start_of(motion, "wall")
    np.testing.assert_allclose(slope, slope[0] * np.exp(-0.5 * TIMES), rtol=0, atol=1e-12)
    expected = free_decay(TIMES, f, rate, 2.0, 2.0)
    np.testing.assert_allclose(motion.residuals["wall", "position"], expected, rtol=0, atol=1e-12)


# -- sampled feedback -----------------------------------------------------------------------------------------


def inclined_line() -> vn.EquationsOfMotion:
    """A constraint linear in q, in a field that is not linear, so that nothing but the constraint is simple."""
    line = vn.Holonomic(2 * x - y - 1, name="line")
    system = cartesian_system(potential_energy=m * g * sp.sin(x * y + l), constraints=[line])
    return vn.derive(system)


def residual_map(a: float, b: float, step: float) -> np.ndarray:
    """(f, ḟ) after a step with the feedback held: f̈ = -2α ḟ - β² f, constant, a = ατ, b = βτ."""
    return np.array([[1 - b**2 / 2, (1 - a) * step], [-(b**2) / step, 1 - 2 * a]])


def residual_pairs(motion: vn.Trajectory, name: str) -> np.ndarray:
    return np.column_stack([motion.residuals[name, "position"], motion.residuals[name, "velocity"]])


@pytest.mark.parametrize("method", ["midpoint", "rk4"])
@pytest.mark.parametrize("rate", [5.0, 12.0, 17.0])
def test_held_feedback_maps_the_residual_linearly(method, rate):
    """A constraint linear in q: the map of one step is exact, for any method of order two or more."""
    step, start = 0.05, {x: 0.7, y: 0.3, x.diff(): 0.2, y.diff(): 0.1}
    motion = run(inclined_line(), start, (0, 1), method, step=step, stabilization=vn.Sampled(rate))
    pairs = residual_pairs(motion, "line")
    expected = pairs[:-1] @ residual_map(rate * step, rate * step, step).T
    np.testing.assert_allclose(pairs[1:], expected, rtol=0, atol=2e-14)


@pytest.mark.parametrize("method", ["midpoint", "rk4"])
def test_held_feedback_on_a_curved_constraint_to_leading_order(method):
    """The rod: the same map, up to O(τ) of the residual and the method's own defect."""
    step, share = 1e-3, 1e-4
    start = hanging() | {x: hanging()[x] * (1 + share), y: hanging()[y] * (1 + share)}
    motion = run(pendulum(), start, (0, 20 * step), method, step=step, stabilization=vn.Sampled(300.0))
    pairs = residual_pairs(motion, "rod") * [1, step]  # both in the units of f
    expected = pairs[:-1] @ residual_map(0.3, 0.3, 1.0).T
    np.testing.assert_allclose(pairs[1:], expected, rtol=0, atol=10 * step * np.abs(pairs).max())
    assert np.abs(pairs[-1]).max() < 0.1 * np.abs(pairs[0]).max()


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("method", RUNGE_KUTTA)
def test_deadbeat_feedback_needs_two_steps(method):
    """The default of Runge-Kutta methods: a residual linear in q and its rate are gone after two steps."""
    start = {x: 0.7, y: 0.3, x.diff(): 0.2, y.diff(): 0.1}
    motion = run(inclined_line(), start, (0, 0.1), method, step=0.01)
    pairs = np.abs(residual_pairs(motion, "line"))
    assert pairs[0].min() > 0.05
    assert pairs[2:, 0].max() < 1e-15
    assert pairs[2:, 1].max() < 1e-15 / 0.01 * 2  # ḟ is a difference of f over a step


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("method", RUNGE_KUTTA)
def test_deadbeat_feedback_on_a_velocity_needs_one_step(method):
    """φ linear in q̇ with constant coefficients: φ is gone after one step."""
    slope = vn.Nonholonomic(y.diff() - x.diff() / 2 - sp.Rational(1, 3), name="slope")
    equations = vn.derive(cartesian_system(constraints=[slope]))
    start = {x: 0.0, y: 0.0, x.diff(): 1.0, y.diff(): 0.0}
    motion = run(equations, start, (0, 0.1), method, step=0.01)
    residual = np.abs(motion.residuals["slope", "velocity"])
    assert residual[0] > 0.5
    assert residual[1:].max() < 1e-14


# -- continuous feedback in the stages of a Runge-Kutta step --------------------------------------------------


def stability_matrix(method: str, Z: np.ndarray) -> np.ndarray:
    """R(τK): the method's own approximation of e^{τK}."""
    terms = {"euler": 1, "midpoint": 2, "rk4": 4}[method]
    return sum(np.linalg.matrix_power(Z, i) / math.factorial(i) for i in range(terms + 1))


def defect(method: str, Z: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """What a step from the constraints leaves behind, per τ²: the stages leave them and the feedback acts on that."""
    power, divisor = {"euler": (0, 2), "midpoint": (1, 8), "rk4": (3, 96)}[method]
    return np.linalg.matrix_power(Z, power) @ curvature / divisor


@pytest.mark.parametrize("method", RUNGE_KUTTA)
@pytest.mark.parametrize("share", [0.5, 1.2])
def test_continuous_feedback_in_the_stages_has_a_known_cost(method, share):
    """A rod that turns steadily: (f, ḟ) settles at (1 - R(τK))⁻¹ d, d = τ² (1/2, τK/8, (τK)³/96) (v·f_qq v, 0)."""
    step, turning = 2e-4, 3.0
    rate = share / step
    K = np.array([[0, 1], [-(rate**2), -2 * rate]])
    left = step**2 * defect(method, step * K, np.array([turning**2, 0.0]))
    expected = np.linalg.solve(np.eye(2) - stability_matrix(method, step * K), left)
    treatment = vn.Baumgarte(rate)
    motion = run(
        pendulum(), hanging(speed=turning), (0, 0.2), method, step=step, stabilization=treatment, parameters={g: 0.0}
    )
    found = residual_pairs(motion, "rod")[-1]
    np.testing.assert_allclose(found, expected, rtol=0.02)  # the next order in τ is left out


# -- projection -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["taylor", *FIXED_STEP])
@pytest.mark.parametrize(
    ("equations", "start"),
    [
        (pendulum, hanging(speed=2.0)),
        (turning_rod, {x: 1.0, y: 0.0}),
        (skate, SKATE_START),
        (constant_speed, SPEED_START),
    ],
)
def test_projection_leaves_only_rounding(method, equations, start):
    """After every step, however coarse, holonomic or not."""
    step = {} if method == "taylor" else {"step": 0.02}
    given = vn.consistent_state(equations(), start)
    motion = run(equations(), given, (0, 1), method, stabilization="projection", **step)
    assert largest(motion) < 4e-15


# -- defaults -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["midpoint", "rk4", "ab2", "ab4", "abm4"])
def test_by_default_the_residual_does_not_grow_with_time(method):
    """The rod of a pendulum that goes round and round; without stabilization it drifts."""

    def position_residual(duration: float, **options: object) -> float:
        motion = run(pendulum(), hanging(speed=8.0), (0, duration), method, step=5e-3, **options)
        return motion.largest_residuals["rod", "position"]

    assert position_residual(20) < 1.1 * position_residual(2)
    assert position_residual(20, stabilization="none") > 3 * position_residual(2, stabilization="none")
