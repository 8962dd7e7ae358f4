"""Constraints that repeat each other: found, named, and met in the sense of least squares on request."""

from __future__ import annotations

import numpy as np
import pytest
from sympy.physics.mechanics import dynamicsymbols

from laws import lagrange
from laws.random_systems import FORMS, State, changed, consistent_state, random_state, random_system, t, values
from vinculum import EquationsOfMotion, Holonomic, Nonholonomic, System, derive
from vinculum.errors import ConstraintError, VinculumError

SEEDS = range(6)


def with_repetition(seed: int) -> tuple[System, System]:
    """A random system with three constraints, and one with a combination of the first two added."""
    system = random_system(seed, n=4 + seed % 3, holonomic=2 + seed % 2, nonholonomic=1 - seed % 2)
    first, second = system.constraints[:2]
    extra = Holonomic(2 * first.expression - 3 * second.expression, name="extra")
    return system, changed(system, constraints=[*system.constraints, extra])


def multipliers_of(equations: EquationsOfMotion, state: State) -> np.ndarray:
    found = equations.recover(state)
    return np.array([found[c.name] for c in equations.system.constraints])


def jacobian_at(system: System, state: State) -> np.ndarray:
    rows = values(lagrange.jacobian(system), dict(system.parameters) | state)
    return rows.reshape(len(system.constraints), -1)


@pytest.mark.parametrize("seed", SEEDS)
def test_dependent_constraints_are_named_with_rank_and_place(seed):
    system, repeated = with_repetition(seed)
    state = consistent_state(system, np.random.default_rng(seed))
    with pytest.raises(ConstraintError) as caught:
        derive(repeated, at=state)
    message = str(caught.value)
    dependent = {system.constraints[0].name, system.constraints[1].name, "extra"}
    assert {name for c in repeated.constraints if f"`{(name := c.name)}`" in message} == dependent
    assert f"rank {len(system.constraints)} of {len(repeated.constraints)}" in message
    assert f"q1 = {state[system.coordinates[0]]:.6g}" in message
    assert "redundant='least_squares'" in message


@pytest.mark.parametrize("seed", SEEDS)
def test_dependent_constraints_are_found_without_a_given_state(seed):
    _, repeated = with_repetition(seed)
    with pytest.raises(ConstraintError, match="`extra`"):
        derive(repeated)


@pytest.mark.parametrize("form", ["shulgin", "lurie-suslov", "voronets", "chaplygin", "hamel", "maggi", "lyapunov"])
def test_the_advice_can_be_followed(form):
    """A form without the option `redundant` names one that has it."""
    x, y = dynamicsymbols("x y")
    rods = [Holonomic(x - y, name="rod"), Holonomic(2 * x - 2 * y, name="same rod")]
    system = System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, constraints=rods)
    choices = {"characteristics": {}} if form in ("hamel", "maggi") else {}
    with pytest.raises(ConstraintError, match="`rod`, `same rod` are dependent") as caught:
        derive(system, form, **choices)
    advised = "multipliers" if "form='multipliers', redundant='least_squares'" in str(caught.value) else form
    assert "redundant='least_squares'" in str(caught.value)
    assert derive(system, advised, redundant="least_squares").form.name == advised


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_least_squares_gives_the_motion_without_the_repetition(form, seed):
    """The same q̈ and the same reaction Jᵀλ, with the shortest λ: λ = (Jᵀ)⁺ Jᵀλ."""
    system, repeated = with_repetition(seed)
    single, least = derive(system, form), derive(repeated, form, redundant="least_squares")
    random = np.random.default_rng(seed)
    for state in (consistent_state(system, random), random_state(system, random)):
        expected, found = single.accelerations(state), least.accelerations(state)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)
        reaction = jacobian_at(system, state).T @ multipliers_of(single, state)
        J, multipliers = jacobian_at(repeated, state), multipliers_of(least, state)
        np.testing.assert_allclose(J.T @ multipliers, reaction, rtol=0, atol=1e-11 * (1 + np.abs(reaction).max()))
        shortest = np.linalg.lstsq(J.T, reaction, rcond=1e-10)[0]
        np.testing.assert_allclose(multipliers, shortest, rtol=0, atol=1e-11 * (1 + np.abs(shortest).max()))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_least_squares_changes_nothing_where_nothing_is_redundant(form, seed):
    system, _ = with_repetition(seed)
    state = consistent_state(system, np.random.default_rng(seed))
    found, expected = (
        derive(system, form, redundant="least_squares").recover(state),
        derive(system, form).recover(state),
    )
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


def cart() -> dict:
    x, y = dynamicsymbols("x y")
    return {"coordinates": [x, y], "kinetic_energy": x.diff(t) ** 2 + y.diff(t) ** 2}


def test_one_constraint_stated_twice_is_named_twice():
    fields = cart()
    x, y = fields["coordinates"]
    stated = [Holonomic(x - y**2, name="rail"), Nonholonomic(x.diff(t) - 2 * y * y.diff(t), name="wheel")]
    with pytest.raises(ConstraintError, match=r"`rail`, `wheel` are dependent: rank 1 of 2"):
        derive(System(**fields, constraints=stated))


def test_more_constraints_than_coordinates_are_dependent():
    fields = cart()
    x, y = fields["coordinates"]
    stated = [Holonomic(f, name=name) for f, name in ((x - 1, "a"), (y - 2, "b"), (x + y - 3, "c"))]
    with pytest.raises(ConstraintError, match="rank 2 of 3"):
        derive(System(**fields, constraints=stated))


def test_a_constraint_without_slope_is_named():
    """(x - 1)² = 0 has no gradient where it holds, so it has no reaction."""
    fields = cart()
    x, y = fields["coordinates"]
    stated = [Holonomic((x - 1) ** 2, name="flat"), Holonomic(y, name="rail")]
    state = {x: 1.0, y: 0.0, x.diff(t): 0.0, y.diff(t): 0.0}
    with pytest.raises(ConstraintError, match="`flat`"):
        derive(System(**fields, constraints=stated), at=state)
    with pytest.raises(ConstraintError, match="`flat`"):
        derive(System(**fields, constraints=stated)).accelerations(state)


def test_contradicting_constraints_are_refused():
    fields = cart()
    x, _ = fields["coordinates"]
    stated = [Holonomic(x - 1, name="here"), Holonomic(x - 2, name="there")]
    with pytest.raises(VinculumError, match=r"here.*there|meets the constraints"):
        derive(System(**fields, constraints=stated))


def test_units_do_not_make_constraints_dependent():
    """A constraint in micrometers beside one in kilometers: the rank is 2, the motion that of x = y = 0."""
    fields = cart()
    x, y = fields["coordinates"]
    stated = [Holonomic(1e6 * (x + y), name="micro"), Holonomic(1e-3 * (x - y), name="kilo")]
    equations = derive(System(**fields, potential_energy=3 * x - y, constraints=stated))
    state = {x: 0.0, y: 0.0, x.diff(t): 0.0, y.diff(t): 0.0}
    found = equations.recover(state)
    assert [found[x.diff(t, 2)], found[y.diff(t, 2)]] == pytest.approx([0, 0], abs=1e-14)
    assert 1e6 * found["micro"] == pytest.approx(1.0, rel=1e-14)
    assert 1e-3 * found["kilo"] == pytest.approx(2.0, rel=1e-14)
