"""The strict first approximation: equal to differences on the constraints, with structural zeros counted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import vinculum as vn
from analyze.machines import random_machine, two_deltas
from examples import ball_and_beam, delta_robot, watt_governor
from laws.random_systems import t
from vinculum.simulation.problem.problem import build_problem

SEEDS = range(10)


@cache
def analyzed(seed):
    """Shulgin's equations of a random machine with an equilibrium and its linear model."""
    system = random_machine(seed)
    equations = vn.derive(system, "shulgin")
    rest = vn.equilibrium(equations, dict.fromkeys(system.inputs, 0.3))
    return equations, rest, vn.linearize(equations, at=rest)


def accelerations_on_the_constraints(equations, rest, independent, x, v, inputs):
    """r̈ from the form with multipliers at r = r₀ + x, ṙ = v, with s and ṡ solved on the constraints."""
    coordinates = {q: rest[q] + d for q, d in zip(independent, x, strict=True)}
    velocities = {q.diff(t): d for q, d in zip(independent, v, strict=True)}
    guess = {q: rest[q] for q in equations.system.coordinates if q not in independent}
    start = vn.consistent_state(equations, coordinates | velocities, guess=guess)
    found = equations.accelerations(start | inputs)
    return np.array([found[q.diff(t, 2)] for q in independent])


def differences(seed):
    """[K-part, D-part, input part] of r̈ to first order, by central differences of fourth order."""
    equations, rest, linear = analyzed(seed)
    system, h = equations.system, 2e-3
    full = vn.derive(system, "multipliers")
    n = len(linear.states) // 2
    independent = linear.states[:n]
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}

    def at(point):
        x, v, u = np.split(point, [n, 2 * n])
        inputs = {key: rest[key] + d for key, d in zip(system.inputs, u, strict=True)}
        return accelerations_on_the_constraints(full, rest, independent, x, v, inputs)

    unit = np.eye(2 * n + len(system.inputs))
    return np.array([sum(w * at(k * h * e) for k, w in weights.items()) / h for e in unit]).T


@pytest.mark.parametrize("seed", SEEDS)
def test_equals_differences_on_the_constraints(seed):
    _, _, linear = analyzed(seed)
    n = len(linear.states) // 2
    found = np.hstack([linear.system_matrix[n:], linear.input_matrix[n:]])
    np.testing.assert_allclose(found, differences(seed), rtol=0, atol=1e-7 * (1 + np.abs(found).max()))


