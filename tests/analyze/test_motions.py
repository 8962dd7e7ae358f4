"""Steady motions, their linear models and verdicts against reference numbers, each found by two methods elsewhere."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import rolling_disc as disc

x, y, theta, phi = dynamicsymbols("x y theta phi")
U, W = sp.symbols("U W")
t = sp.Symbol("t")


@cache
def rolling(form="multipliers"):
    return vn.derive(disc.system(), form)


@pytest.mark.parametrize("form", ["multipliers", "lyapunov", "voronets"])
def test_a_disc_rolling_in_a_circle(form):
    steady = vn.steady(rolling(form), {disc.theta: 1.2, disc.psi.diff(): 2.0})
    assert steady[disc.phi.diff()] - 2 * np.cos(1.2) == pytest.approx(6.235760041, rel=1e-9)
    linear = vn.linearize(rolling(form), at=steady)
    assert set(linear.states) == {disc.theta, disc.theta.diff(), disc.psi.diff(), disc.phi.diff()}
    assert {disc.z, disc.theta} & set(steady.ignorable) == set()  # the floor determines the height
    assert linear.critical == 3  # the floor, and a family of two dimensions
    np.testing.assert_allclose(np.abs(linear.roots.imag), 8.34136039, rtol=1e-8)
    found = vn.stability(linear)
    assert found.kind == "stable"
    assert "dot(theta)" in found.explanation


def test_what_is_left_open_of_a_steady_motion_is_named():
    with pytest.raises(
        vn.ModelError, match=r"dot\(psi\), dot\(phi\) can change together without leaving steady motion"
    ):
        vn.steady(rolling(), {disc.theta: 1.2})


@pytest.mark.parametrize(
    ("given", "square"),
    [
        ({disc.psi.diff(): 0, disc.phi.diff(): 3.0}, 4.2**2),
        ({disc.psi.diff(): 0, disc.phi.diff(): 5.0}, -(4.5563143**2)),
        ({disc.psi.diff(): 5.0, disc.phi.diff(): 0.0}, 3.77359245**2),
        ({disc.psi.diff(): 8.0, disc.phi.diff(): 0.0}, -(4.97594212**2)),
    ],
    ids=["slow", "fast", "spinning slowly", "spinning fast"],
)
def test_an_upright_disc(given, square):
    steady = vn.steady(rolling(), {disc.theta: np.pi / 2} | given)
    linear = vn.linearize(rolling(), at=steady)
    np.testing.assert_allclose((linear.roots**2).real, square, rtol=1e-7)
    assert vn.stability(linear).kind == ("unstable" if square > 0 else "stable")


@cache
def sleigh():
    a = 0.25
    speed = (x.diff() - a * sp.sin(phi) * phi.diff()) ** 2 + (y.diff() + a * sp.cos(phi) * phi.diff()) ** 2
    blade = vn.Nonholonomic(y.diff() * sp.cos(phi) - x.diff() * sp.sin(phi), "blade")
    return vn.derive(vn.System([x, y, phi], speed + 0.05 * phi.diff() ** 2, constraints=[blade]))


@pytest.mark.parametrize(("speed", "kind"), [(1.0, "stable"), (-1.0, "unstable")])
def test_a_sleigh_ahead_and_back(speed, kind):
    """Its speeds are constant in the frame of its heading; ahead, every motion tends to straight motion."""
    steady = vn.steady(sleigh(), {phi.diff(): 0, x.diff(): speed})
    linear = vn.linearize(sleigh(), at=steady)
    assert [str(s) for s in linear.states] == ["along_phi(t)", "Derivative(phi(t), t)"]
    np.testing.assert_allclose(linear.roots, [-2.2222222 * speed], rtol=1e-7)
    assert vn.stability(linear).kind == kind


def skate(load, damping):
    knife = vn.Nonholonomic(y.diff() * sp.cos(theta) - x.diff() * sp.sin(theta), "knife")
    V = 2 * x**2 - load * y + 2 * theta**2 + x * theta
    losses = damping * (x.diff() ** 2 + y.diff() ** 2 + theta.diff() ** 2) / 2
    T = (x.diff() ** 2 + y.diff() ** 2 + theta.diff() ** 2) / 2
    return vn.derive(vn.System([x, y, theta], T, V, dissipation=losses, constraints=[knife]))


def test_potential_forces_can_flutter_under_nonholonomic_constraints():
    linear = vn.linearize(skate(3, 0), at={x: 0, y: 0, theta: 0})
    np.testing.assert_allclose(np.abs(linear.roots.real), 0.3483107, rtol=1e-6)
    np.testing.assert_allclose(np.abs(linear.roots.imag), 2.03010353, rtol=1e-8)
    assert vn.stability(linear).kind == "unstable"


def test_a_damped_skate_comes_to_rest_anywhere_along_y():
    linear = vn.linearize(skate(0.8, 0.5), at={x: 0, y: 0, theta: 0})
    assert linear.zeros == {"free position of y": 1}
    np.testing.assert_allclose(linear.roots.real, -0.25, rtol=1e-9)
    assert sorted(np.abs(linear.roots.imag)) == pytest.approx([1.86823082] * 2 + [2.09397077] * 2, rel=1e-8)
    found = vn.stability(linear)
    assert (found.kind, "it may differ in y" in found.explanation) == ("stable", True)


# -- servo constraints and programs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "roots"), [(0.8, [0.22222222 + 5.71407187j, 0.22222222 - 5.71407187j]), (0.3, [6.67816516, -7.34483183])]
)
def test_zero_dynamics_of_a_cart_with_a_pendulum(c, roots):
    """x + c θ is held by the force: (l - c) s² + b/(m l) s - g = 0, and for c > l damping destabilizes."""
    T = 1.15 * x.diff() ** 2 + 0.0375 * theta.diff() ** 2 + 0.15 * x.diff() * theta.diff() * sp.cos(theta)
    held = vn.Servo(x + c * theta, through=[U], name="held")
    system = vn.System(
        [x, theta], T, 1.4715 * sp.cos(theta), forces={x: U}, dissipation=0.01 * theta.diff() ** 2, inputs=[U],
        constraints=[held],
    )  # fmt: skip
    equations = vn.derive(system)
    rest = vn.equilibrium(equations, near={theta: 0.1})
    assert rest[U] == 0
    linear = vn.linearize(equations, at=rest)
    np.testing.assert_allclose(linear.roots, roots, rtol=1e-7)
    assert vn.stability(linear).kind == "unstable"
    inner = vn.servo.internal_dynamics(equations, at=rest)
    np.testing.assert_allclose(inner.rates, linear.roots, rtol=1e-12)


def test_programs_and_affine_systems():
    """ẋ₁ = x₂ - 4 x₁ + u holds x₁ = 1: u = 3 at x₂ = 1, and x₂ decays with rate 1."""
    affine = vn.AffineSystem([x, y], [y - 4 * x, x - y], [U], [[1], [0]], {"hold": x - 1})
    for equations in (affine, vn.derive(affine, "program", rates=2.0)):
        rest = vn.equilibrium(equations)
        assert (rest[x], rest[y], rest.reactions["U"]) == pytest.approx((1, 1, 3))
        assert vn.linearize(equations, at=rest).roots == pytest.approx([-1])
        assert vn.stability(vn.linearize(equations, at=rest)).kind == "asymptotically stable"
        assert vn.servo.internal_dynamics(equations, at=rest).stable
    free = vn.AffineSystem([x, y], [y, -x - y / 5], [U], [[0], [1]])
    linear = vn.linearize(free, at=vn.equilibrium(free, {U: 2.0}))
    np.testing.assert_allclose(linear.input_matrix, [[0], [1]])


@pytest.mark.parametrize("name", ["U", "N", "load"])
def test_rounding_errors_of_an_equilibrium_are_zeros(name):
    """ẋ = y, ẏ = N - x - y/5: y is zero, not 3e-16, or the point would not be an equilibrium."""
    N = sp.Symbol(name)
    free = vn.AffineSystem([x, y], [y, -x - y / 5], [N], [[0], [1]])
    rest = vn.equilibrium(free, {N: 2.0})
    assert rest[y] == 0
    np.testing.assert_allclose(vn.linearize(free, at=rest).roots.real, -0.1)


def test_an_input_held_at_zero_conserves_a_momentum():
    """A pendulum on a shaft with a motor that is off: stable by Routh, as without the motor."""
    T = (theta.diff() ** 2 + (1 + sp.sin(theta) ** 2) * phi.diff() ** 2) / 2
    equations = vn.derive(vn.System([theta, phi], T, -9.81 * sp.cos(theta), forces={phi: U}, inputs=[U]))
    steady = vn.steady(equations, {phi.diff(): 4.0, U: 0.0}, near={theta: 1.0})
    found = vn.stability(vn.linearize(equations, at=steady))
    assert (found.kind, "Routh-Salvadori" in found.theorem) == ("stable", True)


# -- critical cases -------------------------------------------------------------------------------------------------


def test_coefficient_of_a_zero_root_on_a_curved_constraint():
    """A pendulum in a turning hoop at W² = g/l: g₃ = -g/(2 l³ d), with the dependent coordinate curved along."""
    hoop = vn.System(
        [x, y], (x.diff() ** 2 + y.diff() ** 2 + W**2 * x**2) / 2, 9.81 * y,
        dissipation=0.35 * (x.diff() ** 2 + y.diff() ** 2), constraints=[vn.Holonomic(x**2 + y**2 - 0.25, "hoop")],
        parameters={W: np.sqrt(9.81 / 0.5)},
    )  # fmt: skip
    equations = vn.derive(hoop)
    found = vn.stability(vn.linearize(equations, at=vn.equilibrium(equations, {x: 0}, near={y: -0.5})))
    assert found.kind == "undecided"  # at the border within rounding
    assert "g₃ = -56.0571" in found.explanation


@pytest.mark.parametrize(
    ("V", "damping", "kind"),
    [
        (x**4, 1, "asymptotically stable"),
        (-(x**4), 1, "unstable"),
        (x**3, 1, "unstable"),
        (x**4, 0, "stable"),
        (-(x**4), 0, "unstable"),
        (x**3, 0, "unstable"),
    ],
)
def test_degenerate_potentials(V, damping, kind):
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, V, dissipation=damping * x.diff() ** 2 / 2))
    assert vn.stability(vn.linearize(equations, at={x: 0})).kind == kind


@pytest.mark.parametrize(("sign", "kind"), [(-1, "asymptotically stable"), (1, "unstable")])
def test_coefficient_of_an_imaginary_pair(sign, kind):
    """ẍ + x = ± ẋ³: Re c₁/ω = ± 3/8 times the square of the eigenvector's scale."""
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2, forces={x: sign * x.diff() ** 3}))
    assert vn.stability(vn.linearize(equations, at={x: 0})).kind == kind


