"""Energy changes by the power of applied forces, moving constraints and explicit time, and by nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from laws import lagrange
from laws.random_systems import changed, consistent_state, random_system, values, without_time
from vinculum import Holonomic, Nonholonomic, System, derive
from vinculum.graph import ZERO, constant, evaluate

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_is_that_of_jacobi(seed):
    """E = q̇·∂T/∂q̇ - T + V, also with parts of T that are linear or free of velocities."""
    system = random_system(seed)
    equations, state = derive(system), consistent_state(system, np.random.default_rng(seed))
    expected = values([lagrange.energy(system)], dict(system.parameters) | state)
    found = evaluate([equations.mechanics.energy], equations.values(state))
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_the_rate_of_the_energy(seed):
    """dE/dt = Q·q̇ + λ·J q̇ - ∂L/∂t at velocities that meet the constraints."""
    system, random = random_system(seed), np.random.default_rng(seed)
    equations = derive(system)
    for _ in range(2):
        state = consistent_state(system, random)
        found = equations.recover(state)
        rate = values([lagrange.power(system)], dict(system.parameters) | state | found)[0]
        reactions = [constant(found[c.name]) for c in system.constraints]
        power = evaluate([equations.mechanics.power(reactions)], equations.values(state))[0]
        assert power == pytest.approx(rate, rel=1e-12, abs=1e-12 * (1 + max(map(abs, found.values()))))


def conservative(seed: int) -> System:
    """A random system with one constraint and without time, forces and dissipation."""
    system = random_system(seed, holonomic=1, nonholonomic=0)
    return changed(
        system,
        kinetic_energy=without_time(system.kinetic_energy),
        potential_energy=without_time(system.potential_energy),
        constraints=[Holonomic(without_time(c.expression), name=c.name) for c in system.constraints],
        dissipation=sp.S.Zero,
        forces={},
        inputs=(),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_of_a_conservative_system_is_conserved_identically(seed):
    """Without time, forces and dissipation dE/dt is zero as an expression, not only as a number."""
    equations = derive(conservative(seed))
    assert equations.mechanics.power(equations.explicit().reactions) is ZERO


def test_constraints_homogeneous_in_the_velocities_do_no_work():
    """v·∂φ/∂v = k φ = 0 (Euler), so their reactions do not enter the power."""
    system = conservative(3)
    x, y = system.velocities[:2]
    rolling = Nonholonomic(x * sp.cos(system.coordinates[1]) - sp.sqrt(x**2 + 3 * y**2), name="rolls")
    equations = derive(changed(system, constraints=[*system.constraints, rolling]))
    assert equations.mechanics.power(equations.explicit().reactions) is ZERO
