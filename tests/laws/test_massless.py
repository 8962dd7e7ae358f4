"""Coordinates without inertia: determined by constraints, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from laws.random_systems import changed, consistent_state, random_state, random_system, t, values
from vinculum import Holonomic, System, derive
from vinculum.errors import SingularError

s = dynamicsymbols("s")


def spring(place: sp.Expr) -> sp.Expr:
    return 3 * place**2 / 2 + sp.sin(place)


def with_slider(seed: int) -> tuple[System, System, sp.Expr]:
    """A random system whose massless coordinate s = g(q, t) stretches a spring, and the same with s eliminated."""
    system = random_system(seed, n=2 + seed % 3)
    first, last = system.coordinates[0], system.coordinates[-1]
    g = sp.sin(first) + last / 2 + sp.cos(t) / 3
    slider = changed(
        system,
        coordinates=[*system.coordinates, s],
        potential_energy=system.potential_energy + spring(s),
        constraints=[*system.constraints, Holonomic(s - g, name="guide")],
    )
    return slider, changed(system, potential_energy=system.potential_energy + spring(g)), g


@pytest.mark.parametrize("seed", range(6))
def test_a_massless_coordinate_follows_its_constraint(seed):
    """Eliminating s by hand gives the same motion; s̈ = g̈, and λ balances the spring: 0 = -V_s + λ."""
    slider, eliminated, g = with_slider(seed)
    state = random_state(eliminated, np.random.default_rng(seed))
    place, rate = values([g, g.diff(t)], state)
    found = derive(slider, "multipliers").recover(state | {s: place, s.diff(t): rate})
    expected = derive(eliminated).recover(state)
    for key in expected:
        assert found[key] == pytest.approx(expected[key], rel=1e-12, abs=1e-12)
    assert found[s.diff(t, 2)] == pytest.approx(values([g.diff(t, 2)], found | {t: state[t]})[0], abs=1e-12)
    assert found["guide"] == pytest.approx(values([spring(s).diff(s)], {s: place})[0], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_lyapunovs_form_refuses_a_massless_coordinate_by_name(seed):
    slider, _, _ = with_slider(seed)
    state = consistent_state(slider, np.random.default_rng(seed))
    with pytest.raises(SingularError, match=r"singular in s, .*form='multipliers'"):
        derive(slider, "lyapunov").accelerations(state)


def test_lyapunovs_form_names_all_that_share_one_inertia():
    """T = (ẋ + ẏ)²/2 leaves ẋ - ẏ without inertia."""
    x, y, z = dynamicsymbols("x y z")
    kinetic = (x.diff(t) + y.diff(t)) ** 2 / 2 + z.diff(t) ** 2 / 2
    system = System([x, z, y], kinetic, constraints=[Holonomic(x - y - z, name="link")])
    state = dict.fromkeys([*system.coordinates, *system.velocities], 0.0)
    with pytest.raises(SingularError, match="singular in x, y,"):
        derive(system, "lyapunov").accelerations(state)
    assert derive(system, "multipliers").accelerations(state) == {q.diff(t, 2): 0 for q in (x, z, y)}


@pytest.mark.parametrize("form", ["multipliers", "lyapunov"])
def test_an_undetermined_acceleration_is_refused_by_name(form):
    """V(s) without inertia and without constraint: 0 = -V_s says nothing about s̈."""
    x, y = dynamicsymbols("x y")
    system = System(
        [x, s, y], x.diff(t) ** 2 + y.diff(t) ** 2, spring(s), constraints=[Holonomic(x - sp.sin(y), name="guide")]
    )
    state = consistent_state(system, np.random.default_rng(1))
    with pytest.raises(SingularError, match=r"\bs\b") as caught:
        derive(system, form).accelerations(state)
    assert not any(f" {name}," in str(caught.value).split(":")[0] for name in ("x", "y"))


def test_the_refusal_gives_the_place_of_a_coordinate_singularity():
    """T = ṙ²/2 + r² φ̇²/2: at r = 0 the angle has no inertia."""
    r, angle = dynamicsymbols("r angle")
    system = System([r, angle], r.diff(t) ** 2 / 2 + r**2 * angle.diff(t) ** 2 / 2)
    with pytest.raises(SingularError, match=r"acceleration of angle .* at r = 0, angle = 0\.5"):
        derive(system).accelerations({r: 0.0, angle: 0.5, r.diff(t): 0.0, angle.diff(t): 0.0})
