"""The derived equations are Lagrange's, in every form, on and off the constraints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

from laws import lagrange
from laws.random_systems import (
    FORMS,
    State,
    changed,
    consistent_state,
    has_time,
    random_state,
    random_system,
    t,
    values,
)
from vinculum import EquationsOfMotion, Holonomic, Nonholonomic, derive
from vinculum.derivation.mechanics.sample_states import numbers

SEEDS = range(10)
CONSTRAINED = [seed for seed in SEEDS if random_system(seed).constraints]


@cache
def equations_of(seed: int, form: str) -> EquationsOfMotion:
    return derive(random_system(seed), form)


@cache
def states_of(seed: int) -> list[State]:
    """Two states on the constraints and two anywhere."""
    system, random = random_system(seed), np.random.default_rng(seed + 1000)
    return [draw(system, random) for draw in (consistent_state, random_state) for _ in range(2)]


def complete(equations: EquationsOfMotion, state: State) -> State:
    """The state with accelerations and parameters, as SymPy needs it; multipliers by constraint name."""
    return dict(equations.system.parameters) | state | equations.recover(state)


def split(equations: EquationsOfMotion, state: State) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ at a state."""
    found = equations.recover(state)
    return (
        np.array([found[q.diff(t, 2)] for q in equations.system.coordinates]),
        np.array([found[c.name] for c in equations.system.constraints]),
    )


def assert_same_motion(found: EquationsOfMotion, expected: EquationsOfMotion, states: list[State]) -> None:
    """Equal accelerations and multipliers, to 1e-12 of their size."""
    for state in states:
        for left, right in zip(split(found, state), split(expected, state), strict=True):
            np.testing.assert_allclose(left, right, rtol=0, atol=1e-12 * (1 + np.abs(right).max(initial=0)))


@pytest.mark.parametrize("seed", SEEDS)
def test_all_forms_give_one_acceleration_and_one_reaction(seed):
    first, *others = (equations_of(seed, form) for form in FORMS)
    for other in others:
        assert_same_motion(other, first, states_of(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_hessian_of_the_kinetic_energy(seed):
    """M = ∂²T/∂q̇² is symmetric and positive definite."""
    system, equations = random_system(seed), equations_of(seed, "multipliers")
    state = states_of(seed)[-1]
    M = numbers(equations.mechanics.M, equations.values(state))
    expected = values(lagrange.mass_matrix(system), dict(system.parameters) | state).reshape(M.shape)
    np.testing.assert_allclose(M, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_accelerations_and_reactions_satisfy_lagranges_equations(form, seed):
    """d/dt ∂T/∂q̇ - ∂T/∂q + ∂V/∂q + ∂D/∂q̇ - Q = Jᵀλ."""
    system, equations = random_system(seed), equations_of(seed, form)
    for state in states_of(seed)[::3]:
        known = complete(equations, state)
        left = values(lagrange.equations(system), known)
        J = values(lagrange.jacobian(system), known).reshape(-1, len(left))
        reaction = J.T @ split(equations, state)[1]
        np.testing.assert_allclose(left, reaction, rtol=0, atol=1e-12 * (1 + np.abs(reaction).max()))


@pytest.mark.parametrize("seed", CONSTRAINED)
@pytest.mark.parametrize("form", FORMS)
def test_accelerations_satisfy_the_differentiated_constraints(form, seed):
    """f̈ = 0 for holonomic, φ̇ = 0 for nonholonomic constraints, also away from f = 0 and φ = 0."""
    system, equations = random_system(seed), equations_of(seed, form)
    for state in states_of(seed):
        known = complete(equations, state)
        residual = values(lagrange.constraint_accelerations(system), known)
        np.testing.assert_allclose(residual, 0, rtol=0, atol=1e-12 * (1 + max(map(abs, known.values())) ** 2))


def test_the_random_systems_have_every_kind_of_term():
    """Two to six coordinates, both kinds of constraints, with and without time."""
    systems = [random_system(seed) for seed in SEEDS]
    kinds = [type(c) for system in systems for c in system.constraints]
    moving = [has_time(c.expression) for system in systems for c in system.constraints]
    assert {len(system.coordinates) for system in systems} == {2, 3, 4, 5, 6}
    assert min(kinds.count(Holonomic), kinds.count(Nonholonomic)) >= 6
    assert 4 <= sum(moving) <= len(moving) - 4


@pytest.mark.parametrize("seed", SEEDS)
def test_a_total_derivative_in_the_lagrangian_changes_nothing(seed):
    """T and T + dF/dt with F(q, t) give one motion."""
    system = random_system(seed)
    first, last = system.coordinates[0], system.coordinates[-1]
    F = sp.sin(first + 2 * t) * last + first**2 * last / 3
    same = changed(system, kinetic_energy=system.kinetic_energy + F.diff(t))
    assert_same_motion(derive(same), equations_of(seed, "multipliers"), states_of(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_force_may_stand_in_the_potential_or_among_the_forces(seed):
    """V and the forces -∂V/∂q give one motion, and so do D and the forces -∂D/∂q̇."""
    system = random_system(seed)
    V, D = system.potential_energy, system.dissipation
    forces = {
        q: system.forces.get(q, 0) - V.diff(q) - D.diff(v)
        for q, v in zip(system.coordinates, system.velocities, strict=True)
    }
    same = changed(system, potential_energy=sp.S.Zero, dissipation=sp.S.Zero, forces=forces)
    assert_same_motion(derive(same), equations_of(seed, "multipliers"), states_of(seed))


@pytest.mark.parametrize("seed", CONSTRAINED)
def test_the_way_a_constraint_is_written_does_not_matter(seed):
    """On f = 0 the constraint g f with g ≠ 0 gives the same motion, and the multiplier λ/g."""
    system = random_system(seed)
    g = 2 + sp.sin(system.coordinates[0] + t)
    constraints = [type(c)(c.expression * g, name=c.name) for c in system.constraints]
    equations = derive(changed(system, constraints=constraints))
    for state in states_of(seed)[:2]:
        a, reactions = split(equations, state)
        expected, multipliers = split(equations_of(seed, "multipliers"), state)
        factor = values([g], state)[0]
        np.testing.assert_allclose(a, expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max()))
        np.testing.assert_allclose(
            factor * reactions, multipliers, rtol=0, atol=1e-12 * (1 + np.abs(multipliers).max())
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_coordinates_and_constraints_does_not_matter(seed):
    system = random_system(seed)
    turned = changed(system, coordinates=system.coordinates[::-1], constraints=system.constraints[::-1])
    for state in states_of(seed)[::3]:
        found, expected = derive(turned).recover(state), equations_of(seed, "multipliers").recover(state)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