def test_the_random_machines_have_all_terms():
    """So that the comparison says something: every matrix is there in every machine, and large in most."""
    for name in ("D", "P", "C1", "C4", "CB", "PB", "B", "V_u"):
        sizes = [np.abs(getattr(analyzed(seed)[2], name)).max() for seed in SEEDS]
        assert min(sizes) > 1e-5, name
        assert np.median(sizes) > 5e-3, name  # 1e-7 is the bound of the comparison
    several = [analyzed(seed)[2] for seed in SEEDS if len(analyzed(seed)[2].A) > 1]
    assert np.median([np.abs(linear.G).max() for linear in several]) > 0.05
    assert np.median([np.abs(linear.P - linear.P.T).max() for linear in several]) > 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_matrices_by_their_names(seed):
    """C3 = C2ᵀ, G skew, CB and PB symmetric, K and the roots from them."""
    _, _, linear = analyzed(seed)
    np.testing.assert_allclose(linear.C3, linear.C2.T, atol=1e-12)
    np.testing.assert_allclose(linear.G, -linear.G.T, atol=1e-12)
    for part in (linear.A, linear.CB, linear.PB):
        np.testing.assert_allclose(part, part.T, atol=1e-11)
    assert np.linalg.eigvalsh(linear.A).min() > 0
    B = linear.B
    W = linear.C1 + linear.C2 @ B + B.T @ linear.C3 + B.T @ linear.C4 @ B
    np.testing.assert_allclose(linear.stiffness, W + linear.CB - linear.PB - linear.P, atol=1e-12)
    np.testing.assert_allclose(linear.damping, linear.G - linear.D, atol=1e-11)
    for root in linear.roots:
        pencil = linear.A * root**2 + (linear.G - linear.D) * root + linear.stiffness
        assert np.linalg.svd(pencil, compute_uv=False)[-1] < 1e-9 * np.abs(linear.stiffness).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_every_partition_has_the_same_roots(seed):
    equations, rest, linear = analyzed(seed)
    other = vn.linearize(vn.derive(equations.system, "multipliers"), at=rest)
    np.testing.assert_allclose(np.sort_complex(other.roots), np.sort_complex(linear.roots), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_replacement_21_has_no_linear_part(seed):
    """z = y - B(0) x: its rate (B(q) - B(0)) ẋ is of second order, a quarter for half the perturbation."""
    equations, rest, linear = analyzed(seed)
    n = len(linear.states) // 2
    independent = linear.states[:n]
    dependent = [equations.system.coordinates[i] for i in equations.partition.s]
    random = np.random.default_rng(seed)
    x, v = random.normal(size=(2, n))

    def rate(size):
        known = {q: rest[q] + size * d for q, d in zip(independent, x, strict=True)}
        known |= {q.diff(t): size * d for q, d in zip(independent, v, strict=True)}
        start = vn.consistent_state(equations, known, guess={q: rest[q] for q in dependent})
        moved = np.array([start[q.diff(t)] for q in dependent])
        return np.abs(moved - linear.B @ (size * v)).max()

    assert rate(1e-3) / rate(5e-4) == pytest.approx(4, rel=0.02)


# -- structural zeros ------------------------------------------------------------------------------------------------


@cache
def analyzed_deltas():
    system, places, arms = two_deltas()
    equations = vn.derive(system, "shulgin", dependent=places)
    at = dict(zip(places, [0.05, 0.02, -0.9, -0.03, 0.04, -0.85], strict=True))
    rest = vn.equilibrium(equations, at, near=dict.fromkeys(arms, 0.1), starts=0)
    return equations, rest, vn.linearize(equations, at=rest)


def test_structural_zeros_of_twelve_coordinates_and_six_constraints_with_motors():
    equations, _, linear = analyzed_deltas()
    mechanical = [q for q in equations.system.coordinates if not str(q).startswith("charge")]
    assert len(mechanical) == 12
    assert len(equations.system.constraints) == 6
    assert len(equations.system.inputs) == 6
    assert linear.critical == 6
    assert len(linear.states) == 2 * 6 + 6  # angles, their velocities, currents
    assert np.abs(linear.roots).min() > 1e-4  # no zero of a constraint is left in


def test_the_other_roots_are_those_of_the_full_system():
    """2n + m and the motors: six zeros of constraints, six of charges, and the roots of the reduced equation."""
    equations, rest, linear = analyzed_deltas()
    system = equations.system
    start = {key: rest[key] for key in (*system.coordinates, *system.velocities)}
    held = {u: rest[u] for u in system.inputs}
    problem, x = build_problem(equations, start, 0.0, held, dict(system.parameters), [])
    n = len(equations.states)
    full = problem.compiled(tuple(problem.nodes.jacobian()[:n, :n].ravel()))(0.0, x, problem.values).reshape(n, n)
    roots = sorted(np.linalg.eigvals(full), key=abs)
    assert np.abs(roots[:12]).max() < 1e-5
    expected = sorted(linear.roots, key=abs)
    for root in roots[12:]:
        nearest = min(expected, key=lambda other: abs(other - root))
        assert abs(nearest - root) < 1e-7 * max(1.0, abs(root))
    assert len(roots) - 12 == len(expected)


def test_conserved_momenta_are_counted_too():
    system = watt_governor.system()
    equations = vn.derive(system, "shulgin", dependent=[watt_governor.s])
    rest = vn.equilibrium(equations, {watt_governor.phi.diff(): 14.0}, near={watt_governor.alpha: 1.0}, starts=0)
    assert vn.linearize(equations, at=rest).critical == 2  # arms, and the momentum of the spin


# -- refusals --------------------------------------------------------------------------------------------------------

r, theta, alpha, u = ball_and_beam.r, ball_and_beam.theta, ball_and_beam.alpha, ball_and_beam.u


@cache
def beam():
    return vn.derive(ball_and_beam.system(), "shulgin", dependent=[alpha])


def test_a_point_off_the_constraints_is_refused_with_the_residual():
    with pytest.raises(vn.VinculumError, match=r"not an equilibrium.*constraint lever: -0\.00421"):
        vn.linearize(beam(), at={r: 0.2, theta: 0.5, alpha: 0.0, u: 0.07106364})


def test_a_point_that_is_no_equilibrium_is_refused_with_the_residual():
    with pytest.raises(vn.VinculumError, match=r"not an equilibrium.*equation of theta: 0\.0710636"):
        vn.linearize(beam(), at={r: 0.2, theta: 0.0, alpha: 0.0, u: 0.0})


def test_missing_values_are_named():
    with pytest.raises(vn.ModelError, match="No value for alpha, u"):
        vn.linearize(beam(), at={r: 0.2, theta: 0.0})


def test_the_matrices_of_the_paper_are_those_of_holonomic_systems():
    from examples import rolling_disc as disc

    equations = vn.derive(disc.system())
    steady = vn.steady(equations, {disc.theta: 1.2, disc.psi.diff(): 2.0})
    with pytest.raises(vn.ModelError, match="not holonomic"):
        _ = vn.linearize(equations, at=steady).CB


def test_a_dictionary_will_do_for_the_point():
    point = {r: 0.2, theta: 0.0, alpha: 0.0, u: 0.1 * (0.0282 * 0.2 + 0.334 * 0.2) * 9.81}
    found = vn.linearize(beam(), at=point)
    expected = vn.linearize(beam(), at=vn.equilibrium(beam(), {r: 0.2}, starts=0))
    np.testing.assert_allclose(found.roots, expected.roots, atol=1e-12)


def test_measured_dependent_coordinates_are_rows_of_B():
    linear = delta_robot.stabilized()[2]
    for mu, place in enumerate(delta_robot.platform):
        np.testing.assert_allclose(linear.measured[place], [*linear.B[mu], 0, 0, 0])
        np.testing.assert_allclose(linear.measured[place.diff()], [0, 0, 0, *linear.B[mu]])
