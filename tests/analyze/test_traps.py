"""Systems on which a careless analysis gives a wrong verdict without a warning."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, theta, phi = dynamicsymbols("x y theta phi")
t, F, u = sp.Symbol("t"), sp.Symbol("F"), sp.Symbol("u")


def judged(system, at, **options):
    equations = vn.derive(system)
    return vn.stability(vn.linearize(equations, at=at, **options))


# -- explicit time ---------------------------------------------------------------------------------


def hoop(speed):
    """A pendulum on a vertical axis that turns at a given speed, φ = Ω t."""
    T = (theta.diff() ** 2 + sp.sin(theta) ** 2 * phi.diff() ** 2) / 2
    return vn.System([theta, phi], T, -9.81 * sp.cos(theta), constraints=[vn.Holonomic(phi - speed * t, "drive")])


@pytest.mark.parametrize(("speed", "kind"), [(5, "unstable"), (3, "stable")])
def test_explicit_time_that_cancels_is_a_steady_motion(speed, kind):
    """Hanging down is unstable for Ω² > g/l: the time must not be frozen."""
    equations = vn.derive(hoop(speed))
    rest = vn.equilibrium(equations, {theta: 0})
    assert rest.steady
    assert rest[phi.diff()] == pytest.approx(speed)
    assert vn.stability(vn.linearize(equations, at=rest)).kind == kind


@pytest.mark.parametrize(
    ("V", "force"), [(x**2 * (1 + sp.cos(2 * t) / 2) / 2, 0), (x**2 / 2, sp.cos(t))], ids=["parametric", "forced"]
)
def test_explicit_time_that_does_not_cancel_is_refused(V, force):
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, V, forces={x: force}))
    for ask in (lambda: vn.equilibrium(equations), lambda: vn.linearize(equations, at={x: 0})):
        with pytest.raises(vn.ModelError, match="depend on time explicitly"):
            ask()


# -- coordinates of which only the velocity matters ------------------------------------------------


def cart_pole(height=1):
    """A pole on a cart, upright for height 1 and hanging for -1."""
    T = 1.15 * x.diff() ** 2 + 0.0375 * theta.diff() ** 2 + 0.15 * x.diff() * theta.diff() * sp.cos(theta)
    return vn.System([x, theta], T, 1.4715 * height * sp.cos(theta), forces={x: F}, inputs=[F], name="cart-pole")


def test_every_coordinate_of_the_cart_pole_is_a_state():
    equations = vn.derive(cart_pole())
    rest = vn.equilibrium(equations, {F: 0})
    linear = vn.linearize(equations, at=rest)
    assert linear.states == (x, theta, x.diff(), theta.diff())
    assert len(rest.others) == 1  # hanging; uniform motions are not equilibria
    law = vn.stabilize(linear, {x: 10.0, theta: 1.0}, 0.1)
    motion = vn.simulate(vn.close_loop(equations, law), {x: 0.3, theta: 0.1, x.diff(): 0, theta.diff(): 0}, (0, 20))
    assert abs(motion[x][-1]) < 1e-4


def furuta(expand):
    """A pendulum on a turning arm, its kinetic energy from Cartesian coordinates or simplified."""
    px, py = (
        sp.cos(phi) * 0.3 - sp.sin(phi) * sp.sin(theta) * 0.4,
        sp.sin(phi) * 0.3 + sp.cos(phi) * sp.sin(theta) * 0.4,
    )
    pz = 0.4 * sp.cos(theta)
    T = 0.05 * sum(p.diff(t) ** 2 for p in (px, py, pz)) + 0.01 * phi.diff() ** 2
    T = T if not expand else sp.trigsimp(sp.expand(T))
    return vn.System([phi, theta], T, 0.1 * 9.81 * pz, forces={phi: u}, inputs=[u])


def test_states_do_not_depend_on_the_spelling():
    models = [vn.linearize(vn.derive(furuta(e)), at={phi: 0, theta: 0, u: 0}) for e in (False, True)]
    assert models[0].states == models[1].states == (phi, theta, phi.diff(), theta.diff())
    np.testing.assert_allclose(models[0].system_matrix, models[1].system_matrix, atol=1e-12)
    assert models[0].critical == models[1].critical == 2


def test_what_is_not_attracted_is_named():
    """A free mass with damping comes to rest anywhere: stable, not asymptotically."""
    found = judged(vn.System([x], x.diff() ** 2 / 2, forces={x: -x.diff()}), {x: 0})
    assert found.kind == "stable"
    assert "it may differ in x" in found.explanation


def test_drift_is_an_instability_that_is_named():
    found = judged(cart_pole(-1), {x: 0, theta: 0, F: 0})
    assert found.kind == "unstable"
    assert found.drifting == (x,)
    assert "apart from that drift the motion is stable" in found.explanation
    assert judged(cart_pole(-1), {x: 0, theta: 0, F: 0}, drop=[x]).kind == "stable"


def test_only_what_no_one_feels_can_be_dropped():
    with pytest.raises(vn.ModelError, match=r"theta influences dot\(x\), dot\(theta\), so it must stay a state"):
        vn.linearize(vn.derive(cart_pole()), at={x: 0, theta: 0, F: 0}, drop=[theta])


def test_position_of_a_motor_is_a_state_and_its_charge_is_not():
    motor = vn.motors.DCMotor(torque_constant=0.05, resistance=1.2, inductance=2e-3)
    shaft = vn.System(
        [phi], 0.01 * phi.diff() ** 2 / 2, forces={phi: u}, dissipation=1e-3 * phi.diff() ** 2, inputs=[u]
    )
    equations = vn.derive(vn.motors.motorize(shaft, {u: motor}))
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {phi: 0}))
    assert [str(s) for s in linear.states][:2] == ["phi(t)", "Derivative(phi(t), t)"]
    assert len(linear.states) == 3
    law = vn.stabilize(linear)
    assert law.roots.real.max() < 0


# -- rounding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_unanchored_chains_drift(seed):
    """n masses joined by springs, and dampers in every second one: the center of mass drifts, whatever the numbers."""
    random = np.random.default_rng(seed)
    q = dynamicsymbols(f"q1:{3 + seed % 4}")
    m, k = random.uniform(0.1, 5, len(q)), random.uniform(0.1, 9, len(q) - 1)
    T = sum(a * v.diff() ** 2 for a, v in zip(m, q, strict=True)) / 2
    V = sum(c * (a - b) ** 2 for c, a, b in zip(k, q, q[1:], strict=False)) / 2
    D = sum(0.3 * (a.diff() - b.diff()) ** 2 for a, b in pairwise(q)) if seed % 2 else sp.S.Zero
    found = judged(vn.System(q, T, V, dissipation=D), dict.fromkeys(q, 0.7))
    assert found.kind == "unstable"
    assert set(found.drifting) == set(q)
    assert "apart from that drift the motion is stable" in found.explanation


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_a_rod_at_its_critical_load_is_at_the_border(damping):
    P = sp.Symbol("P")
    rod = vn.System(
        [theta], 0.15 * theta.diff() ** 2, 0.35 * theta**2 + 0.3 * P * sp.cos(theta),
        dissipation=damping * theta.diff() ** 2 / 2, parameters={P: 0.7 / 0.3},
    )  # fmt: skip
    assert judged(rod, {theta: 0}).kind == "undecided"


@cache
def top():
    """A top whose axis is given by two rotations, so that it may stand upright."""
    a, b, c = dynamicsymbols("a b c")
    w1, w2, w3 = a.diff() * sp.cos(b), b.diff(), c.diff() + a.diff() * sp.sin(b)
    T = (0.3 * (w1**2 + w2**2) + 0.2 * w3**2) / 2
    return vn.derive(vn.System([a, b, c], T, 2 * sp.cos(a) * sp.cos(b))), a, b, c


@pytest.mark.parametrize(("share", "kind"), [(0.9, "unstable"), (1.0, "undecided"), (1 + 1e-14, "undecided")])
def test_a_sleeping_top_at_its_critical_spin_is_not_decided_by_rounding(share, kind):
    equations, a, b, c = top()
    spin = share * 2 * np.sqrt(2 * 0.3) / 0.2
    steady = vn.steady(equations, {a: 0, b: 0, c.diff(): spin})
    assert vn.stability(vn.linearize(equations, at=steady)).kind == kind


# -- corners ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("V", [sp.Max(0, x) ** 2, sp.Abs(x), sp.Piecewise((x**2, x > 0), (3 * x**2, True))])
def test_a_corner_has_no_linear_model(V):
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, V))
    with pytest.raises(vn.ModelError, match="have a corner at this point"):
        vn.linearize(equations, at={x: 0})


@pytest.mark.parametrize(
    ("V", "kind"),
    [(x**2 + 3 * sp.Max(0, x) ** 2, "stable"), (sp.Max(0, x) ** 2, "undecided"), (sp.Abs(x) - x**2, "undecided")],
)
def test_corners_of_the_potential(V, kind):
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, V))
    assert vn.stability(equations, at={x: 0}).kind == kind


def held_pendulum():
    """An inverted pendulum in a joint with dry friction: θ̈ = 19.62 sin θ - 9.81 sign θ̇."""
    return vn.derive(
        vn.System([theta], theta.diff() ** 2 / 2, 19.62 * sp.cos(theta), forces={theta: -9.81 * sp.sign(theta.diff())})
    )


def test_friction_holds_an_inverted_pendulum():
    found = vn.stability(held_pendulum(), at={theta: 0.2})
    assert found.kind == "stable"
    assert "stops in finite time" in found.explanation
    with pytest.raises(vn.VinculumError, match=r"friction .* cannot balance the force on theta"):
        vn.stability(held_pendulum(), at={theta: 0.6})


def test_a_rest_under_friction_is_an_equilibrium():
    """A block on a slope of 1:10: friction 2 holds it, 0.2 does not; the reaction carries the weight."""
    slope = vn.Holonomic(y - x / 10, "slope")
    rests = {}
    for limit in (2.0, 0.2):
        forces = {x: -limit * sp.sign(x.diff())}
        block = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, forces=forces, constraints=[slope])
        rests[limit] = vn.derive(block)
    rest = vn.equilibrium(rests[2.0], {x: 3, y: 0.3})
    assert rest.reactions["slope"] == pytest.approx(9.81)
    assert vn.stability(rests[2.0], at=rest).kind == "stable"
    with pytest.raises(vn.VinculumError, match="cannot balance the force on x, y"):
        vn.equilibrium(rests[0.2], {x: 3, y: 0.3})


def test_friction_on_one_of_two_masses():
    """m₁ on a rough floor, m₂ on a spring: every rest with |2 x₁| ≤ 1 is stable; the load is carried by friction."""
    T, V = (x.diff() ** 2 + y.diff() ** 2 / 2) / 2, x**2 + 3 * (y - x) ** 2 / 2
    equations = vn.derive(vn.System([x, y], T, V, forces={x: -sp.sign(x.diff())}))
    assert vn.stability(equations, at={x: 0.2, y: 0.2}).kind == "stable"
    with pytest.raises(vn.VinculumError, match="not an equilibrium"):
        vn.stability(equations, at={x: 0.7, y: 0.7})


def test_a_belt_is_not_dry_friction():
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2, forces={x: sp.sign(x.diff())}))
    assert vn.stability(equations, at={x: 0}).kind == "undecided"


# -- units -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (1e-3, 1e-9), (1e-4, 1e-3), (1e3, 1e6)])
def test_a_point_that_is_no_equilibrium_is_refused_in_any_units(length, mass):
    pendulum = vn.System([theta], mass * length**2 * theta.diff() ** 2 / 2, -mass * 9.81 * length * sp.cos(theta))
    equations = vn.derive(pendulum)
    with pytest.raises(vn.VinculumError, match="not an equilibrium"):
        vn.linearize(equations, at={theta: 0.3})
    assert vn.stability(vn.linearize(equations, at={theta: np.pi})).kind == "unstable"
    rod = vn.Holonomic(x**2 + y**2 - length**2, "rod")
    plane = vn.System([x, y], mass * (x.diff() ** 2 + y.diff() ** 2) / 2, mass * 9.81 * y, constraints=[rod])
    equations = vn.derive(plane)
    with pytest.raises(vn.VinculumError, match="not an equilibrium"):
        vn.linearize(equations, at={x: 0.6 * length, y: -0.8 * length})
    rest = vn.equilibrium(equations, near={x: 0.1 * length, y: -length})
    assert rest[y] == pytest.approx(-length, rel=1e-12)
    assert len(rest.others) == 1
    assert vn.stability(vn.linearize(equations, at=rest)).kind == "stable"


def test_a_free_cart_beside_a_driven_hoop_stays_a_state():
    """Time that cancels drops only what it drives: the cart comes to rest anywhere."""
    turning = hoop(3)
    system = vn.System(
        [*turning.coordinates, x],
        turning.kinetic_energy + x.diff() ** 2 / 2,
        turning.potential_energy,
        dissipation=(x.diff() ** 2 + theta.diff() ** 2) / 2,
        constraints=turning.constraints,
    )
    equations = vn.derive(system)
    rest = vn.equilibrium(equations, {theta: 0, x: 0})
    linear = vn.linearize(equations, at=rest)
    assert set(linear.states) == {theta, x, theta.diff(), x.diff()}
    assert vn.stability(linear).kind == "stable"


def test_an_arm_keeps_its_base_joint_as_a_state():
    """Gravity does not feel the angle about the vertical, but a controller has to hold it."""
    from examples import puma560

    system = puma560.tree(driven=True).system()
    equations = vn.derive(system)
    rest = vn.equilibrium(equations, dict.fromkeys(system.coordinates, 0.3), starts=0)
    linear = vn.linearize(equations, at=rest)
    assert linear.states[: len(system.coordinates)] == tuple(system.coordinates)
    assert vn.stabilize(linear).roots.real.max() < 0