@pytest.mark.parametrize(("alpha", "inner"), [(1.2, "asymptotically stable"), (0.5, "unstable")])
def test_a_governor_with_engine_at_its_hopf_point(alpha, inner):
    """ε = 2 α β^1.5: supercritical for α = 1.2, subcritical for 0.5 (β = 0.8)."""
    z, beta = dynamicsymbols("z"), 0.8
    rates = [y, z**2 * sp.sin(x) * sp.cos(x) - sp.sin(x) - 2 * alpha * beta**1.5 * y, alpha * (sp.cos(x) - beta)]
    affine = vn.AffineSystem([x, y, z], rates)
    found = vn.stability(vn.linearize(affine, at=vn.equilibrium(affine, near={x: 0.6, z: 1.0})))
    assert found.kind == "undecided"
    assert f"would be {inner}" in found.explanation


def test_a_law_in_a_turning_frame_keeps_a_sleigh_straight_backward():
    """A torque feeds back the speeds along and across the heading, written in ẋ, ẏ and φ."""
    a, torque = 0.25, sp.Symbol("torque")
    speed = (x.diff() - a * sp.sin(phi) * phi.diff()) ** 2 + (y.diff() + a * sp.cos(phi) * phi.diff()) ** 2
    blade = vn.Nonholonomic(y.diff() * sp.cos(phi) - x.diff() * sp.sin(phi), "blade")
    push = {x: U * sp.cos(phi), y: U * sp.sin(phi), phi: torque}
    system = vn.System(
        [x, y, phi], speed + 0.05 * phi.diff() ** 2, forces=push, inputs=[U, torque], constraints=[blade]
    )
    equations = vn.derive(system)
    steady = vn.steady(equations, {phi.diff(): 0, x.diff(): -1.0, U: 0, torque: 0})
    linear = vn.linearize(equations, at=steady)
    law = vn.stabilize(linear)
    assert law.roots.real.max() < 0
    start = {x: 0, y: 0, phi: 0.7, x.diff(): -0.8 * np.cos(0.7), phi.diff(): 0.1}
    motion = vn.simulate(vn.close_loop(equations, law), start, (0, 40))
    assert motion[x.diff() * sp.cos(phi) + y.diff() * sp.sin(phi)][-1] == pytest.approx(-1.0, abs=1e-6)
    assert motion[phi.diff()][-1] == pytest.approx(0.0, abs=1e-6)


