"""Linear models that others have published, with their numbers, and the same model from other descriptions.

Cart with pendulum, ball and beam, motor: Control Tutorials for MATLAB and Simulink (University of Michigan). Rotary
pendulum: the linear equations written out by hand. Bicycle: Meijaard and others, Proc. R. Soc. A 463 (2007).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import bicycle

x, theta, z, y, r, alpha, q = dynamicsymbols("x theta z y r alpha q")
u = sp.Symbol("u")


def model(system):
    """The linear model at the origin."""
    return vn.linearize(vn.derive(system), at=dict.fromkeys((*system.coordinates, *system.inputs), 0.0))


def matrices(linear, states):
    """A and B in a given order of states."""
    places = [linear.states.index(s) for s in states]
    return linear.system_matrix[np.ix_(places, places)], linear.input_matrix[places]


def spellings(expression):
    """An energy in several ways."""
    return {
        "as written": expression,
        "expanded": sp.expand(expression),
        "by multiple angles": sp.expand(expression).rewrite(sp.exp).expand().rewrite(sp.cos).simplify(),
        "simplified": sp.trigsimp(sp.expand(expression)),
    }


# -- cart with pendulum ----------------------------------------------------------------------------------------------

M, m, b, I, g, l = 0.5, 0.2, 0.1, 0.006, 9.8, 0.3
CART_A = [[0, 1, 0, 0], [0, -0.181818181818182, 2.672727272727273, 0],
          [0, 0, 0, 1], [0, -0.454545454545455, 31.181818181818180, 0]]  # fmt: skip
CART_B = [[0], [1.818181818181818], [0], [4.545454545454545]]


def cart_energy():
    """θ from the upright, positive so that the mass center is at x - l sin θ, as in the tutorial."""
    mass = (x.diff() - l * sp.cos(theta) * theta.diff()) ** 2 + (l * sp.sin(theta) * theta.diff()) ** 2
    return M * x.diff() ** 2 / 2 + m * mass / 2 + I * theta.diff() ** 2 / 2


@pytest.mark.parametrize("spelling", spellings(cart_energy()))
def test_cart_with_pendulum(spelling):
    T = spellings(cart_energy())[spelling]
    V = m * g * l * sp.cos(theta)
    linear = model(vn.System([x, theta], T, V, forces={x: u}, dissipation=b * x.diff() ** 2 / 2, inputs=[u]))
    A, B = matrices(linear, [x, x.diff(), theta, theta.diff()])
    np.testing.assert_allclose(A, CART_A, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(B, CART_B, rtol=1e-13)


@pytest.mark.parametrize("form", ["multipliers", "shulgin", "lyapunov"])
def test_cart_with_pendulum_in_cartesian_coordinates(form):
    """The mass center (z, y) with z = x - l sin θ, y = l cos θ as constraints."""
    T = (M * x.diff() ** 2 + m * (z.diff() ** 2 + y.diff() ** 2) + I * theta.diff() ** 2) / 2
    rod = [vn.Holonomic(z - x + l * sp.sin(theta), "across"), vn.Holonomic(y - l * sp.cos(theta), "up")]
    system = vn.System([x, theta, z, y], T, m * g * y, forces={x: u}, dissipation=b * x.diff() ** 2 / 2,
                       constraints=rod, inputs=[u])  # fmt: skip
    choice = {"dependent": [z, y]} if form == "shulgin" else {}
    equations = vn.derive(system, form, **choice)
    linear = vn.linearize(equations, at={x: 0, theta: 0, z: 0, y: l, u: 0})
    wanted = np.array([linear.measured[s] for s in (x, x.diff(), theta, theta.diff())])
    A, B = wanted @ linear.system_matrix @ np.linalg.inv(wanted), wanted @ linear.input_matrix
    np.testing.assert_allclose(A, CART_A, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(B, CART_B, rtol=1e-12)


def test_the_published_gain_of_the_cart():
    """LQR with Q = diag(5000, 0, 100, 0), R = 1: the tutorial prints K = (-70.7107, -37.8345, 105.5298, 20.9238)."""
    V = m * g * l * sp.cos(theta)
    linear = model(
        vn.System([x, theta], cart_energy(), V, forces={x: u}, dissipation=b * x.diff() ** 2 / 2, inputs=[u])
    )
    weight = {x: 5000.0, theta: 100.0}
    law = vn.stabilize(linear, state_weights=[weight.get(s, 0.0) for s in linear.states], input_weights=1.0)
    gains = dict(zip(linear.states, np.asarray(law.gain).ravel(), strict=True))
    found = np.array([gains[s] for s in (x, x.diff(), theta, theta.diff())])
    np.testing.assert_allclose(np.abs(found), [70.7107, 37.8345, 105.5298, 20.9238], atol=6e-5)


# -- ball and beam ---------------------------------------------------------------------------------------------------


BALL, RADIUS, GRAVITY, LENGTH, LEVER, INERTIA = 0.111, 0.015, -9.8, 1.0, 0.03, 9.99e-6
ROLLING = (BALL + INERTIA / RADIUS**2) * r.diff() ** 2 / 2 + BALL * (r * alpha.diff()) ** 2 / 2


def slope(linear, state):
    return linear.system_matrix[linear.states.index(r.diff()), linear.states.index(state)]


def test_ball_and_beam():
    """r̈ = -(m g/(J/R² + m)) α = 7 α with the tutorial's numbers (its g is negative)."""
    beam = ROLLING + alpha.diff() ** 2 / 2
    linear = model(vn.System([r, alpha], beam, BALL * GRAVITY * r * sp.sin(alpha), forces={alpha: u}, inputs=[u]))
    assert slope(linear, alpha) == pytest.approx(7.0, rel=1e-14)
    assert slope(linear, r) == 0


