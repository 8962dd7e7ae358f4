"""Equilibria and steady motions: inputs for given coordinates, coordinates for given inputs, and refusals."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from analyze.machines import random_machine
from examples import ball_and_beam, watt_governor
from laws.random_systems import t

r, theta, alpha, u = ball_and_beam.r, ball_and_beam.theta, ball_and_beam.alpha, ball_and_beam.u


@cache
def beam(form="shulgin"):
    return vn.derive(ball_and_beam.system(), form)


@pytest.mark.parametrize("form", ["multipliers", "lyapunov", "lurie-suslov", "shulgin"])
def test_holding_input_for_given_coordinates(form):
    rest = vn.equilibrium(beam(form), {r: 0.2})
    assert rest[u] == pytest.approx(0.1 * (0.0282 * 0.2 + 0.334 * 0.2) * 9.81, rel=1e-12)
    assert len(rest.others) == 1
    assert rest.residual < 1e-12


def test_coordinates_for_a_given_input():
    """u = B (m g r + M g L/2): one place of the ball for each of the two slopes B = 0.1 and -0.125."""
    rest = vn.equilibrium(beam(), {u: 0.07})
    found = sorted(float(x[r]) for x in (rest, *rest.others))
    exact = sorted((0.07 / (B * 9.81) - 0.334 * 0.2) / 0.0282 for B in (0.1, -0.125))
    np.testing.assert_allclose(found, exact, rtol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_moves_in_an_equilibrium(seed):
    """Accelerations vanish in the form with multipliers, and its reactions are those of the record."""
    system = random_machine(seed)
    rest = vn.equilibrium(vn.derive(system, "shulgin"), dict.fromkeys(system.inputs, 0.3))
    full = vn.derive(system, "multipliers")
    found = full.recover({key: rest[key] for key in (*system.coordinates, *system.velocities, *system.inputs)})
    for q in system.coordinates:
        assert found[q.diff(t, 2)] == pytest.approx(0, abs=1e-9)
    for c in system.constraints:
        assert found[c.name] == pytest.approx(rest.reactions[c.name], rel=1e-8, abs=1e-9)


@pytest.fixture(scope="module")
def double_pendulum():
    """Two links in Cartesian coordinates: four equilibria."""
    x1, y1, x2, y2 = q = dynamicsymbols("x1 y1 x2 y2")
    T = sum(a.diff() ** 2 for a in q) / 2
    rods = [vn.Holonomic(x1**2 + y1**2 - 1, "upper"), vn.Holonomic((x2 - x1) ** 2 + (y2 - y1) ** 2 - 1, "lower")]
    return q, vn.derive(vn.System(q, T, 9.81 * (y1 + y2), constraints=rods), "shulgin")


def test_all_solutions_are_listed(double_pendulum):
    (_, y1, _, y2), equations = double_pendulum
    rest = vn.equilibrium(equations, near=dict.fromkeys(equations.system.coordinates, 0.4))
    heights = {(round(float(x[y1])), round(float(x[y2] - x[y1]))) for x in (rest, *rest.others)}
    assert heights == {(-1, -1), (-1, 1), (1, -1), (1, 1)}
    assert len(rest.others) == 3
    assert repr(rest).startswith("Equilibrium, 3 more found")


def test_near_decides_which_comes_first(double_pendulum):
    (x1, y1, x2, y2), equations = double_pendulum
    rest = vn.equilibrium(equations, near={x1: 0.1, y1: 0.9, x2: 0.1, y2: 0.1}, starts=0)
    assert (rest[y1], rest[y2]) == pytest.approx((1, 0), abs=1e-10)
    assert rest.others == ()


def test_angles_that_differ_by_a_turn_are_one():
    q = dynamicsymbols("q")
    pendulum = vn.System([q], q.diff() ** 2 / 2, -9.81 * sp.cos(q))
    rest = vn.equilibrium(vn.derive(pendulum))
    assert sorted(abs(float(x[q])) for x in (rest, *rest.others)) == pytest.approx([0, np.pi])


def test_steady_motion_of_given_speed_and_of_given_momentum():
    routh = vn.derive(watt_governor.system(), "routh", dependent=[watt_governor.s])
    rest = vn.equilibrium(routh, {watt_governor.phi.diff(): 14.0}, near={watt_governor.alpha: 1.0})
    assert rest[watt_governor.alpha] == pytest.approx(np.arccos(1.5 * 9.81 / (0.5 * 0.3 * 196)), rel=1e-12)
    assert {round(float(x[watt_governor.alpha]), 6) for x in rest.others} >= {0.0}  # arms hanging down


def test_parameters_may_be_changed():
    changed = {p: 0.3 for p in beam().system.parameters if p.name == "m"}
    rest = vn.equilibrium(beam(), {r: 0.2}, parameters=changed)
    assert rest[u] == pytest.approx(0.1 * (0.3 * 0.2 + 0.334 * 0.2) * 9.81, rel=1e-12)
    assert dict(rest.parameters)[next(iter(changed))] == 0.3


# -- refusals --------------------------------------------------------------------------------------------------------


def test_what_is_left_open_is_named():
    with pytest.raises(vn.ModelError, match=r"r, u can change together.*Specify one of them"):
        vn.equilibrium(beam())


def test_an_equilibrium_that_does_not_exist():
    with pytest.raises(vn.VinculumError, match=r"No equilibrium with u = 0, r = 0\.2.*equation of alpha: 0\.711"):
        vn.equilibrium(beam(), {u: 0.0, r: 0.2})


def test_unknown_names_get_a_suggestion():
    thetta = dynamicsymbols("thetta")
    with pytest.raises(vn.ModelError, match=r"thetta is not a coordinate or input.*theta"):
        vn.equilibrium(beam(), {thetta: 0.0})


def test_values_that_are_no_numbers():
    with pytest.raises(vn.ModelError, match="r is nan"):
        vn.equilibrium(beam(), {r: float("nan")})


def test_near_must_name_unknowns():
    with pytest.raises(vn.ModelError, match=r"r is not an unknown\. The unknowns are"):
        vn.equilibrium(beam(), {r: 0.2}, near={r: 0.1})


def test_a_servo_constraint_is_an_equation_with_its_input_as_unknown():
    """x + y/2 = 0.3 is held by a force on x; the spring between x and y leaves y = x = 0.2."""
    x, y = dynamicsymbols("x y")
    u = sp.Symbol("u")
    held = vn.Servo(x + y / 2 - 0.3, through=[u], name="held")
    energies = (x.diff() ** 2 + y.diff() ** 2) / 2, (x - y) ** 2 / 2 + x**2
    equations = vn.derive(vn.System([x, y], *energies, forces={x: u}, inputs=[u], constraints=[held]))
    rest = vn.equilibrium(equations)
    assert (rest[x], rest[y], rest[u]) == pytest.approx((0.2, 0.2, 0.4))
    assert len(vn.linearize(equations, at=rest).states) == 2
    assert len(vn.servo.internal_dynamics(equations, at=rest).rates) == 2
