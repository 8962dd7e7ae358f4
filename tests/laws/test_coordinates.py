"""Mechanics does not depend on the coordinates it is written in."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from laws.random_systems import FORMS, random_state, random_system, t, values
from vinculum import Holonomic, System, derive

SEEDS = range(6)


def new_coordinates(system: System) -> tuple[list[sp.Expr], dict[sp.Expr, sp.Expr]]:
    """r and q = φ(r, t), with φ near the identity, curved and moving."""
    n = len(system.coordinates)
    r = [dynamicsymbols(f"r{i + 1}") for i in range(n)]
    return r, {
        q: r[i] + sp.sin(r[(i + 1) % n]) / 4 - r[i - 1] * sp.cos(t) / 8 for i, q in enumerate(system.coordinates)
    }


def rewritten(system: System, r: list[sp.Expr], phi: dict[sp.Expr, sp.Expr]) -> System:
    """The system in the coordinates r: everything substituted, forces turned by Q_r = φ_rᵀ Q."""
    rules = phi | {q.diff(t): place.diff(t) for q, place in phi.items()}
    forces = {x: sum(phi[q].diff(x) * force.xreplace(rules) for q, force in system.forces.items()) for x in r}
    return System(
        coordinates=r,
        kinetic_energy=system.kinetic_energy.xreplace(rules),
        potential_energy=system.potential_energy.xreplace(rules),
        dissipation=system.dissipation.xreplace(rules),
        forces=forces,
        constraints=[type(c)(c.expression.xreplace(rules), name=c.name) for c in system.constraints],
        parameters=system.parameters,
        inputs=system.inputs,
        name=f"{system.name} rewritten",
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_accelerations_and_reactions_in_other_coordinates(form, seed):
    """With q = φ(r, t): q̈ = φ̈(r, ṙ, r̈, t) and the same λ."""
    system = random_system(seed, n=2 + seed % 3)
    r, phi = new_coordinates(system)
    other = rewritten(system, r, phi)
    state = random_state(other, np.random.default_rng(seed))
    found = derive(other, form).recover(state)
    known = state | found

    kept = {key: state[key] for key in (*system.inputs, t)}
    places = dict(zip(phi, values(phi.values(), known), strict=True))
    rates = values([place.diff(t) for place in phi.values()], known)
    expected = derive(system, form).recover(places | dict(zip(system.velocities, rates, strict=True)) | kept)

    transformed = values([place.diff(t, 2) for place in phi.values()], known)
    size = 1 + max(map(abs, expected.values()))
    for q, acceleration in zip(system.coordinates, transformed, strict=True):
        assert acceleration == pytest.approx(expected[q.diff(t, 2)], abs=1e-12 * size)
    for constraint in system.constraints:
        assert found[constraint.name] == pytest.approx(expected[constraint.name], abs=1e-12 * size)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_solved_constraint_is_no_constraint(seed):
    """Coordinate s with s = g(q, t) as a constraint, or g put in its place: one motion of q, and λ what g costs."""
    system = random_system(seed, n=3, holonomic=0, nonholonomic=seed % 2)
    s = dynamicsymbols("s")
    x, y, _ = system.coordinates
    g = sp.sin(x) * y + sp.cos(t) / 2
    spring = 2 * s**2 + sp.cos(s)
    inertia = s.diff(t) ** 2 / 2

    def with_more(kinetic: sp.Expr, potential: sp.Expr, **changes: object) -> System:
        fields = {name: getattr(system, name) for name in system.__dataclass_fields__}
        return System(**fields | {"kinetic_energy": kinetic, "potential_energy": potential} | changes)

    tied = with_more(
        system.kinetic_energy + inertia,
        system.potential_energy + spring,
        coordinates=[*system.coordinates, s],
        constraints=[*system.constraints, Holonomic(s - g, name="tie")],
    )
    put_in = {s: g, s.diff(t): g.diff(t)}
    free = with_more(
        system.kinetic_energy + inertia.xreplace(put_in), system.potential_energy + spring.xreplace(put_in)
    )
    state = random_state(system, np.random.default_rng(seed))
    place, rate = values([g, g.diff(t)], state)
    found = derive(tied).recover(state | {s: place, s.diff(t): rate})
    expected = derive(free).recover(state)
    for key in expected:
        assert found[key] == pytest.approx(expected[key], rel=1e-12, abs=1e-12)
    balance = found[s.diff(t, 2)] + values([spring.diff(s)], {s: place})[0]
    assert found["tie"] == pytest.approx(balance, rel=1e-12, abs=1e-12)
