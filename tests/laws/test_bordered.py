"""One elimination serves every state: accelerations and reactions are those of a dense solve, wherever it was made."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.random_systems import changed, random_state, random_system
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.graph import evaluate

t = dynamicsymbols._t
s = dynamicsymbols("s")


def worst(equations: vn.EquationsOfMotion, states: list[dict]) -> float:
    """The largest error of (q̈, -λ) by the elimination of the reference state, in units of the condition number.

    Also checks that pivots of coordinates stay positive and those of constraints negative.
    """
    mechanics = equations.mechanics
    explicit = equations.explicit()
    wanted = mechanics.without_corrections([*explicit.accelerations, *explicit.reactions])
    signs, n, errors = np.sign([pivot.value for pivot in explicit.pivots]), len(mechanics.M), []
    for state in states:
        values = equations.values(state)
        M, J, right = (numbers(part, values) for part in (mechanics.M, mechanics.J, mechanics.Q - mechanics.h))
        gamma = numbers(mechanics.gamma, values)
        A = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        condition = np.linalg.cond(A)
        if condition > 1e9:
            continue
        x = np.linalg.solve(A, np.concatenate([right, -gamma]))
        found = np.array(evaluate(wanted, values)) * np.repeat([1, -1], [n, len(J)])
        errors.append(np.abs(found - x).max() / (condition * np.abs(x).max()))
        np.testing.assert_array_equal(np.sign(evaluate([pivot.node for pivot in explicit.pivots], values)), signs)
    assert len(errors) > len(states) // 2
    return max(errors)


@pytest.mark.parametrize("seed", range(10))
def test_random_systems(seed):
    system = random_system(seed, n=2 + seed % 4)
    random = np.random.default_rng(seed)
    assert worst(vn.derive(system, "multipliers"), [random_state(system, random) for _ in range(60)]) < 1e-14


@pytest.mark.parametrize("seed", range(6))
def test_a_coordinate_without_inertia_on_an_implicit_constraint(seed):
    """s³ + s = g(q): the coefficient of s is not constant, so its inertia has to come from the constraint."""
    system = random_system(seed, n=2 + seed % 3)
    guide = vn.Holonomic(s**3 + s - sp.sin(system.coordinates[0]) - system.coordinates[-1] / 2, name="guide")
    massless = changed(
        system,
        coordinates=[*system.coordinates, s],
        potential_energy=system.potential_energy + s**2,
        constraints=[*system.constraints, guide],
    )
    random = np.random.default_rng(seed)
    states = [random_state(massless, random) for _ in range(60)]
    assert worst(vn.derive(massless, "multipliers"), states) < 1e-14


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3])
def test_units_of_length_and_mass_do_not_matter(unit):
    """A slider-crank in meters and kilograms, and in other units: the same angular accelerations."""

    def angular_accelerations(length: float, mass: float) -> np.ndarray:
        a, b, x = dynamicsymbols("a b x")
        kinetic = mass * (length**2 * (a.diff() ** 2 + 2 * b.diff() ** 2) + x.diff() ** 2) / 2
        loop = [length * (sp.cos(a) + 3 * sp.cos(b)) - x, length * (sp.sin(a) - 3 * sp.sin(b))]
        system = vn.System(
            [a, b, x], kinetic, mass * length**2 * sp.sin(a), constraints=[vn.Holonomic(f) for f in loop]
        )
        equations, found = vn.derive(system), []
        for angle in np.linspace(0, 6, 25):
            other = float(np.arcsin(np.sin(angle) / 3))
            place = length * float(np.cos(angle) + 3 * np.cos(other))
            state = {a: angle, b: other, x: place, a.diff(): 1.0, b.diff(): 0.2, x.diff(): 0.0}
            found.append([equations.accelerations(state)[q.diff(t, 2)] for q in (a, b)])
        return np.array(found)

    np.testing.assert_allclose(
        angular_accelerations(unit, unit**2), angular_accelerations(1.0, 1.0), rtol=0, atol=1e-11
    )


def test_the_condition_alone_limits_the_accuracy_next_to_a_singular_configuration():
    """A parallelogram that comes to lie flat: its two loop conditions become dependent there."""
    a, b, c = dynamicsymbols("a b c")
    loops = [sp.cos(a) + 2 * sp.cos(b) - sp.cos(c) - 2, sp.sin(a) + 2 * sp.sin(b) - sp.sin(c)]
    kinetic = sum(k * q.diff() ** 2 for k, q in enumerate((a, b, c), start=1))
    equations = vn.derive(vn.System([a, b, c], kinetic, sp.sin(a), constraints=[vn.Holonomic(f) for f in loops]))
    speeds = {a.diff(): 1.0, b.diff(): 0.0, c.diff(): 1.0}
    states = [{a: angle, b: 0.0, c: angle, **speeds} for angle in 10.0 ** np.linspace(-3, 0, 20)]
    assert worst(equations, states) < 1e-14
