"""Krasinskiy 2025 in general form: the governor in Routh's form, and friction that must damp.

The scalar form (15) and the errata of the paper are in `papers.redundant`, tested by test_records.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import vinculum as vn
from examples import five_bar, watt_governor
from roots import assert_roots
from vinculum.simulation.problem.problem import build_problem

# -- A9: the governor -------------------------------------------------------------------------------------------------

alpha, s, phi = watt_governor.alpha, watt_governor.s, watt_governor.phi
MOVING = {alpha: 0.5, s: -0.6 * np.cos(0.5), phi: 0.0, alpha.diff(): 0.3, phi.diff(): 8.0}


@cache
def governor(form):
    dependent = {} if form in ("multipliers", "lyapunov") else {"dependent": [s]}
    return vn.derive(watt_governor.system(), form, **dependent)


@cache
def steady():
    return vn.equilibrium(governor("routh"), {phi.diff(): 14.0}, near={alpha: 1.0})


def test_routh_gives_the_accelerations_of_lagrange():
    routh, full = governor("routh"), governor("multipliers")
    assert [str(p) for p in routh.definitions] == ["p_phi(t)"]
    found = routh.recover(MOVING)
    expected = full.recover(MOVING | {s.diff(): 0.6 * np.sin(0.5) * 0.3})
    for key in (*full.acceleration_symbols, "arms"):
        assert found[key] == pytest.approx(expected[key], rel=1e-13)


def test_roots_of_the_steady_motion_equal_brute_force():
    """One zero root of the constraint, one of the momentum, one of the angle phi itself; the pair by construction."""
    routh, rest = governor("routh"), steady()
    system = routh.system
    start = {key: rest[key] for key in (*system.coordinates, *system.velocities)}
    problem, x = build_problem(routh, start, 0.0, {}, dict(system.parameters), [])
    rates, n = problem.compiled(problem.nodes.rates), len(routh.states)
    slopes = np.array([_slope(lambda x: rates(0.0, x, problem.values), x, i) for i in range(n)]).T[:n, :n]
    linear = vn.linearize(routh, at=rest)
    assert linear.critical == 2
    brute = sorted(np.linalg.eigvals(slopes), key=abs)
    assert np.abs(brute[:3]).max() < 1e-5
    assert_roots(linear.roots, brute[3:], digits=7)


def _slope(f, x, i, h=1e-4):
    """Central difference of fourth order."""
    e = h * np.eye(len(x))[i]
    return (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h)


def test_routh_and_shulgin_have_the_same_first_approximation():
    other = vn.linearize(governor("shulgin"), at=steady())
    np.testing.assert_allclose(vn.linearize(governor("routh"), at=steady()).roots, other.roots, rtol=1e-12)
    assert other.critical == 2


def test_the_steady_motion_of_a_given_momentum():
    rest = steady()
    (p,) = governor("routh").definitions
    again = vn.equilibrium(governor("routh"), {p: rest[p]}, near={alpha: 0.9}, starts=0)
    assert again[phi.diff()] == pytest.approx(14.0, rel=1e-12)
    assert again[alpha] == pytest.approx(rest[alpha], rel=1e-12)


def test_a_changed_momentum_stays_changed():
    """Stable, not asymptotically, in the momentum: the motion tends to another steady motion with the same p."""
    rest, routh = steady(), governor("routh")
    (p,) = routh.definitions
    start = {alpha: rest[alpha], phi: 0.0, alpha.diff(): 0.0, phi.diff(): 14.5}
    motion = vn.simulate(routh, start, (0, 200), guess={s: rest[s]})
    shifted = vn.equilibrium(routh, {p: motion[p][0]}, near={alpha: rest[alpha]}, starts=0)
    assert abs(shifted[alpha] - rest[alpha]) > 1e-2
    assert motion[alpha][-1] == pytest.approx(shifted[alpha], abs=1e-9)
    assert motion[phi.diff()][-1] == pytest.approx(shifted[phi.diff()], abs=1e-8)


# -- errata of the first approximation -------------------------------------------------------------------------------


def test_erratum_24_sign_of_damping():
    """Q = f q̇ enters as G - D. The printed + D makes a damped five-bar unstable."""
    robot = five_bar.system()
    damped = sum(q.diff() ** 2 for q in five_bar.theta) / 20
    equations = vn.derive(replace(robot, dissipation=damped), "shulgin", dependent=five_bar.phi)
    hanging = vn.equilibrium(equations, dict.fromkeys(five_bar.u, 0.0), near=_hanging(), starts=0)
    linear = vn.linearize(equations, at=hanging)
    assert vn.stability(linear).kind == "asymptotically stable"
    np.testing.assert_allclose(linear.damping, linear.G - linear.D, atol=1e-12)
    n = len(linear.A)
    inverse = np.linalg.inv(linear.A)
    printed = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ linear.stiffness, -inverse @ (linear.G + linear.D)]])
    assert np.linalg.eigvals(printed).real.max() > 0.1


def _hanging():
    """The five-bar hanging down from its two motors."""
    angles = five_bar.angles(0.1 - 0.45j)
    return dict(zip((*five_bar.theta, *five_bar.phi), angles, strict=True))