def test_reactions_feel_the_inputs_directly():
    """A force on the cart changes the force in the rod at once: D ≠ 0, and G(s) from the bordered pencil agrees."""
    z = dynamicsymbols("z")
    load = vn.Holonomic((y - x) ** 2 + z**2 - 0.25, "rod")
    T = x.diff() ** 2 + 0.15 * (y.diff() ** 2 + z.diff() ** 2)
    V = 10 * x**2 + 0.3 * 9.81 * z
    system = vn.System([x, y, z], T, V, forces={x: U}, dissipation=0.2 * x.diff() ** 2, inputs=[U], constraints=[load])
    equations = vn.derive(system)
    tilted = vn.equilibrium(equations, {U: 0}, near={z: -0.5})
    linear = vn.linearize(equations, at=tilted)
    sys = linear.to_control(outputs=[x, x.diff(t, 2), vn.reaction("rod")])
    s, lam = 1.7j, tilted.reactions["rod"]
    M, K = np.diag([2, 0.3, 0.3]), np.diag([20.0, 0, 0])
    F_qq = np.array([[2.0, -2, 0], [-2, 2, 0], [0, 0, 2]])
    J = np.array([[0.0, 0, 2 * tilted[z]]])
    pencil = np.block([[M * s**2 + np.diag([0.4, 0, 0]) * s + K - lam * F_qq, -J.T], [J, np.zeros((1, 1))]])
    q = np.linalg.solve(pencil, np.array([1, 0, 0, 0.0]))
    np.testing.assert_allclose(sys(s)[:, 0], [q[0], s**2 * q[0], q[3]], rtol=1e-9, atol=1e-12)