def test_ball_and_beam_with_a_lever():
    """A servo holds α = θ d/L: r̈ = 0.21 θ."""
    held = vn.Servo(alpha - theta * LEVER / LENGTH, through=[u])
    T = ROLLING + (alpha.diff() ** 2 + theta.diff() ** 2) / 2
    system = vn.System([r, alpha, theta], T, BALL * GRAVITY * r * sp.sin(alpha), forces={alpha: u},
                       constraints=[held], inputs=[u])  # fmt: skip
    linear = vn.linearize(vn.derive(system), at=dict.fromkeys((r, alpha, theta), 0.0))
    assert slope(linear, theta) == pytest.approx(0.21, rel=1e-12)


# -- motor -----------------------------------------------------------------------------------------------------------


def test_motor_position():
    """J θ̈ + b θ̇ = K i, L di/dt + R i = V - K θ̇: the tutorial's A and B of (θ, θ̇, i)."""
    J, friction, K, R, L = 3.2284e-6, 3.5077e-6, 0.0274, 4.0, 2.75e-6
    shaft = vn.System([theta], J * theta.diff() ** 2 / 2, forces={theta: u}, inputs=[u],
                      dissipation=friction * theta.diff() ** 2 / 2)  # fmt: skip
    motor = vn.motors.DCMotor(torque_constant=K, resistance=R, inductance=L)
    equations = vn.derive(vn.motors.motorize(shaft, {u: motor}))
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {theta: 0.0}))
    current = next(s for s in linear.states if s not in (theta, theta.diff()))
    A, B = matrices(linear, [theta, theta.diff(), current])
    exact = [[0, 1, 0], [0, -friction / J, K / J], [0, -K / L, -R / L]]
    np.testing.assert_allclose(A, exact, rtol=1e-13, atol=1e-9)
    np.testing.assert_allclose(B, [[0], [0], [1 / L]], rtol=1e-13)
    np.testing.assert_allclose(A[1:, 1:], [[-1.0865e0, 8.4872e3], [-9.9636e3, -1.4545e6]], rtol=5e-5)


# -- rotary (Furuta) pendulum ----------------------------------------------------------------------------------------

ARM, ROD, MASS = 0.2159, 0.15365, 0.127
ARM_INERTIA, ROD_INERTIA, ARM_FRICTION, ROD_FRICTION = 0.0020, 0.0012, 0.0024, 0.0024


