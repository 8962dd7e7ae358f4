"""Backward differentiation formulas in a compiled loop: their order, SUNDIALS' CVODE, stiff systems, and the choice."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from benchmarks import chains
from examples import watt_governor
from vinculum.simulation.integrators import bdf_loops
from vinculum.simulation.problem.pose import pose

x, y = dynamicsymbols("x y")
k, c, mu = sp.symbols("k c mu")
t = dynamicsymbols._t


def oscillator() -> vn.EquationsOfMotion:
    damping = c * x.diff() ** 2 / 2
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, dissipation=damping, parameters={k: 1.0, c: 0.0}))


def van_der_pol() -> vn.EquationsOfMotion:
    force = {x: mu * (1 - x**2) * x.diff()}
    return vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2, force, parameters={mu: 1000.0}))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_a_formula_is_exact_for_polynomials_of_its_degree(order):
    """Σ γ_j ∇ʲx of one step is h ẋ at the end of the next for x = tᵏ, where the prediction x⁰ is exact."""
    times = np.arange(order + 1.0)  # h = 1
    values, differences = times**order, []
    while len(values):
        differences.append(values[-1])
        values = np.diff(values)
    rate = sum(g * d for g, d in zip(bdf_loops.GAMMA[1 : order + 1], differences[1:], strict=True))
    assert rate == pytest.approx(order * (times[-1] + 1) ** (order - 1), rel=1e-12)


def test_the_error_follows_the_tolerance():
    errors, steps = [], []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        motion = vn.simulate(oscillator(), {x: 1.0}, (0, 20), vn.BDF(tolerance))
        errors.append(np.abs(motion[x] - np.cos(motion.t)).max() / tolerance)
        steps.append(motion.steps)
    assert all(error < 0.5 * count for error, count in zip(errors, steps, strict=True))  # the errors of steps add up
    assert steps[-1] / steps[0] < 12  # order 5: 10⁻⁶ of the tolerance for ten times as many steps


def cvode(equations, start, times, tolerance):
    """SUNDIALS' CVODE with the same compiled right side, called directly."""
    from sksundae.cvode import CVODE

    problem, initial = pose(equations, start, float(times[0]), {}, dict(equations.parameters), [])
    rates, p = problem.compiled(problem.nodes.rates), problem.values

    def right_side(t, x, out):
        out[:] = rates(t, x, p)

    return CVODE(right_side, rtol=tolerance, atol=tolerance, max_num_steps=10**6).solve(times, initial)


@pytest.mark.parametrize(("equations", "start", "end"), [(van_der_pol, {x: 2.0}, 2000.0), (oscillator, {x: 1.0}, 20.0)])
def test_the_motion_is_that_of_cvode(equations, start, end):
    """Relaxation oscillations with μ = 1000, and a free oscillation, within what tolerances of both leave open."""
    made, times = equations(), np.linspace(0, end, 401)
    exact = vn.simulate(made, start, times, vn.BDF(1e-12))
    found, peer = vn.simulate(made, start, times, vn.BDF(1e-8)), cvode(made, start, times, 1e-8)
    own, other = (np.abs(a - exact[x]) for a in (found[x], peer.y[:, 0]))
    assert np.median(own) <= 2 * np.median(other) + 1e-12
    assert found.steps <= 1.5 * peer.nfev  # no more steps than CVODE evaluates the right side


def test_stiff_decay_takes_few_steps():
    """ẍ + c ẋ + k x = 0 with roots near -1 and -10⁶: the slow exponential, in steps of its own."""
    numbers = {c: 1e6, k: 1e6}
    motion = vn.simulate(oscillator(), {x: 1.0, x.diff(): -1.0}, (0, 10), "bdf", parameters=numbers)
    slow = (-1e6 + np.sqrt(1e12 - 4e6)) / 2
    assert np.abs(motion[x] - np.exp(slow * motion.t)).max() < 2e-6
    assert motion.steps < 400


def test_backwards_with_events_between_steps():
    passing = vn.Event(x - sp.Rational(1, 2), name="half", direction="falling")
    motion = vn.simulate(oscillator(), {x: 1.0}, (0, 10), "bdf", events=passing)
    exact = np.pi / 3 + 2 * np.pi * np.arange(2)
    np.testing.assert_allclose(motion.event_times["half"], exact, atol=1e-6)
    back = vn.simulate(oscillator(), motion, (10, 0), "bdf", events=passing)
    np.testing.assert_allclose(sorted(back.event_times["half"]), exact, atol=1e-6)
    np.testing.assert_allclose(back[x], np.cos(back.t), atol=1e-6)


def test_no_jacobian_is_written_out(monkeypatch):
    """A chain runs with the code of its rates alone: the Jacobian of twenty joints took 40 s to compile."""
    from vinculum.graph import differentiate

    equations = vn.derive(chains.chain(12).system())
    monkeypatch.setattr(differentiate, "jacobian", lambda *_: pytest.fail("a Jacobian was written out"))
    motion = vn.simulate(equations, dict.fromkeys(equations.system.coordinates, 0.1), (0, 0.2), "bdf")
    exact = vn.simulate(equations, dict.fromkeys(equations.system.coordinates, 0.1), (0, 0.2), "rk4", step=1e-4)
    q = equations.system.coordinates[-1]
    assert motion[q][-1] == pytest.approx(exact[q][-1], abs=1e-6)


@pytest.mark.parametrize(("friction", "method"), [(0.4, "taylor"), (1e3, "taylor"), (1e6, "bdf")])
def test_auto_counts_the_work_of_short_trials(friction, method):
    """A governor in thicker and thicker oil. The decision and its reason are the same in every run."""
    w = watt_governor
    start = {w.alpha: 0.9, w.phi: 0, w.phi.diff(): 8.0, w.alpha.diff(): 0.1}
    runs = [vn.simulate(vn.derive(w.system()), start, (0, 10), "auto", parameters={w.c: friction}) for _ in range(2)]
    assert runs[0].method == runs[1].method
    assert runs[0].method.startswith(method)
    assert ("tried both" in runs[0].method) == (friction > 100)
    np.testing.assert_array_equal(runs[0][w.alpha], runs[1][w.alpha])
    exact = vn.simulate(vn.derive(w.system()), start, (0, 10), vn.BDF(1e-12), parameters={w.c: friction})
    assert np.abs(runs[0][w.alpha] - exact[w.alpha]).max() < 1e-7
