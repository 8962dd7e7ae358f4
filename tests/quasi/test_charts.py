"""Charts of quasi-velocities: independent, invertible, with limits that are stated and watched."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import gyroscope_in_gimbals as gyro
from examples import overhead_crane as crane
from examples import particle_with_given_speed as particle
from examples import sleigh_with_servo as sleigh
from examples.sleigh_with_servo import e1, e2, e3, eta, phi, slip, xi

F = sp.Symbol("F")
CHARACTERISTICS = sleigh.characteristics()
u = sp.sqrt(e2**2 - e3**2)


def braked() -> vn.System:
    """The sleigh on its knife with a force against the motion; the contact point comes to rest and goes back."""
    ideal = vn.servo.idealized(sleigh.system())
    return vn.System(
        ideal.coordinates,
        ideal.kinetic_energy,
        forces={xi: -F * sp.cos(phi), eta: -F * sp.sin(phi)},
        constraints=ideal.constraints,
        parameters=dict(ideal.parameters) | {F: 1.0},
        name="braked sleigh",
    )


def hamel(**choices: object) -> vn.EquationsOfMotion:
    return vn.derive(braked(), "hamel", characteristics=CHARACTERISTICS, **choices)


def test_closed_inverse_is_that_of_the_corrected_paper():
    """(12): ξ̇ = u cos φ + e3 sin φ, η̇ = u sin φ - e3 cos φ, u = √(e2² - e3²) > 0."""
    chosen = CHARACTERISTICS | {e3: slip}
    free = vn.System(sleigh.system().coordinates, sleigh.system().kinetic_energy, parameters=sleigh.NUMBERS)
    equations = vn.derive(free, "hamel", characteristics=chosen)
    state = {xi: 0.0, eta: 0.0, phi: 0.7, e1: 0.2, e2: 1.3, e3: 0.5}
    found = equations.recover(state)
    root = np.sqrt(1.3**2 - 0.5**2)
    assert found[xi.diff()] == pytest.approx(root * np.cos(0.7) + 0.5 * np.sin(0.7), rel=1e-15)
    assert found[eta.diff()] == pytest.approx(root * np.sin(0.7) - 0.5 * np.cos(0.7), rel=1e-15)
    assert [c.meaning for c in equations.conditions] == [
        "the characteristics e1, e2, e3 determine the velocities only where sqrt(e2**2 - e3**2) is not zero"
    ]


@pytest.mark.parametrize("inverse", [None, "newton"])
@pytest.mark.parametrize(("method", "step"), [("taylor", None), ("rk4", 1e-3)])
def test_a_chart_that_is_left_ends_the_run_with_the_reason(inverse, method, step):
    """The contact point comes to rest; from there the speed e2 does not tell forward from backward."""
    start = {phi.diff(): 0.2, xi.diff(): 1.6}
    motion = vn.simulate(hamel(inverse=inverse), initial=start, times=(0, 5), method=method, step=step)
    rest = vn.simulate(
        vn.derive(braked()),
        initial=start,
        times=(0, 5),
        events=[vn.Event(xi.diff() * sp.cos(phi) + eta.diff() * sp.sin(phi), name="rest", terminal=True)],
    )
    assert motion.outcome.kind == "chart left"
    assert not motion.outcome
    assert "e1, e2 determine the velocities only where" in motion.outcome.reason
    assert motion.outcome.time == pytest.approx(rest.outcome.time, abs=5e-3)


def test_a_start_outside_the_chart_is_refused_and_the_other_chart_named():
    with pytest.raises(vn.errors.ConstraintError, match="outside the chart"):
        vn.simulate(hamel(), initial={phi.diff(): 0.2, xi.diff(): -1.6}, times=(0, 1))
    backward = {xi: 0.0, eta: 0.0, phi: 0.0, xi.diff(): -1.0, eta.diff(): 0.0, phi.diff(): 0.1}
    motion = vn.simulate(hamel(at=backward), initial={phi.diff(): 0.2, xi.diff(): -1.6}, times=(0, 0.5))
    plain = vn.simulate(vn.derive(braked()), initial={phi.diff(): 0.2, xi.diff(): -1.6}, times=(0, 0.5))
    np.testing.assert_allclose(motion[xi], plain[xi], rtol=0, atol=1e-13)


def test_dependent_characteristics_are_named():
    """e2 is made of e1 and the constraint."""
    with pytest.raises(vn.ModelError, match=r"e1, e2, xi_knife depend on each other.*rank 2 of 3"):
        vn.derive(braked(), "hamel", characteristics={e1: phi.diff(), e2: slip + phi.diff()})


def test_what_is_wrong_with_characteristics_is_said_at_once():
    u1, y = sp.symbols("u1"), dynamicsymbols("y")
    with pytest.raises(vn.ModelError) as caught:
        vn.derive(braked(), "hamel", characteristics={u1: phi.diff(), e1: xi * 2, e2: y.diff(), xi: eta.diff()})
    text = str(caught.value)
    assert "u1 is not a function of time" in text
    assert "e1 contains no velocity" in text
    assert "e2 contains dot(y), which has no value" in text
    assert "xi is a coordinate" in text
    assert "leave 2 characteristics to choose, but 4 are given" in text
    with pytest.raises(vn.ModelError, match="needs kinematic characteristics"):
        vn.derive(braked(), "hamel")


def test_an_inverse_that_is_none_is_refused():
    wrong = particle.inverse() | {particle.y.diff(): 2 * particle.speed * sp.sin(particle.e)}
    with pytest.raises(vn.ModelError, match="does not give them back"):
        vn.derive(particle.system(), "hamel", characteristics=particle.characteristics(), inverse=wrong,
                  release={"speed": particle.xi})  # fmt: skip


@pytest.mark.parametrize("power", [3, 5])
def test_a_curved_characteristic_of_higher_degree_is_left_to_newton_at_once(power):
    """Roots of cubic and quintic equations are not looked for in closed form."""
    swing = crane.theta.diff() + crane.theta.diff() ** power / 10
    began = perf_counter()
    equations = vn.derive(crane.system(), "hamel", characteristics={crane.swing: swing})
    assert equations.states[-3:] == crane.system().velocities
    assert perf_counter() - began < 30


def test_newton_keeps_the_constraint_to_rounding_with_a_coarse_method():
    """Velocities that are integrated along only predict; two steps of Newton put them on the constraint."""
    motion = vn.simulate(hamel(inverse="newton"), {phi.diff(): 0.9, xi.diff(): 1.6}, (0, 1), method="euler", step=1e-3)
    assert motion.largest_residuals["knife", "velocity"] < 1e-12


@pytest.mark.parametrize("kind", ["chaplygin-type", "voronets-hamel"])
def test_equations_are_printed_in_the_users_symbols(kind):
    """The gyroscope with e3 = 0, whose ideal reaction is zero; the sleigh is larger and gets named intermediates."""
    system = vn.servo.idealized(gyro.system())
    equations = vn.derive(system, "hamel", characteristics=gyro.characteristics(), kind=kind)
    text = equations.latex(named=False)
    assert r"\dot{\gamma} &= - e_{1} \sin{\left(\beta \right)}" in text
    assert r"\dot{e}_{2}" in text
    assert r"\dot{\alpha} &= e_{1}" in text
    assert r"0 &= \lambda_{spin}" in text
    assert "z_{1}" in hamel(kind=kind).latex(named=True)


# -- Voronets and Chaplygin --------------------------------------------------------------------------------------


def test_chaplygins_equations_of_a_chaplygin_system():
    """The sleigh without force: the place of the contact point is in no energy."""
    ideal = vn.servo.idealized(sleigh.system())
    equations = vn.derive(ideal, "chaplygin", dependent=[eta])
    assert equations.states == (xi, eta, phi, xi.diff(), phi.diff())
    motion = vn.simulate(equations, initial={phi.diff(): 0.9, xi.diff(): 1.6}, times=(0, 5))
    assert motion[eta][-1] == pytest.approx(3.33609233, abs=6e-9)


def test_why_a_system_is_not_of_chaplygins_kind():
    x, y, theta = dynamicsymbols("x y theta")
    t = dynamicsymbols._t
    edge = vn.Nonholonomic(y.diff() - x.diff() * sp.tan(theta) - sp.sin(t) + 0 * y, name="edge")
    system = vn.System(
        [x, y, theta],
        (x.diff() ** 2 + y.diff() ** 2 + theta.diff() ** 2) / 2,
        y**2 / 2,
        forces={x: -y},
        constraints=[edge],
    )
    with pytest.raises(vn.ModelError) as caught:
        vn.derive(system, "chaplygin", dependent=[y])
    text = str(caught.value)
    assert "the constraint edge contains the time" in text
    assert "not homogeneous" in text
    assert "the potential energy contains the dependent coordinate y" in text
    assert "the force on x contains the dependent coordinate y" in text
    assert "form='voronets'" in text
    assert vn.derive(system, "voronets", dependent=[y]).form.name == "voronets"


def test_chaplygins_conditions_are_asked_of_servos_too():
    """A steering torque leaves the place of the sleigh out of the equations; a lever that grows with η does not."""
    system = sleigh.system()
    assert vn.derive(system, "chaplygin", dependent=[eta]).form.name == "chaplygin"
    lever = replace(system, forces={phi: sleigh.tau * (1 + eta**2)})
    with pytest.raises(vn.ModelError, match="the force of tau on phi contains the dependent coordinate eta"):
        vn.derive(lever, "chaplygin", dependent=[eta])


def test_a_dependent_velocity_that_the_constraint_does_not_determine_is_refused():
    with pytest.raises(vn.ModelError, match="do not determine the velocities of phi"):
        vn.derive(braked(), "voronets", dependent=[phi])


def test_nonlinear_constraints_are_not_for_voronets():
    with pytest.raises(vn.ModelError, match="speed is not linear"):
        vn.derive(particle.system(), "voronets")


def two_blades() -> tuple[vn.System, dict[sp.Expr, sp.Expr]]:
    """Two blades that turn separately, and a speed between their directions: every row is trigonometric."""
    x, y, a, b = dynamicsymbols("x y a b")
    l, m = sp.symbols("l m")
    blades = [
        vn.Nonholonomic(-x.diff() * sp.sin(a) + y.diff() * sp.cos(a) + l * b.diff(), name="front"),
        vn.Nonholonomic(-x.diff() * sp.sin(b) + y.diff() * sp.cos(b) - l * b.diff(), name="rear"),
    ]
    energy = m * (x.diff() ** 2 + y.diff() ** 2 + a.diff() ** 2 + b.diff() ** 2) / 2
    system = vn.System([x, y, a, b], energy, constraints=blades, parameters={m: 1.0, l: 0.5}, name="two blades")
    return system, {e1: x.diff() * sp.cos(a) + y.diff() * sp.sin(b), e2: a.diff()}


def test_a_chart_of_trigonometric_rows_is_printed_in_seconds():
    """W_a^τ = Σ_i K_ia (d/dt ∂e_τ/∂q̇_i - ∂e_τ/∂q_i), at numbers. Inverting K in symbols would take hours."""
    system, chosen = two_blades()
    start = perf_counter()
    terms = vn.quasi.quasi_velocities(system, chosen)
    assert perf_counter() - start < 60
    rows = sp.Matrix([*chosen.values(), *(c.expression for c in system.constraints)])
    slopes = rows.jacobian(list(system.velocities))
    change = sp.Matrix(4, 4, lambda i, j: sum(slopes[i, j].diff(q) * q.diff() for q in system.coordinates))
    W = (change - rows.jacobian(list(system.coordinates))) * terms.K
    q = dict(zip(system.coordinates, (0.2, -0.3, 0.5, 0.9), strict=True))
    e = dict(zip(terms.characteristics, (0.7, -0.4, 0.3, 0.2), strict=True))
    number = {**system.parameters, **q, **e}
    known = {v: sp.N(value.xreplace(number)) for v, value in terms.inverse.items()}
    expected = W.xreplace(known).xreplace(number).T
    np.testing.assert_allclose(
        np.array(terms.W.xreplace(number), dtype=float), np.array(expected, dtype=float), rtol=0, atol=1e-13
    )
    assert terms.coefficient(e2, terms.characteristics[3]) == 0