def furuta_energy():
    """Arm angle q, pendulum angle θ from the upright; mass center at ROD from the arm's end."""
    along = ARM * q.diff() - ROD * sp.cos(theta) * theta.diff()
    across = ROD * sp.sin(theta) * q.diff()
    mass = along**2 + across**2 + (ROD * sp.sin(theta) * theta.diff()) ** 2
    return (ARM_INERTIA * q.diff() ** 2 + ROD_INERTIA * theta.diff() ** 2 + MASS * mass) / 2


def furuta_by_hand():
    """The linear equations of the textbook: J₁ q̈ - c θ̈ = u - b₁ q̇, J₂ θ̈ - c q̈ = m g l θ - b₂ θ̇."""
    J1, J2, c = ARM_INERTIA + MASS * ARM**2, ROD_INERTIA + MASS * ROD**2, MASS * ARM * ROD
    inverse = np.linalg.inv([[J1, -c], [-c, J2]])
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:, 1] = inverse @ [0, MASS * 9.81 * ROD]
    A[2:, 2:] = -inverse @ np.diag([ARM_FRICTION, ROD_FRICTION])
    return A, np.vstack([np.zeros((2, 1)), inverse @ [[1.0], [0.0]]])


@pytest.mark.parametrize("spelling", spellings(furuta_energy()))
def test_rotary_pendulum(spelling):
    losses = (ARM_FRICTION * q.diff() ** 2 + ROD_FRICTION * theta.diff() ** 2) / 2
    system = vn.System([q, theta], spellings(furuta_energy())[spelling], MASS * 9.81 * ROD * sp.cos(theta),
                       forces={q: u}, dissipation=losses, inputs=[u])  # fmt: skip
    A, B = matrices(model(system), [q, theta, q.diff(), theta.diff()])
    exact_A, exact_B = furuta_by_hand()
    np.testing.assert_allclose(A, exact_A, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(B, exact_B, rtol=1e-12)


# -- bicycle ---------------------------------------------------------------------------------------------------------


@cache
def bicycle_equations():
    return vn.derive(bicycle.system())


@pytest.mark.parametrize("speed", [1.0, 5.0, 9.0])
def test_bicycle_matrix_at_a_speed(speed):
    """A of (φ, δ, φ̇, δ̇) from the published M, C₁, K₀, K₂; the speed is a family of its own."""
    equations = bicycle_equations()
    ride = vn.steady(equations, bicycle.STRAIGHT | {bicycle.chi_r.diff(): speed / 0.3}, starts=0)
    linear = vn.linearize(equations, at=ride)
    A, _ = matrices(linear, [bicycle.phi, bicycle.delta, bicycle.phi.diff(), bicycle.delta.diff()])
    stiffness = 9.81 * bicycle.K0 + speed**2 * bicycle.K2
    np.testing.assert_allclose(A[2:, :2], -np.linalg.solve(bicycle.M, stiffness), rtol=1e-12)
    np.testing.assert_allclose(A[2:, 2:], -np.linalg.solve(bicycle.M, speed * bicycle.C1), rtol=1e-12)
    assert linear.structure.family.shape[1] == 1
    stable = bicycle.WEAVE < speed < bicycle.CAPSIZE
    assert bool(vn.stability(linear)) == stable


def test_bicycle_borders_and_their_modes():
    borders = vn.hurwitz.stability_borders(
        bicycle_equations(), bicycle.STRAIGHT, bicycle.chi_r.diff(), (3 / 0.3, 8 / 0.3), points=6
    )
    weave, capsize = borders
    assert 0.3 * weave.value == pytest.approx(bicycle.WEAVE, rel=2e-14)
    assert 0.3 * capsize.value == pytest.approx(bicycle.CAPSIZE, rel=2e-14)
    assert weave.gained
    assert not capsize.gained
    assert weave.root.imag == pytest.approx(3.43503384866144, rel=1e-10)
    assert capsize.root == 0
    assert "becomes stable at dot(chi_r) = 14.3079" in str(weave)
