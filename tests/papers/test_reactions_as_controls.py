"""Paper 003: a wheel with a pendulum in a gutter, its reactions as controls (docs/reactions_as_controls.md)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import vinculum as vn
from examples import wheel_in_gutter
from examples.wheel_with_reactions import (
    GUESS,
    REFERENCE,
    STATES,
    U,
    alpha,
    gutter,
    normal_reaction,
    phi,
    phid,
    program,
    start,
    theta,
    thetad,
    wheel,
    x,
    xd,
    z,
    zd,
)
from vinculum.simulation import METHODS


def as_system() -> vn.System:
    """The same wheel by its energies; α has no inertia."""
    return wheel_in_gutter.system()


def run(equations, times, method="taylor", **options):
    motion = vn.simulate(equations, start(equations), times, method, progress=False, **options)
    assert motion.outcome, str(motion.outcome)
    return motion


def position(motion: vn.Trajectory) -> dict[str, float]:
    return {name: value for (name, level), value in motion.largest_residuals.items() if level == "position"}


def test_the_relative_degree_is_2_1_1_on_the_manifold_only():
    """ḟ₁ contains U with the coefficient -r f₃, which is zero only on the manifold; nothing else was dropped."""
    equations = program()
    assert equations.degrees == {"contact": 2, "rolling": 1, "tangency": 1}
    assert [chain.dropped for chain in equations.chains_found] == [(0,), (), ()]


@pytest.mark.parametrize("rate", [1.0, 1500.0])
def test_states_agree_with_256_bit_arithmetic(rate):
    motion = run(program(rate), [0, 1, 2])
    for i, values in enumerate(REFERENCE.values(), start=1):
        for key, value in values.items():
            assert motion[key][i] == pytest.approx(value, rel=0, abs=1e-10)


def test_a_system_by_energies_converts_to_the_same_motion():
    """Multipliers of contact and rolling and the rate of α are the inputs; that of tangency follows."""
    affine = vn.program.to_affine(as_system())
    assert len(affine.states) == 9
    assert [str(u) for u in affine.inputs] == ["reaction(contact)", "reaction(rolling)", "rate(alpha)"]
    equations = vn.derive(as_system(), form="program", rates=1.0)
    assert equations.degrees == {"contact": 2, "rolling": 1, "tangency": 1}
    motion = vn.simulate(equations, {key: GUESS[key] for key in STATES} | start(program()), [0, 1, 2])
    for i, values in enumerate(REFERENCE.values(), start=1):
        assert max(abs(motion[key][i] - value) for key, value in values.items()) < 1e-10
    assert motion.energy_error < 1e-12


def test_residuals_off_the_manifold_decay_exactly_as_prescribed():
    """f₂ e^{λt} and f₃ e^{λt} are constant from residuals of 1e-3 to 2e-2, thanks to the term -U (v, μ) in ḟ₂."""
    off = start(program()) | {z: -0.43, alpha: -1.59, zd: -0.02, thetad: -5.95}
    rate, times = 3.0, np.linspace(0, 1, 11)
    motion = vn.simulate(program(rate), off, times, progress=False)
    for name in ("rolling", "tangency"):
        residual = motion.residuals[name, "position"]
        assert 1e-3 < abs(residual[0]) < 3e-2
        np.testing.assert_allclose(residual * np.exp(rate * times), residual[0], rtol=1e-11)
    assert abs(motion.residuals["contact", "position"][-1]) < abs(motion.residuals["contact", "position"][0])


def test_the_paper_s_run_in_short():
    """AB2, step 1e-5, rate 1500 over [0, 2]: f below 2e-9 (the paper: 5e-10 for its own Adams method), energy 5e-7."""
    motion = run(program(), (0, 2), "ab2", step=1e-5)
    assert max(position(motion).values()) < 2e-9
    assert motion.energy_error < 5e-7


def test_sampled_runge_kutta_needs_a_hundred_times_fewer_steps():
    """The paper: 20 million Adams steps of 1e-5 for 5e-10 and 2e-8. RK4 with held feedback: steps of 1e-3."""
    motion = run(program(None), (0, 20), "rk4", step=1e-3, stabilization=vn.Sampled())
    assert max(position(motion).values()) < 5e-10
    assert motion.energy_error < 3e-8


LIMITS = {
    "euler": 2.0,
    "midpoint": 2.0,
    "ab2": 1.0,
    "ab3": 6 / 11,
    "ab4": 0.3,
    "ab5": 90 / 551,
    "abm2": 2.0,
    "abm3": 1.729,
    "abm4": 1.285,
    "rk4": 2.785,
}


@pytest.mark.parametrize("method", LIMITS)
def test_the_rate_is_limited_by_the_method_alone(method):
    """λ < z_max/h: 3 % below it the residual stays small, 3 % above it grows beyond all bounds (A6)."""
    step, limit = 1e-4, LIMITS[method]

    def largest(share: float) -> float:
        equations = program(share * limit / step)
        motion = vn.simulate(equations, start(equations), (0, 0.2), method, step=step, progress=False,
                             stabilization=vn.Baumgarte())  # fmt: skip
        return max(position(motion).values()) if motion.outcome else np.inf

    assert largest(0.97) < 1e-2
    assert largest(1.03) > 1


def test_without_feedback_nothing_is_unstable():
    """There is no lower limit of the rate: λ = 0 leaves the drift of the method."""
    motion = run(program(None), (0, 1), "ab4", step=1e-4, stabilization="none")
    assert max(position(motion).values()) < 1e-8


def test_contact_is_lost_where_the_normal_reaction_changes_its_sign():
    """First at t ≈ 0.24: with a unilateral contact the wheel would leave the gutter there."""
    lift = vn.Event(normal_reaction(), "lift-off", direction="any", terminal=True)
    motion = run(program(1.0), (0, 2), events=[lift])
    assert motion.outcome.kind == "event"
    assert motion.t[-1] == pytest.approx(0.239176, abs=1e-6)
    assert abs(motion[normal_reaction()][-1]) < 1e-10


def test_another_profile_as_a_formula():
    """Energy and constraints hold in a gutter that nobody prepared."""
    profile = lambda s: sp.Rational(3, 10) * s**2 + sp.cos(3 * s) / 20  # noqa: E731  # one formula
    equations = vn.derive(wheel(profile), form="program", rates=1.0)
    where = {x: 0.4, xd: 0.3, theta: 0.0, phi: 1.0, phid: 0.5, alpha: -1.4}
    initial = vn.consistent_state(equations, where | {z: 0.2, zd: 0.0, thetad: 0.0}, fixed=[x, xd, theta, phi, phid])
    motion = vn.simulate(equations, initial, (0, 5), progress=False)
    assert motion.outcome
    assert motion.energy_error < 1e-12
    assert max(motion.largest_residuals.values()) < 1e-13


def test_a_profile_as_a_spline_through_points():
    """A spline through 25 points of the gutter: the motion of the formula, as nearly as the spline follows it."""
    points = np.linspace(-1.2, 1.2, 25)
    heights = [float(gutter(p)) for p in points]
    equations = vn.derive(wheel(lambda s: vn.spline(s, points, heights)), form="program", rates=100.0)
    motion = vn.simulate(equations, start(program()), (0, 1), "rk4", step=1e-4, progress=False)
    assert motion.outcome
    assert max(abs(motion[key][-1] - REFERENCE[1.0][key]) for key in STATES) < 1e-6
    assert motion.energy_error < 1e-8


def test_the_rate_of_alpha_is_an_output():
    """α̇ = U, like any reaction."""
    motion = run(program(1.0), np.linspace(0, 1, 2001))
    np.testing.assert_allclose(np.gradient(motion[alpha], motion.t)[1:-1], motion[U][1:-1], atol=2e-3)
    assert set(motion.reactions) == {"Rx", "Rz", "U"}


def test_every_method_has_its_limit_in_the_table():
    for name, limit in LIMITS.items():
        if name in METHODS and hasattr(METHODS[name], "largest"):
            assert METHODS[name].largest == pytest.approx(limit, rel=1e-3)
