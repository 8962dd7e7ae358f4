"""The energy changes by the work done on the system, and by nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from laws.random_systems import consistent_state, random_system
from simulate.models import (
    SKATE_START,
    SPEED_START,
    angle_pendulum,
    c,
    cartesian_system,
    constant_speed,
    g,
    hanging,
    m,
    omega,
    pendulum,
    rod,
    run,
    skate,
    t,
    theta,
    turning_rod,
    x,
    y,
)

FORMS = ("multipliers", "lyapunov")
push = sp.Symbol("push")


def imbalance(motion: vn.Trajectory) -> float:
    """The largest |E - E₀ - W| at the samples."""
    return float(np.abs(motion.energy - motion.energy[0] - motion.work).max())


def damped() -> vn.System:
    return cartesian_system(dissipation=c * (x.diff() ** 2 + y.diff() ** 2) / 2, parameters=with_number(c, 0.4))


def driven() -> vn.System:
    return cartesian_system(forces={x: push, y: push * x}, inputs=[push])


def shaken() -> vn.System:
    """The point of suspension moves by given functions of time."""
    moving = ((x - sp.cos(omega * t) / 5) ** 2 + (y - sp.sin(2 * omega * t) / 7) ** 2 - 1) / 2
    return cartesian_system(constraints=[vn.Holonomic(moving, name="rod")], parameters=with_number(omega, 1.7))


def breathing() -> vn.System:
    """Mass and gravity are given functions of time."""
    factor = 1 + sp.sin(omega * t) / 3
    kinetic = m * factor * (x.diff() ** 2 + y.diff() ** 2) / 2 + sp.cos(t) * x * y.diff()
    return cartesian_system(
        kinetic_energy=kinetic, potential_energy=m * g * y * sp.cos(t), parameters=with_number(omega, 1.3)
    )


def with_number(parameter: sp.Symbol, value: float) -> dict[sp.Symbol, float]:
    return dict(cartesian_system().parameters) | {parameter: value}


LAWS = {push: 2 * sp.sin(3 * t) - x.diff() + y * sp.cos(x)}
CASES = {
    "dissipation": (damped, {}, hanging()),
    "an input of time and state": (driven, {"inputs": LAWS}, hanging()),
    "a moving constraint": (shaken, {}, {x: 0.9, y: -0.5}),
    "explicit time": (breathing, {}, hanging(speed=0.3)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_energy_follows_the_work(form, name):
    """E - E₀ = ∫ power, to rounding; and there was some work to follow."""
    system, options, start = CASES[name]
    motion = run(vn.derive(system(), form), start, (0, 3), fixed=[x], **options)
    assert imbalance(motion) < 1e-12
    assert np.ptp(motion.work) > 0.5


@pytest.mark.parametrize("form", FORMS)
def test_a_servo_that_keeps_the_speed_takes_the_power_of_gravity(form):
    """|v| = c: the kinetic energy is constant, so W = m g (y - y₀)."""
    motion = run(constant_speed(form), SPEED_START, (0, 3))
    numbers = constant_speed().system.parameters
    assert imbalance(motion) < 1e-12
    np.testing.assert_allclose(motion.work, numbers[m] * numbers[g] * motion[y], rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_motor_of_a_turning_wire_gives_all_the_energy(form):
    """r = r₀ cosh ωt: W = m ω² r₀² sinh² ωt."""
    motion = run(turning_rod(form), {x: 0.6, y: 0.0, x.diff(): 0.0}, (0, 2))
    speed = turning_rod().system.parameters[omega]
    expected = (speed * 0.6 * np.sinh(speed * motion.t)) ** 2
    np.testing.assert_allclose(motion.work, expected, rtol=0, atol=1e-12 * expected.max())
    assert imbalance(motion) < 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_energy_follows_the_work_in_random_systems(seed):
    """Forces, dissipation, inputs, explicit time, holonomic and nonholonomic constraints, all at once."""
    system = random_system(seed, n=2 + seed % 3)
    start = consistent_state(system, np.random.default_rng(seed))
    first, last = system.coordinates[0], system.coordinates[-1]
    laws = dict(zip(system.inputs, (sp.sin(t + last), 1 - first.diff(t)), strict=True))
    begin = start[t]
    initial = {key: start[key] for key in (*system.coordinates, *system.velocities)}
    motion = run(vn.derive(system), initial, (begin, begin + 1), inputs=laws)
    size = 1 + np.abs(motion.energy).max() + np.abs(motion.work).max()
    assert imbalance(motion) < 1e-12 * size
    assert motion.energy_error < 1e-12 * size
    assert np.ptp(motion.work) > 1e-3


@pytest.mark.parametrize("method", ["euler", "rk4", "ab3"])
def test_the_reported_error_is_the_largest_imbalance(method):
    """Every step of these runs is a sample."""
    motion = run(vn.derive(damped()), hanging(), (0, 1), method, step=2e-3)
    assert len(motion.t) == 501
    assert motion.energy_error == pytest.approx(imbalance(motion), rel=1e-9, abs=1e-14)
    assert motion.energy_error > 1e-12


def test_the_reported_error_is_at_least_that_of_the_samples():
    """Taylor steps are longer than the distances of the samples."""
    motion = run(vn.derive(damped()), hanging(), (0, 3), tolerance=1e-6)
    assert motion.energy_error > 1e-10
    assert imbalance(motion) < 3 * motion.energy_error


@pytest.mark.parametrize(
    ("equations", "start"),
    [(angle_pendulum, {theta: 1.0}), (pendulum, hanging()), (skate, SKATE_START)],
)
def test_a_conservative_system_does_no_work(equations, start):
    """No power by structure: no state is spent on it, and the work is exactly zero."""
    motion = run(equations(), start, (0, 2))
    assert len(motion.problem.nodes.state) == 2 * len(equations().system.coordinates)
    assert np.all(motion.work == 0)
    assert imbalance(motion) < 1e-13


def test_a_homogeneous_nonholonomic_constraint_does_no_work():
    """Appell and Hamel: ż² l² = (ẋ² + ẏ²) written as a root, homogeneous of degree one."""
    z = sp.Function("z")(t)
    kinetic = (x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2) / 2
    rolling = vn.Nonholonomic(z.diff() - sp.sqrt(x.diff() ** 2 + y.diff() ** 2), name="rolling")
    equations = vn.derive(vn.System([x, y, z], kinetic, g * z, constraints=[rolling], parameters={g: 2.0}))
    motion = run(equations, {x: 0, y: 0, z: 0, x.diff(): 3.0, y.diff(): 4.0}, (0, 1))
    assert np.all(motion.work == 0)
    assert imbalance(motion) < 1e-12


def test_a_rod_of_given_length_does_no_work():
    """The same pendulum with the rod's length a given function of time does: then, and only then, it is counted."""
    still, growing = (
        cartesian_system(constraints=[vn.Holonomic(rod().expression - change, name="rod")])
        for change in (sp.S.Zero, t / 10)
    )
    assert np.all(run(vn.derive(still), hanging(), (0, 1)).work == 0)
    motion = run(vn.derive(growing), hanging(), (0, 1), fixed=[x])
    assert np.abs(motion.work).max() > 0.1
    assert imbalance(motion) < 1e-12
