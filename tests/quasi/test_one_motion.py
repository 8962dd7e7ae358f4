"""(7), (8), projected Lagrange equations and multipliers give one acceleration and one reaction."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.random_systems import changed, random_system
from quasi.models import (
    EXAMPLES,
    arbitrary_characteristics,
    condition,
    forward_state,
    random_characteristics,
    random_states,
)

KINDS = ("voronets-hamel", "chaplygin-type", "maggi")


def in_kind(system: vn.System, kind: str, **choices) -> vn.EquationsOfMotion:
    """Equations in quasi-velocities of Hamel's or Chaplygin's type, or Maggi's."""
    return (
        vn.derive(system, "maggi", **choices) if kind == "maggi" else vn.derive(system, "hamel", kind=kind, **choices)
    )


def found(equations: vn.EquationsOfMotion, state: dict) -> np.ndarray:
    system = equations.system
    values = equations.recover(state)
    keys = (*(q.diff(system.time, 2) for q in system.coordinates), *(c.name for c in system.constraints))
    return np.array([values[key] for key in keys])


def assert_same(equations: vn.EquationsOfMotion, states: list[dict]) -> None:
    expected = vn.derive(equations.system)
    for state in states:
        right = found(expected, state)
        np.testing.assert_allclose(found(equations, state), right, rtol=0, atol=1e-12 * (1 + np.abs(right).max()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, kind, random):
    system, choices = EXAMPLES[name]
    equations = in_kind(system, kind, **choices)
    assert_same(equations, [forward_state(name, random) for _ in range(4)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sleigh", "sleigh with servo", "particle", "weight"])
def test_examples_with_newton_in_place_of_a_closed_inverse(name, kind, random):
    system, choices = EXAMPLES[name]
    equations = in_kind(system, kind, **(choices | {"inverse": "newton"}))
    assert_same(equations, [forward_state(name, random) for _ in range(4)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("curved", [False, True], ids=["linear", "nonlinear"])
@pytest.mark.parametrize("seed", range(6))
def test_random_characteristics_of_random_systems(seed, curved, kind):
    """Holonomic and nonholonomic constraints, stationary or not, linear or not, with forces and dissipation."""
    system = random_system(seed, n=2 + seed % 3, holonomic=seed % 2 if seed % 3 else 0, nonholonomic=1)
    chosen = random_characteristics(system, seed + 50, curved)
    assert_same(in_kind(system, kind, characteristics=chosen), random_states(system, seed))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("curved", [False, True], ids=["linear", "nonlinear"])
@pytest.mark.parametrize("seed", range(12))
def test_rounding_errors_grow_with_the_condition_of_the_chart(seed, curved, kind):
    """Whatever the chart, the error is a small multiple of ε κ, with κ the condition number of ∂e/∂q̇. Where e is not
    linear it is of ε κ² in (7) and (8), which contain d/dt K = -K (d/dt ∂e/∂q̇) K; Maggi's equations do not.
    """
    system = random_system(seed, n=2 + seed % 3, holonomic=seed % 2 if seed % 3 else 0, nonholonomic=1)
    chosen = arbitrary_characteristics(system, seed + 50, curved)
    equations, expected = in_kind(system, kind, characteristics=chosen), vn.derive(system)
    for state in random_states(system, seed):
        right = found(expected, state)
        kappa = condition(equations, chosen, state)
        bound = 20 * kappa**2 if curved and kind != "maggi" else 40 * kappa
        error = np.abs(found(equations, state) - right).max() / (1 + np.abs(right).max())
        assert error <= bound * np.finfo(float).eps


@pytest.mark.parametrize("seed", range(6))
def test_voronets_equations_of_random_systems(seed):
    """A moving holonomic constraint and a rolling one with a given speed."""
    system = random_system(seed, n=4, holonomic=1, nonholonomic=0)
    q, v, t = system.coordinates, system.velocities, system.time
    rolling = vn.Nonholonomic(v[0] + 0.4 * sp.sin(q[1]) * v[2] - 0.3 * sp.cos(q[3]) * v[1] - 0.2 * sp.cos(t), "rolls")
    system = changed(system, constraints=[*system.constraints, rolling])
    assert_same(vn.derive(system, "voronets"), random_states(system, seed))


def test_maggis_equations_are_a_form_and_not_a_kind_of_hamels():
    system, choices = EXAMPLES["snakeboard"]
    assert vn.derive(system, "maggi", **choices).form.name == "maggi"
    with pytest.raises(vn.VinculumError, match=r"kind='maggi'.*'voronets-hamel' or 'chaplygin-type'"):
        vn.derive(system, "hamel", kind="maggi", **choices)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inverse", [None, "newton"])
@pytest.mark.parametrize("name", ["sleigh", "sleigh with servo"])
def test_approached_constraints(name, inverse, kind, random):
    """Away from the constraint, ξ̇ = -κ ξ, in every form."""
    system, choices = EXAMPLES[name]
    rates = {"knife": 2.5}
    equations = in_kind(system, kind, rates=rates, inverse=inverse, **choices)
    expected = vn.derive(system, rates=rates)
    for _ in range(3):
        state = forward_state(name, random)
        state = {key: value + random.uniform(-0.05, 0.05) for key, value in state.items()}
        right = found(expected, state)
        np.testing.assert_allclose(found(equations, state), right, rtol=0, atol=1e-12 * (1 + np.abs(right).max()))


@pytest.mark.parametrize("form", ["multipliers", "lyapunov", "hamel"])
def test_a_holonomic_constraint_is_approached_with_a_double_root(form):
    """(d/dt + κ)² f = 0 from f = 0.3, ḟ = 0: f = 0.3 (1 + κt) e^(-κt)."""
    x, y, e = dynamicsymbols("x y e")
    f = (x**2 + y**2 - 1) / 2
    system = vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, constraints=[vn.Holonomic(f, "rod")])
    choices = {"characteristics": {e: x * y.diff() - y * x.diff()}} if form == "hamel" else {}
    equations = vn.derive(system, form, rates={"rod": 2.0}, **choices)
    motion = vn.simulate(equations, {x: np.sqrt(1.6), y: 0.0, x.diff(): 0.0, y.diff(): 0.4}, (0, 3))
    s = 2.0 * motion.t
    np.testing.assert_allclose(motion[f], 0.3 * (1 + s) * np.exp(-s), rtol=0, atol=1e-12)
    assert motion.energy_error < 1e-11
