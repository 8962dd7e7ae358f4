"""A consistent start: what is given stays, the rest moves as little as it must, what cannot be met is refused."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from simulate.models import (
    SKATE_START,
    cartesian_system,
    constant_speed,
    hanging,
    l,
    omega,
    pendulum,
    run,
    skate,
    t,
    theta,
    turning_rod,
    x,
    y,
    z,
)


@pytest.fixture(scope="module")
def plane() -> vn.EquationsOfMotion:
    """Two linear constraints on four coordinates."""
    system = vn.System(
        [x, y, z, theta],
        x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2 + theta.diff() ** 2,
        constraints=[
            vn.Holonomic(x + 2 * y - 3 * z + theta - 4, name="first"),
            vn.Holonomic(2 * x - y + z - 1, name="second"),
        ],
    )
    return vn.derive(system)


ROWS = np.array([[1.0, 2.0, -3.0, 1.0], [2.0, -1.0, 1.0, 0.0]])


def variables(equations: vn.EquationsOfMotion) -> tuple[sp.Expr, ...]:
    return (*equations.system.coordinates, *equations.system.velocities)


def residuals(equations: vn.EquationsOfMotion, state: dict, time: float = 0.0) -> np.ndarray:
    """All residuals at position and velocity level, by SymPy."""
    conditions = []
    for constraint in equations.system.constraints:
        if isinstance(constraint, vn.Holonomic):
            conditions += [constraint.expression, constraint.expression.diff(t)]
        else:
            conditions.append(constraint.expression)
    known = [*state.items(), *equations.system.parameters.items()]
    velocities_first = sorted(known, key=lambda pair: not isinstance(pair[0], sp.Derivative))
    return np.array([float(f.subs(velocities_first).subs(t, time)) for f in conditions])


# -- what stays and what moves --------------------------------------------------------------------------------


def test_given_values_stay_and_the_rest_is_solved():
    state = vn.consistent_state(pendulum(), {x: 0.6, y: -0.7, x.diff(): 0.8}, fixed=[x, x.diff()])
    assert state[x] == 0.6
    assert state[x.diff()] == 0.8
    assert state[y] == pytest.approx(-0.8, abs=1e-15)
    assert state[y.diff()] == pytest.approx(0.6, abs=1e-15)


def test_everything_given_stays_bit_for_bit():
    start = hanging(0.7, 1.3)
    assert vn.consistent_state(pendulum(), start) == start


def test_without_fixed_all_that_is_given_stays():
    """A skate with its forward velocity given along x: the other component follows from the edge."""
    state = vn.consistent_state(skate(), SKATE_START)
    assert {key: state[key] for key in SKATE_START} == SKATE_START
    assert state[y.diff()] == pytest.approx(np.sin(0.4), abs=1e-15)


def test_a_guess_is_where_the_others_start():
    """x is given and stays; the guess decides which of the two heights is found."""
    for height in (0.5, -0.5):
        state = vn.consistent_state(pendulum(), {x: 0.6}, guess={y: height})
        assert state[x] == 0.6
        assert state[y] == pytest.approx(np.copysign(0.8, height), abs=1e-15)


def test_a_guess_for_what_is_given_changes_nothing():
    state = vn.consistent_state(pendulum(), {x: 0.6, y: -0.8}, guess={x: 5.0, y.diff(): 0.0})
    assert state[x] == 0.6
    assert state[y] == -0.8


def test_an_empty_fixed_lets_everything_move():
    """(3, 4) goes to the nearest point of the unit circle, (0.6, 0.8)."""
    state = vn.consistent_state(pendulum(), {x: 3.0, y: 4.0}, fixed=[])
    assert state[x] == pytest.approx(0.6, abs=1e-15)
    assert state[y] == pytest.approx(0.8, abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_the_change_is_the_least_one(plane, seed):
    """Linear constraints: the nearest point is q - J⁺(J q - c), and so for the velocities."""
    random = np.random.default_rng(seed)
    guess, speed = random.normal(0, 2, 4), random.normal(0, 2, 4)
    start = dict(zip(variables(plane), [*guess, *speed], strict=True))
    state = vn.consistent_state(plane, start, fixed=[])
    inverse = np.linalg.pinv(ROWS)
    expected = [*(guess - inverse @ (ROWS @ guess - [4, 1])), *(speed - inverse @ (ROWS @ speed))]
    np.testing.assert_allclose([state[key] for key in variables(plane)], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_the_change_is_the_least_one_among_those_that_may_move(plane, seed):
    """The first coordinate and the second velocity are held: the projection is that of the other columns."""
    random = np.random.default_rng(100 + seed)
    guess, speed = random.normal(0, 2, 4), random.normal(0, 2, 4)
    start = dict(zip(variables(plane), [*guess, *speed], strict=True))
    state = vn.consistent_state(plane, start, fixed=[x, y.diff()])
    for values, held, levels, keys in (
        (guess, 0, [4, 1], plane.system.coordinates),
        (speed, 1, [0, 0], plane.system.velocities),
    ):
        free = [i for i in range(4) if i != held]
        expected = values.copy()
        expected[free] -= np.linalg.pinv(ROWS[:, free]) @ (ROWS @ values - levels)
        np.testing.assert_allclose([state[key] for key in keys], expected, rtol=0, atol=1e-13)
        assert state[keys[held]] == values[held]


def test_units_of_a_constraint_do_not_decide_the_least_change():
    """A constraint written in other units, 10⁶ f = 0, moves the start to the same point."""
    scaled = cartesian_system(constraints=[vn.Holonomic(1_000_000 * (x**2 + y**2 - l**2), name="rod")])
    start = {x: 3.0, y: 4.0, x.diff(): 1.0}
    found = vn.consistent_state(vn.derive(scaled), start, fixed=[])
    expected = vn.consistent_state(pendulum(), start, fixed=[])
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_random_guesses_end_on_the_constraints(seed):
    """A closed chain of two bars and a slider: from any guess nearby, all residuals vanish to rounding."""
    slider = vn.Holonomic(sp.cos(x) + 2 * sp.cos(y) - z, name="along")
    level = vn.Holonomic(sp.sin(x) + 2 * sp.sin(y), name="across")
    equations = vn.derive(vn.System([x, y, z], sum(q.diff() ** 2 for q in (x, y, z)), constraints=[slider, level]))
    random = np.random.default_rng(seed)
    guess = np.array([0.5, -0.3, 2.5, 1, 0, 0]) + random.normal(0, 0.3, 6)
    start = dict(zip(variables(equations), guess, strict=True))
    state = vn.consistent_state(equations, start, fixed=[x, x.diff()])
    assert state[x] == start[x]
    assert np.abs(residuals(equations, state)).max() < 1e-14


# -- nonlinear in the velocities, moving constraints ----------------------------------------------------------


def test_velocities_on_a_constraint_nonlinear_in_them():
    """|v| = 1.5 from (3, 4): the nearest velocity is (0.9, 1.2)."""
    state = vn.consistent_state(constant_speed(), {x: 1.0, y: 2.0, x.diff(): 3.0, y.diff(): 4.0}, fixed=[x, y])
    assert state[x] == 1.0
    assert state[x.diff()] == pytest.approx(0.9, abs=1e-15)
    assert state[y.diff()] == pytest.approx(1.2, abs=1e-15)


@pytest.mark.parametrize("time", [0.0, 0.7, -2.3])
def test_a_moving_constraint_is_met_at_the_initial_time(time):
    """x = r cos ωt, y = r sin ωt: with x and ẋ given, y and ẏ follow, the turning of the wire included."""
    turn = turning_rod().system.parameters[omega]
    angle = turn * time
    place, speed = 0.5, 0.2
    state = vn.consistent_state(turning_rod(), {x: place, x.diff(): speed}, time=time)
    assert state[y] == pytest.approx(place * np.tan(angle), abs=1e-14)
    rate = speed * np.tan(angle) + place * turn / np.cos(angle) ** 2
    assert state[y.diff()] == pytest.approx(rate, abs=1e-14)


def test_simulate_starts_a_moving_constraint_at_its_first_time():
    turn = turning_rod().system.parameters[omega]
    motion = run(turning_rod(), {x: 0.5, x.diff(): 0.0}, (0.7, 1.0))
    assert motion[y][0] == pytest.approx(0.5 * np.tan(0.7 * turn), abs=1e-15)
    assert max(motion.largest_residuals.values()) < 1e-14


def test_other_parameters_move_the_constraint():
    state = vn.consistent_state(pendulum(), {x: 3.0, y: -4.0}, fixed=[], parameters={l: 10.0})
    assert state[x] == pytest.approx(6.0, abs=1e-14)
    assert state[y] == pytest.approx(-8.0, abs=1e-14)


# -- refusals -------------------------------------------------------------------------------------------------


def test_contradictory_values_are_refused_with_every_residual(plane):
    with pytest.raises(vn.errors.ConstraintError, match=r"first = 5.*second = -1") as refusal:
        vn.consistent_state(plane, {x: 1.0, y: 1.0, z: -1.0, theta: 3.0})
    assert "fixed=" in str(refusal.value)


def test_contradictory_velocities_are_refused_with_their_residual():
    with pytest.raises(vn.errors.ConstraintError, match=r"velocities.*rod = 0\.6"):
        vn.consistent_state(pendulum(), {x: 0.6, y: -0.8, x.diff(): 1.0, y.diff(): 0.0})


def test_a_constraint_out_of_reach_is_refused():
    """x = 2 is outside the unit circle, whatever y is."""
    with pytest.raises(vn.errors.ConstraintError, match=r"coordinates.*rod = 1\.5.*y = 0"):
        vn.consistent_state(pendulum(), {x: 2.0})


def test_a_guess_at_which_the_constraint_has_no_slope_is_refused():
    """The center of the circle: no direction leads to it. The message says what was free and where it started."""
    with pytest.raises(vn.errors.ConstraintError, match=r"rod = -0\.5.*x = 0, y = 0.*starting values"):
        vn.consistent_state(pendulum(), {})


def test_dependent_constraints_at_the_start_are_refused():
    """Two constraints whose gradients agree at one place only."""
    first, second = vn.Holonomic(y - x**2, name="parabola"), vn.Holonomic(y - z, name="level")
    third = vn.Holonomic(z - 2 * x + 1, name="tangent")
    system = vn.System(
        [x, y, z, theta], sum(q.diff() ** 2 for q in (x, y, z, theta)), constraints=[first, second, third]
    )
    with pytest.raises(vn.errors.ConstraintError, match=r"parabola.*level.*tangent.*rank 2 of 3"):
        vn.consistent_state(vn.derive(system), {x: 1.0, y: 1.0, z: 1.0})


def test_unknown_names_are_refused_with_the_nearest_known_one():
    wrong = sp.Function("thetta")(t)
    with pytest.raises(vn.ModelError, match=r"thetta is not a coordinate.*Did you mean theta"):
        vn.consistent_state(skate(), {wrong: 0.3})


def test_accelerations_are_no_initial_values():
    with pytest.raises(vn.ModelError, match=r"ddot\(x\) is not a coordinate or velocity"):
        vn.consistent_state(pendulum(), hanging() | {x.diff(t, 2): 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(vn.ModelError, match=r"x is -?(nan|inf).*finite"):
        vn.consistent_state(pendulum(), {x: value, y: -1.0})


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(vn.ModelError) as refusal:
        vn.consistent_state(pendulum(), {x: float("nan"), theta: 1.0}, fixed=[y])
    assert len(refusal.value.findings) == 3


def test_a_fixed_state_needs_a_value():
    with pytest.raises(vn.ModelError, match=r"y must stay fixed but has no value"):
        vn.consistent_state(pendulum(), {x: 0.6}, fixed=[x, y])


def test_a_start_outside_the_domain_of_a_constraint_is_refused():
    """The logarithm of a negative number has no residual; the refusal is ours and names the place."""
    logarithm = vn.Holonomic(sp.log(x) - y, name="logarithm")
    equations = vn.derive(cartesian_system(constraints=[logarithm]), at={x: 1, y: 0, x.diff(): 0, y.diff(): 0})
    with pytest.raises(vn.VinculumError, match="log"):
        vn.consistent_state(equations, {x: -1.0, y: 0.0})
    with pytest.raises(vn.VinculumError, match="log"):
        vn.consistent_state(equations, {x: -1.0})


def test_a_slope_at_the_level_of_rounding_does_not_refuse_a_start():
    """At the top of the circle ẋ is free: x ẋ + y ẏ = 0 with x = 6e-17 says nothing about it, whatever ẏ = 1e-17 is."""
    circle, level = vn.Holonomic(x**2 + y**2 - 1, name="circle"), vn.Holonomic(z - x, name="level")
    kinetic = (x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2) / 2
    system = vn.System([x, y, z], kinetic, constraints=[circle, level])
    top = float(np.cos(np.pi / 2))
    start = {x: top, y: 1.0, z: top, y.diff(): 1e-17, z.diff(): 1.0}
    assert vn.consistent_state(system, start)[x.diff()] == pytest.approx(1.0, abs=1e-14)


def test_a_true_contradiction_is_still_refused_when_one_velocity_is_free():
    circle, level = vn.Holonomic(x**2 + y**2 - 1, name="circle"), vn.Holonomic(z - x, name="level")
    kinetic = (x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2) / 2
    system = vn.System([x, y, z], kinetic, constraints=[circle, level])
    with pytest.raises(vn.errors.ConstraintError, match="circle"):
        vn.consistent_state(system, {x: 0.0, y: 1.0, z: 0.0, y.diff(): 0.1, z.diff(): 1.0})
