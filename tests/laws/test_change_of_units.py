"""No verdict, refusal or outcome depends on units: the law of a change of units, for analysis and simulation alike.

With other units of each coordinate, time and energy, q = a Q, t = τ s, E = e E', the same system has

    T' = e T(a Q, a Q'/τ),  V' = e V(a Q),  D' = e τ D(a Q'/τ),  F' = e a F,

and constraints may be multiplied by any number.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

t = sp.Symbol("t")
x, y, z, theta, phi = dynamicsymbols("x y z theta phi")
u = sp.Symbol("u")

SYSTEMS = {
    "cart-pole": vn.System(
        [x, theta],
        1.15 * x.diff() ** 2 + 0.0375 * theta.diff() ** 2 + 0.15 * x.diff() * theta.diff() * sp.cos(theta),
        1.4715 * sp.cos(theta),
        forces={x: u},
        inputs=[u],
    ),
    "pendulum in a plane": vn.System(
        [x, y],
        (x.diff() ** 2 + y.diff() ** 2) / 2,
        9.81 * y,
        dissipation=0.05 * (x.diff() ** 2 + y.diff() ** 2),
        constraints=[vn.Holonomic(x**2 + y**2 - 1, "rod")],
    ),
    "skate": vn.System(
        [x, y, theta],
        (x.diff() ** 2 + y.diff() ** 2 + theta.diff() ** 2) / 2,
        2 * x**2 + 2 * theta**2 + x * theta,
        dissipation=(x.diff() ** 2 + theta.diff() ** 2) / 4,
        constraints=[vn.Nonholonomic(y.diff() * sp.cos(theta) - x.diff() * sp.sin(theta), "knife")],
    ),
    "hardening spring": vn.System([x], x.diff() ** 2 / 2, x**4, dissipation=x.diff() ** 2 / 3),
    "held pendulum": vn.System(
        [x, theta],
        1.15 * x.diff() ** 2 + 0.0375 * theta.diff() ** 2 + 0.15 * x.diff() * theta.diff() * sp.cos(theta),
        1.4715 * sp.cos(theta),
        forces={x: u},
        dissipation=0.01 * theta.diff() ** 2,
        inputs=[u],
        constraints=[vn.Servo(x + 0.8 * theta, through=[u], name="held")],
    ),
}
REST = {
    "cart-pole": {x: 0, theta: 0, u: 0},
    "pendulum in a plane": {x: 0, y: -1},
    "skate": {x: 0, y: 0, theta: 0},
    "hardening spring": {x: 0},
    "held pendulum": {x: 0, theta: 0},
}
START = {
    "cart-pole": {x: 0.1, theta: 0.2, x.diff(): 0.3, theta.diff(): 0},
    "pendulum in a plane": {x: 0.6, y: -0.8, x.diff(): 0.4},
    "skate": {x: 0.2, y: 0.1, theta: 0.3, x.diff(): 0.3, theta.diff(): 0.1},
    "hardening spring": {x: 0.5, x.diff(): 0.2},
    "held pendulum": {theta: 0.05, theta.diff(): 0.0},
}
UNITS = {  # (coordinates that are lengths, time, energy, constraints)
    "grams and millimeters": (1e3, 1.0, 1e9, 1e6),
    "a microgram in a micrometer": (1e6, 1e-3, 1e-15, 1e-9),
    "ships": (1e-3, 60.0, 1e-12, 1.0),
}


def in_units(system, length, time, energy):
    """The same system in other units; angles stay."""
    a = {q: 1.0 if q in (theta, phi) else 1 / length for q in system.coordinates}

    def other(expression):
        velocities = {q.diff(t): a[q] / time * sp.Symbol(f"v_{q.func}") for q in system.coordinates}
        places = {q: a[q] * q for q in system.coordinates}
        back = {sp.Symbol(f"v_{q.func}"): q.diff(t) for q in system.coordinates}
        return sp.sympify(expression).subs(velocities).subs(places).subs(back)

    constraints = [type(c)(**{**c.__dict__, "expression": other(c.expression)}) for c in system.constraints]
    return a, vn.System(
        system.coordinates,
        energy * other(system.kinetic_energy),
        energy * other(system.potential_energy),
        forces={q: energy * a[q] * other(f) for q, f in system.forces.items()},
        dissipation=energy * time * other(system.dissipation),
        constraints=constraints,
        inputs=system.inputs,
    )


def scaled(point, a, time):
    """The same state in other units; inputs are left alone (their scale is in the force)."""
    return {
        key: value / a[key] if key in a else value / a[key.args[0]] * time if isinstance(key, sp.Derivative) else value
        for key, value in point.items()
    }


@cache
def original(name):
    equations = vn.derive(SYSTEMS[name])
    return equations, vn.stability(vn.linearize(equations, at=REST[name]))


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_verdicts_and_linear_models(name, units):
    length, time, energy, _ = UNITS[units]
    equations, verdict = original(name)
    a, system = in_units(SYSTEMS[name], length, time, energy)
    other = vn.derive(system)
    linear = vn.linearize(other, at=scaled(REST[name], a, time))
    found = vn.stability(linear)
    assert (found.kind, found.theorem, found.critical) == (verdict.kind, verdict.theorem, verdict.critical)
    assert found.drifting == verdict.drifting
    roots = [sorted(r, key=lambda root: (round(root.real, 6), root.imag)) for r in (found.roots / time, verdict.roots)]
    np.testing.assert_allclose(*roots, rtol=1e-6, atol=1e-7)
    mine = vn.linearize(equations, at=REST[name])
    assert linear.states == mine.states
    if mine.inputs:
        lost = [[m.lost for m in vn.linear.controllability(model)] for model in (linear, mine)]
        assert lost[0] == lost[1]


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_refusals(name, units):
    """A point that is not an equilibrium is one in no units."""
    length, time, energy, _ = UNITS[units]
    a, system = in_units(SYSTEMS[name], length, time, energy)
    moved = theta if theta in system.coordinates else x
    wrong = scaled({**REST[name], moved: 0.01}, a, time)
    with pytest.raises(vn.VinculumError, match="not an equilibrium"):
        vn.linearize(vn.derive(system), at=wrong)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_motions_and_outcomes(name, units):
    length, time, energy, _ = UNITS[units]
    equations, _ = original(name)
    a, system = in_units(SYSTEMS[name], length, time, energy)
    free = dict.fromkeys(equations.inputs, 0.0)
    motion = vn.simulate(equations, START[name], np.linspace(0, 1, 5), inputs=free)
    other = vn.simulate(vn.derive(system), scaled(START[name], a, time), np.linspace(0, 1 / time, 5), inputs=free)
    assert other.outcome.kind == motion.outcome.kind
    for q in system.coordinates:
        np.testing.assert_allclose(other[q] * a[q], motion[q], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("units", UNITS)
def test_a_run_beyond_its_stability_limit_is_lost_in_any_units(units):
    length, time, energy, _ = UNITS[units]
    stiff = vn.System([x], x.diff() ** 2 / 2, 5e5 * x**2)
    a, system = in_units(stiff, length, time, energy)
    motion = vn.simulate(
        vn.derive(system), scaled({x: 0.1, x.diff(): 0.0}, a, time), (0, 1 / time), method="rk4", step=0.01 / time
    )
    assert not motion.outcome
